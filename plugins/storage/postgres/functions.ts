import { sql } from "kysely";
import { type Statement, value } from "../sql/statement.ts";
import type { SchemaSettings } from "./options.ts";
import type { Compile, Query } from "./sql_parts.ts";

/** A statement that stands in the database as a function. */
export interface Kept<P, R> {
  readonly call: Statement<P, R>;
  /** What creates the function. */
  readonly create: string;
}

/** Parameters that are numbers; all others are texts. */
const NUMBERS: Readonly<Record<string, string>> = { least: "int", limit: "int", count: "int", until: "float8" };

/** What to keep. */
export interface Keeping {
  /**
   * The function's name, without the prefix. One whose parameters or columns change gets another: instances of the version
   * before go on calling it until they are stopped.
   */
  readonly name: string;
  /** The columns of its rows, with their types. */
  readonly answers: Readonly<Record<string, string>>;
  /** What the planner must not choose, as settings: the plan stays although the table grows. */
  readonly without: readonly string[];
}

/** A single statement as a function's body. */
export function answering(query: Query): Query {
  return sql`begin
  return query ${query};
end`;
}

/**
 * Keeps a statement in the database, where each connection plans it once: with few rows that takes longer than the
 * statement itself, and with many the planner would work through all their texts. Behind a pooler it works as it does
 * without, which what a client prepares does not.
 */
export function kept<P, R>(
  compile: Compile,
  { schema, tablePrefix }: SchemaSettings,
  { name, answers, without }: Keeping,
  block: Query,
): Kept<P, R> {
  const { query: { sql: text }, parameters } = compile<P, R>(block);
  const given = [...new Set(parameters)];
  const body = text.replace(/\$(\d+)/g, (_, n) => `$${given.indexOf(parameters[Number(n) - 1]!) + 1}`);
  const own = `"${schema}"."${tablePrefix}${name}"`;
  const columns = Object.entries(answers).map(([column, type]) => `"${column}" ${type}`);
  const settings = ["plan_cache_mode = force_generic_plan", ...without.map((setting) => `${setting} = off`)];
  return {
    call: compile(sql`select * from ${sql.raw(own)}(${sql.join(given.map((name) => value(name)))})`),
    create: `
create or replace function ${own}(${given.map((name) => NUMBERS[name] ?? "text").join(", ")})
returns table(${columns.join(", ")}) language plpgsql ${settings.map((setting) => `set ${setting}`).join(" ")} as $$
#variable_conflict use_column
${body}
$$;
comment on function ${own} is 'Ostinato: a statement of the library, which calls it by this name';`,
  };
}
