import { type AnyTask, isPlainObject, type JsonObject, type Principal, type TaskInfo } from "../contract/mod.ts";
import type { ClientHost } from "./host.ts";
import { isSystem } from "./principal.ts";

/** The tasks that a principal may use, as far as that can be told without an input. */
export async function tasksOf(host: ClientHost, principal: Principal): Promise<readonly TaskInfo[]> {
  await host.learnAll();
  const tasks = [...host.tasks.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  const told: TaskInfo[] = [];
  for (const task of tasks) if (isSystem(principal) || await mayUse(principal, task)) told.push(taskInfo(task));
  return told;
}

/** A question that cannot be answered without an input is answered no, so that nobody learns what they may not use. */
async function mayUse(principal: Principal, { internal, authorize }: AnyTask): Promise<boolean> {
  if (internal === true) return false;
  try {
    return authorize === undefined || await authorize(principal, undefined) === true;
  } catch {
    return false;
  }
}

function taskInfo({ name, input }: AnyTask): TaskInfo {
  const inputSchema = input === undefined ? undefined : jsonSchema(input["~standard"] as Described);
  return inputSchema === undefined ? { name } : { name, inputSchema };
}

/** The part of a Standard JSON Schema (version 1) that is used here. */
interface Described {
  readonly jsonSchema?: { input?(options: { readonly target: string }): unknown };
}

/** A schema of which JSON Schema has no words throws. */
function jsonSchema(standard: Described): JsonObject | undefined {
  try {
    const schema = standard.jsonSchema?.input?.({ target: "draft-2020-12" });
    return isPlainObject(schema) ? schema as JsonObject : undefined;
  } catch {
    return undefined;
  }
}
