import type { RunInfo, ScheduleInfo } from "./info.ts";
import type { ChangeOptions, ListFilter, StopOptions, SyncOptions } from "./schedule.ts";
import type { Principal, ScheduleKind } from "./definition.ts";
import type { SchedulerErrorCode } from "./errors.ts";
import type { Explanation } from "./explain.ts";
import type { Json } from "./json.ts";
import type { NextRunsSpec, ScheduleRequest, UpdateRequest } from "./options.ts";
import type { TaskInfo } from "./task_info.ts";
import type { Instant } from "./time.ts";

/** A value as it travels: instants as ISO 8601 text in UTC, and what is `undefined` left out. */
export type Wire<Value> = Value extends Date ? string
  : Value extends readonly (infer Member)[] ? readonly Wire<Member>[]
  : Value extends object ? { readonly [Key in keyof Value]: Wire<Value[Key]> }
  : Value;

/** A schedule as it travels. */
export interface WireSchedule {
  /** The schedule's id, a ULID. */
  readonly id: string;
  /** Its name; absent when it has none. */
  readonly name?: string | undefined;
  /** Once, at an interval, or by the calendar. */
  readonly kind: ScheduleKind;
  /** The name of the task that it runs. */
  readonly task: string;
  /** The next deadline, as ISO 8601 text. */
  readonly nextRun: string | null;
}

/** What a creation answers: everything about the schedule. */
export type WireCreated = Wire<ScheduleInfo> & {
  /** Whether it was made; not so when its name or key found a live one. */
  readonly created: boolean;
};

/** What a creation takes besides the schedules. */
export interface Repeatable {
  /**
   * Text of up to 200 characters, by which the principal's same creation, made again within 24 h on any instance, answers
   * the schedules that it made the first time, and makes none, whatever has become of them. Errors: `conflict` for another
   * creation under the same key; `invalid_option` for more than 1,000 schedules.
   */
  readonly idempotencyKey?: string;
}

/** One page of a list as it travels. */
export interface WirePage {
  /** In order of id. */
  readonly schedules: readonly WireSchedule[];
  /** For the next page; absent on the last one. */
  readonly cursor?: string;
}

/** One change of a transaction that is given as a list. */
export type TransactionStep<Extra extends object = object> =
  | { readonly create: ScheduleRequest<Extra> }
  | { readonly update: string; readonly to: UpdateRequest<Extra> }
  | ({ readonly stop: string } & StopOptions)
  | { readonly pause: string }
  | { readonly resume: string }
  | { readonly trigger: string };

/**
 * Every call that a transport carries, with its parameters and its answer. Parameters are what the calls of
 * `ScheduleClient` take, as one object; their instants may be anything that JSON carries.
 */
export interface ApiCalls<Extra extends object = object> {
  /** Creates one schedule, given as one flat object. */
  readonly create: Call<{ readonly schedule: ScheduleRequest<Extra> } & Repeatable, WireCreated>;
  /** Creates many, all or nothing. */
  readonly createMany: Call<
    { readonly schedules: readonly ScheduleRequest<Extra>[] } & Repeatable,
    readonly WireSchedule[]
  >;
  /** Registers a declared set. */
  readonly sync: Call<
    { readonly schedules: readonly (ScheduleRequest<Extra> & { readonly name: string })[] } & SyncOptions,
    readonly WireSchedule[]
  >;
  /** Several changes, all or nothing; answers a schedule for each creation and update, and true or false for the rest. */
  readonly transaction: Call<
    { readonly steps: readonly TransactionStep<Extra>[] },
    readonly (WireSchedule | boolean)[]
  >;
  /** Changes a schedule. */
  readonly update: Call<
    { readonly id: string; readonly to: UpdateRequest<Extra> } & ChangeOptions,
    Wire<ScheduleInfo>
  >;
  /** Ends a schedule. */
  readonly stop: Call<ById & StopOptions & ChangeOptions, boolean>;
  /** Holds deadlines. */
  readonly pause: Call<ById & ChangeOptions, boolean>;
  /** Goes on after `pause`. */
  readonly resume: Call<ById & ChangeOptions, boolean>;
  /** One run now. */
  readonly trigger: Call<ById & ChangeOptions, boolean>;
  /** Aborts a run. */
  readonly abortRun: Call<{ readonly runId: string }, boolean>;
  /** Stops what is about a target. */
  readonly stopFor: Call<{ readonly target: string } & StopOptions, number>;
  /** Runs a task now and answers what its handler returns; absent when that is `undefined`. */
  readonly invoke: Call<{ readonly task: string; readonly input?: unknown }, Json | undefined>;
  /** Whether an id names a live schedule. */
  readonly valid: Call<ById, boolean>;
  /** Everything about one schedule. */
  readonly info: Call<ById, Wire<ScheduleInfo>>;
  /** Why it fires or does not. */
  readonly explain: Call<ById, Wire<Explanation>>;
  /** Its latest runs. */
  readonly runs: Call<ById, readonly Wire<RunInfo>[]>;
  /** The runs in progress. */
  readonly running: Call<Readonly<Record<string, never>>, readonly Wire<RunInfo>[]>;
  /** One page of live schedules. */
  readonly list: Call<ListFilter, WirePage>;
  /** Live schedules about a target. */
  readonly listFor: Call<{ readonly target: string }, readonly WireSchedule[]>;
  /** The tasks that the principal may use. */
  readonly tasks: Call<Readonly<Record<string, never>>, readonly TaskInfo[]>;
  /** The next deadlines of a spec. */
  readonly nextRuns: Call<
    { readonly spec: NextRunsSpec; readonly count: number; readonly from?: Instant },
    readonly string[]
  >;
}

/** A call's parameters and answer. */
export interface Call<Parameters, Answer> {
  /** What is given. */
  readonly parameters: Parameters;
  /** What comes back. */
  readonly answer: Answer;
}

/** A schedule's id alone. */
export interface ById {
  /** A ULID. */
  readonly id: string;
}

/** The name of a call. */
export type ApiCallName = keyof ApiCalls;

/** Every call, and whether it changes anything: a command, or a query, which may be asked again at will. */
export const API_CALLS: Readonly<Record<ApiCallName, "command" | "query">> = {
  create: "command",
  createMany: "command",
  sync: "command",
  transaction: "command",
  update: "command",
  stop: "command",
  pause: "command",
  resume: "command",
  trigger: "command",
  abortRun: "command",
  stopFor: "command",
  invoke: "command",
  valid: "query",
  info: "query",
  explain: "query",
  runs: "query",
  running: "query",
  list: "query",
  listFor: "query",
  tasks: "query",
  nextRuns: "query",
};

/**
 * What every transport speaks: calls of a principal, in plain JSON both ways. A transport authenticates whoever asks,
 * hands over what it was asked, and gives back the answer or, through {@linkcode errorToWire}, the error; it decides
 * nothing. `Scheduler.api` has one. `Extra` are the options that the scheduler's plugins add.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 *
 * const beat = defineTask("beat", () => {});
 * await using scheduler = createScheduler({ tasks: [beat] });
 * const alice = { id: "alice" };
 * const at = "2031-01-01T00:00:00Z";
 * const made = await scheduler.api.call(alice, "create", { schedule: { task: "beat", at } });
 * console.log(made.nextRun, await scheduler.api.call(alice, "stop", { id: made.id })); // 2031-01-01T00:00:00.000Z true
 * ```
 */
export interface SchedulerApi<Extra extends object = object> {
  /**
   * Makes a call for a principal, which is checked as by `Scheduler.as`; the scheduler's own `principal` itself, and no
   * copy of it, is the system. Errors: `invalid_option` for an unknown call; `unknown_option` for an unknown parameter;
   * those of the call; for `invoke`, whatever the handler threw.
   */
  call<Name extends ApiCallName>(
    principal: Principal,
    name: Name,
    parameters: ApiCalls<Extra>[Name]["parameters"],
  ): Promise<ApiCalls<Extra>[Name]["answer"]>;
}

/** An error as it travels: the scheduler's own with its code, a handler's without one. Stacks and causes stay behind. */
export interface WireError {
  /** The error's name. */
  readonly name: string;
  /** Its message. */
  readonly message: string;
  /** The scheduler's code; absent for an error of a handler. */
  readonly code?: SchedulerErrorCode;
  /** Facts for programs. */
  readonly details?: Json;
  /** Whether the same call may succeed later without any change. */
  readonly retryable?: boolean;
}
