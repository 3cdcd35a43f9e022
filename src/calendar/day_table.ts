import { civilFromDays, daysFromCivil, monthLength, weekday } from "./date.ts";
import type { Item } from "./items.ts";

/** The first and the last day that is searched, since 1970: years 1 to 9999, and what zones add. */
const FIRST_DAY = daysFromCivil(1, 1, 1);
const LAST_DAY = daysFromCivil(9999, 12, 31) + 2;

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
  /** Bit `d - 1` of entry `firstWeekday * 4 + length - 28` tells whether day `d` of such a month matches. */
  readonly #masks: Int32Array;
  /** Bit `m` tells whether month `m` matches. */
  readonly #months: number;

  /** Makes the table. */
  constructor(rules: DayRules) {
    this.#months = rules.months.reduce((bits, month) => bits | (1 << month), 0);
    this.#masks = Int32Array.from({ length: 28 }, (_, i) => monthMask(rules, i >> 2, 28 + (i & 3)));
    this.isEmpty = !rules.months.some((month) => lengths(month).some((n) => this.#anyOfLength(n)));
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
    return (this.#months >> month & 1) === 0 ? 0 : this.#masks[weekday(first) * 4 + length - 28]!;
  }

  #anyOfLength(length: number): boolean {
    return [0, 1, 2, 3, 4, 5, 6].some((first) => this.#masks[first * 4 + length - 28] !== 0);
  }
}

/** The lengths that a month can have: with each, it can begin on every day of the week. */
function lengths(month: number): readonly number[] {
  return month === 2 ? [28, 29] : [monthLength(2001, month)];
}

function monthMask(rules: DayRules, firstWeekday: number, length: number): number {
  let mask = 0;
  for (let day = 1; day <= length; day++) {
    const byDate = rules.daysOfMonth.some((item) => matches(item, day, length, day));
    const byWeekday = rules.daysOfWeek.some((item) => matches(item, day, length, (firstWeekday + day - 1) % 7));
    if (rules.either ? byDate || byWeekday : byDate && byWeekday) mask |= 1 << (day - 1);
  }
  return mask;
}

/** Whether an item matches a day of a month; `value` is the day's number in the field that the item stands in. */
function matches(item: Item, day: number, length: number, value: number): boolean {
  switch (item.kind) {
    case "values":
      return item.values.includes(value);
    case "last-day":
      return day === length;
    case "last-weekday":
      return item.weekday === value && day > length - 7;
    case "nth-weekday":
      return item.weekday === value && Math.ceil(day / 7) === item.nth;
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
