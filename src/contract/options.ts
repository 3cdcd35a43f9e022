import type { ScheduleKind, StoredDst } from "./definition.ts";
import type { Json } from "./json.ts";
import type { Duration, Instant } from "./time.ts";

/** What becomes of points that passed with nothing running (C). */
export type CatchupPolicy = "once" | "skip" | "all";
/** What becomes of a point that arrives during a run (O). */
export type OverlapPolicy = "skip" | "queue" | "concurrent" | "replace";

/** The option `catchup`. Default `"once"`. */
export type CatchupOption = CatchupPolicy | {
  readonly policy: CatchupPolicy;
  /**
   * How late a point may be and still be an ordinary run. Default: the smaller of 60 s and half the gap to the next
   * point, also for the last one before `endAt`.
   */
  readonly grace?: Duration;
  /** With `all`: the newest so many run. Default 100. */
  readonly limit?: number;
  /** With `all`: points older than this are dropped. Default none. */
  readonly window?: Duration;
};

/** The option `overlap`. Default `"skip"`. */
export type OverlapOption = OverlapPolicy | {
  readonly policy: OverlapPolicy;
  /** With `queue`: how many may wait, default 1. With `concurrent`: how many run together, default 100. At most 100. */
  readonly limit?: number;
};

/**
 * The option `jitter`: ± a duration drawn anew for each deadline, or one stable offset from 0 to `spread` that the
 * schedule's id decides (J). Default 0. It moves no time that a handler asked for with `again`: that counts from the end
 * of a run, so that one would add to the other (A1, J2).
 */
export type JitterOption = Duration | {
  /** The largest offset. */
  readonly spread: Duration;
};

/** The option `retry`: attempts at the same deadline after a fault (F4). Default none. */
export type RetryOption = {
  /** Attempts after the first, at most 1,000. */
  readonly limit: number;
  /** Before the first of them, counted from the fault. Default 1 s. */
  readonly delay?: Duration;
  /** Factor from one delay to the next, at least 1. Default 2. */
  readonly backoff?: number;
  /** No delay is longer. Default 1 h. */
  readonly maxDelay?: Duration;
};

/** The options that the standard policies own. */
export interface StandardPolicyOptions {
  /**
   * What becomes of points that passed with nothing running: down, asleep, stalled (C). Default `"once"`: one run for
   * all.
   */
  readonly catchup?: CatchupOption;
  /** What becomes of a point that arrives during a run (O). Default `"skip"`: it is dropped. */
  readonly overlap?: OverlapOption;
  /** How far deadlines are moved, so that they do not all fall together (J). Default 0. */
  readonly jitter?: JitterOption;
  /** Attempts at the same deadline after a fault (F4). Default: the task's, or none. */
  readonly retry?: RetryOption;
  /** Consecutive faults after which a recurring schedule retires; 0 means no limit. Default 50 (F2). */
  readonly maxFaults?: number;
}

/** The options that every schedule takes and that the core itself owns. */
export interface CoreOptions {
  /** One live schedule of that name per owner: creating it again updates it (N). At most 200 characters. */
  readonly name?: string;
  /** A creation whose key names a live schedule of the same owner answers that one (I5). Not together with `name`. */
  readonly key?: string;
  /**
   * What a creation does that finds its key: leaves the schedule as it is, gives it the new definition under the same id
   * and counters, or throws `conflict`. Default `"keep"`.
   */
  readonly onConflict?: "keep" | "replace" | "error";
  /** The declared set it belongs to (N4). */
  readonly group?: string;
  /** What the schedule is about, such as `"room:42"` (I6). */
  readonly target?: string;
  /** At most 20 words to list by, each of at most 200 characters. */
  readonly tags?: readonly string[];
  /** The id of the owner; the system only. Default: who creates. */
  readonly owner?: string;
  /** Whom runs act for (P3). Default: the owner. */
  readonly runAs?: { readonly id: string };
  /** A JSON value handed to each run unchanged, at most 4 KiB (S3). */
  readonly state?: Json;
  /**
   * `false` keeps the schedule in this process only: it never runs elsewhere and is gone with it (I4). Default `true`.
   */
  readonly persist?: boolean;
  /** Whether a handler's `again(delay)` counts (A1). Default `true` for `at`, `false` otherwise. */
  readonly adaptive?: boolean;
  /** Time after which a run is aborted (F5); 0 means never. Default: the task's. */
  readonly timeout?: Duration;
  /**
   * What happens to a run whose instance died or hung (M3): it starts again (at least once), or counts as a fault and
   * does not (at most once). Default `"rerun"`.
   */
  readonly onLost?: "rerun" | "fault";
  /** With the last of so many losses a deadline is given up, from 1 to 100 (M3). Default 3. */
  readonly maxLost?: number;
  /** How long the record is kept after retirement (L3). Default: the scheduler's, 60 s. */
  readonly retention?: Duration;
  /** Runs kept for `runs` to tell, from 0 to 100 (V4). Default 20. */
  readonly history?: number;
}

/** The further options of a recurring schedule. */
export interface RecurringOptions {
  /** No point before this; for `every` it sets the phase and may be in the past (T4). */
  readonly startAt?: Instant;
  /** No point after this; one exactly at it fires. Then the schedule retires with `ended` (T9), paused or not. */
  readonly endAt?: Instant;
  /** Deadlines that fire in all, from 1; then it retires with `ended` (T9). Retries and triggered runs do not count. */
  readonly maxRuns?: number;
}

/** The further options of a cron schedule. */
export interface CalendarOptions {
  /**
   * An IANA name (K3). Default: the scheduler's `defaults.timezone`, or `"UTC"`; never the machine's. With `every` it is
   * checked and has no effect: an interval is real time.
   */
  readonly timezone?: string;
  /** What clock changes do to fixed-time jobs (K4, K5). */
  readonly dst?: StoredDst;
}

/** Options of a one-shot; `Extra` are those of the plugins in use. */
export type AtOptions<Extra extends object = object> = CoreOptions & StandardPolicyOptions & Extra;
/** Options of an interval. */
export type EveryOptions<Extra extends object = object> = AtOptions<Extra> & RecurringOptions;
/** Options of a cron schedule; its name stands before them. */
export type CronOptions<Extra extends object = object> = Omit<EveryOptions<Extra>, "name"> & CalendarOptions;

/**
 * When a schedule fires, as part of one flat object: exactly one of the four, each as the call of its name takes it.
 */
export type Timing =
  | { readonly at: Instant }
  | { readonly after: Duration }
  | { readonly every: Duration }
  | { readonly cron: string };

/** One schedule as one flat object, as `createMany`, `sync` and HTTP take it. */
export type ScheduleRequest<Extra extends object = object> =
  & {
    readonly task: string | { readonly name: string };
    readonly input?: unknown;
    /** If given, it has to go with the timing: `at` and `after` are of kind `"at"`. */
    readonly kind?: ScheduleKind;
  }
  & Timing
  & EveryOptions<Extra>
  & CalendarOptions;

/** What `update` changes: timing, input, and any option that may change later. */
export type UpdateRequest<Extra extends object = object> =
  & {
    readonly at?: Instant;
    readonly after?: Duration;
    readonly every?: Duration;
    readonly cron?: string;
    readonly input?: unknown;
  }
  & Partial<Omit<EveryOptions<Extra>, "name" | "key" | "onConflict" | "owner" | "persist">>
  & CalendarOptions;

/** A spec whose next runs are asked for without storing it (K6). */
export type NextRunsSpec = Timing & RecurringOptions & CalendarOptions & { readonly name?: string };
