import {
  checkTimezone,
  invalidOption,
  isPlainObject,
  type Json,
  type JsonObject,
  oneOf,
  type OptionPlace,
  plainOptions,
} from "../../../src/contract/mod.ts";

/** A day of the week. */
export type Weekday = "sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat";

/** The option `calendar`: when a schedule may fire. */
export interface CalendarOption {
  /** The IANA zone of days and hours. Default `"UTC"`. */
  readonly timezone?: string;
  /** Days of the week. Default: all. */
  readonly days?: readonly Weekday[];
  /** Such as `"09:00-17:00"`, or several where there is a break; the end is not part of it. Default: the whole day. */
  readonly hours?: string | readonly string[];
  /** Dates such as `"2026-12-25"` on which nothing fires: holidays, blackouts. At most 400. */
  readonly except?: readonly string[];
  /**
   * What becomes of a point outside: it is dropped, or moved to the next opening. Default `"skip"`. A one-shot is
   * always moved, since it has no other point.
   */
  readonly outside?: "skip" | "move";
}

/** What is stored: the zone's spelling, days from 0 (Sunday), hours in milliseconds since 00:00. */
export interface Calendar {
  readonly timezone: string;
  readonly days: readonly number[];
  readonly hours: readonly (readonly [from: number, to: number])[];
  readonly except: readonly string[];
  readonly outside: "skip" | "move";
}

const WEEKDAYS: readonly Weekday[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const HOURS = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;
const DAY_MS = 86_400_000;
/** Dates stored with each schedule: some years of holidays, in 5 KiB. */
const MAX_DATES = 400;
/** Openings of one day. */
const MAX_OPENINGS = 24;

/** Reads the option. Errors: `invalid_option`, `unknown_option`, `invalid_timezone`. */
export function parseCalendar(value: CalendarOption, { where }: OptionPlace): Json {
  const given = plainOptions(value, ["timezone", "days", "hours", "except", "outside"], where);
  const calendar: Calendar = {
    timezone: checkTimezone((given.timezone ?? "UTC") as string, `${where}.timezone`),
    days: parseDays(given.days ?? WEEKDAYS, `${where}.days`),
    hours: parseHours(given.hours ?? "00:00-24:00", `${where}.hours`),
    except: parseDates(given.except ?? [], `${where}.except`),
    outside: oneOf(given.outside ?? "skip", ["skip", "move"], `${where}.outside`),
  };
  return { ...calendar } as unknown as Json;
}

/** The calendar of a schedule that has one. */
export function calendarOf({ calendar }: JsonObject): Calendar | undefined {
  return isPlainObject(calendar) ? calendar as unknown as Calendar : undefined;
}

function list(value: unknown, most: number, where: string, expected: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value;
  throw invalidOption(where, value, expected);
}

function parseDays(value: unknown, where: string): readonly number[] {
  const given = list(value, 7, where, "an array of days");
  const days = given.map((day, i) => WEEKDAYS.indexOf(oneOf(day, WEEKDAYS, `${where}[${i}]`)));
  if (days.length === 0) throw invalidOption(where, value, "at least one day");
  return [...new Set(days)].sort();
}

/** Openings in order, those that touch one another joined. */
function parseHours(value: unknown, where: string): readonly (readonly [number, number])[] {
  const given = list(typeof value === "string" ? [value] : value, MAX_OPENINGS, where, 'text such as "09:00-17:00"');
  const openings = given.map((text, i) => parseOpening(text, `${where}[${i}]`)).sort((a, b) => a[0] - b[0]);
  if (openings.length === 0) throw invalidOption(where, value, "at least one opening");
  const joined: [number, number][] = [];
  for (const [from, to] of openings) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

function parseOpening(text: unknown, where: string): readonly [number, number] {
  const match = typeof text === "string" ? HOURS.exec(text) : null;
  const minutes = (hour: string, minute: string) => (Number(hour) * 60 + Number(minute)) * 60_000;
  const from = match === null ? 0 : minutes(match[1]!, match[2]!);
  const to = match?.[3] === undefined ? DAY_MS : minutes(match[3], match[4]!);
  if (match !== null && from < to) return [from, to];
  throw invalidOption(where, text, 'text such as "09:00-17:00", the end after the beginning');
}

function parseDates(value: unknown, where: string): readonly string[] {
  const dates = list(value, MAX_DATES, where, `an array of at most ${MAX_DATES} dates`);
  for (const [i, date] of dates.entries()) {
    const time = typeof date === "string" && /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : NaN;
    if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) {
      throw invalidOption(`${where}[${i}]`, date, 'a date such as "2026-12-25"');
    }
  }
  return [...new Set(dates as readonly string[])].sort();
}
