import type { Principal, ScheduleKind, StoredSpec } from "./definition.ts";
import type { Json, JsonObject } from "./json.ts";
import type { DecisionWhat, Fault, RunOutcome } from "./progress.ts";

/** A run, finished or in progress, as `runs` and `running` tell it. */
export interface RunInfo {
  /** The run's id; not a schedule's. */
  readonly id: string;
  /** The schedule that it belongs to. */
  readonly scheduleId: string;
  /** The cadence point or deadline that it stands for. */
  readonly scheduledAt: Date;
  /** When its handler was started; while it is in progress, and for a lost or released one, when it was claimed. */
  readonly startedAt: Date;
  /** When it ended; absent while it is in progress. */
  readonly endedAt?: Date;
  /** 1 for the first run of a deadline, one more for each retry and each rerun of a lost or released one. */
  readonly attempt: number;
  /** How it ended, or `"running"`. */
  readonly outcome: RunOutcome | "running";
  /** The instance that runs it, or ran it. */
  readonly instance: string;
  /** What went wrong: the error's name and message, at most 300 characters. */
  readonly fault?: string;
}

/** One decision, for whoever asks why a schedule did not fire. */
export interface DecisionInfo {
  /** What was decided. */
  readonly what: DecisionWhat;
  /** When, the last time. */
  readonly at: Date;
  /** How many in a row. */
  readonly count: number;
  /** The point that it was about, the last one of several. */
  readonly point?: Date;
  /** A word more, such as a reason. */
  readonly detail?: string;
}

/** Everything about one schedule (V1). */
export interface ScheduleInfo {
  /** The schedule's id, a ULID. */
  readonly id: string;
  /**
   * Stands for the definition, and for whether it is paused or has retired: the same text on every instance as long as
   * these are the same. Runs do not change it. See `ifRevision` of {@linkcode ChangeOptions}.
   */
  readonly revision: string;
  /** Its name, unique among its owner's live schedules. */
  readonly name: string | undefined;
  /** Once, at an interval, or by the calendar. */
  readonly kind: ScheduleKind;
  /** The name of the task that it runs. */
  readonly task: string;
  /** What it is about. */
  readonly target: string | undefined;
  /** The key that it was created under. */
  readonly key: string | undefined;
  /** The declared set that it belongs to. */
  readonly group: string | undefined;
  /** Words to list by. */
  readonly tags: readonly string[];
  /** The task's input, as it was given; a copy. */
  readonly input: Json | undefined;
  /** The value handed to each run; a copy. */
  readonly state: Json | undefined;
  /** The id of its owner. */
  readonly owner: string;
  /** The principal that its runs are made under. */
  readonly authority: Principal;
  /** Whom its runs act for. */
  readonly runAs: string;
  /** When it fires. */
  readonly spec: StoredSpec;
  /** When it was created. */
  readonly createdAt: Date;
  /**
   * The next deadline; `null` while it is paused, once it has retired, and while its last one runs. A retry is none.
   */
  readonly nextRun: Date | null;
  /** When its newest run started; `null` before the first. */
  readonly lastRun: Date | null;
  /** Runs started, retries and reruns included. */
  readonly runCount: number;
  /** Faults in all, losses included. */
  readonly faultCount: number;
  /** Faults in a row, each deadline with its retries counted once, and each loss; a success makes it 0. */
  readonly consecutiveFaults: number;
  /** The latest fault, with its time. */
  readonly lastFault: Fault | undefined;
  /** Points that catchup dropped or folded into another run, and those that it owed when another time was set. */
  readonly missedCount: number;
  /** Points that overlap dropped, or held when another time was set, and runs that it replaced. */
  readonly overlapCount: number;
  /** Milliseconds that the latest settled run took. */
  readonly lastDurationMs: number | undefined;
  /** Milliseconds that settled runs took on average, over the schedule's lifetime. */
  readonly meanDurationMs: number | undefined;
  /** Milliseconds that 99 of 100 settled runs did not exceed, within 5 %, over the schedule's lifetime (V2). */
  readonly p99DurationMs: number | undefined;
  /** Runs in progress, the oldest first. */
  readonly running: readonly RunInfo[];
  /** Whether the interval was raised to one tick (T5). */
  readonly intervalClamped: boolean;
  /** Whether its deadlines are held. */
  readonly paused: boolean;
  /** Whether it is over and only its record is left. */
  readonly retired: boolean;
  /** Why it retired (L4): such as `"completed"`, `"failed"`, `"max_faults"`, or what `ctx.retire` was given. */
  readonly retireReason: string | undefined;
  /** Why the stored document cannot be used, when it was damaged. */
  readonly parked: string | undefined;
  /** Whether a handler's `again(delay)` sets the next deadline. */
  readonly adaptive: boolean;
  /** Whether it is in the store, and not in this process only. */
  readonly persist: boolean;
  /** Milliseconds after which a run is aborted; none when absent. */
  readonly timeout: number | undefined;
  /** What happens to a run whose instance was lost. */
  readonly onLost: "rerun" | "fault";
  /** With the last of so many losses a deadline is given up (M3). */
  readonly maxLost: number;
  /** Milliseconds for which the record is kept after retirement. */
  readonly retention: number;
  /** Runs kept in the history. */
  readonly history: number;
  /** The zone of a cron schedule. */
  readonly timezone: string | undefined;
  /** No point lies before it. */
  readonly startAt: Date | undefined;
  /** No point lies after it. */
  readonly endAt: Date | undefined;
  /** Deadlines that fire in all; retries and triggered runs do not count. */
  readonly maxRuns: number | undefined;
  /** The options that policies own, each with the value in force. What is left out within a value is at its default there. */
  readonly options: JsonObject;
  /** The option `catchup` in force. */
  readonly catchup: Json | undefined;
  /** The option `overlap` in force. */
  readonly overlap: Json | undefined;
  /** The option `jitter` in force; durations in milliseconds. */
  readonly jitter: Json | undefined;
  /** The option `retry` in force, if any; durations in milliseconds, what was left out (`backoff`, …) absent. */
  readonly retry: Json | undefined;
  /** The option `maxFaults` in force. */
  readonly maxFaults: Json | undefined;
  /** The latest decisions, the newest last. */
  readonly decisions: readonly DecisionInfo[];
}
