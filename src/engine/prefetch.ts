import { type Clock, MAX_ADVANCE } from "../contract/mod.ts";

/** A batch that waits no longer than this for its slots may grow; one that waits ten times as long shrinks. */
const SHORT_WAIT_MS = 25;

/**
 * How many documents are claimed at once: as many as run at once to begin with, more while runs are so short that what
 * was claimed starts almost at once, fewer when it has to wait, so that others may take it.
 */
export class Prefetch {
  readonly #clock: Clock;
  readonly #least: number;
  #size: number;
  #claimedMono = 0;
  #claimed = 0;

  constructor(clock: Clock, concurrency: number) {
    this.#clock = clock;
    this.#least = Math.min(concurrency, MAX_ADVANCE);
    this.#size = this.#least;
  }

  /** How many more may be claimed while so many wait. */
  room(queued: number): number {
    return queued > this.#size / 2 ? 0 : this.#size - queued;
  }

  /** So many runs were claimed. */
  claimed(count: number): void {
    if (count === 0) return;
    this.#claimed = count;
    this.#claimedMono = this.#clock.monotonic();
  }

  /** Nothing claimed waits any more. */
  emptied(): void {
    if (this.#claimed < this.#size / 2) return;
    const waited = this.#clock.monotonic() - this.#claimedMono;
    if (waited <= SHORT_WAIT_MS) this.#size = Math.min(MAX_ADVANCE, this.#size * 2);
    else if (waited > SHORT_WAIT_MS * 10) this.#size = Math.max(this.#least, this.#size >> 1);
    this.#claimed = 0;
  }
}
