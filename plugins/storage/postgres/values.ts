import { MAX_DEADLINE } from "../../../src/contract/mod.ts";
import type { PgQueryValue } from "./pg_like.ts";

/** A value that is bound to a parameter. Arrays and instants are written out as text, which every driver passes on alike. */
export type PgValue = PgQueryValue;

/** The year 1, the first that ISO 8601 writes with four digits and PostgreSQL reads. */
const FIRST_INSTANT = -62_135_596_800_000;

/** What separates the items of a list: a control character, which no item holds. */
const SEPARATOR = "\x1f";
/** What stands for null in a list. */
const ABSENT = "\x01";

/**
 * A long list for a statement to split (see `split`). Its items are column texts or JSON, so hold no control characters,
 * and nothing has to be escaped on the way. Null where every item is, as in most columns of most lists.
 */
export function listText(items: readonly (string | null)[]): string | null {
  if (items.every((item) => item === null)) return null;
  return items.map((item) => item ?? ABSENT).join(SEPARATOR);
}

/** A list whose items are all there. */
export function fullListText(items: readonly string[]): string {
  return items.join(SEPARATOR);
}

/**
 * A list of what is mostly the same in all rows that are written together, and is then sent and read only once: the one
 * text (see `itemOf`). `text` makes an item of a value.
 */
export function commonText<V extends string | number | boolean>(
  values: readonly (V | null)[],
  text: (value: V) => string,
): string | null {
  const [first = null] = values;
  const item = (value: V | null) => value === null ? null : text(value);
  return values.every((value) => value === first) ? item(first) : listText(values.map(item));
}

/** The items of a list that a statement joined in the same way. */
export function readList(text: string | null): readonly string[] {
  return text === null ? [] : text.split(SEPARATOR);
}

/**
 * A list as PostgreSQL writes an array. Its texts are column texts or JSON, so hold no control characters and no lone
 * surrogates; what is left is escaped by JSON as it is by PostgreSQL, and much faster than by an expression.
 */
export function arrayText(items: readonly (string | number | boolean | null)[]): string {
  return `{${items.map(element).join()}}`;
}

function element(item: string | number | boolean | null): string {
  return typeof item === "string" ? JSON.stringify(item) : item === null ? "NULL" : String(item);
}

let lastInstant = 0;
let lastText = new Date(lastInstant).toISOString();

/** An instant as a `timestamptz` is read; one outside of the calendar's four-digit years stands for its end. */
export function instantText(ms: number): string {
  if (ms === -Infinity) return "-infinity";
  // What is written together is often due together: at the end of leases, or of retention.
  if (ms === lastInstant) return lastText;
  lastInstant = ms;
  return lastText = new Date(Math.max(FIRST_INSTANT, Math.min(ms, MAX_DEADLINE))).toISOString();
}

/** Milliseconds that a query answered, whatever a driver makes of a double; a finer instant has not come before it ends. */
export function readInstant(value: unknown): number | null {
  return value === null ? null : Math.ceil(Number(value));
}
