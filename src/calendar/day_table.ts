import { civilFromDays, daysFromCivil, monthLength, weekday } from "../contract/zone/date.ts";
import type { Item } from "./items.ts";

/** The first and the last day that is searched, since 1970: years 1 to 9999, and what zones add. */
const FIRST_DAY = daysFromCivil(1, 1, 1);
const LAST_DAY = daysFromCivil(9999, 12, 31) + 2;

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6] as const;

/** What a {@linkcode DayTable} is made from. */
export interface DayRules {
  readonly daysOfMonth: readonly Item[];
  /** Months from 1, ascending. */
  readonly months: readonly number[];
  readonly daysOfWeek: readonly Item[];
  /** A day that matches one of both day fields is enough; otherwise it must match both (K2). */
  readonly either: boolean;
}

/**
 * The days that an expression matches. A month is known by its length and by the weekday that it begins on, so all
 * months there can be are 28 sets of 31 bits, made once; a search looks at a month, not at its days.
 */
export class DayTable {
  /** No date ever matches. */
  readonly isEmpty: boolean;
  readonly #rules: DayRules;
  /** Bit `d - 1` of entry `firstWeekday * 4 + length - 28` tells whether day `d` of such a month matches; -1 is not yet known. */
  readonly #masks: Int32Array = new Int32Array(28).fill(-1);
  /** Bit `m` tells whether month `m` matches. */
  readonly #months: number;

  /** Makes the table. */
  constructor(rules: DayRules) {
    this.#months = rules.months.reduce((bits, month) => bits | (1 << month), 0);
    this.#rules = rules;
    const everBegins = (length: number) => WEEKDAYS.some((first) => this.#maskOf(first, length) !== 0);
    this.isEmpty = !rules.months.some((month) => lengths(month).some(everBegins));
  }

  /** Whether a day since 1970 matches. */
  has(day: number): boolean {
    const { year, month, day: dayOfMonth } = civilFromDays(day);
    return (this.#mask(day - dayOfMonth + 1, month, monthLength(year, month)) >> (dayOfMonth - 1) & 1) === 1;
  }

  /** The first matching day at or after a day since 1970, or `null`. */
  next(day: number): number | null {
    let { year, month, day: dayOfMonth } = civilFromDays(day);
    for (let first = day - dayOfMonth + 1; first <= LAST_DAY; dayOfMonth = 1) {
      const length = monthLength(year, month);
      const left = this.#mask(first, month, length) >>> (dayOfMonth - 1);
      if (left !== 0) return first + dayOfMonth - 1 + trailingZeros(left);
      first += length;
      if (++month > 12) [year, month] = [year + 1, 1];
    }
    return null;
  }

  /** The last matching day at or before a day since 1970, or `null`. */
  previous(day: number): number | null {
    let { year, month, day: dayOfMonth } = civilFromDays(day);
    for (let first = day - dayOfMonth + 1; first >= FIRST_DAY;) {
      const left = this.#mask(first, month, monthLength(year, month)) << (31 - dayOfMonth) & 0x7fffffff;
      if (left !== 0) return first + dayOfMonth - 1 - (Math.clz32(left) - 1);
      if (--month < 1) [year, month] = [year - 1, 12];
      dayOfMonth = monthLength(year, month);
      first -= dayOfMonth;
    }
    return null;
  }

  /** How many days in `[from, until)` match, counted month by month. */
  count(from: number, until: number): number {
    let { year, month, day } = civilFromDays(from);
    let total = 0;
    for (let first = from - day + 1; first < until;) {
      const length = monthLength(year, month);
      let mask = this.#mask(first, month, length);
      if (first < from) mask &= -1 << (from - first);
      if (until < first + length) mask &= (1 << (until - first)) - 1;
      total += bitCount(mask);
      first += length;
      if (++month > 12) [year, month] = [year + 1, 1];
    }
    return total;
  }

  #mask(first: number, month: number, length: number): number {
    return (this.#months >> month & 1) === 0 ? 0 : this.#maskOf(weekday(first), length);
  }

  #maskOf(firstWeekday: number, length: number): number {
    const known = this.#masks[firstWeekday * 4 + length - 28]!;
    if (known !== -1) return known;
    return this.#masks[firstWeekday * 4 + length - 28] = monthMask(this.#rules, firstWeekday, length);
  }
}

/** The lengths that a month can have: with each, it can begin on every day of the week. */
function lengths(month: number): readonly number[] {
  return month === 2 ? [28, 29] : [monthLength(2001, month)];
}

/** The days that match in a month of a length that begins on a weekday, as bits from the first day on. */
function monthMask({ daysOfMonth, daysOfWeek, either }: DayRules, firstWeekday: number, length: number): number {
  const all = (1 << (length - 1) << 1) - 1;
  const byDate = daysOfMonth.reduce((bits, item) => bits | dateBits(item, length), 0);
  const byWeekday = daysOfWeek.reduce((bits, item) => bits | weekdayBits(item, firstWeekday, length), 0);
  return (either ? byDate | byWeekday : byDate & byWeekday) & all;
}

function dateBits(item: Item, length: number): number {
  if (item.kind === "last-day") return 1 << (length - 1);
  return item.kind === "values" ? item.values.reduce((bits, day) => bits | 1 << (day - 1), 0) : 0;
}

/** The bits of the 1st, 8th, 15th, 22nd and 29th day. */
const WEEKLY = 0x10204081;

function weekdayBits(item: Item, firstWeekday: number, length: number): number {
  const firstBit = (weekday: number) => (weekday - firstWeekday + 7) % 7;
  switch (item.kind) {
    case "values":
      return item.values.reduce((bits, weekday) => bits | WEEKLY << firstBit(weekday), 0);
    case "nth-weekday":
      return (WEEKLY << firstBit(item.weekday)) & (0x7f << (7 * (item.nth - 1)));
    case "last-weekday":
      return 1 << (length - 1 - (length - 1 - firstBit(item.weekday)) % 7);
    case "last-day":
      return 0;
  }
}

function trailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

function bitCount(bits: number): number {
  let b = bits - ((bits >>> 1) & 0x55555555);
  b = (b & 0x33333333) + ((b >>> 2) & 0x33333333);
  return Math.imul((b + (b >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
