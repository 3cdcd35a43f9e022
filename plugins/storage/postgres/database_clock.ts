import type { Clock } from "../../../src/contract/mod.ts";

/** How old a reading may be, in milliseconds: two clocks do not drift apart by a thousandth of that. */
const FRESH_MS = 1_000;

/** By how much the machine's wall clock and its monotonic one may disagree before a reading counts as out of date. */
const JUMP_MS = 20;

interface Reading {
  readonly database: number;
  readonly mono: number;
  readonly wall: number;
}

/**
 * The database's time, worked out from what it answered a moment ago, so that a creation or a settlement need not ask for it first. It is
 * never ahead of the database's own (what has passed since an answer came in is less than since it was given), and behind
 * it by no more than the answer's way. Only where the machine's clock is a real one, and has not jumped.
 */
export class DatabaseClock {
  readonly #clock: Clock;
  #reading: Reading | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The database has just answered its time. Of two answers the one counts that tells of more time: the other was longer
   * on its way.
   */
  answered(database: number): void {
    if (database <= (this.read() ?? -Infinity)) return;
    this.#reading = { database, mono: this.#clock.monotonic(), wall: this.#clock.now() };
  }

  /** The time, if it is known well enough. */
  read(): number | undefined {
    if (this.#reading === undefined || this.#clock.onJump !== undefined) return undefined;
    const { database, mono, wall } = this.#reading;
    const passed = this.#clock.monotonic() - mono;
    if (passed > FRESH_MS || Math.abs(this.#clock.now() - wall - passed) > JUMP_MS) return undefined;
    return Math.floor(database + passed);
  }
}
