import { CompiledQuery } from "kysely";
import type { Clock } from "../../../src/contract/mod.ts";
import type { Statement } from "../sql/statement.ts";
import { acquire } from "./acquiring.ts";
import {
  answerInTime,
  type Database,
  IDLE_TRANSACTION_MS,
  insist,
  type Send,
  type Session,
  sessionOf,
  type TransactionLimits,
} from "./database.ts";
import { isDisconnect, storageError } from "./errors.ts";
import type { KyselyExecutorLike, KyselyLike } from "./kysely_like.ts";

/** What a {@linkcode KyselyDatabase} works with. */
export interface KyselyDatabaseOptions {
  readonly kysely: KyselyLike;
  /** Milliseconds for which a connection is waited for. */
  readonly acquireMs: number;
  /** Milliseconds for which an answer is waited for. */
  readonly answerMs: number;
  readonly clock: Clock;
}

/** A connection that Kysely has lent, or a transaction that it has begun. */
interface Lent {
  readonly executor: KyselyExecutorLike;
  /** Gives it back, or commits; `over` tells what came of it. */
  end(): void;
  /** Rolls back. */
  fail(error: unknown): void;
  readonly over: Promise<void>;
}

/** Has Kysely lend a connection for as long as the work takes. */
type Lend = (work: (executor: KyselyExecutorLike) => Promise<void>) => Promise<void>;

/**
 * The database through an application's Kysely. It is not closed, and its connections' errors are the application's: one
 * that does not answer is waited for no longer, and stays taken until it does or its pool gives it up.
 */
export class KyselyDatabase implements Database {
  readonly #options: KyselyDatabaseOptions;

  constructor(options: KyselyDatabaseOptions) {
    this.#options = options;
  }

  async run<P, R>(doing: string, statement: Statement<P, R>, values: P): Promise<readonly R[]> {
    const { kysely, answerMs } = this.#options;
    const { executor, end } = await this.#acquire(doing, (work) => kysely.withoutPlugins().connection().execute(work));
    let asked: Promise<unknown> = Promise.resolve();
    const watched: KyselyExecutorLike = {
      executeQuery(query) {
        const answer = executor.executeQuery(query);
        asked = answer;
        return answer;
      },
    };
    try {
      return await insist(() => kyselySession(doing, watched, answerMs).run(statement, values));
    } finally {
      // Whoever got it while it is silent would wait behind this statement.
      asked.then(end, end);
    }
  }

  async transaction<T>(doing: string, limits: TransactionLimits, work: (session: Session) => Promise<T>): Promise<T> {
    const { kysely } = this.#options;
    const { lockMs, answerMs = this.#options.answerMs } = limits;
    const { executor, end, fail, over } = await this.#acquire(
      doing,
      (work) => kysely.withoutPlugins().transaction().setIsolationLevel("read committed").execute(work),
    );
    const session = kyselySession(doing, executor, answerMs);
    let result: T;
    try {
      await session.script(
        `select set_config('lock_timeout', '${lockMs}', true), ` +
          `set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_MS}', true)`,
      );
      result = await work(session);
    } catch (error) {
      fail(error);
      // Of a connection that does not answer, the rollback would be waited for as well.
      if (!isDisconnect(error)) await over.catch(() => {});
      throw error;
    }
    end();
    try {
      await answerInTime(over, answerMs);
    } catch (error) {
      throw storageError(`${doing}, committing`, error);
    }
    return result;
  }

  async close(): Promise<void> {}

  #acquire(doing: string, lend: Lend): Promise<Lent> {
    return acquire(doing, this.#options, () => borrow(lend), ({ end }) => end());
  }
}

/** A connection for as long as nobody ends it. */
function borrow(lend: Lend): Promise<Lent> {
  return new Promise((resolve, reject) => {
    const over: Promise<void> = lend((executor) =>
      new Promise<void>((end, fail) => resolve({ executor, end, fail, over }))
    );
    over.catch(reject);
  });
}

/** Statements on a connection of Kysely, or within a transaction of it; waited for without end unless told. */
export function kyselySession(doing: string, executor: KyselyExecutorLike, answerMs = Infinity): Session {
  const send: Send = async (sql, parameters) =>
    (await answerInTime(executor.executeQuery({ ...CompiledQuery.raw(sql), parameters } as never), answerMs)).rows;
  return sessionOf(send, (error) => storageError(doing, error));
}
