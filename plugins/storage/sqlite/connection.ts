import { StorageError } from "../../../src/contract/mod.ts";
import { bind, type Statement } from "../sql/statement.ts";
import {
  inTransaction,
  prepare,
  readValue,
  type SqliteDatabaseLike,
  type SqliteStatementLike,
  type SqlValue,
} from "./database.ts";
import { isBusy, storageError } from "./errors.ts";

/** Pauses between attempts to get the write lock, in milliseconds; the last is repeated. */
const PAUSES = [1, 2, 3, 5, 8, 12, 20];

/** Pages in the journal after which a commit carries them over into the database: SQLite's own default. */
const CHECKPOINT_PAGES = 1_000;

/** How a connection waits for others. */
export interface ConnectionOptions {
  readonly database: SqliteDatabaseLike;
  /** Milliseconds for which the write lock is waited for. */
  readonly busyTimeout: number;
  /** Whether the application uses the connection too, with a busy timeout of its own. */
  readonly shared: boolean;
  /** Throws when what is about to be committed would be lost. */
  readonly guard?: () => void;
  /** Whether commits are flushed to the disk, unless they are {@linkcode Flush} `"later"`. */
  readonly flushes: boolean;
}

/** When a commit reaches the disk: before it is answered, or with the next one that is flushed. */
export type Flush = "now" | "later";

/**
 * One SQLite connection with its prepared statements. Everything on it is synchronous but the waiting for the write
 * lock: SQLite's own would block the event loop, and with it the very transaction of this process that is waited for.
 */
export class Connection {
  readonly database: SqliteDatabaseLike;
  readonly #options: ConnectionOptions;
  readonly #prepared = new Map<string, SqliteStatementLike>();
  #flush: Flush = "now";

  constructor(options: ConnectionOptions) {
    this.database = options.database;
    this.#options = options;
    if (!options.shared) this.database.exec("pragma busy_timeout = 0");
  }

  /** Runs a statement that answers no rows. */
  run<P>(statement: Statement<P>, values: P): void {
    this.#statement(statement.query.sql).run(...bind<P, SqlValue>(statement, values));
  }

  /** Reads the first row. */
  get<P, R>(statement: Statement<P, R>, values: P): R | undefined {
    return this.#statement(statement.query.sql).get(...bind<P, SqlValue>(statement, values)) as R | undefined;
  }

  /** Reads every row. */
  all<P, R>(statement: Statement<P, R>, values: P): readonly R[] {
    return this.#statement(statement.query.sql).all(...bind<P, SqlValue>(statement, values)) as R[];
  }

  /**
   * Does work in a write transaction and answers once it is committed, so durable: against a crash of the process
   * always, against a power cut once it is flushed. The work is rolled back if it throws. It may wait for the lock, but
   * never in the middle.
   */
  write<T>(doing: string, work: () => T, flush: Flush = "now"): Promise<T> {
    return this.retry(doing, () => {
      this.#flushing(flush);
      this.#begin();
      try {
        const result = work();
        this.#options.guard?.();
        this.#control("commit");
        return result;
      } catch (error) {
        // After some failures SQLite has rolled back by itself.
        if (inTransaction(this.database)) this.#control("rollback");
        throw error;
      }
    });
  }

  /** Does work now, or again after a pause for as long as another connection is in the way. */
  async retry<T>(doing: string, work: () => T): Promise<T> {
    const { busyTimeout } = this.#options;
    for (let attempt = 0, waited = 0;; attempt++) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw storageError(doing, error);
        if (waited >= busyTimeout) throw this.#locked(doing, error);
      }
      const pause = PAUSES[Math.min(attempt, PAUSES.length - 1)]!;
      waited += pause;
      // Not the scheduler's clock: whoever holds the lock is real, also where time is a test's.
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Whether this connection could write now; it does not. */
  canLock(): boolean {
    try {
      this.#begin();
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    this.#control("rollback");
    return true;
  }

  /**
   * Settings of the connection, which a transaction cannot change once it has begun. Carrying the journal over into the
   * database (a checkpoint) flushes too, so it is left to a commit that does.
   */
  #flushing(flush: Flush): void {
    if (!this.#options.flushes || this.#flush === flush) return;
    const [synchronous, pages] = flush === "now" ? ["full", CHECKPOINT_PAGES] : ["normal", 0];
    this.database.exec(`pragma synchronous = ${synchronous}; pragma wal_autocheckpoint = ${pages}`);
    this.#flush = flush;
  }

  #begin(): void {
    if (!this.#options.shared) return this.#control("begin immediate");
    const timeout = readValue(this.database, "pragma busy_timeout");
    this.database.exec("pragma busy_timeout = 0");
    try {
      this.#control("begin immediate");
    } finally {
      this.database.exec(`pragma busy_timeout = ${Number(timeout)}`);
    }
  }

  #control(command: "begin immediate" | "commit" | "rollback"): void {
    this.#statement(command).run();
  }

  #statement(sql: string): SqliteStatementLike {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) this.#prepared.set(sql, statement = prepare(this.database, sql));
    return statement;
  }

  #locked(doing: string, cause: unknown): StorageError {
    const { busyTimeout } = this.#options;
    const why = inTransaction(this.database)
      ? `the application has kept a transaction open on the same connection for ${busyTimeout} ms; ` +
        "inside of it use within(transaction), on a scheduler that was started before"
      : `another connection has kept the database locked for ${busyTimeout} ms`;
    return new StorageError(`sqlite: ${doing}: ${why}`, { cause, details: { busyTimeout } });
  }
}
