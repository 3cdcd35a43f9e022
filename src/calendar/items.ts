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
    atom: `\\d|${DAYS}`,
    expected: "0-7 (0 and 7 are Sunday), sun-sat, 5L or 5#2",
  }),
];

/** An item that is not valid; whoever knows the expression makes an error of it. */
export class ItemProblem {
  /** What is wrong, to be read after the item. */
  readonly problem: string;

  /** Keeps what is wrong. */
  constructor(problem: string) {
    this.problem = problem;
  }
}

/** One item of a field's list, read. */
export type Item =
  | { readonly kind: "values"; readonly values: readonly number[] }
  | { readonly kind: "last-day" }
  | { readonly kind: "last-weekday"; readonly weekday: number }
  | { readonly kind: "nth-weekday"; readonly weekday: number; readonly nth: number };

interface Shapes {
  readonly plain: RegExp;
  readonly hashed: RegExp;
  readonly special: RegExp;
}

const shapes = new Map<FieldName, Shapes>(FIELD_RULES.map((r) => [r.name, {
  plain: new RegExp(`^(?:\\*|(${r.atom})(?:-(${r.atom}))?)(?:/(\\d{1,3}))?$`, "i"),
  hashed: /^H(?:\((\d{1,2})-(\d{1,2})\))?(?:\/(\d{1,3}))?$/i,
  special: new RegExp(`^(${r.atom})(?:(L)|#(\\d))$`, "i"),
}]));

/**
 * Reads one item of a field's list.
 *
 * @param seed The name that `H` is derived from.
 * @throws {ItemProblem} When it is not valid.
 */
export function readItem(rule: FieldRule, text: string, seed: string): Item {
  const { plain, hashed, special } = shapes.get(rule.name)!;
  const isDay = rule.name === "day-of-month" || rule.name === "day-of-week";
  if (text === "?" && isDay) return readItem(rule, "*", seed);
  if (rule.name === "day-of-month" && /^L$/i.test(text)) return { kind: "last-day" };
  const hash = hashed.exec(text);
  if (hash !== null) return { kind: "values", values: hashedValues(rule, hash, seed) };
  const day = rule.name === "day-of-week" ? special.exec(text) : null;
  if (day !== null) return specialWeekday(rule, day[1]!, day[3]);
  const match = plain.exec(text);
  if (match === null) throw new ItemProblem(unsupported(rule, text));
  checkStep(rule, match[3]);
  return { kind: "values", values: plainValues(rule, endingOnSunday(rule, text)) };
}

function specialWeekday(rule: FieldRule, atom: string, nth: string | undefined): Item {
  const weekday = plainValues(rule, atom)[0]!;
  if (nth === undefined) return { kind: "last-weekday", weekday };
  if (nth < "1" || nth > "5") throw new ItemProblem("asks for a week that no month has; expected #1 to #5");
  return { kind: "nth-weekday", weekday, nth: Number(nth) };
}

function checkStep(rule: FieldRule, step: string | undefined): void {
  const size = rule.name === "day-of-week" ? 7 : rule.max - rule.min + 1;
  if (step !== undefined && (Number(step) < 1 || Number(step) > size)) {
    throw new ItemProblem(`has a step outside 1-${size}; a longer rhythm than the field holds is an interval`);
  }
}

/** `sun` closing a range is the seventh day: `sat-sun` is `6-7`. */
function endingOnSunday(rule: FieldRule, text: string): string {
  return rule.name === "day-of-week" ? text.replace(/^(?!0|sun)(.+)-sun/i, "$1-7") : text;
}

function hashedValues(rule: FieldRule, [, low, high, step]: RegExpExecArray, seed: string): readonly number[] {
  const [from, to] = low === undefined ? [rule.min, rule.hashMax] : [Number(low), Number(high)];
  if (from < rule.min || to > rule.max || from > to) {
    throw new ItemProblem(`has no range within ${rule.min}-${rule.max}`);
  }
  const hash = hash32(`${rule.name}\0${seed}`);
  if (step === undefined) return plainValues(rule, String(from + hash % (to - from + 1)));
  const every = Number(step);
  if (every < 1 || every > to - from + 1) throw new ItemProblem(`has a step outside 1-${to - from + 1}`);
  return plainValues(rule, `${from + hash % every}-${to}/${every}`);
}

const read = new Map<string, readonly number[]>();

/** Values of an item without `H`, `L` or `#`, through cron-parser, which sees one item at a time among harmless fields. */
function plainValues(rule: FieldRule, text: string): readonly number[] {
  const key = `${rule.index} ${text}`;
  let values = read.get(key);
  if (values === undefined) {
    const fields = ["0", "0", "0", "1", "1", "0"];
    fields[rule.index] = text;
    values = parsedValues(rule, fields.join(" "));
    if (read.size >= MAX_CRON_ITEMS) read.clear();
    read.set(key, values);
  }
  return values;
}

const COLLECTIONS = ["second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek"] as const;

function parsedValues(rule: FieldRule, expression: string): readonly number[] {
  try {
    // A date and a zone are given so that cron-parser asks neither the clock nor the machine's zone.
    const { fields } = CronExpressionParser.parse(expression, { currentDate: 0, tz: "UTC" });
    const values = fields[COLLECTIONS[rule.index]!].values.map(Number);
    return rule.name === "day-of-week" ? [...new Set(values.map((value) => value % 7))] : values;
  } catch (cause) {
    throw new ItemProblem(cause instanceof Error ? `is refused (${cause.message})` : "is refused");
  }
}

function unsupported(rule: FieldRule, text: string): string {
  if (text === "") return "is an empty item of a list";
  if (/\/(?!\d{1,3}$)/.test(text)) return "has a step that is not a whole number from 1";
  if (/w/i.test(text) && rule.name === "day-of-month") {
    return "asks for the nearest working day (W), which is not supported";
  }
  if (/^l-\d+$/i.test(text)) return "counts back from the last day, which is not supported";
  if (/^l$/i.test(text) && rule.name === "day-of-week") return "needs a day before L, such as 5L for the last Friday";
  if (/[l#]/i.test(text) && /\d/.test(text)) return "is not of the form that L or # takes in this field";
  if (text.includes("?")) return "uses ?, which stands alone and only in a field of days";
  return "is not valid";
}
