import type { Json, JsonObject } from "./json.ts";

/** How a schedule recurs: once, at a fixed interval, or by the calendar. */
export type ScheduleKind = "at" | "every" | "cron";

/** Who is asking. The system (code that embeds the scheduler) has the reserved id `"system"` and is an admin. */
export interface Principal {
  /** A stable id, at most 200 characters. */
  readonly id: string;
  /** An admin may see and change every schedule (P2). Default `false`. */
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

/** Bounds of a recurring schedule (T9); instants are milliseconds since the Unix epoch. */
export interface SpecBounds {
  /** No point before this instant; for `every` it also sets the phase (T4). */
  readonly startAt?: number;
  /** No point after this instant; one exactly at it still fires. */
  readonly endAt?: number;
  /** How many deadlines fire in all; retries and reruns of one deadline count once, triggered runs not at all. */
  readonly maxRuns?: number;
}

/** When a schedule fires, as stored; instants are milliseconds since the Unix epoch. */
export type StoredSpec =
  | {
    readonly kind: "at";
    /** The deadline; it may be past, and is then due at once (T1). */
    readonly at: number;
  }
  | ({
    readonly kind: "every";
    /** Milliseconds between points, at least one tick. */
    readonly every: number;
    /** A point of the cadence, from which the others are counted: whole intervals after it. */
    readonly anchor: number;
    /** Whether the interval was raised to one tick (T5). */
    readonly clamped?: true;
  } & SpecBounds)
  | ({
    readonly kind: "cron";
    /** The expression as it was given (K1). */
    readonly cron: string;
    /** The IANA zone whose local times it is about (K3). */
    readonly timezone: string;
    /** What differs from the default handling of clock changes. */
    readonly dst?: StoredDst;
  } & SpecBounds);

/** The part of a document that only its owner changes. */
export interface ScheduleDefinition {
  /** The name of the task that runs; instances without it leave the schedule alone (M2). */
  readonly task: string;
  /** The task's input as the caller gave it, before the schema; absent when none was given. */
  readonly input?: Json;
  /** When it fires. */
  readonly spec: StoredSpec;
  /** Options owned by plugins, by key, as their parsers returned them; keys at their default are absent. */
  readonly options: JsonObject;
  /** The id of the principal that it belongs to. */
  readonly owner: string;
  /** The principal that its runs are made under (P3). */
  readonly authority: Principal;
  /** Whom its runs act for, where that is not the owner (P3). */
  readonly runAs?: string;
  /** By which registering it again finds it, among its owner's live schedules (N). */
  readonly name?: string;
  /** By which a further creation finds it, among its owner's live schedules (I5). */
  readonly key?: string;
  /** The declared set that it belongs to (N4). */
  readonly group?: string;
  /** What it is about, such as `"room:42"` (I6). */
  readonly target?: string;
  /** Words to list by, each once; absent when there are none. */
  readonly tags?: readonly string[];
  /** A value that every run is handed unchanged (S3). */
  readonly state?: Json;
  /** Whether a handler's `again(delay)` sets the next deadline (A1). */
  readonly adaptive: boolean;
  /** Milliseconds after which a run is aborted (F5). */
  readonly timeout?: number;
  /** What happens to a run whose instance was lost (M3). Default `"rerun"`. */
  readonly onLost?: "fault";
  /** How many losses of one deadline are one too many: with the last of them it is given up (M3). Default 3. */
  readonly maxLost?: number;
  /** Milliseconds for which the record is kept after retirement (L3). */
  readonly retention: number;
  /** How many runs the history keeps (V4). */
  readonly history: number;
  /** When it was created; updates leave it as it is. */
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

/**
 * Why a live run has to end early: by overlap `replace` (O4), by `abortRun` (L6), by `stop` with `abortRunning` (L2).
 */
export type AbortCause = "replaced" | "aborted" | "stopped";

/** A run that an instance holds. */
export interface LiveRun {
  /** Numbers the schedule's runs from 1 and never repeats; a settlement must carry it (M4). */
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
 * (L6) and `lost` (M3) are faults as well; `replaced` (O4) is neither a fault nor a success.
 */
export type RunOutcome = "succeeded" | "faulted" | "timeout" | "aborted" | "replaced" | "lost";

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
  /** Points that catchup dropped or folded into another run (C). */
  readonly missedCount: number;
  /** Points that overlap dropped, and runs that it replaced (O). */
  readonly overlapCount: number;
  /** The latest fault. */
  readonly lastFault?: Fault;
  /** Start of the newest run. */
  readonly lastRun?: number;
  /** Milliseconds that the latest settled run took, to the microsecond. */
  readonly lastDurationMs?: number;
  /** Settled runs, however they ended; lost ones are none. For the mean. */
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
  /** The latest runs that are over, in the order in which they ended; as many as the definition's `history` says. */
  readonly history: readonly StoredRun[];
  /** The latest decisions, the newest last; at most 12. */
  readonly decisions: readonly StoredDecision[];
}

/** Everything about one schedule. Documents are values: they are replaced, never changed. */
export interface ScheduleDocument {
  /** A ULID. */
  readonly id: string;
  /** Kept by identity while unchanged, so that a driver need not write it again. */
  readonly definition: ScheduleDefinition;
  /** Where it stands. */
  readonly progress: ScheduleProgress;
  /**
   * Why the document cannot be used: it was damaged in the store. It waits, untouched, until it is updated or stopped.
   */
  readonly parked?: string;
}

/** What a driver indexes of a document. */
export interface DocumentIndex {
  /** Whose turn it is: the task's name; `""` once retired, so that any instance removes it; `null` when parked. */
  readonly lane: string | null;
  /** When it has to be looked at; what `advance` finds it by, with its lane. `null` when parked, or never. */
  readonly wakeAt: number | null;
  /** What {@linkcode nextRunOf} answers; what `dueBefore` is compared with. */
  readonly nextRun: number | null;
  /** The task's name, also once retired. */
  readonly task: string;
  /** The owner's id. */
  readonly owner: string;
  /** Unique with `owner` among live documents; `null` once retired, so that it is free again. */
  readonly name: string | null;
  /** Unique with `owner` among live documents; `null` once retired, so that it is free again. */
  readonly key: string | null;
  /** The declared set. */
  readonly group: string | null;
  /** What it is about. */
  readonly target: string | null;
  /** Words to list by; empty when it has none. */
  readonly tags: readonly string[];
  /** Whether it has not retired. */
  readonly live: boolean;
  /** Whether an instance holds a run of it. */
  readonly running: boolean;
}

/**
 * The next instant at which a schedule is to start a run: its armed deadline, or a retry before that; `null` when none
 * is, while it is paused, and once it has retired.
 */
export function nextRunOf({ progress }: ScheduleDocument): number | null {
  if (progress.retired !== undefined || progress.pausedAt !== undefined) return null;
  const times = progress.waiting.filter(({ cause }) => cause === "retry").map(({ at }) => at);
  if (progress.next !== null) times.push(progress.next.at);
  return times.length === 0 ? null : Math.min(...times);
}

/** Works out what a driver indexes of a document; pure. */
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
