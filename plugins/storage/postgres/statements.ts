import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from "kysely";
import { type DocumentQuery, MAX_LEASE_MS } from "../../../src/contract/mod.ts";
import { named, type Statement, value } from "../sql/statement.ts";
import type { ScheduleRow } from "../sql/tables.ts";
import type { SchemaSettings } from "./options.ts";
import { type Compile, list, ms, NOW, type Query, WITHOUT_SCANS, WORK } from "./sql_parts.ts";
import type { PgValue } from "./values.ts";
import { type KeptDue, keptDue } from "./due_statements.ts";
import { answering, type Kept, kept } from "./functions.ts";
import { type KeptWrites, keptWrites, type WriteStatements, writeStatements } from "./write_statements.ts";

/**
 * A row as the machine reads it. The version is the transaction that wrote it: where it differs, others have written
 * since. The place is where it lies until it is written again, which is found without any index.
 */
export type WorkRow = {
  readonly id: string;
  readonly place: string;
  readonly version: string;
  readonly definition: string;
  readonly progress: string;
  readonly parked: string | null;
};

/** A row that is due; one more than each lane's share comes along, to tell that there is more. */
export type DueRow = WorkRow & { readonly lane: string; readonly wake: unknown };

/** What claiming answers besides the rows that are due: the time, what comes next, and how many each lane may give. */
export type ClaimHead = NoRow & { readonly now: unknown; readonly next: unknown; readonly share: unknown };

/** What looking up answers, in the same way. */
export type HeldRow = { readonly now: unknown } & (WorkRow | NoRow);

type NoRow = { readonly id: null };

/** What documents are looked up by, each an array. */
export type LookupParameters = Readonly<Record<"ids" | "nameOwners" | "names" | "keyOwners" | "keys", string>>;

/** Whose turn may have come, after which instant, how many each lane may give at the least, and how many all together. */
export type DueParameters = Readonly<{ lanes: string; after: string; least: number; limit: number }>;

/** Every statement of the store. Parameters that are lists are array texts; instants are in milliseconds, as doubles. */
export interface Statements extends WriteStatements, Calls<KeptStatements> {
  readonly clock: Statement<unknown, { now: unknown }>;
  readonly meta: Statement<{ key: string }, { value: string }>;
  readonly migrationLock: Statement<{ place: string }, unknown>;
  readonly notify: Statement<{ channel: string; sender: string }, unknown>;
  readonly earliest: Statement<{ lanes: string }, { now: unknown; earliest: unknown }>;
  readonly whole: Statement<{ ids: string }, ScheduleRow>;
  readonly backlog: Statement<{ before: string; limit: number }, { lane: string; due: unknown; earliest: unknown }>;
  /** The statement of a list with these conditions, compiled when first asked for. */
  find(conditions: readonly FindCondition[]): Statement<FindParameters, ScheduleRow>;
}

/** The statements that stand in the database. */
export interface KeptStatements extends KeptWrites, KeptDue {
  readonly lookup: Kept<LookupParameters, HeldRow>;
}

/** How kept statements are called. */
type Calls<K> = { readonly [N in keyof K]: K[N] extends Kept<infer P, infer R> ? Statement<P, R> : never };

/** A condition of a list. `foreign` is an owner other than the system, which has an index of its own. */
export type FindCondition = Exclude<keyof DocumentQuery, "limit"> | "foreign";

/** What the conditions compare with. */
export type FindParameters = Readonly<Record<FindCondition | "limit", PgValue>>;

/** Compiles every statement for tables of a schema. */
export function compileStatements(settings: SchemaSettings): Statements {
  const { compile, documents, meta } = compiler(settings);
  const lists = new Map<string, Statement<FindParameters, ScheduleRow>>();
  const kept = Object.entries(keptStatements(settings)).map(([name, { call }]) => [name, call]);
  return {
    ...writeStatements(compile, documents),
    ...Object.fromEntries(kept) as Calls<KeptStatements>,
    ...lookStatements(compile, documents),
    clock: compile(sql`select ${NOW} as now`),
    meta: compile(sql`select value from ${meta} where key = ${value("key")}`),
    migrationLock: compile(sql`select pg_advisory_xact_lock(hashtextextended(${value("place")}, 0))`),
    notify: compile(sql`select pg_notify(${value("channel")}, ${value("sender")})`),
    whole: compile(sql`select ${WHOLE} from ${documents} where id = any(${list("ids")})`),
    find(conditions) {
      const key = conditions.join();
      let statement = lists.get(key);
      if (statement === undefined) lists.set(key, statement = compile(find(documents, conditions)));
      return statement;
    },
  };
}

/** What creates the statements that stand in the database. */
export function functionsSql(settings: SchemaSettings): string {
  return Object.values<Kept<never, unknown>>({ ...keptStatements(settings) }).map(({ create }) => create).join("\n");
}

function compiler({ schema, tablePrefix }: SchemaSettings): { compile: Compile; documents: Query; meta: Query } {
  const db = new Kysely<never>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const compile: Compile = (query) => named(query.compile(db));
  return { compile, documents: sql.id(schema, `${tablePrefix}documents`), meta: sql.id(schema, `${tablePrefix}meta`) };
}

const WHOLE = sql`id, lane, ${ms(sql`wake_at`)} as wake_at, ${ms(sql`next_run`)} as next_run, task, owner, name,
  dedupe_key, grp, target, null as tags, live::int as live, running::int as running, definition, progress, parked`;

const LANES = sql`unnest(${list("lanes")}) as lanes(lane)`;
const ANY = sql`wake_at is not null`;

function first(documents: Query, after: Query): Query {
  return sql`select wake_at from ${documents} where lane = lanes.lane and ${after} order by wake_at limit 1`;
}

function lookStatements(compile: Compile, documents: Query): Pick<Statements, "earliest" | "backlog"> {
  return {
    earliest: compile(sql`select ${NOW} as now, ${ms(sql`min(first.wake_at)`)} as earliest
      from ${LANES} left join lateral (${first(documents, ANY)}) as first on true`),
    backlog: compile(sql`with recursive lanes(lane) as (
        select min(lane) from ${documents} where wake_at is not null
        union all
        select (select min(lane) from ${documents} where lane > lanes.lane and wake_at is not null) from lanes
          where lanes.lane is not null
      )
      select lanes.lane, ${ms(sql`first.wake_at`)} as earliest, (select count(*) from (
          select from ${documents} where lane = lanes.lane and wake_at <= ${value("before")}::timestamptz
            limit ${value("limit")}
        ) as counted)::int as due
      from lanes cross join lateral (${first(documents, ANY)}) as first`),
  };
}

const TEXTS = { definition: "text", progress: "text", parked: "text" };
const HELD = {
  answers: { now: "float8", id: "text", place: "text", version: "text", ...TEXTS },
  without: WITHOUT_SCANS,
};
function keptStatements(settings: SchemaSettings): KeptStatements {
  const { compile, documents } = compiler(settings);
  return {
    ...keptWrites(compile, settings, documents),
    ...keptDue(compile, settings, documents),
    lookup: kept(compile, settings, { name: "hold", ...HELD }, answering(lookup(documents))),
  };
}

/** Locks what is looked up, always in the same order, and answers it with the time after the waiting for the locks. */
function lookup(documents: Query): Query {
  const by = (column: string, owners: string, names: string) =>
    sql`select d.id from unnest(${list(owners)}, ${list(names)}) as wanted(owner, name)
      join ${documents} as d on d.${sql.ref(column)} = wanted.name and d.owner = wanted.owner`;
  return sql`with wanted as materialized (
      select unnest(${list("ids")}) as id
      union ${by("name", "nameOwners", "names")}
      union ${by("dedupe_key", "keyOwners", "keys")}
    ), held as materialized (
      select ${WORK} from ${documents} where id = any(array(select id from wanted)) order by id for update
    )
    select ${NOW} as now, held.* from (select 1) as one left join held on true`;
}

function find(documents: Query, conditions: readonly FindCondition[]): Query {
  const wanted = conditions.filter((condition) => condition !== "retired").map(condition);
  if (!conditions.includes("retired")) wanted.push(sql`live`);
  if (wanted.length === 0) wanted.push(sql`true`);
  return sql`select ${WHOLE} from ${documents} where ${sql.join(wanted, sql` and `)}
    order by id limit ${value("limit")}`;
}

const LONGEST_LEASE = `interval '${MAX_LEASE_MS} milliseconds'`;

function condition(name: Exclude<FindCondition, "retired">): Query {
  switch (name) {
    case "task":
      // A task's live schedules lie together by their lane, which parked ones are out of.
      return sql`task = ${value(name)} and (lane = ${value(name)} or lane is null or not live)`;
    case "foreign":
      return sql`owner <> 'system'`;
    case "running":
      // No lease is longer, so that what runs wakes before; what is parked never does.
      return sql`running and (wake_at is null or wake_at <= now() + ${sql.raw(LONGEST_LEASE)})`;
    case "group":
      return sql`grp = ${value(name)}`;
    case "after":
      return sql`id > ${value(name)}`;
    case "tag":
      return sql`${value(name)} = any(tags)`;
    case "dueBefore":
      return sql`next_run < ${value(name)}::timestamptz`;
    default:
      return sql`${sql.ref(name)} = ${value(name)}`;
  }
}
