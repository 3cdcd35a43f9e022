import { type RawBuilder, sql } from "kysely";
import { type Statement, value } from "../sql/statement.ts";

/** A query of any rows, or a part of one. */
export type Query = RawBuilder<unknown>;

/** Compiles a query into a statement. */
export type Compile = <P, R>(query: Query) => Statement<P, R>;

/** The database's time in whole milliseconds, not ahead of it. */
export const NOW: Query = sql`floor(extract(epoch from clock_timestamp()) * 1000)::float8`;

/** Milliseconds of a `timestamptz`, exactly. */
export function ms(instant: Query): Query {
  return sql`(extract(epoch from ${instant}) * 1000)::float8`;
}

/** The same, sooner: a double may be off by its last digit, so only of what is near today, and only to the millisecond. */
export function nearMs(instant: Query): Query {
  return sql`round(date_part('epoch', ${instant}) * 1000)`;
}

/** The columns of a row as the machine reads it. */
export const WORK: Query = sql`id, ctid::text as place, xmin::text as version, definition, progress, parked`;

/** What the planner must not choose: an index is always better, except while the table is small, which it need not stay. */
export const WITHOUT_SCANS: readonly string[] = ["enable_seqscan", "enable_bitmapscan"];

/** How the items of long lists are separated, and what stands for null among them. */
export const SEPARATOR: Query = sql`E'\\x1f'`;
const ABSENT = sql`E'\\x01'`;

/** A parameter that is a list's text; null, and the empty text of a list of one, are shorter than what stands beside them. */
export function split(name: string, type: string): Query {
  return sql`${texts(name)}::${sql.raw(type)}[]`;
}

/** The items of such a list, one to a row: as a part of what is selected, so that they are read where the array is. */
export function items(name: string): Query {
  return sql`unnest(${texts(name)})`;
}

/** An item that was read so, or what all rows have where the parameter is one text and no list (see `commonText`). */
export function itemOf(column: Query, name: string, type: string): Query {
  const as = sql.raw(type);
  const only = sql`select case when strpos(${value(name)}, ${SEPARATOR}) = 0 then ${value(name)}::${as} end`;
  return sql`coalesce(${column}::${as}, (${only}))`;
}

function texts(name: string): Query {
  return sql`string_to_array(${value(name)}::text, ${SEPARATOR}, ${ABSENT})`;
}

/** A parameter that is an array text. */
export function list(name: string): Query {
  return sql`${value(name)}::text[]`;
}
