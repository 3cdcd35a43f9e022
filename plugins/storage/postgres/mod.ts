/**
 * Schedules in PostgreSQL 14 or newer, shared by as many processes and machines as you like: through `pg`, through the
 * application's own pool of `pg`, or through its Kysely. The database's clock decides what is due.
 *
 * @module
 */
import type { Storage } from "../../../src/contract/mod.ts";
import type { KyselyLike } from "./kysely_like.ts";
import { type MigrationOptions, type PostgresOptions, readMigrationOptions, readOptions } from "./options.ts";
import type { PgPoolLike } from "./pg_like.ts";
import { SCHEMA_VERSION, schemaSql } from "./schema.ts";
import { PostgresStorage } from "./storage.ts";

export type { KyselyConnectionLike, KyselyExecutorLike, KyselyLike, KyselyTransactionsLike } from "./kysely_like.ts";
export type { MigrationOptions, PostgresOptions, SchemaOptions } from "./options.ts";
export type { PgClientLike, PgPoolClientLike, PgPoolLike, PgQueryValue, PgResultLike } from "./pg_like.ts";

/**
 * A store in a PostgreSQL database. What is passed in (a pool, a Kysely) is not closed with it.
 *
 * @param options A connection string, a pool of `pg`, a Kysely, or options.
 * @throws {SchedulerError} `config_invalid` when an option does not fit. Opening it may throw `store_unavailable` (no
 * server, no such database, no rights, a standby, an encoding other than UTF8, tables that are missing with `migrate: "manual"`), `store_too_new`, and
 * `config_invalid` where a connection string needs the package `pg` and there is none.
 *
 * @example
 * ```ts
 * import { postgres } from "@ostinato/scheduler/postgres";
 *
 * const storage = postgres("postgres://app@localhost/app");
 * const apart = postgres({ url: "postgres://app@localhost/app", schema: "billing", poolSize: 3 });
 * ```
 *
 * @example What the application has
 * ```ts
 * import { postgres } from "@ostinato/scheduler/postgres";
 * import { Kysely, PostgresDialect } from "kysely";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionString: "postgres://app@localhost/app" });
 * const storage = postgres(pool); // the same as postgres({ pool })
 * const other = postgres(new Kysely({ dialect: new PostgresDialect({ pool }) })); // the same as postgres({ kysely })
 * ```
 */
export function postgres(options: string | PgPoolLike | KyselyLike | PostgresOptions): Storage {
  return new PostgresStorage(readOptions(options));
}

/**
 * The SQL that creates the tables, or brings those of an older version to this one, for people who apply it themselves
 * (`migrate: "manual"`). It holds no transaction of its own, so that it fits into whatever applies migrations.
 *
 * @param options The schema and prefix that the store is given, too, and from which version it leads on.
 * @throws {SchedulerError} `config_invalid` when an option does not fit.
 *
 * @example
 * ```ts
 * import { migrationSql } from "@ostinato/scheduler/postgres";
 *
 * console.log(migrationSql({ schema: "billing" }).includes('create table "billing"."documents"')); // true
 * ```
 */
export function migrationSql(options: MigrationOptions = {}): string {
  const { from, ...settings } = readMigrationOptions(options, SCHEMA_VERSION);
  return schemaSql(settings, from);
}
