import { invalidOption, MAX_NAME_LENGTH } from "../contract/mod.ts";

// With the flag `u` a surrogate that has its partner is one character above this range.
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;

/**
 * Reads a name, key, target, group, tag or id: text that every store can keep and index as it is.
 *
 * @param where Names the place in an error's message.
 * @throws {SchedulerError} `invalid_option` when it is empty, longer than 200 characters, or not well-formed text.
 */
export function checkText(value: unknown, where: string): string {
  const fits = typeof value === "string" && value.length > 0 && value.length <= MAX_NAME_LENGTH &&
    !value.includes("\0") && !LONE_SURROGATE.test(value);
  if (fits) return value;
  throw invalidOption(
    where,
    value,
    `text of 1 to ${MAX_NAME_LENGTH} characters without U+0000 and without lone surrogates`,
  );
}

const ULID = /^[0-9A-Za-z]{26}$/;

/**
 * Reads a schedule's id. Text that no schedule can have as its id is no error, since an id may come from anywhere: it
 * answers `undefined`, and no store is asked.
 *
 * @throws {SchedulerError} `invalid_option` when it is no text at all.
 */
export function readId(value: unknown, where = "id"): string | undefined {
  if (typeof value !== "string") throw invalidOption(where, value, "a schedule's id, as text");
  return ULID.test(value) ? value : undefined;
}
