import { SchedulerError, show } from "../../../src/contract/mod.ts";

/**
 * A stored schedule: what it is found by in columns, what it is in two JSON texts. Text columns hold
 * {@linkcode columnText}, so they are equal exactly when the values are.
 */
export type ScheduleRow = {
  readonly id: string;
  /** Whose turn it is: the task, `""` once retired, null while parked. */
  readonly lane: string | null;
  readonly wake_at: number | null;
  readonly next_run: number | null;
  readonly task: string;
  readonly owner: string;
  /** Null once retired, which frees it. */
  readonly name: string | null;
  /** Null once retired, which frees it. */
  readonly dedupe_key: string | null;
  readonly grp: string | null;
  readonly target: string | null;
  /** A JSON array. */
  readonly tags: string | null;
  readonly live: number;
  readonly running: number;
  readonly definition: string;
  readonly progress: string;
  /** Why the texts cannot be used. */
  readonly parked: string | null;
};

/** One fact about the store: its `schema` version, its own random `store` id. */
export interface MetaRow {
  readonly key: string;
  readonly value: string;
}

/** The tables, for Kysely, under their names without prefix. */
export interface StoreTables {
  readonly schedules: ScheduleRow;
  readonly meta: MetaRow;
}

/** The tables' prefix unless another is given. */
const DEFAULT_TABLE_PREFIX = "ostinato_";

const PREFIX = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;

/**
 * Reads the option `tablePrefix`.
 *
 * @throws {SchedulerError} `config_invalid` unless it can begin an SQL identifier.
 */
export function readTablePrefix(value: unknown = DEFAULT_TABLE_PREFIX): string {
  if (typeof value === "string" && PREFIX.test(value)) return value;
  throw new SchedulerError(
    "config_invalid",
    `tablePrefix: ${show(value)}; expected 1 to 40 letters, digits and underscores, not beginning with a digit`,
    { details: { option: "tablePrefix", given: show(value) } },
  );
}

/**
 * A text as it stands in a column: itself, unless it holds something that databases or their drivers cut, refuse or
 * replace (U+0000, lone surrogates); then escaped as in a JSON string, and so is what would look like an escape.
 */
export function columnText(text: string): string {
  const json = JSON.stringify(text);
  return json.length === text.length + 2 ? text : json.slice(1, -1);
}

/** What {@linkcode columnText} was made from; text that it never makes is answered as it is. */
export function fromColumnText(column: string): string {
  try {
    return JSON.parse(`"${column}"`);
  } catch {
    return column;
  }
}
