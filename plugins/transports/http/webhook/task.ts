import {
  again,
  type Duration,
  type InputSchema,
  invalidOption,
  MAX_CONCURRENCY,
  MAX_NAME_LENGTH,
  parseDuration,
  plainOptions,
  type RunContext,
  type Task,
  type TaskDefinition,
  wholeNumber,
} from "../../../../src/contract/mod.ts";
import { deliver, type Delivery } from "./delivery.ts";
import { DEFAULT_DELIVERY_MS, MAX_DELIVERY_MS } from "./limits.ts";
import { readSecrets } from "./signing.ts";
import { DESTINATION_KEYS, type Destinations, readDestinations, readUrl } from "./target.ts";

/** What {@linkcode webhookTask} takes besides a name. */
export interface WebhookTaskOptions<Input = unknown, Output = Input>
  extends Omit<TaskDefinition<Input, Output>, "run" | "timeout">, Destinations {
  /** Where runs are posted to; `https:` unless told otherwise, and without credentials in it. */
  readonly url: string | URL;
  /**
   * What deliveries are signed with: `"whsec_"` and the base64 of 16 to 64 random bytes. Of several, each signs, so that a
   * receiver may go from one to the next; at most 5. Nothing shows it again.
   */
  readonly secret: string | readonly string[];
  /**
   * How long a delivery may take, up to 10 min; one that takes longer is a fault. Default `"30s"`. A schedule's own
   * `timeout` may end it earlier.
   */
  readonly timeout?: Duration;
}

const TASK_KEYS = ["input", "internal", "retry", "concurrency", "authorize", "resolveTarget"] as const;
const KEYS = ["url", "secret", "timeout", ...DESTINATION_KEYS, ...TASK_KEYS] as const;

/**
 * A task whose handler is an HTTP endpoint elsewhere, in any language. A run is one POST of JSON (`WebhookPayload`), signed
 * as Standard Webhooks says: `webhook-id` is the same for all attempts at a deadline, so a receiver that was asked twice can
 * tell. What comes back settles the run:
 *
 * - 2xx: a success. A JSON body may carry `{ "again": "30s" }` or `{ "retire": "reason" }`; nonsense in them is a fault.
 * - 4xx, except 408 and 429: a fault that is not tried again.
 * - Anything else, no answer in time, or a broken connection: a fault that `retry` may try again, no earlier than a
 *   `Retry-After` of up to a day asks for. Redirects are not followed.
 *
 * Each connection goes to an address that was checked: one that is not of the internet is refused unless `allowHosts` names
 * its host. Proxies named in the environment are not used. The answer may have 64 KiB, its headers 16 KiB.
 *
 * @param name Unique within a scheduler, at most 200 characters.
 * @throws {SchedulerError} `unknown_option`, `invalid_option`, `invalid_duration`, or `permission_denied` for an address
 * that is refused; none tells the secret.
 * @example
 * ```ts
 * import { createScheduler } from "@ostinato/scheduler";
 * import { webhookTask } from "@ostinato/scheduler/http";
 *
 * const notify = webhookTask<{ order: string }>("notify", {
 *   url: "https://hooks.example.com/orders",
 *   secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", // from the environment, in earnest
 *   retry: { limit: 5, delay: "10s" },
 * });
 * await using scheduler = createScheduler({ tasks: [notify] });
 * await scheduler.after(notify, "1h", { order: "42" });
 * ```
 */
export function webhookTask<Input = unknown, Output = Input>(
  name: string,
  options: WebhookTaskOptions<Input, Output>,
): Task<Input, Output> {
  const where = `webhookTask ${checkTaskName(name)}`;
  const { url, secret, timeout, allowHosts, allowHttp, lookup, ...definition } = plainOptions(options, KEYS, where);
  checkDefinition(definition, where);
  const destinations = readDestinations({ allowHosts, allowHttp, lookup }, where);
  const delivery: Delivery = {
    destinations,
    url: readUrl(url, destinations, `${where}.url`),
    keys: readSecrets(secret, `${where}.secret`),
    timeoutMs: readTimeout(timeout as Duration | undefined, `${where}.timeout`),
  };
  return Object.freeze({
    ...definition as Partial<Task<Input, Output>>,
    name,
    run: (input: Output, context: RunContext) => runDelivery(delivery, name, input, context),
  });
}

/** Delivers a run and does what its receiver says. */
export async function runDelivery(
  delivery: Delivery,
  task: string,
  input: unknown,
  context: RunContext,
): Promise<unknown> {
  const answer = await deliver(delivery, task, input, context);
  // A client that invoked the task has no schedule, so that there is nothing to end.
  if (answer.retire !== undefined && context.caller === undefined) context.retire(answer.retire);
  return answer.again === undefined ? undefined : again(answer.again);
}

/** @throws {SchedulerError} `invalid_duration`, `invalid_option` */
export function readTimeout(value: Duration | undefined, where: string): number {
  const ms = parseDuration(value ?? DEFAULT_DELIVERY_MS, where);
  if (ms >= 1 && ms <= MAX_DELIVERY_MS) return ms;
  throw invalidOption(where, value, `from 1 ms to ${MAX_DELIVERY_MS} ms`);
}

/** As `defineTask` does; `retry` is checked with the scheduler's configuration, as that of any task. */
function checkDefinition(given: { readonly [Key in typeof TASK_KEYS[number]]?: unknown }, where: string): void {
  const { input, internal, concurrency } = given;
  for (const key of ["authorize", "resolveTarget"] as const) {
    const value = given[key];
    if (value !== undefined && typeof value !== "function") throw invalidOption(`${where}.${key}`, value, "a function");
  }
  if (input !== undefined && !isSchema(input)) throw invalidOption(`${where}.input`, input, "a Standard Schema");
  if (internal !== undefined && typeof internal !== "boolean") {
    throw invalidOption(`${where}.internal`, internal, "a boolean");
  }
  if (concurrency !== undefined) wholeNumber(concurrency, 1, MAX_CONCURRENCY, `${where}.concurrency`);
}

/** Whether a value is a Standard Schema, as far as it is used. */
export function isSchema(value: unknown): value is InputSchema {
  const standard = (value as Partial<InputSchema> | null)?.["~standard"];
  return typeof standard?.validate === "function";
}

function checkTaskName(name: unknown): string {
  const isName = typeof name === "string" && name !== "" && name.length <= MAX_NAME_LENGTH && name.isWellFormed() &&
    !name.includes("\u0000");
  if (isName) return name;
  throw invalidOption("webhookTask: name", name, `text of 1 to ${MAX_NAME_LENGTH} characters`);
}
