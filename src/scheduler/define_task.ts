import {
  type Handler,
  type InputSchema,
  invalidOption,
  isPlainObject,
  type Json,
  MAX_CONCURRENCY,
  parseDuration,
  type Task,
  type TaskDefinition,
  unknownOption,
  wholeNumber,
} from "../contract/mod.ts";
import { checkText } from "../client/mod.ts";

const KEYS = ["input", "run", "internal", "timeout", "retry", "concurrency", "authorize", "resolveTarget"] as const;
const FUNCTIONS = ["run", "authorize", "resolveTarget"] as const;

/**
 * Names a handler, so that schedules in a store can say which code runs. The name is what is stored: renaming a task
 * leaves its schedules waiting for an instance that knows the old name. A handler may be called twice for one deadline,
 * when its process died during the first run (M3): `ctx.schedule.id` with `ctx.scheduledAt` is its idempotency key.
 *
 * @param name Unique within a scheduler, at most 200 characters.
 * @param definition The handler, alone or with the task's options. It may return anything; only `again` has a meaning.
 * @throws {SchedulerError} `invalid_option`, `invalid_duration` or `unknown_option`, naming the key.
 * @example
 * ```ts
 * import { defineTask } from "@ostinato/scheduler";
 *
 * const beat = defineTask("beat", (_input, ctx) => console.log(ctx.scheduledAt)); // short form: a function
 * const greet = defineTask("greet", {
 *   timeout: "1m",
 *   retry: { limit: 3, delay: "10s" }, // after 10 s, 20 s and 40 s
 *   run: (input: { name: string }) => console.log(`hello ${input.name}`),
 * });
 * console.log(beat.name, greet.timeout); // beat 1m
 * ```
 */
export function defineTask<Input, Output>(
  name: string,
  definition: TaskDefinition<Input, Output> & { readonly input: InputSchema<Input, Output> },
): Task<Input, Output>;
/**
 * A task without a schema: its input is whatever the handler's parameter says, by its type alone.
 *
 * @param name Unique within a scheduler, at most 200 characters.
 * @param definition The handler, alone or with the task's options.
 * @throws {SchedulerError} `invalid_option`, `invalid_duration` or `unknown_option`, naming the key.
 */
export function defineTask<Input = Json | undefined>(
  name: string,
  definition: Handler<Input> | (TaskDefinition<Input> & { readonly input?: undefined }),
): Task<Input>;
export function defineTask(name: string, definition: TaskDefinition | Handler): Task {
  checkText(name, "task name");
  if (typeof definition === "function") return Object.freeze({ name, run: definition });
  if (!isPlainObject(definition)) throw invalidOption(`task ${name}`, definition, "a function, or an object with run");
  for (const key of Object.keys(definition)) {
    if (!KEYS.includes(key as typeof KEYS[number])) throw unknownOption(key, KEYS, `task ${name}: `);
  }
  check(name, definition);
  return Object.freeze({ ...definition, name });
}

function check(name: string, definition: TaskDefinition): void {
  const where = (key: string) => `task ${name}: ${key}`;
  for (const key of FUNCTIONS) {
    const given = definition[key];
    if (given === undefined && key !== "run") continue;
    if (typeof given !== "function") throw invalidOption(where(key), given, "a function");
  }
  const { input, internal, timeout, concurrency } = definition;
  if (input !== undefined && typeof input?.["~standard"]?.validate !== "function") {
    throw invalidOption(where("input"), input, "a Standard Schema: an object or function with ~standard.validate");
  }
  if (internal !== undefined && typeof internal !== "boolean") {
    throw invalidOption(where("internal"), internal, "a boolean");
  }
  if (timeout !== undefined && parseDuration(timeout, where("timeout")) < 1) {
    throw invalidOption(where("timeout"), timeout, "at least 1 ms");
  }
  if (concurrency !== undefined) wholeNumber(concurrency, 1, MAX_CONCURRENCY, where("concurrency"));
}
