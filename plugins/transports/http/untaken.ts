import { invalidOption, isPlainObject, unknownOption } from "../../../src/contract/mod.ts";
import type { HttpCall } from "./context.ts";
import type { Operation } from "./operation.ts";

/** Headers that ask for a promise, as messages write them. */
const PRECONDITIONS = ["If-Match", "If-None-Match"];
const REPETITION = "Idempotency-Key";

/**
 * Refuses a header that asks for a promise which the operation does not give: whoever sends it would take what is done for
 * safe that is not. What comes to the same however often it is asked for needs no key, and so may have one.
 *
 * @throws {SchedulerError} `invalid_option`
 */
export function checkPromises({ changes, accumulates, headers }: Operation, c: HttpCall): void {
  if (!changes) return;
  for (const name of accumulates ? [...PRECONDITIONS, REPETITION] : PRECONDITIONS) {
    const given = c.req.header(name);
    if (given === undefined || Object.hasOwn(headers?.shape ?? {}, name.toLowerCase())) continue;
    throw invalidOption(name, given, "none here, where it could not be kept; /v1/openapi.json says what takes it");
  }
}

/**
 * Refuses a body that the operation does not take, as an option that nobody owns. An empty object says nothing.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option`
 */
export function checkNoBody(given: unknown): void {
  if (given === undefined) return;
  if (!isPlainObject(given)) throw invalidOption("body", given, "none");
  for (const key of Object.keys(given)) throw unknownOption(key, [], "body.");
}
