import type { Principal, ScheduleKind } from "./definition.ts";
import type { Json } from "./json.ts";
import type { Duration } from "./time.ts";
import type { Logger } from "./clock.ts";
import type { TransactionClient } from "./transaction_client.ts";
import type { RetryOption } from "./options.ts";
import type { RunSignal } from "./run_signal.ts";

/** The part of a Standard Schema (version 1) that the scheduler uses; Zod, Valibot, ArkType and others fit. */
export interface InputSchema<Input = unknown, Output = Input> {
  /** The properties of the standard, https://standardschema.dev. */
  readonly "~standard": {
    /** The standard's version. */
    readonly version: 1;
    /** The library's name. */
    readonly vendor: string;
    /** Answers what the handler gets, or what is wrong; gets a copy, which it may change. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** For types alone; never read. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that a schema does not accept. */
export interface SchemaIssue {
  /** What is wrong, for people. */
  readonly message: string;
  /** Where in the value; absent for the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a handler returns to set the next deadline: see {@linkcode again}. */
export interface Again {
  /** The delay. */
  readonly [AGAIN]: Duration;
}

/** Marks an {@linkcode Again}, across copies of the package. */
export const AGAIN: unique symbol = Symbol.for("ostinato.again") as never;

/**
 * Asks for the next run after a delay, counted from when this one is settled (A1). On a one-shot it makes a chain
 * under one id (A2); on a recurring schedule with `adaptive: true` it replaces the next deadline only (A3); without
 * `adaptive` it asks for nothing (A5). A delay below a tick is raised to one; one that is negative, NaN or no duration
 * makes the run a fault (A4). Between two runs nothing exists but the stored schedule, so a chain survives restarts.
 *
 * @example
 * ```ts
 * import { again, createScheduler, defineTask } from "@ostinato/scheduler";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2026-01-01T00:00:00Z");
 * let left = 3;
 * const poll = defineTask("poll", () => --left > 0 ? again("30s") : undefined);
 * await using scheduler = createScheduler({ clock, tasks: [poll] });
 * await scheduler.start();
 * const chain = await scheduler.after(poll, "10s");
 * await clock.advance("2m");
 * const { runCount, retireReason } = await chain.info();
 * console.log(runCount, retireReason); // 3 completed
 * ```
 */
export function again(delay: Duration): Again {
  return { [AGAIN]: delay };
}

/** The schedule that a run belongs to. */
export interface RunSchedule {
  /** The schedule's id; with `ctx.scheduledAt` it is the run's idempotency key. For an invoked run, the call's own. */
  readonly id: string;
  /** Its name, if it has one. */
  readonly name: string | undefined;
  /** Once, at an interval, or by the calendar; `"at"` for an invoked run. */
  readonly kind: ScheduleKind;
}

/** What a run is told besides its input (S). */
export interface RunContext {
  /**
   * The cadence point or deadline that this run stands for. Of a triggered run: when it was asked for, or the first
   * millisecond after that no other run of the schedule stands for.
   */
  readonly scheduledAt: Date;
  /** Real milliseconds since the schedule's previous run started; 0 the first time. Survives restarts. */
  readonly elapsed: number;
  /** 1 for the first run of a deadline, one more for each retry and each rerun of a lost one. */
  readonly attempt: number;
  /** This run's id; not a schedule's. */
  readonly runId: string;
  /** The value given at creation; the run's own copy (S3). */
  readonly state: Json | undefined;
  /** What the schedule is about. */
  readonly target: string | undefined;
  /** Missed points folded into this run (C2). */
  readonly missed: number;
  /**
   * Aborts on timeout, `abortRun`, `replace`, a lost lease, `stop` with `abortRunning`, and when a close's drain time
   * is over (S5). A handler that does not heed it goes on, and its result is ignored.
   */
  readonly signal: RunSignal;
  /** The schedule that the run belongs to. */
  readonly schedule: RunSchedule;
  /** The id of the schedule's owner. */
  readonly owner: string;
  /** Whom the run acts for: the owner unless `runAs` says otherwise. */
  readonly runAs: string;
  /** The client that invoked the run; `undefined` for a scheduled one (S6). */
  readonly caller: Principal | undefined;
  /** The caller. Errors: `no_caller` for a scheduled run (S6). */
  requireCaller(): Principal;
  /**
   * The scheduler as the schedule's authority; changes commit in the step that settles the run, or never (U3). Errors:
   * `conflict` for a call that begins once the run is over.
   */
  readonly schedules: TransactionClient;
  /** The scheduler's logger. */
  readonly logger: Logger;
  /**
   * Ends the schedule with this run: it retires with the reason, at most 200 characters, once the run succeeds (L4).
   * Errors: `invalid_option` for a reason that is none; `conflict` in an invoked run, which has no schedule, and
   * once the run is over.
   */
  retire(reason: string): void;
}

/** A task's code: gets the validated input and the run's context. */
export type Handler<Output = unknown> = (input: Output, context: RunContext) => unknown;

/** What {@linkcode defineTask} takes besides a name. */
export interface TaskDefinition<Input = unknown, Output = Input> {
  /**
   * Validates the input at creation (`invalid_input`) and again before a run, where a refusal is a fault (S4). What is
   * stored is the input as it was given; the handler gets what the schema made of it. Default: any JSON value.
   */
  readonly input?: InputSchema<Input, Output>;
  /** The handler. */
  readonly run: Handler<Output>;
  /** Only the system may schedule and invoke it; for anybody else the name does not exist (P4). Default `false`. */
  readonly internal?: boolean;
  /**
   * Time after which a run is aborted and counts as a fault; a handler that ignores its signal for 5 s more loses its
   * slot (F5). At least 1 ms. Default none. A schedule's own option wins. Stored with each schedule at its creation.
   */
  readonly timeout?: Duration;
  /**
   * Attempts after a fault (F4). Default none. A schedule's own option wins. Stored with each schedule at its creation.
   */
  readonly retry?: RetryOption;
  /** Runs of this task at once on one instance. Default the scheduler's `concurrency`. */
  readonly concurrency?: number;
  /**
   * May the principal use the task with this input? Asked at creation and at `invoke`, where a refusal is
   * `unknown_task`, and again at firing time, where it is a fault (P5). Also asked with `undefined` where there is no input
   * to go with it: by `tasks`, where what throws has answered no, and when a request is refused for what is wrong with it,
   * which is told as `unknown_task` to whom this answers no.
   */
  readonly authorize?: (principal: Principal, input: Output) => boolean | Promise<boolean>;
  /**
   * Whether a schedule's target is still there; asked at firing time, where the schedule has one. A falsy answer is a
   * fault and retires it with `invalid_target` (I6).
   */
  readonly resolveTarget?: (target: string) => unknown;
}

/** A named handler; made by {@linkcode defineTask}. */
export interface Task<Input = unknown, Output = Input> extends TaskDefinition<Input, Output> {
  /** Unique within a scheduler, at most 200 characters. */
  readonly name: string;
}

/** A task, whatever its input. */
// deno-lint-ignore no-explicit-any
export type AnyTask = Task<any, any>;
