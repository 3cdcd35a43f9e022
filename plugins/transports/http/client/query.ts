import { invalidOption, type Json, parseInstant } from "../../../../src/contract/mod.ts";

const TEXTS = ["owner", "target", "task", "name", "group", "tag", "cursor"];

/**
 * Parameters as the query of an address. There all values are text, so that one of another type is refused here.
 *
 * @param prefix What stands before the parameters in the messages of errors.
 * @throws {SchedulerError} `invalid_option`, `invalid_time`.
 */
export function queryOf(query: { readonly [key: string]: Json }, prefix = ""): string {
  const pairs = Object.entries(query).map(([key, value]) => {
    checkValue(key, value, prefix + key);
    return [key, String(value)];
  });
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

function checkValue(key: string, value: Json, where: string): void {
  if (TEXTS.includes(key) && typeof value !== "string") throw invalidOption(where, value, "text");
  if (key === "limit" && typeof value !== "number") throw invalidOption(where, value, "a whole number");
  if (key === "abortRunning" && typeof value !== "boolean") throw invalidOption(where, value, "true or false");
  if (key === "dueBefore") parseInstant(value as number, where);
}
