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

/** How Kysely lends a connection. */
export interface KyselyConnectionLike {
  /** Runs the work on one of the pool's and gives it back. */
  execute<T>(work: (connection: KyselyExecutorLike) => Promise<T>): Promise<T>;
}

/** The few methods of the application's own `Kysely` that are used, on PostgreSQL by whatever dialect. */
export interface KyselyLike {
  /** Whether it is a transaction, which will not do. */
  readonly isTransaction: boolean;
  /** The same connections without the application's plugins, which may rename columns. */
  withoutPlugins(): {
    connection(): KyselyConnectionLike;
    transaction(): KyselyTransactionsLike;
  };
}

/** Whether a value is shaped like a Kysely, or like a transaction of one. */
export function isKysely(value: unknown): value is KyselyLike {
  return typeof (value as Partial<KyselyLike> | null | undefined)?.withoutPlugins === "function";
}
