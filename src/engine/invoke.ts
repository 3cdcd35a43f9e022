import {
  type AnyTask,
  type Clock,
  type Group,
  type Json,
  type Logger,
  longTimer,
  parseDuration,
  type Principal,
  type RunContext,
  type RunMiddleware,
  type RunSchedule,
  type RunSignal,
  SchedulerError,
  type TransactionClient,
} from "../contract/mod.ts";
import type { Done } from "../machine/mod.ts";
import type { RunningCall, RunUnit } from "./parts.ts";
import { containListeners } from "./run_signal.ts";
import { wrapped } from "./runner.ts";

/** One call of a task by a client (S6). */
export interface Invocation {
  readonly task: AnyTask;
  /** What the task's schema made of the input. */
  readonly input: unknown;
  readonly caller: Principal;
  readonly id: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly middleware: readonly RunMiddleware[];
  /** Aborted by the task's timeout, and when a close's drain time is over. */
  readonly signal: RunSignal;
  readonly abort: (reason: unknown) => void;
  readonly unit: RunUnit;
  readonly enter: <T>(run: RunningCall, call: () => T) => T;
  readonly commit: (changes: { readonly stored: Group<Done>; readonly local: Group<Done> }) => Promise<void>;
}

/** Runs a task now; its changes commit when it succeeds, and its answer follows them. */
export async function invoke(invocation: Invocation): Promise<unknown> {
  const { task, input, unit, middleware, clock, signal, abort, enter, logger } = invocation;
  const call = { over: false };
  containListeners(signal, {
    enter: (work) => enter(call, work),
    failed: (error) => logger.error(`task ${task.name}: a listener of an invoked run's signal threw`, error),
  });
  const cancel = task.timeout === undefined ? () => {} : longTimer(
    clock,
    () => abort(new DOMException("the call took longer than the task's timeout", "TimeoutError")),
    parseDuration(task.timeout, "timeout"),
  );
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  try {
    const answer = enter(call, () => wrapped(middleware, task, input, new InvokedContext(invocation)));
    const value = await Promise.race([answer, aborted]);
    await invocation.commit(await unit.seal());
    return value;
  } catch (error) {
    unit.discard();
    throw error;
  } finally {
    call.over = true;
    cancel();
  }
}

/** What a handler is told of a run that a client asked for: no schedule stands behind it. */
class InvokedContext implements RunContext {
  readonly elapsed = 0;
  readonly attempt = 1;
  readonly missed = 0;
  readonly state: Json | undefined = undefined;
  readonly target = undefined;
  readonly scheduledAt: Date;
  readonly runId: string;
  readonly signal: RunSignal;
  readonly schedule: RunSchedule;
  readonly owner: string;
  readonly runAs: string;
  readonly caller: Principal;
  readonly schedules: TransactionClient;
  readonly logger: Logger;

  constructor({ id, clock, signal, caller, unit, logger }: Invocation) {
    this.scheduledAt = new Date(clock.now());
    this.runId = `${id}-0`;
    this.signal = signal;
    this.schedule = { id, name: undefined, kind: "at" };
    this.owner = caller.id;
    this.runAs = caller.id;
    this.caller = caller;
    this.schedules = unit.client;
    this.logger = logger;
  }

  readonly requireCaller = (): Principal => this.caller;

  readonly retire = (): void => {
    throw new SchedulerError("conflict", `run ${this.runId} was invoked: there is no schedule to retire`);
  };
}
