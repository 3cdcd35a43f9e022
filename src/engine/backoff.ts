import { type Clock, STORE_RETRY_MAX_MS, STORE_RETRY_MS } from "../contract/mod.ts";

/** Delays between calls to a store that fails: doubled from one to the next, with half of each drawn at random (M6). */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** A call went through. */
  reset(): void {
    this.#failures = 0;
  }

  /** Calls back after the next delay; answers a function that cancels. */
  next(callback: () => void): () => void {
    const full = Math.min(STORE_RETRY_MAX_MS, STORE_RETRY_MS * 2 ** Math.min(this.#failures++, 16));
    return this.#clock.setTimer(callback, full / 2 + this.#random() * full / 2);
  }
}
