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

/** How the items of long lists are separated, and what stands for null among them. */
export const SEPARATOR: Query = sql`E'\\x1f'`;
const ABSENT = sql`E'\\x01'`;

/** A parameter that is a list's text; null, and the empty text of a list of one, are shorter than what stands beside them. */
export function split(name: string, type: string): Query {
  return sql`string_to_array(${value(name)}::text, ${SEPARATOR}, ${ABSENT})::${sql.raw(type)}[]`;
}

/** A parameter that is an array text. */
export function list(name: string): Query {
  return sql`${value(name)}::text[]`;
}
