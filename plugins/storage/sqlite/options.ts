import { DEFAULT_BUSY_TIMEOUT_MS, SchedulerError, show } from "../../../src/contract/mod.ts";
import { readTablePrefix } from "../sql/tables.ts";
import type { SqliteDatabaseLike } from "./database.ts";

/** Options of {@linkcode sqlite}. Exactly one of `path` and `database` is given. */
export interface SqliteOptions {
  /** A file, created if it is absent; or `":memory:"`. Its directory must exist. */
  readonly path?: string;
  /** An open database of `node:sqlite` or better-sqlite3, or one shaped like them. It is not closed by the store. */
  readonly database?: SqliteDatabaseLike;
  /**
   * `"full"`: what resolved survives a power cut. `"normal"`: it survives a crash of the process, and a power cut may
   * take the latest commits. Default `"full"`; a database that was passed in keeps its own setting unless this is given.
   */
  readonly synchronous?: "full" | "normal";
  /** What the tables' names begin with: letters, digits and underscores. Default `"ostinato_"`. */
  readonly tablePrefix?: string;
  /** Milliseconds for which another connection's lock is waited for, without blocking the event loop. Default 5000. */
  readonly busyTimeout?: number;
}

/** Options, checked, with defaults filled in. */
export interface SqliteSettings {
  readonly source: { readonly path: string } | { readonly database: SqliteDatabaseLike };
  readonly synchronous: "full" | "normal" | undefined;
  readonly tablePrefix: string;
  readonly busyTimeout: number;
}

const KEYS = ["path", "database", "synchronous", "tablePrefix", "busyTimeout"];

/**
 * Reads the argument of {@linkcode sqlite}.
 *
 * @throws {SchedulerError} `config_invalid`, naming the option.
 */
export function readOptions(given: string | SqliteOptions): SqliteSettings {
  const options: SqliteOptions = typeof given === "string" ? { path: given } : given;
  if (typeof options !== "object" || options === null) throw invalid("options", given, "a path or an object");
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key)) throw invalid(key, options[key as keyof SqliteOptions], `one of ${KEYS.join(", ")}`);
  }
  const { synchronous, busyTimeout = DEFAULT_BUSY_TIMEOUT_MS } = options;
  if (synchronous !== undefined && synchronous !== "full" && synchronous !== "normal") {
    throw invalid("synchronous", synchronous, '"full" or "normal"');
  }
  if (!(Number.isFinite(busyTimeout) && busyTimeout >= 0)) throw invalid("busyTimeout", busyTimeout, "milliseconds");
  return { source: readSource(options), synchronous, tablePrefix: readTablePrefix(options.tablePrefix), busyTimeout };
}

function readSource({ path, database }: SqliteOptions): SqliteSettings["source"] {
  if (database !== undefined) {
    if (path !== undefined) throw invalid("path", path, "nothing beside a database");
    const { prepare, exec, close } = (database ?? {}) as Partial<SqliteDatabaseLike>;
    if ([prepare, exec, close].every((method) => typeof method === "function")) return { database };
    throw invalid("database", database, "an open database of node:sqlite or better-sqlite3");
  }
  if (typeof path === "string" && path !== "") return { path };
  throw invalid("path", path, 'the path of a file, or ":memory:"');
}

function invalid(option: string, given: unknown, expected: string): SchedulerError {
  return new SchedulerError("config_invalid", `sqlite: ${option}: ${show(given)}; expected ${expected}`, {
    details: { option, given: show(given) },
  });
}
