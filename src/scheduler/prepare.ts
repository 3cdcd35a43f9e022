import { authorizeRun, validateInput } from "../client/mod.ts";
import type { AnyTask, Principal, ScheduleDocument } from "../contract/mod.ts";
import { isThenable } from "../contract/thenable.ts";
import type { Prepared } from "../engine/mod.ts";

/** Validates a stored input again and asks the task whether its run may go on; at once where the task answers at once. */
export function prepare(task: AnyTask, { definition }: ScheduleDocument): Prepared | Promise<Prepared> {
  const { target, authority } = definition;
  const input = validateInput(task, definition.input);
  if (
    !isThenable(input) && task.authorize === undefined && (task.resolveTarget === undefined || target === undefined)
  ) {
    return { input };
  }
  return ask(task, authority, input, target);
}

async function ask(task: AnyTask, authority: Principal, given: unknown, target: string | undefined): Promise<Prepared> {
  const input = await given;
  await authorizeRun(task, authority, input);
  if (task.resolveTarget === undefined || target === undefined) return { input };
  return await task.resolveTarget(target) ? { input } : { gone: `target ${target} is no more` };
}
