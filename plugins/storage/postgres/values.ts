import { MAX_DEADLINE } from "../../../src/contract/mod.ts";
import type { PgQueryValue } from "./pg_like.ts";

/** A value that is bound to a parameter. Arrays and instants are written out as text, which every driver passes on alike. */
export type PgValue = PgQueryValue;

/** The year 1, the first that ISO 8601 writes with four digits and PostgreSQL reads. */
const FIRST_INSTANT = -62_135_596_800_000;

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

/** An instant as a `timestamptz` is read; one outside of the calendar's four-digit years stands for its end. */
export function instantText(ms: number): string {
  return new Date(Math.max(FIRST_INSTANT, Math.min(ms, MAX_DEADLINE))).toISOString();
}

/** Milliseconds that a query answered, whatever a driver makes of a double; a finer instant has not come before it ends. */
export function readInstant(value: unknown): number | null {
  return value === null ? null : Math.ceil(Number(value));
}
