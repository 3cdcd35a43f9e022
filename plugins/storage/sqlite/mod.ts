/**
 * Schedules in an SQLite file, through `node:sqlite` (Node and Deno), better-sqlite3 or anything shaped like them. One
 * host only: several processes may share the file, several machines may not.
 *
 * @module
 */
import type { Storage } from "../../../src/contract/mod.ts";
import { readOptions, type SqliteOptions } from "./options.ts";
import { SqliteStorage } from "./storage.ts";

export type { SqliteDatabaseLike, SqliteStatementLike, SqlValue } from "./database.ts";
export type { SqliteOptions } from "./options.ts";

/**
 * A store in an SQLite file, or in a database that is open already.
 *
 * In one process every connection to a file must come from one copy of SQLite, since two copies do not see each other's
 * locks: an application that has the same file open through better-sqlite3 passes a `database` of that library.
 *
 * @param options The file's path, or options.
 * @throws {SchedulerError} `config_invalid` when an option does not fit. Opening it may throw `store_unavailable` (no
 * such directory, not a database, read-only, no WAL) and `store_too_new`.
 *
 * @example
 * ```ts
 * import { sqlite } from "@ostinato/scheduler/sqlite";
 *
 * const storage = sqlite("schedules.db");
 * const quick = sqlite({ path: "schedules.db", synchronous: "normal" });
 * // import Database from "better-sqlite3";
 * // const shared = sqlite({ database: new Database("app.db") });
 * ```
 */
export function sqlite(options: string | SqliteOptions): Storage {
  return new SqliteStorage(readOptions(options));
}
