import { CompiledQuery } from "kysely";
import type { Statement } from "../sql/statement.ts";
import {
  bound,
  type Database,
  IDLE_TRANSACTION_MS,
  insist,
  type Send,
  type Session,
  sessionOf,
  type TransactionLimits,
} from "./database.ts";
import { storageError } from "./errors.ts";
import type { KyselyExecutorLike, KyselyLike } from "./kysely_like.ts";

/** The database through an application's Kysely. It is not closed, and its connections' errors are the application's. */
export class KyselyDatabase implements Database {
  readonly #kysely: KyselyLike;

  constructor(kysely: KyselyLike) {
    this.#kysely = kysely;
  }

  async run<P, R>(doing: string, statement: Statement<P, R>, values: P): Promise<readonly R[]> {
    try {
      const query = bound(statement, values) as never;
      return (await insist(() => this.#kysely.withoutPlugins().executeQuery(query))).rows as readonly R[];
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
