/** One of the fields second, minute, hour: answers by table. */
class Steps {
  readonly count: number;
  readonly first: number;
  readonly last: number;
  /** The first value at or after the index, or -1; one entry more than there are values. */
  readonly next: Int8Array;
  /** The last value at or before the index, or -1. */
  readonly previous: Int8Array;
  /** How many values lie before the index. */
  readonly before: Int8Array;

  constructor(values: readonly number[], size: number) {
    this.count = values.length;
    this.first = values[0]!;
    this.last = values[values.length - 1]!;
    this.next = new Int8Array(size + 1).fill(-1);
    this.previous = new Int8Array(size).fill(-1);
    this.before = new Int8Array(size);
    let below = -1;
    for (const [rank, value] of values.entries()) {
      this.next.fill(value, below + 1, value + 1);
      this.previous.fill(value, value);
      this.before.fill(rank + 1, value + 1);
      below = value;
    }
  }
}

/** The times of day that an expression matches, in seconds since midnight by the clock. */
export class TimeTable {
  /** The first and the last time of a day. */
  readonly first: number;
  readonly last: number;
  /** How many times there are in a day. */
  readonly perDay: number;
  readonly #hours: Steps;
  readonly #minutes: Steps;
  readonly #seconds: Steps;

  /** Makes the table from the matching values of each field, ascending and not empty. */
  constructor(hours: readonly number[], minutes: readonly number[], seconds: readonly number[]) {
    const [h, m, s] = [new Steps(hours, 24), new Steps(minutes, 60), new Steps(seconds, 60)];
    [this.#hours, this.#minutes, this.#seconds] = [h, m, s];
    this.perDay = h.count * m.count * s.count;
    this.first = (h.first * 60 + m.first) * 60 + s.first;
    this.last = (h.last * 60 + m.last) * 60 + s.last;
  }

  /** The first time at or after a second of the day, or -1. */
  next(second: number): number {
    const [h, m, s] = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60];
    if (this.#hours.next[h] === h) {
      const nextSecond = this.#seconds.next[s]!;
      const minute = this.#minutes.next[nextSecond < 0 ? m + 1 : m]!;
      if (minute >= 0) return (h * 60 + minute) * 60 + (minute === m ? nextSecond : this.#seconds.first);
    }
    const hour = this.#hours.next[h + 1]!;
    return hour < 0 ? -1 : (hour * 60 + this.#minutes.first) * 60 + this.#seconds.first;
  }

  /** The last time at or before a second of the day, or -1. */
  previous(second: number): number {
    const [h, m, s] = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60];
    if (this.#hours.previous[h] === h) {
      const previousSecond = this.#seconds.previous[s]!;
      const from = previousSecond < 0 ? m - 1 : m;
      const minute = from < 0 ? -1 : this.#minutes.previous[from]!;
      if (minute >= 0) return (h * 60 + minute) * 60 + (minute === m ? previousSecond : this.#seconds.last);
    }
    const hour = h === 0 ? -1 : this.#hours.previous[h - 1]!;
    return hour < 0 ? -1 : (hour * 60 + this.#minutes.last) * 60 + this.#seconds.last;
  }

  /** How many times of a day lie before a second of it. */
  before(second: number): number {
    const [h, m, s] = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60];
    const [hours, minutes, seconds] = [this.#hours, this.#minutes, this.#seconds];
    let total = hours.before[h]! * minutes.count * seconds.count;
    if (hours.next[h] !== h) return total;
    total += minutes.before[m]! * seconds.count;
    return minutes.next[m] === m ? total + seconds.before[s]! : total;
  }
}
