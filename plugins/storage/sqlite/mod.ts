/**
 * Schedules in an SQLite file, through `node:sqlite` (Node and Deno), better-sqlite3 or anything shaped like them. One
 * host only: several processes may share the file, several machines may not.
 *
 * A process that has the file open must not open and close it by other means, since that drops SQLite's locks (POSIX):
 * copies of a live file, and `Deno.watchFs` or `deno run --watch` over its directory, belong into another process.
 *
 * @module
 */
import type { Storage } from "../../../src/contract/mod.ts";
import { readOptions, type SqliteOptions } from "./options.ts";
import { SqliteStorage } from "./storage.ts";

export type { SqliteDatabaseLike, SqliteStatementLike, SqlValue } from "./database.ts";
export type { SqliteOptions } from "./options.ts";

/**
 * A store in an SQLite file, or in a database that is open already. Its tables are made at opening, under a lock (M7).
 * Any number of processes of one host may open the file; each scheduler needs a store of its own. The clock of the
 * machine decides what is due. Another process's changes are noticed when the file changes. Its view
 * `ostinato_overview` is for people with an SQL shell.
 *
 * A file of its own is flushed before a call resolves and before an outcome counts as written. Claims are flushed with the
 * next of those: after a power cut the runs that were claimed last start again, unless they are `onLost: "fault"`.
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
 * const storage = sqlite("schedules.db"); // opened by the scheduler's first call
 * const quick = sqlite({ path: "schedules.db", synchronous: "normal" });
 * console.log(storage.supports.durable, quick.supports.processes); // true true
 * ```
 *
 * @example A database of the application, for `scheduler.within`
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { sqlite } from "@ostinato/scheduler/sqlite";
 * import { DatabaseSync } from "node:sqlite";
 *
 * const database = new DatabaseSync(":memory:");
 * const beat = defineTask("beat", () => {});
 * const scheduler = createScheduler({ storage: sqlite({ database }), tasks: [beat] });
 * await scheduler.every(beat, "1m", undefined, { name: "beat" });
 * console.log(database.prepare("select name, state from ostinato_overview").get()?.name); // beat
 * await scheduler.close();
 * database.close(); // what was passed in is not closed with the scheduler
 * ```
 */
export function sqlite(options: string | SqliteOptions): Storage {
  return new SqliteStorage(readOptions(options));
}
