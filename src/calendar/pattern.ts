import { DAY_MS } from "../contract/zone/date.ts";
import type { DayTable } from "./day_table.ts";
import type { TimeTable } from "./time_table.ts";

/**
 * The local dates and times that an expression matches, before any zone. A local time is written as the milliseconds
 * that the epoch would be away if the clock showed UTC; arguments are whole seconds.
 */
export class Pattern {
  readonly #days: DayTable;
  readonly #times: TimeTable;

  /** Joins the days and the times of day. */
  constructor(days: DayTable, times: TimeTable) {
    this.#days = days;
    this.#times = times;
  }

  /** The first match at or after a local time, or `Infinity`. */
  next(local: number): number {
    const day = Math.floor(local / DAY_MS);
    const found = this.#days.next(day);
    if (found === null) return Infinity;
    if (found > day) return found * DAY_MS + this.#times.first * 1_000;
    const second = this.#times.next((local - day * DAY_MS) / 1_000);
    if (second >= 0) return day * DAY_MS + second * 1_000;
    const later = this.#days.next(day + 1);
    return later === null ? Infinity : later * DAY_MS + this.#times.first * 1_000;
  }

  /** The last match at or before a local time, or `-Infinity`. */
  previous(local: number): number {
    const day = Math.floor(local / DAY_MS);
    const found = this.#days.previous(day);
    if (found === null) return -Infinity;
    if (found < day) return found * DAY_MS + this.#times.last * 1_000;
    const second = this.#times.previous((local - day * DAY_MS) / 1_000);
    if (second >= 0) return day * DAY_MS + second * 1_000;
    const earlier = this.#days.previous(day - 1);
    return earlier === null ? -Infinity : earlier * DAY_MS + this.#times.last * 1_000;
  }

  /** How many matches lie in `[from, until)`. */
  count(from: number, until: number): number {
    if (until <= from) return 0;
    const [first, last] = [Math.floor(from / DAY_MS), Math.floor(until / DAY_MS)];
    return this.#days.count(first, last) * this.#times.perDay - this.#before(first, from) + this.#before(last, until);
  }

  /** How many matches of a day lie before a local time of it. */
  #before(day: number, local: number): number {
    return this.#days.has(day) ? this.#times.before((local - day * DAY_MS) / 1_000) : 0;
  }
}
