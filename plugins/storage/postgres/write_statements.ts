import { sql } from "kysely";
import type { ProgressColumns } from "../sql/codec.ts";
import { type Statement, value } from "../sql/statement.ts";
import type { ScheduleRow } from "../sql/tables.ts";
import { type Compile, NOW, type Query } from "./sql_parts.ts";

/** One array text for each column. */
export type ColumnArrays<Row> = Readonly<Record<keyof Row & string, string>>;

/** What is told with a write: on which channel, or null for nobody, and who tells. */
export interface Told {
  readonly channel: string | null;
  readonly sender: string;
}

/** What a write answers: the version that it gave to its rows, and the time. */
export interface Written {
  readonly version: string;
  readonly now: unknown;
}

/** The same, and where the rows are now: a JSON object of places by id. */
export interface Moved extends Written {
  readonly places: string;
}

/** The rows to move: where each is, and for rows that are not locked the version that it must have. */
export type MoveArrays = ColumnArrays<ProgressColumns> & { readonly places: string };

/** Writes of many rows, each one statement. */
export interface WriteStatements {
  readonly insert: Statement<ColumnArrays<ScheduleRow> & Told, Written>;
  readonly update: Statement<ColumnArrays<ScheduleRow> & Told, Written>;
  /** Of rows that are locked. */
  readonly progress: Statement<MoveArrays & Told, Moved>;
  /** Of rows that still have a known version; a row that somebody has locked is waited for so many milliseconds. */
  readonly progressAt: Statement<MoveArrays & Told & { readonly version: string; readonly lockMs: string }, Moved>;
  readonly park: Statement<{ readonly ids: string; readonly reasons: string }>;
  readonly remove: Statement<{ readonly ids: string }>;
}

const PROGRESS_TYPES = {
  id: "text",
  lane: "text",
  wake_at: "timestamptz",
  next_run: "timestamptz",
  name: "text",
  dedupe_key: "text",
  live: "boolean",
  running: "boolean",
  progress: "text",
} as const satisfies Record<keyof ProgressColumns, string>;

/** Tags are a list within the list, which arrays of PostgreSQL cannot hold, so they come as array texts. */
const ROW_TYPES = {
  ...PROGRESS_TYPES,
  task: "text",
  owner: "text",
  grp: "text",
  target: "text",
  tags: "text",
  definition: "text",
  parked: "text",
} as const satisfies Record<keyof ScheduleRow, string>;

/** The columns that are written with a document's progress alone. */
export const PROGRESS_COLUMNS = Object.keys(PROGRESS_TYPES) as readonly (keyof ProgressColumns)[];
/** All columns. */
export const ROW_COLUMNS = Object.keys(ROW_TYPES) as readonly (keyof ScheduleRow)[];

/** The transaction's id is what its rows carry as their version; telling others costs nothing where nobody is told. */
const TOLD = sql`pg_current_xact_id()::xid::text as version, ${NOW} as now,
  case when ${value("channel")}::text is not null then pg_notify(${value("channel")}, ${
  value("sender")
})::text end as told`;

/** Compiles the writes. */
export function writeStatements(compile: Compile, documents: Query): WriteStatements {
  const row = given(ROW_TYPES);
  const progress = given(PROGRESS_TYPES);
  const versioned = given({ ...PROGRESS_TYPES, version: "xid" });
  // For this statement alone, which has no transaction around it to be told otherwise.
  const patience = sql`(select set_config('lock_timeout', ${value("lockMs")}, true)) is not null`;
  // As a list, which the planner takes to be short, so that it goes to the places and does not read the whole table.
  const places = sql`select unnest(${value("places")}::tid[])`;
  const set = (columns: readonly string[]) =>
    sql.join(columns.filter((column) => column !== "id").map((column) => sql`${sql.ref(column)} = ${from(column)}`));
  const done = <P>(write: Query): Statement<P, Written> =>
    compile(sql`with written as (${write} returning 1) select ${TOLD}`);
  const moved = <P>(write: Query): Statement<P, Moved> =>
    compile(sql`with written as (${write}) select coalesce(json_object_agg(id, ctid), '{}')::text as places, ${TOLD}
      from written`);
  return {
    insert: done(sql`insert into ${documents} (${sql.join(ROW_COLUMNS.map((column) => sql.ref(column)))})
      select ${sql.join(ROW_COLUMNS.map(from))} from ${row}`),
    update: done(sql`update ${documents} as d set ${set(ROW_COLUMNS)} from ${row} where d.id = u.id`),
    progress: moved(sql`update ${documents} as d set ${set(PROGRESS_COLUMNS)} from ${progress}
      where d.ctid = any(array(${places})) and d.id = u.id returning d.id, d.ctid`),
    progressAt: moved(sql`update ${documents} as d set ${set(PROGRESS_COLUMNS)} from ${versioned}
      where d.ctid = any(array(${places})) and d.id = u.id and d.xmin = u.version and ${patience}
      returning d.id, d.ctid`),
    park: compile(sql`update ${documents} as d set lane = null, wake_at = null, parked = u.reason
      from unnest(${value("ids")}::text[], ${value("reasons")}::text[]) as u(id, reason) where d.id = u.id`),
    remove: compile(sql`delete from ${documents} where id = any(${value("ids")}::text[])`),
  };
}

/** Rows from one array for each column, as `u`. */
function given(types: Readonly<Record<string, string>>): Query {
  const arrays = Object.entries(types).map(([column, type]) => sql`${value(column)}::${sql.raw(type)}[]`);
  return sql`unnest(${sql.join(arrays)}) as u(${sql.join(Object.keys(types).map((column) => sql.ref(column)))})`;
}

function from(column: string): Query {
  return column === "tags" ? sql`u.tags::text[]` : sql`u.${sql.ref(column)}`;
}
