import type { DecisionWhat, Fault, Principal, RunOutcome, ScheduleKind, StoredSpec } from "./document.ts";
import type { Json, JsonObject } from "./json.ts";
import type { AtOptions, CronOptions, EveryOptions, NextRunsSpec, ScheduleRequest, UpdateRequest } from "./options.ts";
import type { Task } from "./task.ts";
import type { Duration, Instant } from "./time.ts";

/** A task by definition or by name, with the type of its input. */
// deno-lint-ignore no-explicit-any
export type TaskRef<Input = unknown> = Task<Input, any> | string;

/** The arguments after the time: the input, which may be left out where the task takes none, and the options. */
export type InputAndOptions<Input, Options> = undefined extends Input ? [input?: Input, options?: Options]
  : [input: Input, options?: Options];

/** A run, finished or in progress, as `runs` and `running` tell it. */
export interface RunInfo {
  /** The run's id; not a schedule's. */
  readonly id: string;
  /** The schedule that it belongs to. */
  readonly scheduleId: string;
  /** The cadence point or deadline that it stands for. */
  readonly scheduledAt: Date;
  /** When it started. */
  readonly startedAt: Date;
  /** Absent while it runs. */
  readonly endedAt?: Date;
  /** 1 for the first run of a deadline, one more for each retry. */
  readonly attempt: number;
  /** How it ended, or `"running"`. */
  readonly outcome: RunOutcome | "running";
  /** The instance that runs it, or ran it. */
  readonly instance: string;
  /** The fault's message. */
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
  /** The next deadline; `null` while it is paused, once it has retired, and while its last one runs. */
  readonly nextRun: Date | null;
  /** When its newest run started; `null` before the first. */
  readonly lastRun: Date | null;
  /** Runs started, retries and reruns included. */
  readonly runCount: number;
  /** Faults in all. */
  readonly faultCount: number;
  /** Deadlines in a row that ended in a fault. */
  readonly consecutiveFaults: number;
  /** The latest fault, with its time. */
  readonly lastFault: Fault | undefined;
  /** Points that catchup dropped or folded into another run. */
  readonly missedCount: number;
  /** Points that overlap dropped, and runs that it replaced. */
  readonly overlapCount: number;
  /** Milliseconds that the latest settled run took. */
  readonly lastDurationMs: number | undefined;
  /** Milliseconds that settled runs took on average. */
  readonly meanDurationMs: number | undefined;
  /** Within 5 % of the true value over the schedule's lifetime (V2). */
  readonly p99DurationMs: number | undefined;
  /** Runs in progress, the oldest first. */
  readonly running: readonly RunInfo[];
  /** Whether the interval was raised to one tick (T5). */
  readonly intervalClamped: boolean;
  /** Whether its deadlines are held. */
  readonly paused: boolean;
  /** Whether it is over and only its record is left. */
  readonly retired: boolean;
  /** Why it retired. */
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
  /** How often one deadline may be lost. */
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
  /** Deadlines that fire in all. */
  readonly maxRuns: number | undefined;
  /** The options that policies own, each with the value in force. */
  readonly options: JsonObject;
  /** The option `catchup` in force. */
  readonly catchup: Json | undefined;
  /** The option `overlap` in force. */
  readonly overlap: Json | undefined;
  /** The option `jitter` in force; durations in milliseconds. */
  readonly jitter: Json | undefined;
  /** The option `retry` in force, if any; durations in milliseconds. */
  readonly retry: Json | undefined;
  /** The option `maxFaults` in force. */
  readonly maxFaults: Json | undefined;
  /** The latest decisions, the newest last. */
  readonly decisions: readonly DecisionInfo[];
}

/** A schedule as creations and lists answer it: a snapshot with the calls that concern it. */
export interface Schedule<Extra extends object = object> {
  /** The schedule's id, a ULID. */
  readonly id: string;
  /** Its name, if it has one. */
  readonly name: string | undefined;
  /** Once, at an interval, or by the calendar. */
  readonly kind: ScheduleKind;
  /** The name of the task that it runs. */
  readonly task: string;
  /** The next deadline when this was answered. */
  readonly nextRun: Date | null;
  /** See {@linkcode ScheduleClient.stop}. */
  stop(options?: StopOptions): Promise<boolean>;
  /** See {@linkcode ScheduleClient.info}. */
  info(): Promise<ScheduleInfo>;
  /** See {@linkcode ScheduleClient.pause}. */
  pause(): Promise<boolean>;
  /** See {@linkcode ScheduleClient.resume}. */
  resume(): Promise<boolean>;
  /** See {@linkcode ScheduleClient.trigger}. */
  trigger(): Promise<boolean>;
  /** See {@linkcode ScheduleClient.update}. */
  update(request: UpdateRequest<Extra>): Promise<Schedule<Extra>>;
  /** See {@linkcode ScheduleClient.runs}. */
  runs(): Promise<readonly RunInfo[]>;
}

/** What `stop` takes. */
export interface StopOptions {
  /** Abort a run in progress through its signal. Default `false`. */
  readonly abortRunning?: boolean;
}

/** What `list` takes; all given conditions must hold. */
export interface ListFilter {
  /** The owner's id. Another than one's own: an admin only. */
  readonly owner?: string;
  /** What the schedule is about. */
  readonly target?: string;
  /** The task's name. */
  readonly task?: string;
  /** The schedule's name. */
  readonly name?: string;
  /** The declared set. */
  readonly group?: string;
  /** One of its tags. */
  readonly tag?: string;
  /** The next deadline lies before this instant. */
  readonly dueBefore?: Instant;
  /** Rows of a page, at most 1,000. Default 100. */
  readonly limit?: number;
  /** Where a page before this one ended. */
  readonly cursor?: string;
}

/** One page of a list. */
export interface Page<Extra extends object = object> {
  /** The page's schedules, in order of id. */
  readonly schedules: readonly Schedule<Extra>[];
  /** Give it to the next call; absent on the last page. */
  readonly cursor?: string;
}

/** A list: iterate over all of it, or ask for one page. */
export interface ScheduleList<Extra extends object = object> extends AsyncIterable<Schedule<Extra>> {
  /** One page, from the filter's cursor. */
  page(): Promise<Page<Extra>>;
}

/** What `sync` takes besides the declared set. */
export interface SyncOptions {
  /** The set's name; members that are no longer declared are stopped. */
  readonly group: string;
}

/** The calls that create and change schedules; the same alone, in a unit of work, and in the application's transaction. */
export interface TransactionClient<Extra extends object = object> {
  /** Runs a task once at an instant; a past one at once (T1). */
  at<Input>(
    task: TaskRef<Input>,
    when: Instant,
    ...rest: InputAndOptions<Input, AtOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /** Runs a task once after a delay. */
  after<Input>(
    task: TaskRef<Input>,
    delay: Duration,
    ...rest: InputAndOptions<Input, AtOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /** Runs a task at a fixed interval. */
  every<Input>(
    task: TaskRef<Input>,
    interval: Duration,
    ...rest: InputAndOptions<Input, EveryOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /** Runs a task by the calendar, under a name (N1). */
  cron<Input>(
    name: string,
    expression: string,
    task: TaskRef<Input>,
    ...rest: InputAndOptions<Input, CronOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /** Creates many, all or nothing; answers in order. */
  createMany(requests: readonly ScheduleRequest<Extra>[]): Promise<readonly Schedule<Extra>[]>;
  /** Whether the id names a live schedule. */
  valid(id: string): Promise<boolean>;
  /** Ends a live schedule: true if it did, false for anything already over (L1). Errors: `permission_denied`. */
  stop(id: string, options?: StopOptions): Promise<boolean>;
  /** Changes a live schedule, keeping id and counters (L5). Errors: `not_found`, `permission_denied`, `conflict` for a retired one, as creation. */
  update(id: string, request: UpdateRequest<Extra>): Promise<Schedule<Extra>>;
  /** Holds deadlines (L5); false if it already was paused or is over. */
  pause(id: string): Promise<boolean>;
  /** Goes on in phase (L5); false if it was not paused or is over. */
  resume(id: string): Promise<boolean>;
  /** Starts one run now beside the cadence, under the overlap policy; false if that dropped it, or it is over. */
  trigger(id: string): Promise<boolean>;
  /** Everything about one schedule (V1). Errors: `not_found`, `permission_denied`. */
  info(id: string): Promise<ScheduleInfo>;
}

/** What a caller can do, limited to what its principal may. */
export interface ScheduleClient<Extra extends object = object> extends TransactionClient<Extra> {
  /** Whom this client acts for. */
  readonly principal: Principal;
  /** Registers a declared set and stops the members of its group that are no longer declared (N4), in one step. */
  sync(
    requests: readonly (ScheduleRequest<Extra> & { readonly name: string })[],
    options: SyncOptions,
  ): Promise<readonly Schedule<Extra>[]>;
  /** The recent runs, the newest first; those in progress before them (V4). */
  runs(id: string): Promise<readonly RunInfo[]>;
  /** Runs in progress on all instances: an admin's view all, others their own. */
  running(): Promise<readonly RunInfo[]>;
  /** Aborts a run wherever it executes; false if it is over (L6). */
  abortRun(runId: string): Promise<boolean>;
  /** Live schedules (V3, P2). */
  list(filter?: ListFilter): ScheduleList<Extra>;
  /** Live schedules about a target, of any owner (I6). */
  listFor(target: string): Promise<readonly Schedule<Extra>[]>;
  /** Stops those about a target that the caller may stop; answers how many (I6). */
  stopFor(target: string, options?: StopOptions): Promise<number>;
  /** The next deadlines of a spec, without storing it (K6). Throws as creation would. */
  nextRuns(spec: NextRunsSpec, count: number, options?: { readonly from?: Instant }): Date[];
  /** Buffers changes; all take effect when the function resolves, none if it throws (U1). */
  transaction<Result>(work: (tx: TransactionClient<Extra>) => Promise<Result> | Result): Promise<Result>;
  /**
   * The same calls inside a transaction of the application on the same database (U4). The methods of the schedules that
   * they answer belong to the transaction, too: once it is over, use this client with their ids.
   */
  within(transaction: unknown): TransactionClient<Extra>;
  /** Runs a task now, here, with this client as the caller (S6); answers what it returns. */
  invoke<Input>(
    task: TaskRef<Input>,
    ...rest: undefined extends Input ? [input?: Input] : [input: Input]
  ): Promise<unknown>;
}
