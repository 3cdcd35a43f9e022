import { CompiledQuery } from "kysely";
import { show } from "../../../src/contract/mod.ts";
import type { Statement } from "../sql/statement.ts";
import {
  bound,
  type Database,
  IDLE_TRANSACTION_MS,
  type Send,
  type Session,
  sessionOf,
  type TransactionLimits,
} from "./database.ts";
import { storageError } from "./errors.ts";

/** What runs a compiled query of Kysely. */
export interface KyselyExecutorLike {
  /** Runs it and answers its rows. The type of the query is left to the copy of Kysely that it goes to. */
  executeQuery(query: never): Promise<{ readonly rows: readonly unknown[] }>;
}

/** How Kysely begins a transaction. */
export interface KyselyTransactionsLike {
  /** Names the isolation; what it answers runs the work and commits. */
  setIsolationLevel(level: "read committed"): {
    execute<T>(work: (transaction: KyselyExecutorLike) => Promise<T>): Promise<T>;
  };
}

/** The few methods of the application's own `Kysely` that are used, on PostgreSQL by whatever dialect. */
export interface KyselyLike {
  /** Whether it is a transaction, which will not do. */
  readonly isTransaction: boolean;
  /** The same connections without the application's plugins, which may rename columns. */
  withoutPlugins(): KyselyExecutorLike & { transaction(): KyselyTransactionsLike };
}

/** The database through an application's Kysely. It is not closed, and its connections' errors are the application's. */
export class KyselyDatabase implements Database {
  readonly #kysely: KyselyLike;

  constructor(kysely: KyselyLike) {
    this.#kysely = kysely;
  }

  async run<P, R>(doing: string, statement: Statement<P, R>, values: P): Promise<readonly R[]> {
    try {
      return (await this.#kysely.withoutPlugins().executeQuery(bound(statement, values) as never)).rows as readonly R[];
    } catch (error) {
      throw storageError(doing, error);
    }
  }

  async transaction<T>(
    doing: string,
    { lockMs }: TransactionLimits,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    // Kept apart, since only what Kysely itself throws is the database's.
    let thrown: { readonly error: unknown } | undefined;
    try {
      return await this.#kysely.withoutPlugins().transaction().setIsolationLevel("read committed").execute(
        async (transaction) => {
          const session = kyselySession(doing, transaction);
          try {
            await session.script(
              `select set_config('lock_timeout', '${lockMs}', true), ` +
                `set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_MS}', true)`,
            );
            return await work(session);
          } catch (error) {
            thrown = { error };
            throw error;
          }
        },
      );
    } catch (error) {
      throw thrown === undefined ? storageError(doing, error) : thrown.error;
    }
  }

  async close(): Promise<void> {}
}

/** Statements within a transaction of Kysely. */
export function kyselySession(doing: string, transaction: KyselyExecutorLike): Session {
  const send: Send = async (sql, parameters) =>
    (await transaction.executeQuery({ ...CompiledQuery.raw(sql), parameters } as never)).rows;
  return sessionOf(send, (error) => storageError(doing, error));
}

/** Whether a value is shaped like a Kysely that is no transaction. */
export function readKysely(given: unknown): KyselyLike | string {
  const { isTransaction, withoutPlugins } = (given ?? {}) as Partial<KyselyLike>;
  if (typeof withoutPlugins !== "function") return show(given);
  return isTransaction === true ? "a transaction" : given as KyselyLike;
}
