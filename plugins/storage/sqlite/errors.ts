import { StorageError } from "../../../src/contract/mod.ts";

// Deno's node:sqlite gives no result code, so the texts, which SQLite has not changed in decades, have to do.
const BUSY = /database (table |schema )?is locked|within a transaction/i;
const UNIQUE = /UNIQUE constraint failed/;
const FINAL = /readonly database|malformed|not a database|no such (table|column)|has no column/i;

const DATABASE_CODE = /^(ERR_SQLITE|SQLITE_)|^ERR_OUT_OF_RANGE$/;
const CLOSED = /database (connection )?is not open/i;

/** Whether another connection, or the application's own transaction on this one, is in the way for the moment. */
export function isBusy(error: unknown): boolean {
  return BUSY.test(messageOf(error));
}

/** Whether a row would have been stored beside another of the same id, name or key. */
export function isUniqueConflict(error: unknown): boolean {
  return UNIQUE.test(messageOf(error));
}

/** An error of the database as the contract's; any other, such as one thrown by a decision, passes through. */
export function storageError(doing: string, error: unknown): unknown {
  if (!isDatabaseError(error)) return error;
  const message = messageOf(error);
  return new StorageError(`sqlite: ${doing}: ${message}`, { retryable: !FINAL.test(message), cause: error });
}

// Whatever the library: its codes, and what both say of a database that the application has closed.
function isDatabaseError(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return (typeof code === "string" && DATABASE_CODE.test(code)) || CLOSED.test(messageOf(error));
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
