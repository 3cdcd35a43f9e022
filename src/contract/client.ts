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
  readonly id: string;
  readonly scheduleId: string;
  readonly scheduledAt: Date;
  readonly startedAt: Date;
  /** Absent while it runs. */
  readonly endedAt?: Date;
  readonly attempt: number;
  readonly outcome: RunOutcome | "running";
  readonly instance: string;
  /** The fault's message. */
  readonly fault?: string;
}

/** One decision, for whoever asks why a schedule did not fire. */
export interface DecisionInfo {
  readonly what: DecisionWhat;
  readonly at: Date;
  /** How many in a row. */
  readonly count: number;
  readonly point?: Date;
  readonly detail?: string;
}

/** Everything about one schedule (V1). */
export interface ScheduleInfo {
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: ScheduleKind;
  readonly task: string;
  readonly target: string | undefined;
  readonly key: string | undefined;
  readonly group: string | undefined;
  readonly tags: readonly string[];
  readonly input: Json | undefined;
  readonly state: Json | undefined;
  readonly owner: string;
  readonly authority: Principal;
  readonly runAs: string;
  readonly spec: StoredSpec;
  readonly createdAt: Date;
  readonly nextRun: Date | null;
  readonly lastRun: Date | null;
  /** Runs started, retries and reruns included. */
  readonly runCount: number;
  readonly faultCount: number;
  readonly consecutiveFaults: number;
  readonly lastFault: Fault | undefined;
  readonly missedCount: number;
  readonly overlapCount: number;
  readonly lastDurationMs: number | undefined;
  readonly meanDurationMs: number | undefined;
  /** Within 5 % of the true value over the schedule's lifetime (V2). */
  readonly p99DurationMs: number | undefined;
  /** Runs in progress, the oldest first. */
  readonly running: readonly RunInfo[];
  /** Whether the interval was raised to one tick (T5). */
  readonly intervalClamped: boolean;
  readonly paused: boolean;
  readonly retired: boolean;
  readonly retireReason: string | undefined;
  /** Why the stored document cannot be used, when it was damaged. */
  readonly parked: string | undefined;
  readonly adaptive: boolean;
  readonly persist: boolean;
  readonly timeout: number | undefined;
  readonly onLost: "rerun" | "fault";
  readonly maxLost: number;
  readonly retention: number;
  readonly history: number;
  readonly timezone: string | undefined;
  readonly startAt: Date | undefined;
  readonly endAt: Date | undefined;
  readonly maxRuns: number | undefined;
  /** The options that policies own, each with the value in force. */
  readonly options: JsonObject;
  readonly catchup: Json | undefined;
  readonly overlap: Json | undefined;
  readonly jitter: Json | undefined;
  readonly retry: Json | undefined;
  readonly maxFaults: Json | undefined;
  /** The latest decisions, the newest last. */
  readonly decisions: readonly DecisionInfo[];
}

/** A schedule as creations and lists answer it: a snapshot with the calls that concern it. */
export interface Schedule<Extra extends object = object> {
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: ScheduleKind;
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
  readonly owner?: string;
  readonly target?: string;
  readonly task?: string;
  readonly name?: string;
  readonly group?: string;
  readonly tag?: string;
  readonly dueBefore?: Instant;
  /** Rows of a page, at most 1,000. Default 100. */
  readonly limit?: number;
  /** Where a page before this one ended. */
  readonly cursor?: string;
}

/** One page of a list. */
export interface Page<Extra extends object = object> {
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
  /** The same calls inside a transaction of the application on the same database (U4). */
  within(transaction: unknown): TransactionClient<Extra>;
  /** Runs a task now, here, with this client as the caller (S6); answers what it returns. */
  invoke<Input>(
    task: TaskRef<Input>,
    ...rest: undefined extends Input ? [input?: Input] : [input: Input]
  ): Promise<unknown>;
}
