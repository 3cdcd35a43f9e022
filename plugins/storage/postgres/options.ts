import { type Duration, isPlainObject, parseDuration, SchedulerError, show } from "../../../src/contract/mod.ts";
import { readTablePrefix } from "../sql/tables.ts";
import { isKysely, type KyselyLike } from "./kysely_like.ts";
import { isClient, isPool, type PgPoolLike } from "./pg_like.ts";

/** Options of {@linkcode postgres}. Exactly one of `url`, `pool` and `kysely` is given. */
export interface PostgresOptions extends SchemaOptions {
  /** A connection string, `"postgres://user@host/database"`: the store opens a pool of its own, with the package `pg`. */
  readonly url?: string;
  /** The most connections of that pool, the listener's not counted: 1 to 100. Default 5. */
  readonly poolSize?: number;
  /** A pool of `pg`. It is not closed by the store. */
  readonly pool?: PgPoolLike;
  /** The application's own `Kysely` on PostgreSQL, by whatever dialect. It is not closed by the store. */
  readonly kysely?: KyselyLike;
  /**
   * `"auto"` creates and migrates the tables at opening; `"manual"` refuses to open unless somebody has applied
   * {@linkcode migrationSql}. Default `"auto"`.
   */
  readonly migrate?: "auto" | "manual";
  /**
   * Whether other instances' deadlines are learnt at once, by LISTEN on a connection of its own, rather than by polling.
   * A connection string says where that connection goes: past a PgBouncer that pools transactions, or with `kysely`, which
   * does not tell where its database is. Where nothing comes in, as behind such a pooler, it polls and logs a warning.
   * Default `true`; a `kysely` without it polls, and says so when it is opened.
   */
  readonly listen?: boolean | string;
  /** How often the database is asked for what others have changed while there is no listener: from 10 ms. Default 3 s. */
  readonly pollInterval?: Duration;
}

/** Where the tables are. */
export interface SchemaOptions {
  /** The database schema that holds the tables, created if it is absent. Default `"ostinato"`. */
  readonly schema?: string;
  /** What the names of tables and views begin with: letters, digits and underscores. Default: nothing. */
  readonly tablePrefix?: string;
}

/** Options of {@linkcode migrationSql}. */
export interface MigrationOptions extends SchemaOptions {
  /** The version of the schema that is there, as a store that refuses to open tells it. Default 0: there are no tables. */
  readonly from?: number;
}

/** Where the tables are, checked. */
export interface SchemaSettings {
  readonly schema: string;
  readonly tablePrefix: string;
}

/** Where the connections come from. */
export type PostgresSource =
  | { readonly url: string; readonly poolSize: number }
  | { readonly pool: PgPoolLike }
  | { readonly kysely: KyselyLike };

/** Options, checked, with defaults filled in. */
export interface PostgresSettings extends SchemaSettings {
  readonly source: PostgresSource;
  readonly migrate: "auto" | "manual";
  readonly listen: boolean | string;
  readonly pollMs: number;
}

const SCHEMA_KEYS = ["schema", "tablePrefix"];
const KEYS = ["url", "poolSize", "pool", "kysely", ...SCHEMA_KEYS, "migrate", "listen", "pollInterval"];
const DEFAULT_SCHEMA = "ostinato";
const DEFAULT_POOL_SIZE = 5;
const MAX_POOL_SIZE = 100;
/** Five idle instances then ask less than twice a second in all. */
const DEFAULT_POLL_MS = 3_000;
const MIN_POLL_MS = 10;

/**
 * Reads the argument of {@linkcode postgres}.
 *
 * @throws {SchedulerError} `config_invalid`, naming the option.
 */
export function readOptions(given: string | PgPoolLike | KyselyLike | PostgresOptions): PostgresSettings {
  const options = asOptions(given);
  checkKeys(options, KEYS, "a connection string, a pool of pg, a Kysely, or an object of options");
  const { migrate = "auto", pollInterval = DEFAULT_POLL_MS } = options;
  if (migrate !== "auto" && migrate !== "manual") throw invalid("migrate", migrate, '"auto" or "manual"');
  const pollMs = parseDuration(pollInterval, "postgres: pollInterval");
  if (pollMs < MIN_POLL_MS) throw invalid("pollInterval", pollInterval, `a duration from ${MIN_POLL_MS} ms`);
  const source = readSource(options);
  return { ...readPlace(options), source, migrate, listen: readListen(options.listen, source), pollMs };
}

/** What has the methods of a pool or of a Kysely is one, whatever else it has. */
function asOptions(given: string | PgPoolLike | KyselyLike | PostgresOptions): PostgresOptions {
  if (typeof given === "string") return { url: given };
  if (isKysely(given)) return { kysely: given };
  return isPool(given) ? { pool: given } : given;
}

/** Reads the argument of {@linkcode migrationSql}. */
export function readMigrationOptions(
  options: MigrationOptions,
  to: number,
): SchemaSettings & { readonly from: number } {
  checkKeys(options, [...SCHEMA_KEYS, "from"], "an object");
  const { from = 0 } = options;
  if (!Number.isInteger(from) || from < 0 || from > to) throw invalid("from", from, `a whole number from 0 to ${to}`);
  return { ...readPlace(options), from };
}

// Quoted everywhere, so that a reserved word will do. Names that begin with pg_ are the server's own.
const SCHEMA = /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/;

function readPlace({ schema = DEFAULT_SCHEMA, tablePrefix }: SchemaOptions): SchemaSettings {
  if (typeof schema !== "string" || !SCHEMA.test(schema)) {
    throw invalid(
      "schema",
      schema,
      "1 to 63 letters, digits and underscores, not beginning with a digit or with pg_",
    );
  }
  return { schema, tablePrefix: tablePrefix === undefined ? "" : readTablePrefix(tablePrefix) };
}

function readSource({ url, poolSize, pool, kysely }: PostgresOptions): PostgresSource {
  const given = Object.entries({ url, pool, kysely }).filter(([, value]) => value !== undefined).map(([key]) => key);
  if (given.length !== 1) throw refused("options", given.join(" and ") || "none", "one of url, pool and kysely");
  if (url !== undefined) return { url: readUrl("url", url), poolSize: readPoolSize(poolSize) };
  if (poolSize !== undefined) throw invalid("poolSize", poolSize, `nothing beside ${given[0]}`);
  return pool === undefined ? { kysely: readKysely(kysely) } : { pool: readPool(pool) };
}

function readPool(pool: unknown): PgPoolLike {
  if (isClient(pool)) throw refused("pool", "a client of pg", "a pool of pg");
  if (isPool(pool)) return pool;
  throw invalid("pool", pool, "a pool of pg");
}

function readKysely(kysely: unknown): KyselyLike {
  if (!isKysely(kysely)) throw invalid("kysely", kysely, "a Kysely");
  if (kysely.isTransaction !== true) return kysely;
  throw refused("kysely", "a transaction", "the Kysely that begins it; a transaction is for scheduler.within");
}

function readUrl(option: string, url: unknown): string {
  if (typeof url !== "string") throw invalid(option, url, EXPECTED_URL);
  if (/^postgres(ql)?:\/\//.test(url)) return url;
  throw refused(option, describeUrl(url), EXPECTED_URL);
}

const EXPECTED_URL = 'a text that begins with "postgres://"';

/** The value is not shown: it may hold a password. */
function describeUrl(url: string): string {
  if (url === "") return "an empty text";
  if (/^\s/.test(url)) return "a text that begins with white space";
  const [scheme] = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.exec(url) ?? [];
  return scheme === undefined ? 'a text without "://"' : `a text that begins with ${show(scheme)}`;
}

function readPoolSize(size: number = DEFAULT_POOL_SIZE): number {
  if (Number.isInteger(size) && size >= 1 && size <= MAX_POOL_SIZE) return size;
  throw invalid("poolSize", size, `a whole number from 1 to ${MAX_POOL_SIZE}`);
}

function readListen(listen: boolean | string | undefined, source: PostgresSource): boolean | string {
  if (listen === undefined) return true;
  if (typeof listen === "string") return readUrl("listen", listen);
  if (typeof listen !== "boolean") throw invalid("listen", listen, "a boolean or a connection string");
  if (listen && "kysely" in source) throw invalid("listen", listen, "a connection string, or false, with kysely");
  return listen;
}

function checkKeys(options: object, keys: readonly string[], expected: string): void {
  if (options instanceof Promise) throw invalid("options", options, "what it resolves to");
  if (!isPlainObject(options)) throw invalid("options", options, expected);
  for (const key of Object.keys(options)) {
    // Without its value, which may hold a password.
    if (!keys.includes(key)) throw invalid("options", key, `only ${keys.join(", ")}`);
  }
}

function invalid(option: string, given: unknown, expected: string): SchedulerError {
  return refused(option, show(given), expected);
}

/** The error about what is described rather than shown. */
function refused(option: string, given: string, expected: string): SchedulerError {
  return new SchedulerError("config_invalid", `postgres: ${option}: ${given}; expected ${expected}`, {
    details: { option, given },
  });
}
