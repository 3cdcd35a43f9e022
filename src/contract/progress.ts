import type { ScheduleKind } from "./definition.ts";

/** The deadline that is armed. */
export interface ArmedDeadline {
  /** The cadence point, or the one-shot's deadline. */
  readonly point: number;
  /** When it is due: the point moved by the policies. */
  readonly at: number;
  /** Set by a handler's `again(delay)`: no point of the cadence. */
  readonly again?: true;
}

/**
 * Why a live run has to end early: by overlap `replace` (O4), by `abortRun` (L6), by `stop` with `abortRunning` (L2).
 */
export type AbortCause = "replaced" | "aborted" | "stopped";

/** A run that an instance holds. */
export interface LiveRun {
  /**
   * Numbers the schedule's runs, from 1 unless its document was once damaged, and never repeats; a settlement must carry
   * it (M4).
   */
  readonly fence: number;
  /** The cadence point or deadline that it stands for. */
  readonly point: number;
  /** 1 for the first run of a deadline; one more for each retry and each rerun. */
  readonly attempt: number;
  /** Points folded into this run by catchup. */
  readonly missed: number;
  /** The instance that holds it. */
  readonly instance: string;
  /** Until when the instance holds it; renewed while it lasts, and lost to others once it is past (M3). */
  readonly leaseUntil: number;
  /** When it was claimed. */
  readonly claimedAt: number;
  /** Start of the schedule's previous run, if any; what `ctx.elapsed` is counted from. */
  readonly previousStart?: number;
  /** How often this deadline was lost with an instance before. */
  readonly losses?: number;
  /** One of the points that run one after another; the next of them waits for its end. */
  readonly lined?: true;
  /**
   * The schedule was given another time while it executed, and was of this kind until then: its `again` is not heeded
   * any more, and of a one-shot no retry or rerun follows.
   */
  readonly retimed?: ScheduleKind;
  /** Why its instance is to abort it; seen at the next renewal of the lease at the latest. */
  readonly abort?: AbortCause;
}

/** What a waiting start waits for. */
export type WaitingCause = "queued" | "retry" | "rerun" | "catchup" | "triggered" | "replacing";

/** A start that is owed: a point queued by overlap or catchup, a retry, a rerun of a lost run, a trigger. */
export interface WaitingRun {
  /** The cadence point or deadline that it stands for; a trigger's own instant. */
  readonly point: number;
  /** Not before this instant. */
  readonly at: number;
  /** As in {@linkcode LiveRun}, of the run to come. */
  readonly attempt: number;
  /** Points folded into it by catchup. */
  readonly missed: number;
  /** What it waits for. */
  readonly cause: WaitingCause;
  /** How often this deadline was lost with an instance before. */
  readonly losses?: number;
}

/** Points that are lined up to run one after another: every point of the cadence in `[next, last]`. */
export interface CatchupBacklog {
  /** The oldest point that is left. */
  readonly next: number;
  /** The newest one. */
  readonly last: number;
}

/**
 * How a run ended. `faulted`: it threw, could not be started, or answered an invalid delay; `timeout` (F5), `aborted`
 * (L6) and `lost` (M3) are faults as well; `replaced` (O4), and `released`, given back by an instance that closed before
 * the run had ended (X1), are neither a fault nor a success.
 */
export type RunOutcome = "succeeded" | "faulted" | "timeout" | "aborted" | "replaced" | "lost" | "released";

/**
 * What is kept of an error, as text that every store can hold: well-formed, without U+0000, cut where it is too long.
 */
export interface Fault {
  /** The error's name, at most 200 characters; `"Thrown"` for a thrown value that is no object. */
  readonly name: string;
  /** Its message, or the thrown value as text; at most 1,000 characters. */
  readonly message: string;
  /** Its stack, if it has one; at most 4,000 characters. */
  readonly stack?: string;
  /** Its causes, up to five deep, as one text of at most 1,000 characters. */
  readonly cause?: string;
  /** When it was recorded. */
  readonly at: number;
}

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
  | "released"
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
  /** What is armed; `null` once nothing follows, and for a one-shot from its deadline on. */
  readonly next: ArmedDeadline | null;
  /**
   * The newest cadence point that is accounted for: none up to it is armed again, whatever clock and jitter do (T8,
   * J2).
   */
  readonly cursor?: number;
  /** Runs that instances hold, in the order of their fences; at most 100. */
  readonly runs: readonly LiveRun[];
  /** Starts that are owed; at most 100. */
  readonly waiting: readonly WaitingRun[];
  /**
   * Further points that each get a run, in stretches of the cadence, the oldest first (C4); absent when none are owed.
   */
  readonly backlog?: readonly CatchupBacklog[];
  /** The last fence given out. */
  readonly fence: number;
  /** Deadlines that fired; what `maxRuns` bounds. */
  readonly firings: number;
  /** Runs started, retries and reruns included. */
  readonly runCount: number;
  /** Faults in all, losses included. */
  readonly faultCount: number;
  /** Faults in a row: deadlines that ended in one, and losses. A success makes it 0; `maxFaults` bounds it (F2). */
  readonly consecutiveFaults: number;
  /** Points that catchup dropped or folded into another run, and those that it owed when another time was set (C). */
  readonly missedCount: number;
  /** Points that overlap dropped, or held when another time was set, and runs that it replaced (O). */
  readonly overlapCount: number;
  /** The latest fault. */
  readonly lastFault?: Fault;
  /** Start of the newest run. */
  readonly lastRun?: number;
  /** Milliseconds that the latest settled run took, to the microsecond. */
  readonly lastDurationMs?: number;
  /** Settled runs, however they ended; lost and released ones are none. For the mean. */
  readonly settledCount: number;
  /** Milliseconds that the settled runs took together. */
  readonly durationSum: number;
  /** Durations of settled runs as a DDSketch, in text of at most 1,000 characters (V2): see `src/machine/sketch.ts`. */
  readonly sketch?: string;
  /** Since when its deadlines are held; absent unless it is paused (L5). */
  readonly pausedAt?: number;
  /** A one-shot that was asked to stop while running: no link, retry or rerun follows. */
  readonly stopping?: true;
  /** When and why it retired (L4); absent while it is live. */
  readonly retired?: { readonly at: number; readonly reason: string };
  /** The latest runs that are over, as text (see {@linkcode rememberRun}); as many as the definition's `history` says. */
  readonly history: string;
  /** The latest decisions, the newest last; at most 12. */
  readonly decisions: readonly StoredDecision[];
}

/**
 * The progress of a schedule to which nothing has happened yet. Drivers need not store fields at these values: most
 * schedules have most of them most of the time.
 */
export const RESTING_PROGRESS: ScheduleProgress = {
  wakeAt: null,
  next: null,
  runs: [],
  waiting: [],
  fence: 0,
  firings: 0,
  runCount: 0,
  faultCount: 0,
  consecutiveFaults: 0,
  missedCount: 0,
  overlapCount: 0,
  settledCount: 0,
  durationSum: 0,
  history: "",
  decisions: [],
};
