import { MAX_CRON_LENGTH, SchedulerError, show } from "../contract/mod.ts";
import { DayTable } from "./day_table.ts";
import { FIELD_RULES, type FieldName, type FieldRule, type Item, ItemProblem, readItem } from "./items.ts";

/** A cron expression, read. */
export interface ParsedCron {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Which days match. */
  readonly days: DayTable;
  /** Neither the minute nor the hour field contains `*`: the job is for a time of day, not a rhythm (K4). */
  readonly isFixedTime: boolean;
}

const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * Reads a cron expression.
 *
 * @param seed The name that `H` is derived from.
 * @param where Names the place in an error's message.
 * @throws {SchedulerError} `invalid_cron`, whose `details.field` names the field if the fault lies in one.
 */
export function parseCron(expression: string, seed: string, where: string): ParsedCron {
  const texts = splitFields(expression, where);
  const fields = texts.map((text, i) => readField(FIELD_RULES[i]!, text, { expression, seed, where }));
  const [seconds, minutes, hours, daysOfMonth, months, daysOfWeek] = fields as [
    Items,
    Items,
    Items,
    Items,
    Items,
    Items,
  ];
  const days = new DayTable({
    daysOfMonth,
    months: plainValues(months),
    daysOfWeek,
    // crontab(5): a day has to match both fields as soon as one of them contains a star.
    either: !hasStar(texts[3]!) && !hasStar(texts[5]!),
  });
  if (days.isEmpty) {
    fail(
      { expression, where },
      "day-of-month",
      `${show(texts[3])} in month ${show(texts[4])} is a date that never comes`,
    );
  }
  return {
    seconds: plainValues(seconds),
    minutes: plainValues(minutes),
    hours: plainValues(hours),
    days,
    isFixedTime: !hasStar(texts[1]!) && !hasStar(texts[2]!),
  };
}

/** The six fields of an expression, seconds first. */
export function splitFields(expression: string, where: string): readonly string[] {
  const place = { expression, where };
  if (typeof expression !== "string") fail(place, undefined, "it is not text");
  if (expression.length > MAX_CRON_LENGTH) fail(place, undefined, `it is longer than ${MAX_CRON_LENGTH} characters`);
  const trimmed = expression.replace(/^[ \t]+|[ \t]+$/g, "");
  if (trimmed.startsWith("@")) return ["0", ...nickname(trimmed, place).split(" ")];
  const texts = trimmed.split(/[ \t]+/);
  if (texts.length === 5) return ["0", ...texts];
  if (texts.length !== 6) fail(place, undefined, `it has ${trimmed === "" ? "no" : texts.length} fields`);
  return texts;
}

function nickname(text: string, place: Place): string {
  const name = text.toLowerCase();
  if (Object.hasOwn(NICKNAMES, name)) return NICKNAMES[name]!;
  if (name !== "@reboot") fail(place, undefined, `the nicknames are ${Object.keys(NICKNAMES).join(", ")}`);
  fail(
    place,
    undefined,
    "a schedule outlives its processes and has no start of its own; call the task when your program starts",
  );
}

function readField(rule: FieldRule, text: string, place: Place & { readonly seed: string }): Items {
  return text.split(",").map((item) => {
    try {
      return readItem(rule, item, place.seed);
    } catch (problem) {
      if (!(problem instanceof ItemProblem)) throw problem;
      fail(place, rule.name, `${show(item)} ${problem.problem}; expected ${rule.expected}`);
    }
  });
}

type Items = readonly Item[];

function plainValues(items: Items): readonly number[] {
  const values = new Set(items.flatMap((item) => item.kind === "values" ? item.values : []));
  return [...values].sort((a, b) => a - b);
}

function hasStar(text: string): boolean {
  return text.includes("*") || text.includes("?");
}

interface Place {
  readonly expression: string;
  readonly where: string;
}

function fail({ expression, where }: Place, field: FieldName | undefined, problem: string): never {
  throw new SchedulerError(
    "invalid_cron",
    `${where}: ${show(expression)} is not a cron expression${
      field === undefined ? "" : `, field ${field}`
    }: ${problem}; ` +
      `expected five fields (minute hour day-of-month month day-of-week), six with seconds first, or a nickname such as @daily`,
    { details: { where, given: show(expression), ...(field === undefined ? {} : { field }) } },
  );
}
