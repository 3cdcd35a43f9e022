import { SchedulerError, show } from "./errors.ts";

/**
 * The error for an option whose value is not of the accepted form.
 *
 * @param where The option's path, such as `"overlap.limit"`.
 * @param expected What would be accepted, as the end of a sentence.
 * @example
 * ```ts
 * import { invalidOption } from "@ostinato/scheduler/contract";
 *
 * const { code, message } = invalidOption("quiet.from", 25, "an hour from 0 to 23");
 * console.log(code, "-", message); // invalid_option - quiet.from: 25 is not accepted; expected an hour from 0 to 23
 * ```
 */
export function invalidOption(where: string, given: unknown, expected: string): SchedulerError {
  return new SchedulerError("invalid_option", `${where}: ${show(given)} is not accepted; expected ${expected}`, {
    details: { where, given: show(given), expected },
  });
}

/**
 * The error for a key that nobody owns, with the nearest known one.
 *
 * @param where The path of the object that holds the key, ending in a dot; empty at the top.
 * @example
 * ```ts
 * import { unknownOption } from "@ostinato/scheduler/contract";
 *
 * console.log(unknownOption("form", ["from", "to"], "quiet.").message); // quiet.form: unknown option; did you mean "from"?
 * ```
 */
export function unknownOption(key: string, known: Iterable<string>, where = ""): SchedulerError {
  const names = [...known].sort();
  const nearest = nearestName(key, names);
  const expected = names.length === 0 ? "none" : `one of ${names.join(", ")}`;
  const hint = nearest === undefined ? `expected ${expected}` : `did you mean ${show(nearest)}?`;
  return new SchedulerError("unknown_option", `${where}${key.slice(0, 80)}: unknown option; ${hint}`, {
    details: { where: `${where}${key}`, key, ...(nearest === undefined ? {} : { nearest }) },
  });
}

/** Whether a value is an object made by a literal, by JSON or without a prototype: no array, no instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  // Another realm's Object.prototype is not ours, but ends its chain as ours does.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/**
 * Reads a value as a plain object that has no other keys than the known ones.
 *
 * @throws {SchedulerError} `invalid_option` when it is no plain object; `unknown_option` for a key that is not known.
 * @example
 * ```ts
 * import { plainOptions, wholeNumber } from "@ostinato/scheduler/contract";
 *
 * function readQuiet(value: unknown, where: string): { from: number; to: number } {
 *   const { from, to = 24 } = plainOptions(value, ["from", "to"], where);
 *   return { from: wholeNumber(from, 0, 23, `${where}.from`), to: wholeNumber(to, 1, 24, `${where}.to`) };
 * }
 * console.log(readQuiet({ from: 22 }, "quiet")); // { from: 22, to: 24 }
 * ```
 */
export function plainOptions<Key extends string>(
  value: unknown,
  known: readonly Key[],
  where: string,
): Readonly<Partial<Record<Key, unknown>>> {
  if (!isPlainObject(value)) throw invalidOption(where, value, `an object of ${known.join(", ")}`);
  for (const key of Object.keys(value)) {
    if (!known.includes(key as Key)) throw unknownOption(key, known, `${where}.`);
  }
  return value as Readonly<Partial<Record<Key, unknown>>>;
}

/**
 * Reads a whole number between two bounds, both included.
 *
 * @throws {SchedulerError} `invalid_option` when it is anything else.
 */
export function wholeNumber(value: unknown, least: number, most: number, where: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value + 0; // -0 becomes 0
  throw invalidOption(where, value, `a whole number from ${least} to ${most}`);
}

/**
 * Reads one of several words.
 *
 * @throws {SchedulerError} `invalid_option` when it is anything else.
 * @example
 * ```ts
 * import { oneOf } from "@ostinato/scheduler/contract";
 *
 * const given: unknown = "move";
 * const outside: "skip" | "move" = oneOf(given, ["skip", "move"], "calendar.outside");
 * console.log(outside); // move
 * ```
 */
export function oneOf<Word extends string>(value: unknown, words: readonly Word[], where: string): Word {
  if (words.includes(value as Word)) return value as Word;
  throw invalidOption(where, value, words.map((word) => JSON.stringify(word)).join(" or "));
}

/** What other schedulers call an option, and what it is called here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["tz", "timezone"],
  ["retries", "retry"],
  ["attempts", "retry"],
  ["pattern", "cron"],
  ["expression", "cron"],
  ["interval", "every"],
]);

/** The known name that a mistyped one most likely meant, if any is near enough for its length. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > 80) return undefined;
  const here = ELSEWHERE.get(given);
  if (here !== undefined && known.includes(here)) return here;
  let nearest: string | undefined;
  let least = Math.min(Math.max(2, Math.floor(given.length / 3)), Math.floor((given.length - 1) / 2)) + 1;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** Levenshtein's distance, where two neighbours that have changed places count once (Wagner and Fischer's row by row). */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : replaced;
      next.push(Math.min(replaced, swapped, row[j]! + 1, next[j - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
