import { sql } from "kysely";
import type { ProgressColumns } from "../sql/codec.ts";
import { type Statement, value } from "../sql/statement.ts";
import type { ScheduleRow } from "../sql/tables.ts";
import { answering, type Kept, kept } from "./functions.ts";
import type { SchemaSettings } from "./options.ts";
import { type Compile, itemOf, items, NOW, type Query, SEPARATOR, split } from "./sql_parts.ts";

/** One list's text for each column, as `listText` makes it. */
export type ColumnLists<Column extends string> = Readonly<Record<Column, string | null>>;

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

/** The same, and as lists' texts, in the order of the rows sent, what became of them (see `readMoved`). */
export interface Moved extends Written {
  /** Where those that were written and have a run are now. */
  readonly places: string | null;
  /** Which were written, counted from 1, unless all were. */
  readonly written: string | null;
  readonly all: boolean;
}

/** The rows to move: where each is, and for rows that are not locked the version that it must have. */
export type MoveLists = ColumnLists<MoveColumn | "places"> & { readonly count: number };

/** Writes of many rows, each one statement. */
export interface WriteStatements {
  /**
   * Of a single row, by its values: planned in a twentieth of the time. It answers nothing and tells nobody, which would
   * take as long as the rest.
   */
  readonly insertOne: Statement<ColumnLists<RowColumn | "lane">>;
  /** The same, and tells. */
  readonly insertTold: Statement<ColumnLists<RowColumn | "lane"> & Told, unknown>;
  readonly update: Statement<ColumnLists<RowColumn> & Told, Written>;
  readonly park: Statement<{ readonly ids: string; readonly reasons: string }>;
  readonly remove: Statement<{ readonly ids: string }>;
}

/** Writes of many rows that are kept in the database. */
export interface KeptWrites {
  readonly insert: Kept<ColumnLists<RowColumn> & Told, Written>;
  /** Of rows that are locked. */
  readonly progress: Kept<MoveLists & Told, Moved>;
  /** Of rows that still have a known version; a row that somebody has locked is waited for so many milliseconds. */
  readonly progressAt: Kept<MoveLists & Told & { readonly version: string | null; readonly lockMs: string }, Moved>;
  /** The same, of those that nobody has locked, and until an instant. */
  readonly progressFree: Kept<MoveLists & Told & { readonly version: string | null; readonly until: number }, Moved>;
  /** Of rows that still have a known version and that nobody has locked. */
  readonly removeFree: Kept<ColumnLists<"id" | "places" | "version">, { readonly removed: string | null }>;
}

/** What is sent of a row whose definition stays; the rest of what changes with its progress follows from `live`. */
const MOVE_TYPES = {
  id: "text",
  wake_at: "timestamptz",
  next_run: "timestamptz",
  live: "boolean",
  running: "boolean",
  progress: "text",
} as const satisfies Partial<Record<keyof ProgressColumns, string>>;

/** Tags are a list within the list, which arrays of PostgreSQL cannot hold, so they come as array texts. */
const ROW_TYPES = {
  ...MOVE_TYPES,
  name: "text",
  dedupe_key: "text",
  task: "text",
  owner: "text",
  grp: "text",
  target: "text",
  tags: "text",
  definition: "text",
  parked: "text",
} as const satisfies Partial<Record<keyof ScheduleRow, string>>;

/** A column that is sent with a document's progress alone. */
export type MoveColumn = keyof typeof MOVE_TYPES;
/** A column that is sent with a whole document. */
export type RowColumn = keyof typeof ROW_TYPES;

/** The columns that are sent with a whole document. */
export const ROW_COLUMNS = Object.keys(ROW_TYPES) as readonly RowColumn[];

/** The transaction's id is what its rows carry as their version; telling others costs nothing where nobody is told. */
const TOLD = sql`${NOW} as now, case when ${value("channel")}::text is not null
  then pg_notify(${value("channel")}, ${value("sender")})::text end as told`;
const VERSION = sql`pg_current_xact_id()::xid::text as version`;

/** As a list, which the planner takes to be short, so that it goes to the places and does not read the whole table. */
const PLACES = sql`select unnest(${split("places", "tid")})`;

/** What each row to move has of its own; the rest is mostly the same in all of them. */
const OWN: readonly string[] = ["id", "progress"];

/** Whose turn it is. */
const lane = (task: Query) => sql`case when u.live then ${task} else '' end`;

const ROW_LANE = sql`case when u.parked is null then ${lane(sql`u.task`)} end`;

/** Compiles the writes. */
export function writeStatements(compile: Compile, documents: Query): WriteStatements {
  const one = sql`${into(documents)} values (${sql.join([...ROW_COLUMNS, "lane"].map(only))})`;
  return {
    insertOne: compile(one),
    insertTold: compile(sql`${one} returning pg_notify(${value("channel")}, ${value("sender")})::text as told`),
    update: compile(done(sql`update ${documents} as d set ${set(ROW_COLUMNS)}, lane = ${ROW_LANE}
      from ${given(ROW_TYPES)} where d.id = u.id`)),
    park: compile(sql`update ${documents} as d set lane = null, wake_at = null, parked = u.reason
      from unnest(${value("ids")}::text[], ${value("reasons")}::text[]) as u(id, reason) where d.id = u.id`),
    remove: compile(sql`delete from ${documents} where id = any(${value("ids")}::text[])`),
  };
}

const MOVED = {
  answers: { places: "text", written: "text", all: "boolean", version: "text", now: "float8", told: "text" },
  // The lists may be long, and the planner cannot know.
  without: ["enable_nestloop", "enable_mergejoin"],
};

/** The writes that are kept in the database. */
export function keptWrites(compile: Compile, settings: SchemaSettings, documents: Query): KeptWrites {
  const versioned = moves({ ...MOVE_TYPES, version: "xid" });
  // For this statement alone, which has no transaction around it to be told otherwise.
  const patience = sql`(select set_config('lock_timeout', ${value("lockMs")}, true)) is not null`;
  const free = sql`select ctid from ${documents} where ctid = any(array(${PLACES})) for update skip locked`;
  return {
    insert: kept(
      compile,
      settings,
      { name: "insert", answers: { version: "text", now: "float8", told: "text" }, without: [] },
      answering(
        done(sql`${into(documents)} select ${sql.join(ROW_COLUMNS.map(from))}, ${ROW_LANE} from ${given(ROW_TYPES)}`),
      ),
    ),
    progress: kept(
      compile,
      settings,
      { name: "step", ...MOVED },
      moved(sql`${moving(documents)} from ${moves(MOVE_TYPES)}
        where d.ctid = any(array(${PLACES})) and d.id = u.id`),
    ),
    progressAt: kept(
      compile,
      settings,
      { name: "step_at", ...MOVED },
      moved(sql`${moving(documents)} from ${versioned}
        where d.ctid = any(array(${PLACES})) and d.id = u.id and d.xmin = u.version and ${patience}`),
    ),
    progressFree: kept(
      compile,
      settings,
      { name: "step_free", ...MOVED },
      moved(sql`${moving(documents)} from ${versioned}
        where d.ctid = any(array(${free})) and d.id = u.id and d.xmin = u.version
          and (select ${NOW}) < ${value("until")}::float8`),
    ),
    removeFree: kept(
      compile,
      settings,
      { name: "remove_free", answers: { removed: "text" }, without: ["enable_nestloop"] },
      answering(sql`with removed as (
          delete from ${documents} as d using ${given({ id: "text", version: "xid" })}
            where d.ctid = any(array(${free})) and d.id = u.id and d.xmin = u.version returning d.id
        ) select string_agg(id, ${SEPARATOR}) as removed from removed`),
    ),
  };
}

function into(documents: Query): Query {
  return sql`insert into ${documents} (${sql.join(ROW_COLUMNS.map((column) => sql.ref(column)))}, lane)`;
}

function done(write: Query): Query {
  return sql`with written as (${write} returning 1) select ${VERSION}, ${TOLD}`;
}

function moving(documents: Query): Query {
  return sql`update ${documents} as d set ${set(Object.keys(MOVE_TYPES))}, lane = ${lane(sql`d.task`)},
    name = case when u.live then d.name end, dedupe_key = case when u.live then d.dedupe_key end`;
}

function moved(write: Query): Query {
  return answering(sql`with written as (${write} returning u.n, d.ctid, d.running)
    select string_agg(ctid::text, ${SEPARATOR} order by n) filter (where running) as places,
      case when count(*) < ${value("count")}::int then string_agg(n::text, ${SEPARATOR} order by n) end as written,
      count(*) = ${value("count")}::int as all, ${VERSION}, ${TOLD}
    from written`);
}

/**
 * The rows to move as `u`, numbered. They are read out of the lists one after another, and the planner, who takes numbers to
 * be many and places to be few, looks up in a table what is stored: the other way round each text would be copied three times.
 */
function moves(types: Readonly<Record<string, string>>): Query {
  const columns = Object.entries(types);
  const read = columns.map(([column]) => sql`${items(column)} as ${sql.ref(column)}`);
  const given = columns.map(([column, type]) => {
    const item = sql.ref(`t.${column}`);
    return OWN.includes(column) ? item : sql`${itemOf(item, column, type)} as ${sql.ref(column)}`;
  });
  return sql`(select t.n, ${sql.join(given)}
      from (select generate_series(1, ${value("count")}::int) as n, ${sql.join(read)}) as t offset 0) as u`;
}

/** Rows from one list for each column, as `u`. */
function given(types: Readonly<Record<string, string>>): Query {
  const lists = Object.entries(types).map(([column, type]) => split(column, type));
  return sql`unnest(${sql.join(lists)}) as u(${sql.join(Object.keys(types).map((column) => sql.ref(column)))})`;
}

function set(columns: readonly string[]): Query {
  return sql.join(
    columns.filter((column) => column !== "id").map((column) => sql`${sql.ref(column)} = ${from(column)}`),
  );
}

/** A value whose type its column says; flags are texts here, which a driver must not take for true or false. */
function only(column: string): Query {
  return column === "live" || column === "running" ? sql`${value(column)}::text::boolean` : sql`${value(column)}`;
}

function from(column: string): Query {
  return column === "tags" ? sql`u.tags::text[]` : sql`u.${sql.ref(column)}`;
}
