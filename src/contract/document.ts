import type { Json, JsonObject } from "./json.ts";

/** How a schedule recurs: once, at a fixed interval, or by the calendar. */
export type ScheduleKind = "at" | "every" | "cron";

/** Who is asking. The system (code that embeds the scheduler) has the reserved id `"system"` and is an admin. */
export interface Principal {
  /** A stable id, at most 200 characters. */
  readonly id: string;
  /** An admin may see and change every schedule. Default `false`. */
  readonly admin?: boolean;
}

/** The id of the system principal; no other principal may carry it. */
export const SYSTEM_ID = "system";

/** What clock changes do to fixed-time cron jobs (K4, K5). */
export interface StoredDst {
  /** A skipped local time fires once at the first instant after the change, or is dropped. Default `"fire"`. */
  readonly gap?: "fire" | "skip";
  /** A repeated local time fires at its first pass only, or at both. Default `"first"`. */
  readonly fold?: "first" | "both";
}

/** Bounds of a recurring schedule (T9). */
export interface SpecBounds {
  /** No point before this instant; for `every` it also sets the phase. */
  readonly startAt?: number;
  /** No point after this instant; one exactly at it still fires. */
  readonly endAt?: number;
  /** How many deadlines fire in all; retries and reruns of one deadline count once. */
  readonly maxRuns?: number;
}

/** When a schedule fires, as stored. */
export type StoredSpec =
  | { readonly kind: "at"; readonly at: number }
  | ({
    readonly kind: "every";
    /** Milliseconds between points. */
    readonly every: number;
    /** A point of the cadence; the others lie whole intervals after it. */
    readonly anchor: number;
    /** Whether the interval was raised to one tick (T5). */
    readonly clamped?: true;
  } & SpecBounds)
  | ({
    readonly kind: "cron";
    readonly cron: string;
    readonly timezone: string;
    readonly dst?: StoredDst;
  } & SpecBounds);

/** The part of a document that only its owner changes. */
export interface ScheduleDefinition {
  readonly task: string;
  /** The task's input; absent when none was given. */
  readonly input?: Json;
  readonly spec: StoredSpec;
  /** Options owned by plugins, by key, as their parsers returned them; keys at their default are absent. */
  readonly options: JsonObject;
  readonly owner: string;
  readonly authority: Principal;
  readonly runAs?: string;
  readonly name?: string;
  readonly key?: string;
  readonly group?: string;
  readonly target?: string;
  readonly tags?: readonly string[];
  readonly state?: Json;
  /** Whether a handler's `again(delay)` sets the next deadline (A1). */
  readonly adaptive: boolean;
  /** Milliseconds after which a run is aborted (F5). */
  readonly timeout?: number;
  /** What happens to a run whose instance was lost (M3). Default `"rerun"`. */
  readonly onLost?: "fault";
  /** How often a one-shot, or one point, may be lost. Default 3. */
  readonly maxLost?: number;
  /** Milliseconds for which the record is kept after retirement (L3). */
  readonly retention: number;
  /** How many runs the history keeps (V4). */
  readonly history: number;
  readonly createdAt: number;
}

/** The deadline that is armed. */
export interface ArmedDeadline {
  /** The cadence point, or the one-shot's deadline. */
  readonly point: number;
  /** When it is due: the point moved by the policies. */
  readonly at: number;
  /** Set by a handler's `again(delay)`: no point of the cadence. */
  readonly again?: true;
}

/** Why a live run has to end before its time. */
export type AbortCause = "replaced" | "aborted" | "stopped";

/** A run that an instance holds. */
export interface LiveRun {
  /** Numbers the schedule's runs from 1 and never repeats; a settlement must carry it (M4). */
  readonly fence: number;
  readonly point: number;
  /** 1 for the first run of a deadline; one more for each retry. */
  readonly attempt: number;
  /** Points folded into this run by catchup. */
  readonly missed: number;
  /** The instance that holds it. */
  readonly instance: string;
  readonly leaseUntil: number;
  /** When it was claimed. */
  readonly claimedAt: number;
  /** Start of the schedule's previous run, if any; what `ctx.elapsed` is counted from. */
  readonly previousStart?: number;
  /** How often this deadline was lost with an instance before. */
  readonly losses?: number;
  /** One of the points that run one after another; the next of them waits for its end. */
  readonly lined?: true;
  readonly abort?: AbortCause;
}

/** What a waiting start waits for. */
export type WaitingCause = "queued" | "retry" | "rerun" | "catchup" | "triggered" | "replacing";

/** A start that is owed: a point queued by overlap or catchup, a retry, a rerun of a lost run, a trigger. */
export interface WaitingRun {
  readonly point: number;
  /** Not before this instant. */
  readonly at: number;
  readonly attempt: number;
  readonly missed: number;
  readonly cause: WaitingCause;
  readonly losses?: number;
}

/** Points that are lined up to run one after another: every point of the cadence in `[next, last]`. */
export interface CatchupBacklog {
  readonly next: number;
  readonly last: number;
}

/** How a run ended. */
export type RunOutcome = "succeeded" | "faulted" | "timeout" | "aborted" | "replaced" | "lost";

/** What is kept of an error. */
export interface Fault {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** The cause, as text. */
  readonly cause?: string;
  /** When it was recorded. */
  readonly at: number;
}

/** One entry of the history: fence, point, start, end, attempt, outcome, instance, fault's message. */
export type StoredRun = readonly [
  fence: number,
  point: number,
  startedAt: number,
  endedAt: number,
  attempt: number,
  outcome: RunOutcome,
  instance: string,
  fault?: string,
];

/** What was decided about a schedule, for whoever asks why it did not fire. */
export type DecisionWhat =
  | "ran"
  | "late"
  | "missed"
  | "overlapped"
  | "queued"
  | "replaced"
  | "skipped"
  | "triggered"
  | "retry"
  | "lost"
  | "again"
  | "paused"
  | "resumed"
  | "updated"
  | "unknown_policy"
  | "retired";

/** One entry of the ring of latest decisions: what, when last, how many in a row, the last point, a word more. */
export type StoredDecision = readonly [
  what: DecisionWhat,
  at: number,
  count: number,
  point?: number | null,
  detail?: string,
];

/** The part of a document that the state machine moves. */
export interface ScheduleProgress {
  /** The next instant at which anything has to happen to this schedule; `null` when nothing will. */
  readonly wakeAt: number | null;
  readonly next: ArmedDeadline | null;
  /** The newest cadence point that is accounted for: none up to it is armed again, whatever clock and jitter do (T8, J2). */
  readonly cursor?: number;
  readonly runs: readonly LiveRun[];
  readonly waiting: readonly WaitingRun[];
  /** Oldest first. */
  readonly backlog?: readonly CatchupBacklog[];
  /** The last fence given out. */
  readonly fence: number;
  /** Deadlines that fired; what `maxRuns` bounds. */
  readonly firings: number;
  /** Runs started, retries and reruns included. */
  readonly runCount: number;
  readonly faultCount: number;
  readonly consecutiveFaults: number;
  readonly missedCount: number;
  readonly overlapCount: number;
  readonly lastFault?: Fault;
  /** Start of the newest run. */
  readonly lastRun?: number;
  readonly lastDurationMs?: number;
  /** Settled runs and the sum of their durations, for the mean. */
  readonly settledCount: number;
  readonly durationSum: number;
  /** Sketch of durations: see `src/machine/sketch.ts` (V2). */
  readonly sketch?: string;
  readonly pausedAt?: number;
  /** A one-shot that was asked to stop while running: no link, retry or rerun follows. */
  readonly stopping?: true;
  readonly retired?: { readonly at: number; readonly reason: string };
  readonly history: readonly StoredRun[];
  readonly decisions: readonly StoredDecision[];
}

/** Everything about one schedule. Documents are values: they are replaced, never changed. */
export interface ScheduleDocument {
  /** A ULID. */
  readonly id: string;
  /** Kept by identity while unchanged, so that a driver need not write it again. */
  readonly definition: ScheduleDefinition;
  readonly progress: ScheduleProgress;
  /** Why the document cannot be used: it was damaged in the store. It waits, untouched, until it is updated or stopped. */
  readonly parked?: string;
}

/** What a driver indexes of a document. */
export interface DocumentIndex {
  /** Whose turn it is: the task's name; `""` once retired, so that any instance removes it; `null` when parked. */
  readonly lane: string | null;
  readonly wakeAt: number | null;
  readonly nextRun: number | null;
  readonly task: string;
  readonly owner: string;
  /** Unique with `owner` among live documents. */
  readonly name: string | null;
  /** Unique with `owner` among live documents. */
  readonly key: string | null;
  readonly group: string | null;
  readonly target: string | null;
  readonly tags: readonly string[];
  readonly live: boolean;
  readonly running: boolean;
}

/** The next instant at which a schedule is to start a run: its armed deadline, or a retry before that; `null` when none is. */
export function nextRunOf({ progress }: ScheduleDocument): number | null {
  if (progress.retired !== undefined || progress.pausedAt !== undefined) return null;
  const times = progress.waiting.filter(({ cause }) => cause === "retry").map(({ at }) => at);
  if (progress.next !== null) times.push(progress.next.at);
  return times.length === 0 ? null : Math.min(...times);
}

/** What a driver indexes of a document; pure. */
export function documentIndex(document: ScheduleDocument): DocumentIndex {
  const { definition, progress } = document;
  const live = progress.retired === undefined;
  const parked = document.parked !== undefined;
  return {
    lane: parked ? null : live ? definition.task : "",
    wakeAt: parked ? null : progress.wakeAt,
    nextRun: nextRunOf(document),
    task: definition.task,
    owner: definition.owner,
    name: live ? definition.name ?? null : null,
    key: live ? definition.key ?? null : null,
    group: definition.group ?? null,
    target: definition.target ?? null,
    tags: definition.tags ?? [],
    live,
    running: progress.runs.length > 0,
  };
}
