import { MAX_CRON_LENGTH, SchedulerError, show } from "../contract/mod.ts";
import { DayTable } from "./day_table.ts";
import { FIELD_RULES, type FieldName, type FieldRule, type Item, readItem } from "./items.ts";

/** A cron expression, read. */
export interface ParsedCron {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Which days match. */
  readonly days: DayTable;
  /** A day that matches one of the two fields of days is enough (K2). */
  readonly matchesEitherDay: boolean;
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

const FORMS =
  "five fields (minute hour day-of-month month day-of-week), six with seconds first, or a nickname such as @daily";

/**
 * Reads a cron expression.
 *
 * @param seed The name that `H` is derived from.
 * @param where Names the place in an error's message.
 * @throws {SchedulerError} `invalid_cron`, whose `details.field` names the field if the fault lies in one.
 */
export function parseCron(expression: string, seed: string, where: string): ParsedCron {
  const place = { expression, where };
  const texts = splitFields(expression, where);
  const read = (index: number) => readField(FIELD_RULES[index]!, texts[index]!, seed, place);
  const [seconds, minutes, hours] = [plainValues(read(0)), plainValues(read(1)), plainValues(read(2))];
  const [daysOfMonth, months, daysOfWeek] = [read(3), plainValues(read(4)), read(5)];
  // crontab(5): a day has to match both fields as soon as one of them contains a star.
  const matchesEitherDay = !hasStar(texts[3]!) && !hasStar(texts[5]!);
  const days = new DayTable({ daysOfMonth, months, daysOfWeek, either: matchesEitherDay });
  if (days.isEmpty) {
    const [date, month, weekday] = texts.slice(3).map(show);
    const problem = `${date} in month ${month} on weekday ${weekday} never comes`;
    fail({ ...place, field: "day-of-month" }, problem, "a date that exists");
  }
  return {
    seconds,
    minutes,
    hours,
    days,
    matchesEitherDay,
    isFixedTime: !hasStar(texts[1]!) && !hasStar(texts[2]!),
  };
}

/** The six fields of an expression, seconds first. */
export function splitFields(expression: string, where: string): readonly string[] {
  const place = { expression, where };
  if (typeof expression !== "string") fail(place, "it is not text", FORMS);
  if (expression.length > MAX_CRON_LENGTH) fail(place, "it is too long", `at most ${MAX_CRON_LENGTH} characters`);
  const trimmed = expression.replace(/^[ \t]+|[ \t]+$/g, "");
  if (trimmed.startsWith("@")) return ["0", ...nickname(trimmed, place).split(" ")];
  const texts = trimmed === "" ? [] : trimmed.split(/[ \t]+/);
  if (texts.length === 5) return ["0", ...texts];
  if (texts.length !== 6) fail(place, `it has ${texts.length} fields`, FORMS);
  return texts;
}

function nickname(text: string, place: Place): string {
  const name = text.toLowerCase();
  if (Object.hasOwn(NICKNAMES, name)) return NICKNAMES[name]!;
  const problem = name === "@reboot"
    ? "a schedule outlives its processes, so it knows no reboot (call the task when your program starts)"
    : "it is no nickname that is known here";
  fail(place, problem, Object.keys(NICKNAMES).join(", "));
}

function readField(rule: FieldRule, text: string, seed: string, place: Place): Items {
  return text.split(",").map((item) =>
    readItem(rule, item, seed, (problem, cause) => {
      fail({ ...place, field: rule.name }, `${show(item)} ${problem}`, rule.expected, cause);
    })
  );
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
  readonly field?: FieldName;
}

function fail({ expression, where, field }: Place, problem: string, expected: string, cause?: unknown): never {
  const place = field === undefined ? "" : ` in its ${field} field`;
  throw new SchedulerError(
    "invalid_cron",
    `${where}: ${show(expression)} is not a cron expression${place}: ${problem}; expected ${expected}`,
    { details: { where, given: show(expression), ...(field === undefined ? {} : { field }) }, cause },
  );
}
