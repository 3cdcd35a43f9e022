/** A value that is bound to, or read from, a column. */
export type SqlValue = string | number | null;

/** A row as the database hands it over. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * The few methods of a prepared statement that are used: `node:sqlite`'s and better-sqlite3's both fit. Each parameter is an
 * {@linkcode SqlValue}; the types do not say so, because TypeScript before 6 takes those of better-sqlite3 for narrower.
 */
export interface SqliteStatementLike {
  /** Executes it, for its effect. */
  run(...parameters: unknown[]): unknown;
  /** Executes it and answers the first row, as an object by column. */
  get(...parameters: unknown[]): unknown;
  /** Executes it and answers all rows. */
  all(...parameters: unknown[]): unknown[];
}

/**
 * The few methods of a synchronous SQLite database that are used: `DatabaseSync` of `node:sqlite` (Node and Deno) and
 * `Database` of better-sqlite3 fit as they are.
 */
export interface SqliteDatabaseLike {
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatementLike;
  /** Executes statements without parameters. */
  exec(sql: string): unknown;
  /** Closes the connection; called only where the store opened it. */
  close(): unknown;
}

/** How the two libraries spell the switches by which an application may have changed what a statement answers. */
interface StatementSwitches extends SqliteStatementLike {
  setReadBigInts?(on: boolean): unknown;
  setReturnArrays?(on: boolean): unknown;
  safeIntegers?(on: boolean): unknown;
  readonly reader?: boolean;
  raw?(on: boolean): unknown;
}

/** Prepares a statement that answers rows as objects and integers as numbers, whatever the database's defaults. */
export function prepare(database: SqliteDatabaseLike, sql: string): SqliteStatementLike {
  const statement: StatementSwitches = database.prepare(sql);
  statement.setReadBigInts?.(false);
  statement.setReturnArrays?.(false);
  statement.safeIntegers?.(false);
  if (statement.reader === true) statement.raw?.(false);
  return statement;
}

/** Reads one value of one row. */
export function readValue(database: SqliteDatabaseLike, sql: string): SqlValue | undefined {
  const row = prepare(database, sql).get() as SqlRow | undefined;
  return row === undefined ? undefined : Object.values(row)[0];
}

/** Whether a transaction is open on the connection, which can only be the application's when it is asked. */
export function inTransaction(database: SqliteDatabaseLike): boolean {
  const { isTransaction, inTransaction } = database as { isTransaction?: boolean; inTransaction?: boolean };
  return isTransaction ?? inTransaction ?? false;
}

/** The file of a connection; undefined for a database in memory or a temporary one. */
export function databaseFile(database: SqliteDatabaseLike): string | undefined {
  const list = prepare(database, "pragma database_list").all() as SqlRow[];
  const file = list.find((row) => row["name"] === "main")?.["file"];
  return typeof file === "string" && file !== "" ? file : undefined;
}
