import { isSchedulerError, StorageError } from "../../../src/contract/mod.ts";

/** No class begins with E, which the system's own codes, such as EPIPE, do. */
const SQL_STATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;

/**
 * What no waiting mends: refused sign-ons and rights, absent or changed tables, refused values. A database that is
 * starting, full, read-only or gone may come back.
 */
const FINAL = /^(22|23|28|3D|3F|42|0A)/;

/** After these the connection is of no use any more: connection exceptions, shutdowns, time-outs of an idle transaction. */
const DISCONNECTING = /^(08|57P0|25P0[34])/;

/** The SQLSTATE that an error of the database carries, itself or as its cause. */
export function sqlState(error: unknown): string | undefined {
  for (let one = error, depth = 0; typeof one === "object" && one !== null && depth < 3; depth++) {
    const { code, cause } = one as { code?: unknown; cause?: unknown };
    if (typeof code === "string" && SQL_STATE.test(code)) return code;
    one = cause;
  }
  return undefined;
}

/** Whether the connection, not the statement, is what failed. */
export function isDisconnect(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined ? isSchedulerError(error, "store_unavailable") : DISCONNECTING.test(state);
}

/** Whether the server, or the role, may only read. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === "25006";
}

/** Whether a row would have been stored beside another of the same id, name or key. */
export function isUniqueConflict(error: unknown): boolean {
  return sqlState(error) === "23505";
}

/** Whether others were in the way, and the same work may succeed at once or by itself: conflicts, deadlocks, locks. */
export function isContention(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01" || state === "55P03";
}

/** Whether what was to be written was refused, by its values, by a constraint or by a trigger that somebody has added. */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|44|P0)/.test(sqlState(error) ?? "");
}

/** Whether a lock was waited for in vain. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === "55P03";
}

/** Whether the connection was lost when a statement was under way, so that nobody knows whether it took effect. */
export function isUnanswered(error: unknown): boolean {
  if (!isDisconnect(error)) return false;
  const { details, cause } = error as { details?: { connecting?: unknown }; cause?: { code?: unknown } };
  return details?.connecting !== true && cause?.code !== "ECONNREFUSED";
}

/** Whether tables are not there. */
export function isAbsent(error: unknown): boolean {
  const state = sqlState(error);
  return state === "42P01" || state === "3F000";
}

/** An error of the database, or of the way to it, as the contract's. */
export function storageError(doing: string, error: unknown, details: Readonly<Record<string, unknown>> = {}): unknown {
  if (isSchedulerError(error)) return error;
  const state = sqlState(error);
  const message = `postgres: ${doing}: ${messageOf(error)}${state === undefined ? "" : ` (SQLSTATE ${state})`}`;
  return new StorageError(message, {
    retryable: state === undefined || !FINAL.test(state),
    cause: error,
    details: state === undefined ? details : { ...details, sqlState: state },
  });
}

/** What an error says; one of several addresses that could not be reached says nothing itself. */
function messageOf(error: unknown): string {
  const { message, errors } = (error ?? {}) as { message?: unknown; errors?: unknown };
  if (typeof message === "string" && message !== "") return message;
  return Array.isArray(errors) && errors.length > 0 ? messageOf(errors[0]) : String(error);
}
