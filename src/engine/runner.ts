import {
  AGAIN,
  type AnyTask,
  type Duration,
  type Fault,
  parseDuration,
  type RunContext,
  type RunMiddleware,
  SchedulerError,
} from "../contract/mod.ts";
import { isThenable } from "../contract/thenable.ts";
import type { Settlement } from "../machine/mod.ts";
import { ScheduledContext } from "./context.ts";
import type { EndCause, Execution, Starter } from "./execution.ts";
import { faultOf, isA, retryOf } from "./fault.ts";
import type { EngineParts, Prepared, RunChanges, RunUnit } from "./parts.ts";
import type { SignalCalls } from "./run_signal.ts";

/** A run's outcome, with the changes that commit with it. */
export interface Outcome {
  readonly settlement: Settlement;
  readonly changes: RunChanges | undefined;
}

/** What a runner tells. */
export interface RunnerEvents {
  /** The handler is about to be called. */
  started(execution: Execution): void;
  /** The run is over; called once for each. `undefined`: nothing is to be settled. */
  ended(execution: Execution, outcome: Outcome | undefined): void;
}

/** Outcomes of runs that were told to end, whatever their handler answered then. */
const TOLD: Readonly<Partial<Record<EndCause, Settlement["outcome"]>>> = {
  replaced: "replaced",
  aborted: "aborted",
  stopped: "aborted",
  timeout: "timeout",
};

/** Calls handlers and turns whatever they do into a settlement. */
export class Runner implements Starter {
  readonly #parts: EngineParts;
  readonly #events: RunnerEvents;
  /** Store time minus this machine's. */
  readonly #offset: () => number;

  constructor(parts: EngineParts, events: RunnerEvents, offset: () => number) {
    this.#parts = parts;
    this.#events = events;
    this.#offset = offset;
  }

  /** Starts a run that has its slot; where nothing about it is asynchronous, the run is over when this returns. */
  begin(execution: Execution): void {
    const { clock, tasks } = this.#parts;
    const { definition } = execution.document;
    const task = tasks.get(definition.task);
    execution.startedMono = clock.monotonic();
    execution.startedAt = clock.now() + this.#offset();
    const context = new ScheduledContext(execution, this.#parts);
    execution.context = context;
    if (definition.timeout !== undefined) execution.limit(clock, definition.timeout);
    // Told to end while it waited for its slot: its handler is not called at all.
    if (execution.cause !== undefined) return this.expire(execution);
    this.#events.started(execution);
    let result: unknown;
    let waits: boolean;
    try {
      result = this.#prepareAndCall(task, execution, context);
      waits = isThenable(result);
    } catch (error) {
      return this.#end(execution, context, undefined, { error });
    }
    if (!waits) return this.#end(execution, context, result, undefined);
    Promise.resolve(result).then(
      (value) => this.#end(execution, context, value, undefined),
      (error) => this.#end(execution, context, undefined, { error }),
    );
  }

  expire(execution: Execution): void {
    this.#end(execution, execution.context!, undefined, undefined);
  }

  signalCalls(execution: Execution): SignalCalls {
    const { enter, logger } = this.#parts;
    return {
      enter: (work) => enter(execution, work),
      failed: (error) => logger.error(`run ${execution.id}: a listener of its signal threw`, error),
    };
  }

  #prepareAndCall(task: AnyTask | undefined, execution: Execution, context: ScheduledContext): unknown {
    if (task === undefined) {
      const { task: name } = execution.document.definition;
      throw new SchedulerError("unknown_task", `task ${name}: it was removed while the run waited for its slot`);
    }
    const prepared = this.#parts.prepare(task, execution.document);
    return isThenable(prepared)
      ? (prepared as Promise<Prepared>).then((ready) => this.#call(task, ready, execution, context))
      : this.#call(task, prepared, execution, context);
  }

  #call(task: AnyTask, prepared: Prepared, execution: Execution, context: ScheduledContext): unknown {
    if ("gone" in prepared) throw new TargetGone(prepared.gone);
    const { middleware, enter } = this.#parts;
    const { input } = prepared;
    return enter(
      execution,
      () => middleware.length === 0 ? task.run(input, context) : wrapped(middleware, task, input, context),
    );
  }

  /** The first end counts; what a handler does after its timeout's grace is ignored (F5). */
  #end(execution: Execution, context: ScheduledContext, value: unknown, thrown: { error: unknown } | undefined): void {
    if (!execution.finish()) return;
    const { clock } = this.#parts;
    // To the microsecond: what lies below is noise, and is stored with every run.
    const durationMs = Math.max(0, Math.round((clock.monotonic() - execution.startedMono!) * 1_000) / 1_000);
    const { startedAt, cause } = execution;
    const at = clock.now() + this.#offset();
    const result = cause === undefined || (cause === "closed" && thrown === undefined)
      ? resultOf(execution, value, thrown, context, at)
      : toldResult(execution, thrown, at);
    execution.settling = result !== undefined;
    const endedAt = startedAt + Math.round(durationMs);
    const timing = { fence: execution.run.fence, startedAt, endedAt, durationMs };
    if (context.unit !== undefined && result?.outcome === "succeeded") {
      return this.#seal(execution, context.unit, { ...timing, ...result });
    }
    context.unit?.discard();
    const outcome = result === undefined ? undefined : { settlement: { ...timing, ...result }, changes: undefined };
    this.#events.ended(execution, outcome);
  }

  /** What the run changed is decided once the calls it left under way are through; if one fails then, so does the run. */
  #seal(execution: Execution, unit: RunUnit, settlement: Settlement): void {
    unit.seal().then(
      (changes) => this.#events.ended(execution, { settlement, changes }),
      (error) => {
        const fault = faultOf(error, settlement.endedAt);
        this.#events.ended(execution, { settlement: { ...settlement, outcome: "faulted", fault }, changes: undefined });
      },
    );
  }
}

type Result = Pick<Settlement, "outcome" | "fault" | "againMs" | "retire" | "retry">;

function resultOf(
  execution: Execution,
  value: unknown,
  thrown: { error: unknown } | undefined,
  context: ScheduledContext,
  at: number,
): Result {
  if (thrown !== undefined) {
    const fault = faultOf(thrown.error, at);
    if (isA(thrown.error, TargetGone)) return { outcome: "faulted", fault, retire: "invalid_target" };
    const retry = retryOf(thrown.error);
    return retry === undefined ? { outcome: "faulted", fault } : { outcome: "faulted", fault, retry };
  }
  const retire = context.retireReason === undefined ? {} : { retire: context.retireReason };
  try {
    // What a run of a schedule that is not adaptive answers is not even looked at (A5).
    const againMs = execution.document.definition.adaptive ? againOf(value) : undefined;
    return againMs === undefined ? { outcome: "succeeded", ...retire } : { outcome: "succeeded", againMs, ...retire };
  } catch (error) {
    return { outcome: "faulted", fault: faultOf(error, at) };
  }
}

/** What is said of a run that was told to end; nothing when its schedule or its lease is no longer ours. */
function toldResult(execution: Execution, thrown: { error: unknown } | undefined, at: number): Result | undefined {
  const outcome = TOLD[execution.cause!];
  if (outcome === undefined) return undefined;
  const reason = execution.signal.reason;
  const fault: Fault = faultOf(thrown === undefined || isAbort(thrown.error) ? reason : thrown.error, at);
  return outcome === "timeout" ? { outcome, fault: { ...fault, name: "TimeoutError" } } : { outcome, fault };
}

function isAbort(error: unknown): boolean {
  return isA(error, DOMException) && error.name === "AbortError";
}

function againOf(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null || !(AGAIN in value)) return undefined;
  return parseDuration((value as { [AGAIN]: Duration })[AGAIN], "again");
}

/** Runs the handler inside the middleware, the first outermost. */
export async function wrapped(
  middleware: readonly RunMiddleware[],
  task: AnyTask,
  input: unknown,
  context: RunContext,
): Promise<unknown> {
  const call = (index: number): Promise<unknown> => {
    const around = middleware[index];
    // Async, so that a handler that throws at once rejects instead.
    return around === undefined
      ? Promise.resolve().then(() => task.run(input, context))
      : around({ task: task.name, input, context }, () => call(index + 1));
  };
  return await call(0);
}

/** `resolveTarget` answered nothing (I6). */
class TargetGone extends Error {
  override readonly name = "TargetGone";
}
