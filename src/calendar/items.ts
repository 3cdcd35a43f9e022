import { CronExpressionParser } from "cron-parser";
import { MAX_CRON_ITEMS } from "../contract/mod.ts";
import { hash32 } from "./hash.ts";

/** The name of a field in messages and in an error's `details.field`. */
export type FieldName = "second" | "minute" | "hour" | "day-of-month" | "month" | "day-of-week";

/** What a field may hold. */
export interface FieldRule {
  readonly name: FieldName;
  readonly min: number;
  readonly max: number;
  /** The last value that a bare `H` may take: a day that every month has, Sunday once. */
  readonly hashMax: number;
  /** Where the field stands among the six of cron-parser. */
  readonly index: number;
  /** How a single value is written. */
  readonly atom: string;
  /** What is expected, for messages. */
  readonly expected: string;
}

const MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const DAYS = "sun|mon|tue|wed|thu|fri|sat";

function rule(index: number, name: FieldName, min: number, max: number, more: Partial<FieldRule> = {}): FieldRule {
  return { name, min, max, index, hashMax: max, atom: "\\d{1,2}", expected: `${min}-${max}`, ...more };
}

/** The six fields, seconds first. */
export const FIELD_RULES: readonly FieldRule[] = [
  rule(0, "second", 0, 59),
  rule(1, "minute", 0, 59),
  rule(2, "hour", 0, 23),
  rule(3, "day-of-month", 1, 31, { hashMax: 28, expected: "1-31 or L" }),
  rule(4, "month", 1, 12, { atom: `\\d{1,2}|${MONTHS}`, expected: "1-12 or jan-dec" }),
  rule(5, "day-of-week", 0, 7, {
    hashMax: 6,
    atom: `0?\\d|${DAYS}`,
    expected: "0-7 (0 and 7 are Sunday), sun-sat, 5L or 5#2",
  }),
];

/** Makes an error of an item that is not valid; the problem is read after the item. */
export type Refuse = (problem: string, cause?: unknown) => never;

/** One item of a field's list, read. */
export type Item =
  | { readonly kind: "values"; readonly values: readonly number[] }
  | { readonly kind: "last-day" }
  | { readonly kind: "last-weekday"; readonly weekday: number }
  | { readonly kind: "nth-weekday"; readonly weekday: number; readonly nth: number };

const shapes = new Map(FIELD_RULES.map((r) => [r.name, {
  plain: new RegExp(`^(?:\\*|(${r.atom})(?:-(${r.atom}))?)(?:/(\\d{1,3}))?$`, "i"),
  hashed: /^H(?:\((\d{1,2})-(\d{1,2})\))?(?:\/(\d{1,3}))?$/i,
  special: new RegExp(`^(${r.atom})(?:(L)|#(\\d))$`, "i"),
}]));

/**
 * Reads one item of a field's list.
 *
 * `H` is a value of its range, `H/15` a start below 15 and every 15 from there, as in Jenkins; `seed` is the name
 * that both are derived from.
 */
export function readItem(rule: FieldRule, text: string, seed: string, refuse: Refuse): Item {
  const { plain, hashed, special } = shapes.get(rule.name)!;
  const isDay = rule.name === "day-of-month" || rule.name === "day-of-week";
  if (text === "?" && isDay) return readItem(rule, "*", seed, refuse);
  if (rule.name === "day-of-month" && /^L$/i.test(text)) return { kind: "last-day" };
  const hash = hashed.exec(text);
  if (hash !== null) return { kind: "values", values: hashedValues(rule, hash, seed, refuse) };
  const day = rule.name === "day-of-week" ? special.exec(text) : null;
  if (day !== null) return specialWeekday(rule, day, refuse);
  const match = plain.exec(text);
  if (match === null) refuse(explain(rule, text));
  checkStep(match[3], rule.name === "day-of-week" ? 7 : rule.max - rule.min + 1, refuse);
  return { kind: "values", values: plainValues(rule, endingOnSunday(rule, text), refuse) };
}

function specialWeekday(rule: FieldRule, [, atom, , nth]: RegExpExecArray, refuse: Refuse): Item {
  const weekday = plainValues(rule, atom!, refuse)[0]!;
  if (nth === undefined) return { kind: "last-weekday", weekday };
  if (nth < "1" || nth > "5") refuse("asks for a week that no month has, they are #1 to #5");
  return { kind: "nth-weekday", weekday, nth: Number(nth) };
}

function checkStep(step: string | undefined, size: number, refuse: Refuse): void {
  if (step === undefined || (Number(step) >= 1 && Number(step) <= size)) return;
  refuse(`has a step outside 1-${size} (a rhythm longer than the field is an interval, not a cron expression)`);
}

/** `sun` closing a range is the seventh day: `sat-sun` is `6-7`. */
function endingOnSunday(rule: FieldRule, text: string): string {
  return rule.name === "day-of-week" ? text.replace(/^(?!00?-|sun)(.+)-sun/i, "$1-7") : text;
}

function hashedValues(rule: FieldRule, match: RegExpExecArray, seed: string, refuse: Refuse): readonly number[] {
  const [, low = rule.min, high = rule.hashMax, step] = match;
  const [from, to] = [Number(low), Number(high)];
  if (from < rule.min || to > rule.max || from > to) refuse(`has a range that is not within ${rule.min}-${rule.max}`);
  const hash = hash32(`${rule.name}\0${seed}`);
  if (step === undefined) return [from + hash % (to - from + 1)];
  checkStep(step, to - from + 1, refuse);
  return plainValues(rule, `${from + hash % Number(step)}-${to}/${step}`, refuse);
}

const read = new Map<string, readonly number[]>();

/** Values of an item without `H`, `L` or `#`, through cron-parser, which sees one item at a time among harmless fields. */
function plainValues(rule: FieldRule, text: string, refuse: Refuse): readonly number[] {
  const key = `${rule.index} ${text}`;
  let values = read.get(key);
  if (values === undefined) {
    values = parsedValues(rule, text, refuse);
    if (read.size >= MAX_CRON_ITEMS) read.clear();
    read.set(key, values);
  }
  return values;
}

const COLLECTIONS = ["second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek"] as const;

function parsedValues(rule: FieldRule, text: string, refuse: Refuse): readonly number[] {
  const fields = ["0", "0", "0", "1", "1", "0"];
  fields[rule.index] = text;
  try {
    // A date and a zone are given so that cron-parser asks neither the clock nor the machine's zone.
    const parsed = CronExpressionParser.parse(fields.join(" "), { currentDate: 0, tz: "UTC" });
    const values = parsed.fields[COLLECTIONS[rule.index]!].values.map(Number);
    return rule.name === "day-of-week" ? [...new Set(values.map((value) => value % 7))] : values;
  } catch (cause) {
    const range = "is a range that leaves the field or runs backwards (write 22-2 as 22-23,0-2)";
    return refuse(text.includes("-") ? range : "is out of range", cause);
  }
}

function explain(rule: FieldRule, text: string): string {
  if (text === "") return "is an empty item of a list";
  if (/\/(?!\d{1,3}$)/.test(text)) return "has a step that is not a whole number from 1";
  if (text.includes("?")) return "uses ?, which stands alone and only in a field of days";
  if (rule.name === "day-of-month" && /w/i.test(text)) {
    return "asks for the nearest working day, which is not supported";
  }
  if (rule.name === "day-of-month" && /^l-/i.test(text)) return "counts back from the last day, which is not supported";
  if (rule.name === "day-of-week" && /^l$/i.test(text)) return "lacks the day, such as 5L for the last Friday";
  return "is not valid";
}
