import type { Principal, ScheduleKind } from "./document.ts";
import type { Json } from "./json.ts";
import type { Duration } from "./time.ts";
import type { Logger } from "./clock.ts";
import type { TransactionClient } from "./client.ts";
import type { RetryOption } from "./options.ts";

/** The part of a Standard Schema (version 1) that the scheduler uses; Zod, Valibot, ArkType and others fit. */
export interface InputSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that a schema does not accept. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a handler returns to set the next deadline: see {@linkcode again}. */
export interface Again {
  readonly [AGAIN]: Duration;
}

/** Marks an {@linkcode Again}, across copies of the package. */
export const AGAIN: unique symbol = Symbol.for("ostinato.again") as never;

/**
 * Asks for the next run after a delay, counted from when this one is settled (A1). On a one-shot it makes a chain
 * under one id; on a recurring schedule with `adaptive: true` it replaces the next deadline only. A delay that is
 * negative, NaN or no duration makes the run a fault (A4).
 *
 * @example
 * ```ts
 * import { again, defineTask } from "@ostinato/scheduler";
 *
 * let left = 3;
 * const poll = defineTask("poll", () => --left > 0 ? again("30s") : undefined);
 * console.log(poll.name); // poll
 * ```
 */
export function again(delay: Duration): Again {
  return { [AGAIN]: delay };
}

/** The schedule that a run belongs to. */
export interface RunSchedule {
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: ScheduleKind;
}

/** What a run is told besides its input (S). */
export interface RunContext {
  /** The cadence point or deadline that this run stands for. */
  readonly scheduledAt: Date;
  /** Real milliseconds since the schedule's previous run started; 0 the first time. Survives restarts. */
  readonly elapsed: number;
  /** 1 for the first run of a deadline, one more for each retry. */
  readonly attempt: number;
  /** This run's id; not a schedule's. */
  readonly runId: string;
  /** The value given at creation. */
  readonly state: Json | undefined;
  /** What the schedule is about. */
  readonly target: string | undefined;
  /** Missed points folded into this run (C2). */
  readonly missed: number;
  /** Aborts on timeout, `abortRun`, `replace`, a lost lease, `stop` with `abortRunning`, and when a close's drain time is over. */
  readonly signal: AbortSignal;
  readonly schedule: RunSchedule;
  /** The id of the schedule's owner. */
  readonly owner: string;
  /** Whom the run acts for: the owner unless `runAs` says otherwise. */
  readonly runAs: string;
  /** The client that invoked the run; `undefined` for a scheduled one (S6). */
  readonly caller: Principal | undefined;
  /** The caller, or a `no_caller` error. */
  requireCaller(): Principal;
  /** The scheduler as the schedule's authority; changes commit in the step that settles the run, or never (U3). */
  readonly schedules: TransactionClient;
  readonly logger: Logger;
  /** Ends the schedule with this run: it retires with the reason, at most 200 characters, once the run succeeds. */
  retire(reason: string): void;
}

/** A task's code: gets the validated input and the run's context. */
export type Handler<Output = unknown> = (input: Output, context: RunContext) => unknown;

/** What {@linkcode defineTask} takes besides a name. */
export interface TaskDefinition<Input = unknown, Output = Input> {
  /** Validates the input at creation and again before a run (S4). Without one the input is any JSON value. */
  readonly input?: InputSchema<Input, Output>;
  /** The handler. */
  readonly run: Handler<Output>;
  /** Only the system may schedule and invoke it; for anybody else the name does not exist (P4). Default `false`. */
  readonly internal?: boolean;
  /** Time after which a run is aborted and counts as a fault (F5). Default none. A schedule's own option wins. */
  readonly timeout?: Duration;
  /** Attempts after a fault (F4). Default none. A schedule's own option wins. */
  readonly retry?: RetryOption;
  /** Runs of this task at once on one instance. Default the scheduler's `concurrency`. */
  readonly concurrency?: number;
  /** Asked at creation and again at firing time (P5): may the principal use the task with this input? */
  readonly authorize?: (principal: Principal, input: Output) => boolean | Promise<boolean>;
  /** Asked at firing time: a falsy answer retires the schedule with `invalid_target` (I6). */
  readonly resolveTarget?: (target: string) => unknown;
}

/** A named handler; made by {@linkcode defineTask}. */
export interface Task<Input = unknown, Output = Input> extends TaskDefinition<Input, Output> {
  /** Unique within a scheduler, at most 200 characters. */
  readonly name: string;
}

// deno-lint-ignore no-explicit-any
export type AnyTask = Task<any, any>;
