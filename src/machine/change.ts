import {
  MAX_WAITING,
  readHistory,
  RESTING_PROGRESS,
  type ScheduleDefinition,
  type ScheduleDocument,
  SchedulerError,
  type StoredSpec,
  type WaitingCause,
  type WaitingRun,
} from "../contract/mod.ts";
import { arm, deadlineOf, isSpent } from "./arm.ts";
import { arrive, writeOff } from "./arrive.ts";
import { armed, decided, type Draft, setBacklog, setRun, setWaiting } from "./draft.ts";
import { neverComes } from "./cadence.ts";
import { overlap } from "./overlap.ts";
import { retire, retireIfOver, STOPPED } from "./retire.ts";
import { spend } from "./start.ts";
import type { Effect, MachineEnv, StepResult } from "./types.ts";
import { wakeAt } from "./wake.ts";

/**
 * The document of a schedule that is made now. Its first deadline must exist (I2).
 *
 * @throws {SchedulerError} `deadline_out_of_range` when the first deadline is past the calendar, `invalid_option` when
 * none lies within `startAt` and `endAt`, `invalid_cron` (also for a time that its zone never shows) and
 * `invalid_timezone`.
 */
export function createDocument(id: string, definition: ScheduleDefinition, now: number, env: MachineEnv): StepResult {
  const effects: Effect[] = [{ type: "created" }];
  const progress = { ...RESTING_PROGRESS };
  const draft: Draft = { id, before: undefined, definition: anchored(definition, now), progress, now, env, effects };
  armFirst(draft);
  if (progress.next === null) throw noDeadline(draft);
  progress.wakeAt = wakeAt(draft);
  return { document: { id, definition: draft.definition, progress }, effects, answer: true };
}

/** An interval without `startAt` counts from now (T4). */
function anchored(definition: ScheduleDefinition, now: number): ScheduleDefinition {
  const { spec } = definition;
  return spec.kind === "every" ? { ...definition, spec: { ...spec, anchor: spec.startAt ?? now } } : definition;
}

function armFirst(draft: Draft): void {
  const { spec } = draft.definition;
  if (spec.kind === "at") return armed(draft, { point: spec.at, at: deadlineOf(draft, spec.at) });
  arm(draft, spec.startAt !== undefined && spec.startAt >= draft.now ? spec.startAt - 1 : draft.now);
}

function noDeadline({ definition: { spec }, progress: { decisions }, now }: Draft): SchedulerError {
  const refused = decisions.at(-1)?.[0] === "skipped";
  const never = refused ? undefined : neverComes(spec, now);
  if (never !== undefined) return never;
  if (spec.kind !== "at" && spec.endAt !== undefined) {
    return new SchedulerError(
      "invalid_option",
      `endAt: no deadline lies between now and ${new Date(spec.endAt).toISOString()}; expected room for at least one`,
      { details: { where: "endAt" } },
    );
  }
  return new SchedulerError(
    "deadline_out_of_range",
    "the first deadline would be after 9999-12-31T23:59:59.999Z, the latest one",
    { details: { where: spec.kind } },
  );
}

/** A new definition under the same id and counters (L5). A changed time is armed anew from now, an equal one stays (N2). */
export function update(draft: Draft, definition: ScheduleDefinition): void {
  const before = draft.definition;
  const retimed = timing(before.spec) !== timing(definition.spec);
  if (retimed) forget(draft);
  draft.definition = retimed
    ? anchored(definition, draft.now)
    : { ...definition, spec: merged(before.spec, definition.spec) };
  decided(draft, "updated");
  draft.effects.push({ type: "updated" });
  if (retimed) {
    armFirst(draft);
    if (draft.progress.next === null && !isSpent(draft)) throw noDeadline(draft);
  } else keepArmed(draft, before);
  retireIfOver(draft);
}

/**
 * Drops what the old time still owes, and tells its runs in progress: what was set for the schedule since they began is
 * not for them to change. A recurring schedule's deadline that has begun goes on; a one-shot has but one.
 */
function forget(draft: Draft): void {
  const { progress, definition: { spec: { kind } } } = draft;
  const stay: readonly WaitingCause[] = kind === "at" ? ["triggered"] : ["triggered", "retry", "rerun"];
  const stays = ({ cause }: WaitingRun) => stay.includes(cause);
  try {
    writeOff(draft, progress.waiting.filter((entry) => !stays(entry)));
  } catch {
    // A time that cannot be read, here or any more, has no points to count, and is the first to be given another.
  }
  delete progress.cursor;
  delete progress.stopping;
  setBacklog(draft, []);
  setWaiting(draft, progress.waiting.filter(stays));
  for (const run of progress.runs) setRun(draft, { ...run, retimed: run.retimed ?? kind });
}

/** What a changed time is recognised by; bounds that only end it are none of it. */
function timing(spec: StoredSpec): string {
  if (spec.kind === "at") return `at ${spec.at}`;
  if (spec.kind === "every") return `every ${spec.every} ${spec.startAt}`;
  return `cron ${spec.cron} ${spec.timezone} ${spec.dst?.gap} ${spec.dst?.fold} ${spec.startAt}`;
}

/** The new bounds on the old cadence, whose phase stays. */
function merged(before: StoredSpec, after: StoredSpec): StoredSpec {
  return before.kind === "every" && after.kind === "every" ? { ...after, anchor: before.anchor } : after;
}

/** Keeps the armed point; draws its deadline anew where options that may move it have changed, and drops it past new bounds. */
function keepArmed(draft: Draft, before: ScheduleDefinition): void {
  const { next } = draft.progress;
  const { spec, options } = draft.definition;
  if (isSpent(draft)) return spend(draft);
  if (spec.kind !== "at" && next !== null && next.point > (spec.endAt ?? Infinity)) return armed(draft, null);
  if (next === null) {
    if (spec.kind !== "at" && before.spec.kind === spec.kind) arm(draft, draft.now);
    return;
  }
  if (next.again === true || JSON.stringify(before.options) === JSON.stringify(options)) return;
  if (next.at > draft.now) armed(draft, { point: next.point, at: deadlineOf(draft, next.point) });
}

/** Holds deadlines; what was due before is still owed (L5). */
export function pause(draft: Draft): boolean {
  if (draft.progress.pausedAt !== undefined) return false;
  arrive(draft, draft.now);
  draft.progress.pausedAt = draft.now;
  decided(draft, "paused");
  return true;
}

/** Goes on in phase: points that passed meanwhile are neither run nor missed (L5). */
export function resume(draft: Draft): boolean {
  const { progress, now, definition } = draft;
  if (progress.pausedAt === undefined) return false;
  delete progress.pausedAt;
  decided(draft, "resumed");
  const { next } = progress;
  if (next !== null && definition.spec.kind !== "at" && next.at <= now) {
    // What a run has asked for is still to come; the cadence follows from now on.
    if (next.again === true) armed(draft, { ...next, at: now });
    else arm(draft, now);
  }
  retireIfOver(draft);
  return true;
}

/** One run now beside the cadence, under the overlap policy (L5). */
export function trigger(draft: Draft): boolean {
  const { progress, now } = draft;
  if (progress.stopping === true || progress.waiting.length >= MAX_WAITING) return false;
  const point = ownPoint(draft);
  if (progress.runs.length > 0) return overlap(draft, [{ point, at: now }], 1, point, "triggered") > 0;
  setWaiting(draft, [...progress.waiting, { point, at: now, attempt: 1, missed: 0, cause: "triggered" }]);
  return true;
}

/** The first instant from now on that no other run stands for: with the schedule's id it is a run's idempotency key. */
function ownPoint({ progress: { runs, waiting, next, history }, now }: Draft): number {
  const others = [...runs, ...waiting, ...readHistory(history), ...(next === null ? [] : [next])];
  const taken = new Set(others.map(({ point }) => point));
  let point = now;
  while (taken.has(point)) point++;
  return point;
}

/** Asks the instance that holds a run to abort it (L6). */
export function abortRun(draft: Draft, fence: number): boolean {
  const run = draft.progress.runs.find((live) => live.fence === fence);
  if (run === undefined) return false;
  if (run.abort === undefined || run.abort === "replaced") setRun(draft, { ...run, abort: "aborted" });
  draft.effects.push({ type: "abort", fence, instance: run.instance, cause: "aborted" });
  return true;
}

/** Ends a live schedule, as the rules L1 and L2 say; a retired one loses its record (L3). */
export function stop(document: ScheduleDocument, draft: Draft, abortRunning: boolean): StepResult {
  const { progress, definition, effects } = draft;
  if (progress.retired !== undefined) {
    return progress.runs.length > 0
      ? { document, effects: [], answer: false }
      : { document: null, effects: [], answer: false };
  }
  const started = progress.runs.length > 0;
  if (started && abortRunning) abortAll(draft);
  if (started && definition.spec.kind === "at") {
    progress.stopping = true;
    setWaiting(draft, []);
    armed(draft, null);
    return { document: rewoken(draft), effects, answer: false };
  }
  effects.push({ type: "stopped" });
  if (!started || !abortRunning) return { document: null, effects, answer: true };
  // The record stays, as if removed, until the instances that hold its runs have seen that they are to be aborted.
  retire(draft, STOPPED);
  return { document: rewoken(draft), effects, answer: true };
}

function abortAll(draft: Draft): void {
  for (const run of draft.progress.runs) {
    setRun(draft, { ...run, abort: "stopped" });
    draft.effects.push({ type: "abort", fence: run.fence, instance: run.instance, cause: "stopped" });
  }
}

function rewoken(draft: Draft): ScheduleDocument {
  draft.progress.wakeAt = wakeAt(draft);
  return { id: draft.id, definition: draft.definition, progress: draft.progress };
}
