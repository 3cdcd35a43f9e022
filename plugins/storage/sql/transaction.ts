import type { CompiledQuery } from "kysely";
import { SchedulerError, show } from "../../../src/contract/mod.ts";

/** What is used of a Kysely transaction. */
export interface TransactionLike {
  readonly isTransaction: boolean;
  withoutPlugins(): { executeQuery(query: CompiledQuery): Promise<{ readonly rows: readonly unknown[] }> };
}

/**
 * Checks what an application gives as its transaction.
 *
 * @throws {SchedulerError} `config_invalid` for anything but an open Kysely transaction.
 */
export function readTransaction(given: unknown): TransactionLike {
  const { isTransaction, withoutPlugins } = (given ?? {}) as Partial<TransactionLike>;
  if (isTransaction === true && typeof withoutPlugins === "function") return given as TransactionLike;
  throw new SchedulerError(
    "config_invalid",
    `within: ${show(given)}; expected an open Kysely transaction, as db.transaction().execute hands it over`,
    { details: { given: show(given) } },
  );
}

const queues = new WeakMap<object, Promise<unknown>>();

/**
 * Calls within one transaction go one after another: their savepoints must not interleave.
 *
 * @throws {SchedulerError} `conflict` once the transaction is over.
 */
export function inTurn<T>(transaction: object, work: () => Promise<T>): Promise<T> {
  const mine = (queues.get(transaction) ?? Promise.resolve()).then(work).catch((error) => {
    throw isOver(error) ? transactionOver(error) : error;
  });
  queues.set(transaction, mine.catch(() => {}));
  return mine;
}

/** Whether it is what Kysely says of a transaction that it has ended; it has no other word for it. */
function isOver(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^Transaction is already (committed|rolled back)/.test(error.message) || isOver(error.cause);
}

function transactionOver(cause: unknown): SchedulerError {
  return new SchedulerError("conflict", "within: the transaction is over; use the scheduler itself from now on", {
    cause,
  });
}

/** The refusal of a transaction on another database. */
export function foreignTransaction(why: string, cause?: unknown): SchedulerError {
  return new SchedulerError("config_invalid", `within: the transaction is not on this scheduler's database: ${why}`, {
    cause,
  });
}

/** The refusal of a group whose documents meet another of the same id, name or key. */
export function conflictOf(ids: readonly string[], cause?: unknown): SchedulerError {
  return new SchedulerError("conflict", "the name, key or id of a schedule is in use by another live one", {
    details: { ids },
    cause,
  });
}
