import { type Clock, type Logger, StorageError } from "../../../src/contract/mod.ts";
import type { Statement } from "../sql/statement.ts";
import { acquire } from "./acquiring.ts";
import { endsInTime } from "./closing.ts";
import type { OwnPool } from "./connecting.ts";
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
import { isDisconnect, isReadOnly, storageError } from "./errors.ts";
import type { PgClientLike, PgPoolLike, PgResultLike } from "./pg_like.ts";
import { hearErrors } from "./pool_errors.ts";
import type { PgValue } from "./values.ts";

/** What a {@linkcode PoolDatabase} works with. */
export interface PoolDatabaseOptions {
  readonly pool: PgPoolLike;
  /** The same, if it was opened by the store, so is closed with it. */
  readonly own?: OwnPool;
  /** Milliseconds for which a connection is waited for. */
  readonly acquireMs: number;
  /** Milliseconds for which an answer is waited for, before the connection is given up. */
  readonly answerMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The database through a pool of `pg`. */
export class PoolDatabase implements Database {
  readonly #options: PoolDatabaseOptions;
  /** Ends the hearing of the pool's errors. */
  readonly #unheard: () => void;

  constructor(options: PoolDatabaseOptions) {
    this.#options = options;
    this.#unheard = hearErrors(options.pool, options);
  }

  run<P, R>(doing: string, statement: Statement<P, R>, values: P): Promise<readonly R[]> {
    return this.#use(doing, (client) => insist(() => this.#session(doing, client).run(statement, values)));
  }

  transaction<T>(doing: string, limits: TransactionLimits, work: (session: Session) => Promise<T>): Promise<T> {
    return this.#use(doing, async (client) => {
      const session = this.#session(doing, client, limits.answerMs);
      let result: T;
      try {
        await session.script(beginText(limits));
        result = await work(session);
      } catch (error) {
        if (!isDisconnect(error)) await session.script("rollback");
        throw error;
      }
      await this.#commit(doing, client);
      return result;
    });
  }

  async close(answers: boolean): Promise<void> {
    const { pool, own, clock } = this.#options;
    if (own === undefined) return this.#unheard();
    // A pool counts as ended while its connections are still closing, and a server that goes just then has its word to say.
    const ended = Promise.all([pool.end(), own.gone()]);
    if (answers && await endsInTime(clock, ended)) return;
    own.cut();
    await endsInTime(clock, ended);
  }

  async #commit(doing: string, client: PgClientLike): Promise<void> {
    try {
      const { command } = await this.#ask(client, "commit");
      if (command === "ROLLBACK") throw new StorageError(`postgres: ${doing}: the transaction was rolled back`);
    } catch (error) {
      throw storageError(`${doing}, committing`, error);
    }
  }

  #session(doing: string, client: PgClientLike, answerMs?: number): Session {
    const send: Send = async (sql, parameters) => (await this.#ask(client, sql, parameters, answerMs)).rows;
    return sessionOf(send, (error) => storageError(doing, error));
  }

  #ask(
    client: PgClientLike,
    sql: string,
    parameters: readonly PgValue[] = [],
    answerMs = this.#options.answerMs,
  ): Promise<PgResultLike> {
    const asked = parameters.length === 0 ? client.query(sql) : client.query(sql, [...parameters]);
    return answerInTime(asked, answerMs);
  }

  async #use<T>(doing: string, work: (client: PgClientLike) => Promise<T>): Promise<T> {
    const { pool } = this.#options;
    const client = await acquire(doing, this.#options, () => pool.connect(), (late) => late.release());
    let broken = false;
    // A connection that dies between two statements tells nobody else, and ends the process if nobody listens.
    const onError = () => broken = true;
    client.on("error", onError);
    try {
      return await work(client);
    } catch (error) {
      // A server that has become a standby keeps its connections; a new one may lead to the one that took its place.
      broken ||= isDisconnect(error) || isReadOnly(error);
      throw error;
    } finally {
      // One that is thrown away belongs to nobody, and may still have something to say.
      if (!broken) client.removeListener("error", onError);
      client.release(broken);
    }
  }
}

/**
 * One round trip. The isolation is named because a database may have another default. Whether it may write is not: whoever
 * has made a role or a database read-only means us, too, and single statements would not be asked.
 */
function beginText({ lockMs }: TransactionLimits): string {
  return "begin isolation level read committed; " +
    `set local lock_timeout = ${lockMs}; set local idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS}`;
}
