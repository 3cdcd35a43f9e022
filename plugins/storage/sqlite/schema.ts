import { prepare, type SqliteDatabaseLike, type SqlRow } from "./database.ts";
import { SchedulerError } from "../../../src/contract/mod.ts";

/** The schema that this code reads and writes; a store's own stands in its meta table. */
const SCHEMA_VERSION = 1;

/**
 * Brings the store to this code's schema. To be called inside a write transaction, which is the lock that lets any
 * number of instances start at once.
 *
 * @throws {SchedulerError} `store_too_new` when a newer version of the scheduler wrote it.
 */
export function migrate(database: SqliteDatabaseLike, prefix: string): void {
  database.exec(`create table if not exists ${prefix}meta (key text primary key not null, value text not null) strict`);
  const read = prepare(database, `select value from ${prefix}meta where key = 'schema'`);
  const stored = Number((read.get() as SqlRow | undefined)?.["value"] ?? 0);
  if (stored > SCHEMA_VERSION) {
    throw new SchedulerError(
      "store_too_new",
      `sqlite: the tables ${prefix}* have schema ${stored}; this version of the scheduler knows up to ${SCHEMA_VERSION}`,
      { details: { stored, known: SCHEMA_VERSION } },
    );
  }
  if (stored === SCHEMA_VERSION) {
    // Written again, so that a database that may not be written is refused now and not at the first deadline.
    prepare(database, `update ${prefix}meta set value = value where key = 'schema'`).run();
    return;
  }
  for (const step of STEPS.slice(stored)) database.exec(step(prefix));
  prepare(database, `insert or replace into ${prefix}meta (key, value) values ('schema', ?)`).run(`${SCHEMA_VERSION}`);
}

/** One step for each version; a step that was released is never edited. */
const STEPS: readonly ((prefix: string) => string)[] = [first];

// The integer key keeps the table's rows in order of creation and the indexes' entries small. The bounds of wake_at keep
// a number that JavaScript cannot hold, put there by hand, from being read for ever.
function first(prefix: string): string {
  const table = `${prefix}schedules`;
  return `
    insert into ${prefix}meta (key, value) values ('store', lower(hex(randomblob(16))));
    create table ${table} (
      seq integer primary key,
      id text not null unique,
      lane text,
      wake_at integer check (wake_at between -8640000000000000 and 8640000000000000),
      next_run integer,
      task text not null,
      owner text not null,
      name text,
      dedupe_key text,
      grp text,
      target text,
      tags text,
      live integer not null,
      running integer not null,
      definition text not null,
      progress text not null,
      parked text
    ) strict;
    create index ${table}_wake on ${table} (lane, wake_at) where wake_at is not null;
    create unique index ${table}_name on ${table} (name, owner) where name is not null;
    create unique index ${table}_key on ${table} (dedupe_key, owner) where dedupe_key is not null;
    create index ${table}_task on ${table} (task, id);
    create index ${table}_target on ${table} (target, id) where target is not null;
    create index ${table}_group on ${table} (grp, id) where grp is not null;
    create index ${table}_owner on ${table} (owner, id) where owner <> 'system';
    create index ${table}_running on ${table} (id) where running = 1;
    create view ${prefix}overview as
      select id, task, name, owner, target,
        case when parked is not null then 'parked' when live = 0 then 'retired' when running = 1 then 'running'
          when facts ->> 'pausedAt' is not null then 'paused' else 'waiting' end as state,
        strftime('%Y-%m-%dT%H:%M:%fZ', next_run / 1000.0, 'unixepoch') as next_run,
        strftime('%Y-%m-%dT%H:%M:%fZ', (facts ->> 'lastRun') / 1000.0, 'unixepoch') as last_run,
        coalesce(facts ->> 'runCount', 0) as runs,
        coalesce(facts ->> 'faultCount', 0) as faults,
        facts ->> '$.retired.reason' as retire_reason,
        parked
      from (select *, iif(json_valid(progress), progress, '{}') as facts from ${table});
  `;
}
