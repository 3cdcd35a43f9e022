import { isDue, isSchedulerError, type LiveRun, type ScheduleDocument, SchedulerError } from "../contract/mod.ts";
import { abortRun, createDocument, pause, resume, stop, trigger, update } from "./change.ts";
import { due, replaceRunning, unknownOption, waitForPolicy } from "./due.ts";
import { type Draft, draftOf, finished, setRun, unchanged } from "./draft.ts";
import { STOPPED } from "./retire.ts";
import { release, settle } from "./settle.ts";
import type { Claim, MachineEnv, MachineEvent, Settlement, StepResult } from "./types.ts";
import { wakeAt } from "./wake.ts";

/**
 * The one place that decides anything about a schedule. Pure and synchronous: the same document, event, time and random
 * numbers give the same result, so it may be called again when a store has to try again.
 *
 * @throws {SchedulerError} only for what somebody calls: for `updated` as {@linkcode createDocument} does, otherwise
 * `invalid_option` where what is stored cannot be used.
 */
export function step(document: ScheduleDocument, event: MachineEvent, now: number, env: MachineEnv): StepResult {
  if (document.parked !== undefined) return stepParked(document, event, now, env);
  try {
    return stepReadable(document, event, draftOf(document, now, env));
  } catch (error) {
    return failed(document, event, error);
  }
}

function stepReadable(document: ScheduleDocument, event: MachineEvent, draft: Draft): StepResult {
  switch (event.type) {
    case "due":
      return stepDue(document, draft, event.claim);
    case "settled":
      return stepSettled(document, draft, event.settlement, event.claim);
    case "renewed":
      return stepRenewed(document, draft, event);
    case "released":
      return withRun(document, draft, event.fence, (run) => release(draft, run, event.started), event.instance);
    case "stopped":
      return stop(document, draft, event.abortRunning);
    default:
      return stepChanged(document, draft, event);
  }
}

type Change = Extract<MachineEvent, { type: "paused" | "resumed" | "triggered" | "updated" | "aborted" }>;

function stepChanged(document: ScheduleDocument, draft: Draft, event: Change): StepResult {
  if (document.progress.retired !== undefined && event.type !== "aborted") return unchanged(document, false);
  return woken(draft, change(draft, event), document);
}

function change(draft: Draft, event: Change): boolean {
  switch (event.type) {
    case "paused":
      return pause(draft);
    case "resumed":
      return resume(draft);
    case "triggered":
      return trigger(draft);
    case "updated":
      update(draft, event.definition);
      return true;
    case "aborted":
      return abortRun(draft, event.fence);
  }
}

/** Closes a draft, with its next instant; a refused change that left no trace leaves the document itself. */
function woken(draft: Draft, answer: boolean, document: ScheduleDocument): StepResult {
  if (!answer && draft.effects.length === 0) return unchanged(document, false);
  draft.progress.wakeAt = wakeAt(draft);
  return finished(draft, answer);
}

function stepDue(document: ScheduleDocument, draft: Draft, claim: Claim): StepResult {
  if (document.progress.retired !== undefined) return stepRetired(document, draft, claim);
  if (!isDue(document, draft.now)) return unchanged(document, false);
  const unknown = unknownOption(draft);
  if (unknown !== undefined) {
    waitForPolicy(draft, unknown);
    return finished(draft, true);
  }
  due(draft, claim);
  const wake = wakeAt(draft);
  // Whatever could start has started: a document that were due again at once would be found again for ever.
  draft.progress.wakeAt = wake === null ? null : Math.max(wake, draft.now + 1);
  return finished(draft, true);
}

/**
 * A stored spec or option that cannot be read, or a policy that throws, stops this schedule alone: others share the
 * commit. Whoever called hears of it instead, as far as the call needs to know what it could not read.
 */
function failed(document: ScheduleDocument, event: MachineEvent, error: unknown): StepResult {
  switch (event.type) {
    case "due":
    case "renewed":
    case "released":
      return park(document, messageOf(error));
    case "settled":
      return { ...park(document, messageOf(error)), answer: true };
    case "stopped":
      return { document: null, effects: [{ type: "stopped" }], answer: true };
    default:
      throw isSchedulerError(error) ? error : unreadable(document, error);
  }
}

/** Takes a document that cannot be used out of everybody's way. */
export function park(document: ScheduleDocument, error: string): StepResult {
  return {
    document: { ...document, parked: error, progress: { ...document.progress, wakeAt: null } },
    effects: [{ type: "parked", error }],
    answer: false,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function unreadable({ id }: ScheduleDocument, cause: unknown): SchedulerError {
  const problem = `schedule ${id}: its stored definition cannot be used: ${
    messageOf(cause)
  }; expected it as it was written`;
  return new SchedulerError("invalid_option", problem, { details: { id }, cause });
}

/** The record of a retired schedule goes once its time is over and no lease is left. */
function stepRetired(document: ScheduleDocument, draft: Draft, claim: Claim): StepResult {
  const { progress, now, definition } = draft;
  const live = progress.runs.filter((run) => run.leaseUntil + claim.patienceMs > now || ownsRun(document, claim, run));
  const until = progress.retired!.reason === STOPPED ? now : progress.retired!.at + definition.retention;
  if (live.length === 0 && until <= now) return { document: null, effects: [], answer: true };
  progress.runs = live.map((run) => run.leaseUntil <= now ? { ...run, leaseUntil: now + claim.leaseMs } : run);
  progress.wakeAt = Math.max(
    now + 1,
    live.length === 0 ? until : Math.min(...progress.runs.map((run) => run.leaseUntil)),
  );
  return finished(draft, true);
}

function ownsRun(document: ScheduleDocument, claim: Claim, run: LiveRun): boolean {
  return run.instance === claim.instance && claim.holds(document, run.fence);
}

function stepSettled(
  document: ScheduleDocument,
  draft: Draft,
  settlement: Settlement,
  claim: Claim | undefined,
): StepResult {
  const { retired } = document.progress;
  const apply = (run: LiveRun) => {
    if (retired === undefined) settle(draft, run, settlement, claim);
    else draft.progress.runs = draft.progress.runs.filter((live) => live !== run);
  };
  return withRun(document, draft, settlement.fence, apply, undefined, retired?.reason !== STOPPED);
}

/** Applies to a run that is still live; answers whether it is. A schedule that was stopped ignores what its runs say. */
function withRun(
  document: ScheduleDocument,
  draft: Draft,
  fence: number,
  apply: (run: LiveRun) => void,
  instance?: string,
  answer = true,
): StepResult {
  const run = document.progress.runs.find((live) => live.fence === fence);
  if (run === undefined || (instance !== undefined && run.instance !== instance)) return unchanged(document, false);
  apply(run);
  draft.progress.wakeAt = wakeAt(draft);
  if (!answer && draft.progress.runs.length === 0) return { document: null, effects: draft.effects, answer };
  return finished(draft, answer);
}

function stepRenewed(
  document: ScheduleDocument,
  draft: Draft,
  { fences, instance, leaseMs }: Extract<MachineEvent, { type: "renewed" }>,
): StepResult {
  const held = document.progress.runs.filter((run) => run.instance === instance && fences.includes(run.fence));
  for (const run of held) setRun(draft, { ...run, leaseUntil: draft.now + leaseMs });
  if (held.length === 0) return unchanged(document, false);
  replaceRunning(draft);
  draft.progress.wakeAt = wakeAt(draft);
  return finished(draft, held.length === fences.length);
}

/**
 * A damaged document waits for its owner: it can be stopped, or be given a new definition and begin anew. Its fences go on:
 * whoever still executes a run of before is not to settle one of now (M4), and no run's id comes back (I1). Where nothing
 * tells of any, they begin at the time, which is more than a schedule can have given out.
 */
function stepParked(document: ScheduleDocument, event: MachineEvent, now: number, env: MachineEnv): StepResult {
  if (event.type === "stopped") return { document: null, effects: [{ type: "stopped" }], answer: true };
  if (event.type !== "updated") return unchanged(document, false);
  const made = createDocument(document.id, event.definition, now, env).document!;
  const fence = document.progress.fence || Math.ceil(now);
  return { document: { ...made, progress: { ...made.progress, fence } }, effects: [{ type: "updated" }], answer: true };
}
