import { functionsOf2 } from "./functions_2.ts";
import type { SchemaSettings } from "./options.ts";
import { functionsSql } from "./statements.ts";

/** The schema that this code reads and writes; the store's own stands in its meta table. */
export const SCHEMA_VERSION = 4;

/** The tables by their quoted names; what may be in a name leaves nothing to escape. */
export interface TableNames {
  readonly documents: string;
  readonly meta: string;
}

/** Quoted names for SQL text. */
export function tableNames(settings: SchemaSettings): TableNames {
  return { documents: qualified(settings, "documents"), meta: qualified(settings, "meta") };
}

/** Everything that brings a version, or an empty database, to this code's schema, for people who apply it themselves. */
export function schemaSql(settings: SchemaSettings, from: number): string {
  const steps = migrationSteps(settings, from);
  const first = from === 0 ? [`create schema if not exists "${settings.schema}";`, metaSql(settings)] : [];
  return [...first, ...steps].join("\n\n");
}

/** The table that holds the version; the one thing that exists before any migration. */
export function metaSql(settings: SchemaSettings): string {
  const meta = qualified(settings, "meta");
  return `
create table if not exists ${meta} (
  key text collate "C" primary key,
  value text not null,
  recorded_at timestamptz not null default now()
);
comment on table ${meta} is 'Ostinato: facts about this store, such as the version of its schema';
`.trim();
}

/** What leads from a version to this code's, one text each; a step that was released is never edited. */
export function migrationSteps(settings: SchemaSettings, from: number): readonly string[] {
  const record = (version: number) => `
insert into ${qualified(settings, "meta")} (key, value) values ('schema', '${version}')
  on conflict (key) do update set value = excluded.value, recorded_at = now();`;
  return STEPS.slice(from).map((step, index) => step(settings).trim() + record(from + index + 1));
}

const STEPS: readonly ((settings: SchemaSettings) => string)[] = [first, second, third, fourth];

function qualified({ schema, tablePrefix }: SchemaSettings, name: string): string {
  return `"${schema}"."${tablePrefix}${name}"`;
}

/**
 * Text rather than jsonb: jsonb refuses U+0000 and lone surrogates, and what a person has damaged has to stay readable.
 * Collation "C": the order of ids is that of bytes, and no upgrade of the system's locales can invalidate an index.
 *
 * Every claim moves `wake_at`, which is indexed, so cannot be HOT: what keeps the table small is vacuum, which therefore
 * comes after a few thousand dead rows, however large the table is, and does not pause. A definition that is not small is stored out of line
 * (TOAST), where an update of the progress leaves it alone. For the same reason there are few indexes: each one is another
 * entry for every such move. What is listed by task is found by its lane.
 */
function first(settings: SchemaSettings): string {
  const [meta, documents, facts] = ["meta", "documents", "facts"].map((name) => qualified(settings, name));
  const index = (name: string) => `"${settings.tablePrefix}documents_${name}"`;
  return `
insert into ${meta} (key, value) values ('store', gen_random_uuid()::text);

create table ${documents} (
  id text collate "C" primary key,
  lane text collate "C",
  wake_at timestamptz check (isfinite(wake_at)),
  next_run timestamptz,
  task text collate "C" not null,
  owner text collate "C" not null,
  name text collate "C",
  dedupe_key text collate "C",
  grp text collate "C",
  target text collate "C",
  tags text[] collate "C",
  live boolean not null,
  running boolean not null,
  definition text not null,
  progress text not null,
  parked text
) with (
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0,
  toast_tuple_target = 1024
);
create index ${index("wake")} on ${documents} (lane, wake_at);
create unique index ${index("name")} on ${documents} (name, owner) where name is not null;
create unique index ${index("key")} on ${documents} (dedupe_key, owner) where dedupe_key is not null;
create index ${index("target")} on ${documents} (target, id) where target is not null;
create index ${index("group")} on ${documents} (grp, id) where grp is not null;
create index ${index("owner")} on ${documents} (owner, id) where owner <> 'system';
create index ${index("running")} on ${documents} (id) where running;

comment on table ${documents} is 'Ostinato: one row for each schedule; to be changed by the library only, see the view schedules';
comment on column ${documents}.lane is 'whose turn it is: the task, empty once retired, null while parked';
comment on column ${documents}.wake_at is 'when anything has to happen next: a deadline, a retry, the end of a lease or of retention';
comment on column ${documents}.next_run is 'the next deadline; null when none is to come, or while paused';
comment on column ${documents}.name is 'unique with owner among live schedules; null once retired';
comment on column ${documents}.dedupe_key is 'option key: unique with owner among live schedules; null once retired';
comment on column ${documents}.live is 'not retired';
comment on column ${documents}.running is 'an instance holds a run of it';
comment on column ${documents}.definition is 'JSON: what its owner asked for';
comment on column ${documents}.progress is 'JSON: what has become of it';
comment on column ${documents}.parked is 'why the JSON cannot be used; nothing happens to the schedule until it is updated or stopped';

create function ${facts}(progress text) returns jsonb language plpgsql immutable strict parallel safe as $$
begin
  return progress::jsonb;
exception when others then
  return '{}';
end
$$;
comment on function ${facts}(text) is 'Ostinato: the JSON of a schedule as far as jsonb can hold it';

create view ${qualified(settings, "schedules")} as
  select id, name, task, owner, target, grp as "group",
    case when parked is not null then 'parked' when not live then 'retired' when running then 'running'
      when facts ->> 'pausedAt' is not null then 'paused' else 'waiting' end as state,
    next_run,
    timestamptz 'epoch' + (facts ->> 'lastRun')::float8 * interval '1 millisecond' as last_run,
    coalesce((facts ->> 'runCount')::bigint, 0) as runs,
    coalesce((facts ->> 'faultCount')::bigint, 0) as faults,
    coalesce((facts ->> 'missedCount')::bigint, 0) as missed,
    facts #>> '{lastFault,message}' as last_fault,
    facts #>> '{retired,reason}' as retire_reason,
    parked
  from ${documents} cross join lateral (select ${facts}(progress) as facts offset 0) as read;
comment on view ${qualified(settings, "schedules")} is 'Ostinato: the schedules, for people';
`;
}

/**
 * A settlement of a recurring schedule changes nothing that is indexed but whether it is running. Without an index of that
 * it is HOT where its page has room, which is therefore left: beside an old snapshot, which keeps every version, an id that
 * is entered again costs a look at each of its versions. What is running is found by the ends of leases.
 */
function second(settings: SchemaSettings): string {
  const { schema, tablePrefix } = settings;
  return `
drop index "${schema}"."${tablePrefix}documents_running";
alter table ${qualified(settings, "documents")} set (fillfactor = 70);
${functionsOf2(settings)}`;
}

/** Only the functions have changed: they copy what they are handed less often. */
function third(settings: SchemaSettings): string {
  return functionsSql(settings);
}

/**
 * Before PostgreSQL 17 no subtransaction begins in a parallel plan, so that the view failed where there were many schedules.
 * What has the form of JSON and says nonsense, as text that a person has damaged may, is read as nothing, too.
 */
function fourth(settings: SchemaSettings): string {
  return `
create or replace function ${qualified(settings, "facts")}(progress text) returns jsonb
language plpgsql immutable strict parallel unsafe as $$
declare
  facts jsonb;
begin
  facts := progress::jsonb;
  perform timestamptz 'epoch' + (facts ->> 'lastRun')::float8 * interval '1 millisecond', (facts ->> 'runCount')::bigint,
    (facts ->> 'faultCount')::bigint, (facts ->> 'missedCount')::bigint;
  return facts;
exception when others then
  return '{}';
end
$$;
`;
}
