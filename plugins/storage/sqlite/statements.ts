import {
  DummyDriver,
  type Expression,
  Kysely,
  type RawBuilder,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { DocumentQuery } from "../../../src/contract/mod.ts";
import type { ProgressColumns, StayColumns, StepColumns, StoredTexts } from "../sql/codec.ts";
import { named, type Statement, value } from "../sql/statement.ts";
import type { MetaRow, ScheduleRow, StoreTables } from "../sql/tables.ts";
import type { SqlValue } from "./database.ts";

/** What changes when anybody writes: another connection, or this one. */
export interface Versions {
  readonly version: number;
  readonly changes: number;
}

/** Every query of the driver, compiled once. */
export interface Statements {
  readonly versions: Statement<unknown, Versions>;
  readonly storeId: Statement<unknown, MetaRow>;
  /** Takes the write lock without changing anything, and answers the store's id. */
  readonly lock: Statement<unknown, MetaRow>;
  readonly byId: Statement<{ id: string }, StoredTexts>;
  readonly byName: Statement<{ owner: string; name: string }, StoredTexts>;
  readonly byKey: Statement<{ owner: string; key: string }, StoredTexts>;
  readonly whole: Statement<{ id: string }, ScheduleRow>;
  readonly earliest: Statement<{ lanes: string }, { lane: string; earliest: number | null }>;
  readonly due: Statement<DueParameters, StoredTexts>;
  /** The same, for documents that are at hand. */
  readonly dueIds: Statement<DueParameters, Pick<StoredTexts, "id">>;
  readonly backlog: Statement<{ before: number; limit: number }, { lane: string; earliest: number; due: number }>;
  readonly insert: Statement<ScheduleRow>;
  readonly update: Statement<ScheduleRow>;
  readonly step: Statement<StepColumns>;
  /** The same where `wake_at` stays as it is, so that its index is not touched. */
  readonly stay: Statement<StayColumns>;
  readonly progress: Statement<ProgressColumns>;
  readonly park: Statement<{ id: string; parked: string }>;
  readonly remove: Statement<{ id: string }>;
  /** The statement of a list with these conditions, compiled when first asked for. */
  find(conditions: readonly FindCondition[]): Statement<FindParameters, ScheduleRow>;
}

/** Whose turn may have come by when, how many each lane may give, and how many all together. */
export type DueParameters = Readonly<{ lanes: string; now: number; perLane: number; limit: number }>;

/** A condition of a list. `foreign` is an owner other than the system, which has an index of its own. */
export type FindCondition = Exclude<keyof DocumentQuery, "limit"> | "foreign";

/** What the conditions compare with. */
export type FindParameters = Readonly<Record<FindCondition | "limit", SqlValue>>;

const STAY_COLUMNS = ["next_run", "running", "progress"] as const;
const STEP_COLUMNS = [...STAY_COLUMNS, "wake_at"] as const;
const PROGRESS_COLUMNS = [...STEP_COLUMNS, "lane", "name", "dedupe_key", "live"] as const;
const ROW_COLUMNS = [...PROGRESS_COLUMNS, "task", "owner", "grp", "target", "tags", "definition", "parked"] as const;
const WORK_COLUMNS = ["id", "definition", "progress", "parked"] as const satisfies (keyof StoredTexts)[];

/** Compiles every query for tables of a prefix. */
export function compileStatements(prefix: string): Statements {
  const db = new Kysely<StoreTables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const schedules = `${prefix}schedules` as "schedules";
  const meta = `${prefix}meta` as "meta";
  const work = db.selectFrom(schedules).select(WORK_COLUMNS);
  const lists = new Map<string, Statement<FindParameters, ScheduleRow>>();
  const raw = <P, R>(query: RawBuilder<R>): Statement<P, R> => named(query.compile(db));
  return {
    ...queueStatements(raw, sql.table(schedules)),
    versions: raw(sql`select (select data_version from pragma_data_version) as version, total_changes() as changes`),
    storeId: named(db.selectFrom(meta).selectAll().where("key", "=", sql.lit("store")).compile()),
    lock: named(
      db.updateTable(meta).set((eb) => ({ value: eb.ref("value") })).where("key", "=", sql.lit("store")).returningAll()
        .compile(),
    ),
    byId: named(work.where("id", "=", value("id")).compile()),
    byName: named(work.where("name", "=", value("name")).where("owner", "=", value("owner")).compile()),
    byKey: named(work.where("dedupe_key", "=", value("key")).where("owner", "=", value("owner")).compile()),
    whole: named(db.selectFrom(schedules).select(["id", ...ROW_COLUMNS]).where("id", "=", value("id")).compile()),
    insert: named(db.insertInto(schedules).values(values<ScheduleRow>(["id", ...ROW_COLUMNS])).compile()),
    update: named(
      db.updateTable(schedules).set(values<ScheduleRow>(ROW_COLUMNS)).where("id", "=", value("id")).compile(),
    ),
    step: named(
      db.updateTable(schedules).set(values<ScheduleRow>(STEP_COLUMNS)).where("id", "=", value("id")).compile(),
    ),
    stay: named(
      db.updateTable(schedules).set(values<ScheduleRow>(STAY_COLUMNS)).where("id", "=", value("id")).compile(),
    ),
    progress: named(
      db.updateTable(schedules).set(values<ScheduleRow>(PROGRESS_COLUMNS)).where("id", "=", value("id")).compile(),
    ),
    park: named(
      db.updateTable(schedules).set({ lane: sql.lit(null), wake_at: sql.lit(null), parked: value("parked") })
        .where("id", "=", value("id")).compile(),
    ),
    remove: named(db.deleteFrom(schedules).where("id", "=", value("id")).compile()),
    find(conditions) {
      const key = conditions.join();
      let statement = lists.get(key);
      if (statement === undefined) lists.set(key, statement = findStatement(db, schedules, conditions));
      return statement;
    },
  };
}

type QueueStatement = "earliest" | "due" | "dueIds" | "backlog";

type Raw = <P, R>(query: RawBuilder<R>) => Statement<P, R>;

/** What is due: every look begins at one lane's end of the index, so that a backlog elsewhere costs nothing. */
function queueStatements(raw: Raw, table: Expression<unknown>): Pick<Statements, QueueStatement> {
  const due = (columns: readonly (keyof StoredTexts)[]) =>
    sql<never>`select ${sql.join(columns.map((column) => sql.ref(`s.${column}`)))}
      from json_each(${value("lanes")}) as lanes cross join ${table} as s on s.seq in (
      select seq from ${table} where lane = lanes.value and wake_at <= ${value("now")}
        order by wake_at limit ${value("perLane")}
      ) order by s.wake_at, s.seq limit ${value("limit")}`;
  const first = sql`select min(wake_at) from ${table} where lane = lanes.value and wake_at is not null`;
  return {
    earliest: raw(sql`select value as lane, (${first}) as earliest from json_each(${value("lanes")}) as lanes`),
    due: raw(due(WORK_COLUMNS)),
    dueIds: raw(due(["id"])),
    backlog: raw(sql`with recursive lanes(value) as (
        select min(lane) from ${table} where wake_at is not null
        union all
        select (select min(lane) from ${table} where lane > lanes.value and wake_at is not null) from lanes
          where lanes.value is not null
      )
      select value as lane, (${first}) as earliest, (select count(*) from (
          select 1 from ${table} where lane = lanes.value and wake_at <= ${value("before")} limit ${value("limit")}
        )) as due from lanes where value is not null`),
  };
}

function findStatement(
  db: Kysely<StoreTables>,
  schedules: "schedules",
  conditions: readonly FindCondition[],
): Statement<FindParameters, ScheduleRow> {
  let query = db.selectFrom(schedules).select(["id", ...ROW_COLUMNS]);
  if (!conditions.includes("retired")) query = query.where("live", "=", sql.lit(1));
  for (const condition of conditions) {
    const given = value(condition);
    if (condition === "owner" || condition === "task" || condition === "name" || condition === "target") {
      query = query.where(condition, "=", given);
    } else if (condition === "foreign") query = query.where("owner", "<>", sql.lit("system"));
    else if (condition === "group") query = query.where("grp", "=", given);
    else if (condition === "after") query = query.where("id", ">", given);
    else if (condition === "dueBefore") query = query.where("next_run", "<", given as never);
    else if (condition === "running") query = query.where("running", "=", sql.lit(1));
    else if (condition === "tag") {
      // Tags that were edited by hand to what is no JSON must not fail the list.
      const tags = sql`json_each(iif(json_valid(tags), tags, '[]'))`;
      query = query.where(sql<boolean>`exists (select 1 from ${tags} as tag where tag.value = ${given})`);
    }
  }
  return named(query.orderBy("id").limit(value("limit") as never).compile());
}

function values<R>(columns: readonly (keyof R & string)[]): R {
  return Object.fromEntries(columns.map((column) => [column, value(column)])) as R;
}
