import { SchedulerError, SQLITE_CACHE_KIB, SQLITE_LOG_BYTES, StorageError } from "../../../src/contract/mod.ts";
import type { Connection } from "./connection.ts";
import { inTransaction, prepare, readValue, type SqliteDatabaseLike, type SqlRow } from "./database.ts";
import { messageOf } from "./errors.ts";
import type { SqliteSettings } from "./options.ts";
import { migrate } from "./schema.ts";

/** Opens a file of one's own, or `":memory:"`, with the runtime's own SQLite. */
export async function openDatabase(path: string): Promise<SqliteDatabaseLike> {
  const { DatabaseSync } = await importSqlite();
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw unusable(
      path,
      `${messageOf(error)}; expected a readable and writable file in a directory that exists`,
      error,
    );
  }
}

async function importSqlite(): Promise<typeof import("node:sqlite")> {
  try {
    return await import("node:sqlite");
  } catch (error) {
    throw new SchedulerError(
      "config_invalid",
      "sqlite: path: this runtime has no node:sqlite; expected Node 22.18 or newer, Deno 2, or a database of better-sqlite3",
      { cause: error, details: { option: "path" } },
    );
  }
}

/**
 * A check that the file is still the one that was opened: SQLite goes on writing to one that was removed or replaced,
 * and what it writes is gone with the process.
 */
export async function fileGuard(file: string): Promise<() => void> {
  const { statSync } = await import("node:fs");
  const identity = statSync(file).ino;
  return () => {
    if (statSync(file, { throwIfNoEntry: false })?.ino === identity) return;
    throw new StorageError(`sqlite: ${file} was removed or replaced while it was open`, { details: { file } });
  };
}

/** Makes a connection fit: integers come back whole, the journal is a WAL, the tables are there. */
export async function prepareDatabase(
  connection: Connection,
  settings: SqliteSettings,
  file: string | undefined,
): Promise<void> {
  const { database } = connection;
  const where = file ?? ":memory:";
  await connection.retry(`opening ${where}`, () => probe(database, where));
  if (file !== undefined) await connection.retry(`opening ${where}`, () => useWal(database, where));
  if ("path" in settings.source) {
    database.exec(`pragma cache_size = -${SQLITE_CACHE_KIB}; pragma journal_size_limit = ${SQLITE_LOG_BYTES}`);
  }
  const synchronous = settings.synchronous ?? ("path" in settings.source ? "full" : undefined);
  if (synchronous !== undefined) database.exec(`pragma synchronous = ${synchronous}`);
  await connection.write(`creating the tables in ${where}`, () => migrate(database, settings.tablePrefix));
}

/** Runtimes have cut integers to 32 bits; such a one would corrupt every instant. */
const INTEGERS = [1_767_225_600_000, 2 ** 31, 2 ** 53 - 1, -1];

function probe(database: SqliteDatabaseLike, where: string): void {
  try {
    database.exec("select count(*) from sqlite_schema");
  } catch (error) {
    if (/not a database|malformed/i.test(messageOf(error))) throw unusable(where, messageOf(error), error);
    throw error;
  }
  const statement = prepare(database, "select ? as value");
  for (const integer of INTEGERS) {
    const value = (statement.get(integer) as SqlRow)["value"];
    if (value !== integer) {
      throw new SchedulerError(
        "config_invalid",
        `sqlite: the runtime's SQLite answers ${value} for ${integer}; expected integers of 64 bits`,
        { details: { given: value, expected: integer } },
      );
    }
  }
}

function useWal(database: SqliteDatabaseLike, where: string): void {
  const mode = String(readValue(database, "pragma journal_mode"));
  if (mode.toLowerCase() === "wal") return;
  // It would stay as it is, and the disk be blamed; the application's transaction may soon be over.
  if (inTransaction(database)) throw new Error("the journal cannot be changed within a transaction");
  const answered = String(readValue(database, "pragma journal_mode = wal"));
  if (answered.toLowerCase() !== "wal") {
    throw unusable(where, `journal_mode stays ${answered}; expected wal, which needs a local disk`);
  }
}

function unusable(where: string, why: string, cause?: unknown): StorageError {
  return new StorageError(`sqlite: ${where} cannot be used: ${why}`, { retryable: false, cause, details: { where } });
}
