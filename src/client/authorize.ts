import { type AnyTask, isSchedulerError, nearestName, type Principal, SchedulerError, show } from "../contract/mod.ts";
import { isThenable } from "../contract/thenable.ts";
import type { ClientHost } from "./host.ts";
import { isSystem } from "./principal.ts";

/**
 * The task of a definition or name that a principal may use. One that it may not use is refused like one that does not
 * exist: same error, same text, and nothing else is looked at before (I2, P4).
 *
 * @throws {SchedulerError} `unknown_task`
 */
export function findTask(host: ClientHost, principal: Principal, ref: unknown, where: string): AnyTask {
  if (typeof ref === "function") {
    throw new SchedulerError("unknown_task", `${where}: a function; expected a task of defineTask or its name`, {
      details: { where, given: show(ref) },
    });
  }
  const name = typeof ref === "string" ? ref : (ref as { readonly name?: unknown } | null | undefined)?.name;
  const task = typeof name === "string" ? host.tasks.get(name) : undefined;
  if (task === undefined || (task.internal === true && !isSystem(principal))) {
    throw unknownTask(host, principal, typeof name === "string" ? name : ref, where);
  }
  return task;
}

/**
 * Asks a task whether a principal may use it with an input (P5), at creation and when a client invokes it.
 *
 * @returns A promise only where the task itself answers one.
 * @throws {SchedulerError} `unknown_task` when it may not.
 */
export function authorizeUse(
  host: ClientHost,
  principal: Principal,
  task: AnyTask,
  input: unknown,
  where: string,
): void | Promise<void> {
  if (task.authorize === undefined) return undefined;
  const refuse = (allowed: boolean) => {
    if (allowed !== true) throw unknownTask(host, principal, task.name, where);
  };
  const failed = (cause: unknown) => {
    host.logger.error(`task ${task.name}: authorize threw; the call is refused`, cause);
    return false;
  };
  let answer: boolean | Promise<boolean>;
  try {
    answer = task.authorize(principal, input);
  } catch (cause) {
    answer = failed(cause);
  }
  return isThenable(answer) ? Promise.resolve(answer).catch(failed).then(refuse) : refuse(answer);
}

/**
 * Reads what is asked of a task, and what is wrong with it is told to those alone who may use the task: for whom it refuses
 * whatever the input, it does not exist (I2). One that cannot answer without an input has not refused.
 *
 * @throws {SchedulerError} What the work throws, or `unknown_task`.
 */
export async function withoutTelling<T>(
  host: ClientHost,
  principal: Principal,
  task: AnyTask,
  where: string,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isSchedulerError(error, "unknown_task") && await refusesAny(principal, task)) {
      throw unknownTask(host, principal, task.name, where);
    }
    throw error;
  }
}

async function refusesAny(principal: Principal, { authorize }: AnyTask): Promise<boolean> {
  if (authorize === undefined || isSystem(principal)) return false;
  try {
    return await authorize(principal, undefined) !== true;
  } catch {
    return false;
  }
}

/**
 * Asks a task at firing time whether the principal that a run is made under may still use it with the input (P5).
 *
 * @param input What {@linkcode validateInput} answered.
 * @returns A promise only where the task itself answers one.
 * @throws {SchedulerError} `permission_denied` when it may not; what `authorize` itself throws.
 */
export function authorizeRun(task: AnyTask, principal: Principal, input: unknown): void | Promise<void> {
  if (task.authorize === undefined) return undefined;
  const refuse = (allowed: boolean) => {
    if (allowed === true) return;
    throw new SchedulerError(
      "permission_denied",
      `task ${task.name}: it refuses ${show(principal.id)}, the authority that the run is made under`,
      { details: { task: task.name, principal: principal.id } },
    );
  };
  const answer: boolean | Promise<boolean> = task.authorize(principal, input);
  return isThenable(answer) ? Promise.resolve(answer).then(refuse) : refuse(answer);
}

/** A hint at what else there is goes to the system alone: for anybody else the registered names are not to be guessed. */
function unknownTask(host: ClientHost, principal: Principal, given: unknown, where: string): SchedulerError {
  const nearest = isSystem(principal) && typeof given === "string"
    ? nearestName(given, [...host.tasks.keys()])
    : undefined;
  const text = `${where}: ${show(given)} is no task that may be used here; expected a registered task or its name`;
  const hint = nearest === undefined
    ? ""
    : nearest === given
    ? " (it is registered, and its authorize refused)"
    : `; did you mean ${show(nearest)}?`;
  return new SchedulerError("unknown_task", text + hint, {
    details: { where, given: show(given), ...(nearest === undefined ? {} : { nearest }) },
  });
}
