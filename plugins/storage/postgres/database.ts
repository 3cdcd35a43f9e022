import { bind, type Statement } from "../sql/statement.ts";
import { isContention, isLockTimeout } from "./errors.ts";
import type { PgValue } from "./values.ts";

/** Statements on one connection. */
export interface Session {
  /** Runs a statement and answers its rows. */
  run<P, R>(statement: Statement<P, R>, values: P): Promise<readonly R[]>;
  /** Runs a text of several statements without parameters. */
  script(text: string): Promise<void>;
}

/** How long a transaction may hold others up. */
export interface TransactionLimits {
  /** Milliseconds for which a lock is waited for. */
  readonly lockMs: number;
  /** Milliseconds for which the answer to a statement is waited for, where that takes longer than statements do. */
  readonly answerMs?: number;
}

/** A database that statements are sent to. Whatever it fails with is a `StorageError`, saying what was being done. */
export interface Database {
  /** Runs one statement by itself, on any connection; again where it was only in the way of others. */
  run<P, R>(doing: string, statement: Statement<P, R>, values: P): Promise<readonly R[]>;
  /** Does work in a read-committed transaction and answers once it is committed. What the work throws passes through. */
  transaction<T>(doing: string, limits: TransactionLimits, work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Closes what was opened here, and takes listeners back from what was given.
   *
   * @param answers Whether the server can be expected to; otherwise nobody waits for it.
   */
  close(answers: boolean): Promise<void>;
}

/** Sends one query on one connection. */
export type Send = (sql: string, parameters: readonly PgValue[]) => Promise<readonly unknown[]>;

/** A session over whatever sends queries; errors are turned by `wrap`. */
export function sessionOf(send: Send, wrap: (error: unknown) => unknown): Session {
  const sent = async (sql: string, parameters: readonly PgValue[]) => {
    try {
      return await send(sql, parameters);
    } catch (error) {
      throw wrap(error);
    }
  };
  return {
    run: async <P, R>(statement: Statement<P, R>, values: P) =>
      await sent(statement.query.sql, bind<P, PgValue>(statement, values)) as readonly R[],
    script: async (text) => void await sent(text, []),
  };
}

/** An answer, if it comes in time: a network may drop a connection without a word, and only this one. */
export function answerInTime<T>(asked: Promise<T>, answerMs: number): Promise<T> {
  if (answerMs === Infinity) return asked;
  return new Promise((resolve, reject) => {
    // Not the scheduler's clock: the database is real, also where time is a test's.
    const timer = setTimeout(() => reject(new Error(`no answer within ${answerMs} ms`)), answerMs);
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Whoever stops in the middle of a transaction (a stopped process, a lost network) would keep the rows it locked from
 * everybody; the server ends such a transaction after this time, in milliseconds.
 */
export const IDLE_TRANSACTION_MS = 10_000;

/** How often work that others were in the way of is tried at once. */
export const ATTEMPTS = 5;

/**
 * Runs what is a transaction of its own, so did nothing where it failed, as long as others were only in the way. A database
 * may have another isolation by default, in which anything, a list as well as a claim, can turn out not to be serializable.
 *
 * @param mayPass Whether the same may succeed at once. Default: not where a lock was waited for in vain.
 */
export async function insist<T>(
  run: () => Promise<T>,
  mayPass: (error: unknown) => boolean = (error) => isContention(error) && !isLockTimeout(error),
): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === ATTEMPTS || !mayPass(error)) throw error;
    }
  }
}
