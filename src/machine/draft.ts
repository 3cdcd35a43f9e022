import type { Cadence } from "../calendar/mod.ts";
import {
  type ArmedDeadline,
  type CatchupBacklog,
  type DecisionWhat,
  type Fault,
  type LiveRun,
  MAX_DECISIONS,
  MAX_DURATION_MS,
  type PastRun,
  type PolicyQuestion,
  rememberRun,
  type ScheduleDefinition,
  type ScheduleDocument,
  type ScheduleProgress,
  SchedulerError,
  show,
  type StoredDecision,
  type WaitingRun,
} from "../contract/mod.ts";
import { cadenceOf, gapAfter } from "./cadence.ts";
import type { Effect, MachineEnv, StepResult } from "./types.ts";

/** A document's progress while one step works on it. Arrays are replaced, never changed in place. */
export type DraftProgress = {
  -readonly [Key in keyof ScheduleProgress]: ScheduleProgress[Key];
};

/** One step's work on one document. */
export interface Draft {
  readonly id: string;
  readonly before: ScheduleDocument | undefined;
  definition: ScheduleDefinition;
  readonly progress: DraftProgress;
  readonly now: number;
  readonly env: MachineEnv;
  readonly effects: Effect[];
}

/** Opens a document for one step. */
export function draftOf(document: ScheduleDocument, now: number, env: MachineEnv): Draft {
  return {
    id: document.id,
    before: document,
    definition: document.definition,
    progress: { ...document.progress },
    now,
    env,
    effects: [],
  };
}

/** The step's result: the document with the draft's progress. */
export function finished(draft: Draft, answer: boolean): StepResult {
  return {
    document: { id: draft.id, definition: draft.definition, progress: draft.progress },
    effects: draft.effects,
    answer,
  };
}

/** The step's result when nothing happened. */
export function unchanged(document: ScheduleDocument, answer: boolean): StepResult {
  return { document, effects: [], answer };
}

/** The schedule's cadence; `null` for a one-shot. */
export function draftCadence(draft: Draft): Cadence | null {
  return cadenceOf(draft.definition.spec, draft.definition.name);
}

/** Milliseconds from a point of the cadence to the next one, as if nothing but the calendar's end bounded it. */
export function gapTo(draft: Draft, point: number): number {
  const { spec, name } = draft.definition;
  return spec.kind === "at" ? Infinity : gapAfter(point, spec, name);
}

/** What every question to a policy carries. */
export function question(draft: Draft): PolicyQuestion {
  const { id, definition, now } = draft;
  return { id, kind: definition.spec.kind, options: definition.options, now };
}

/**
 * A number that a policy answered, within what times can be worked out from. An option that was damaged in its store, or
 * a policy's mistake, must not become a time that is none.
 *
 * @throws {SchedulerError} `invalid_option`, which parks the schedule where it is due or a run of it is settled.
 */
export function milliseconds(answer: number, what: string): number {
  if (typeof answer === "number" && !Number.isNaN(answer)) {
    return Math.max(-MAX_DURATION_MS, Math.min(answer, MAX_DURATION_MS));
  }
  const problem = `a policy answered ${show(answer)} when it was asked for ${what}; expected milliseconds`;
  throw new SchedulerError("invalid_option", problem, { details: { where: what, given: show(answer) } });
}

/** Whether anything is left that will or may run. */
export function isOver(progress: DraftProgress): boolean {
  return progress.next === null && progress.runs.length === 0 && progress.waiting.length === 0 &&
    progress.backlog === undefined;
}

/** Writes a decision down; the same one again in a row only grows its count. */
export function decided(draft: Draft, what: DecisionWhat, point?: number, count = 1, detail?: string): void {
  const { decisions } = draft.progress;
  const last = decisions.at(-1);
  const again = last !== undefined && last[0] === what && last[4] === detail;
  const entry: StoredDecision = detail === undefined
    ? [what, draft.now, again ? last[2] + count : count, point ?? null]
    : [what, draft.now, again ? last[2] + count : count, point ?? null, detail];
  draft.progress.decisions = [...(again ? decisions.slice(0, -1) : decisions.slice(1 - MAX_DECISIONS)), entry];
}

/** Writes a run into the history. */
export function remembered(draft: Draft, run: PastRun): void {
  draft.progress.history = rememberRun(draft.progress.history, run, draft.definition.history);
}

/** Counts a fault (V1); whether it counts towards the limit is decided where the deadline ends. */
export function faulted(draft: Draft, fault: Fault): void {
  draft.progress.faultCount++;
  draft.progress.lastFault = fault;
}

/** Sets or clears what is armed. */
export function armed(draft: Draft, next: ArmedDeadline | null): void {
  draft.progress.next = next;
}

/** Replaces what waits. */
export function setWaiting(draft: Draft, waiting: readonly WaitingRun[]): void {
  draft.progress.waiting = waiting;
}

/** Replaces what catchup owes. */
export function setBacklog(draft: Draft, backlog: readonly CatchupBacklog[]): void {
  if (backlog.length === 0) delete draft.progress.backlog;
  else draft.progress.backlog = backlog;
}

/** Replaces a live run by its fence. */
export function setRun(draft: Draft, run: LiveRun): void {
  draft.progress.runs = draft.progress.runs.map((live) => live.fence === run.fence ? run : live);
}
