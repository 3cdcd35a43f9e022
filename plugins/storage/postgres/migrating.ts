import { CompiledQuery } from "kysely";
import { SchedulerError, StorageError } from "../../../src/contract/mod.ts";
import { named } from "../sql/statement.ts";
import type { Database, Session } from "./database.ts";
import { isAbsent } from "./errors.ts";
import type { PostgresSettings, SchemaSettings } from "./options.ts";
import { metaSql, migrationSteps, SCHEMA_VERSION } from "./schema.ts";
import type { Statements } from "./statements.ts";

/** How long one instance waits for another's migration, in milliseconds. */
const MIGRATION_LOCK_MS = 60_000;

/** How long a step of a migration may take, in milliseconds: one may go through all schedules. */
const MIGRATION_STEP_MS = 600_000;

/** Encodings of a database that hold every text: the second takes bytes as they are. */
const ENCODINGS = ["UTF8", "SQL_ASCII"];

const encoding = named<unknown, { value: string }>(
  CompiledQuery.raw("select current_setting('server_encoding') as value"),
);

/**
 * Brings the store to this code's schema, or finds that it is there. The lock belongs to the transaction, so that it also
 * holds behind a pooler, and any number of instances may start at once.
 *
 * @throws {SchedulerError} `store_too_new` when a newer version of the scheduler wrote it; `store_unavailable` when the
 * tables are not there and are not to be created, or the database cannot hold every text.
 */
export async function migrate(database: Database, statements: Statements, settings: PostgresSettings): Promise<void> {
  await checkEncoding(database);
  const stored = await storedVersion(database, statements);
  check(stored, settings);
  if (stored === SCHEMA_VERSION) return;
  if (settings.migrate === "manual") throw notMigrated(stored, settings);
  const limits = { lockMs: MIGRATION_LOCK_MS, answerMs: MIGRATION_STEP_MS };
  await database.transaction("migrating", limits, async (session) => {
    await session.run(statements.migrationLock, { place: `ostinato ${settings.schema}.${settings.tablePrefix}` });
    await prepare(session, settings);
    const [row] = await session.run(statements.meta, { key: "schema" });
    const version = Number(row?.value ?? 0);
    check(version, settings);
    for (const step of migrationSteps(settings, version)) await session.script(step);
  });
}

async function storedVersion(database: Database, statements: Statements): Promise<number> {
  try {
    const [row] = await database.run("reading the schema's version", statements.meta, { key: "schema" });
    return Number(row?.value ?? 0);
  } catch (error) {
    if (isAbsent(error)) return 0;
    throw error;
  }
}

/**
 * The schema may have been created by somebody with more rights, who gave us this one only. It is looked for in the catalog
 * itself: what a connection remembers of it may be older than the lock that was waited for. Whoever puts tables of another
 * prefix into it holds another lock, so may create it at the same time.
 */
async function prepare(session: Session, settings: SchemaSettings): Promise<void> {
  await session.script(`do $$ begin
    if not exists (select from pg_namespace where nspname = '${settings.schema}') then
      create schema "${settings.schema}";
    end if;
  exception when duplicate_schema or unique_violation then
    null;
  end $$`);
  await session.script(metaSql(settings));
}

function check(stored: number, { schema, tablePrefix }: SchemaSettings): void {
  if (stored <= SCHEMA_VERSION) return;
  throw new SchedulerError(
    "store_too_new",
    `postgres: the tables ${schema}.${tablePrefix}* have schema ${stored}; this version of the scheduler knows up to ${SCHEMA_VERSION}`,
    { details: { stored, known: SCHEMA_VERSION } },
  );
}

/** What a run ends with, such as an error's message, must not meet a database that refuses it, again and again (S4). */
async function checkEncoding(database: Database): Promise<void> {
  const [row] = await database.run("reading the database's encoding", encoding, {});
  if (ENCODINGS.includes(row!.value)) return;
  throw new StorageError(
    `postgres: the database's encoding is ${row!.value}, which lacks most characters; expected UTF8`,
    { retryable: false, details: { encoding: row!.value } },
  );
}

function notMigrated(stored: number, { schema, tablePrefix }: SchemaSettings): StorageError {
  const [found, from] = stored === 0 ? ["are not there", ""] : [`have schema ${stored}`, `{ from: ${stored} }`];
  return new StorageError(
    `postgres: the tables ${schema}.${tablePrefix}* ${found}; expected schema ${SCHEMA_VERSION}, and migrate is "manual": apply migrationSql(${from})`,
    { retryable: false, details: { stored, known: SCHEMA_VERSION } },
  );
}
