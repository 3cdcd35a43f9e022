import { MAX_ADVANCE } from "../contract/mod.ts";

/** What is claimed ahead of its slot should not wait longer than this, in milliseconds: others might take it at once. */
const SHORT_WAIT_MS = 25;

/** Weights of a run in the mean of durations: longer ones count at once, shorter ones only when they keep coming. */
const WEIGHT_LONGER = 0.5;
const WEIGHT_SHORTER = 0.05;

/** How much there is to do on this instance. */
export interface Load {
  readonly concurrency: number;
  readonly running: number;
  /** Claimed, and waiting for a slot. */
  readonly queued: number;
}

/**
 * How many documents are claimed at once: as many as have a free slot, and while runs are so short that a queue of them
 * moves on at once, that queue ahead, so that short runs do not wait for the store.
 */
export class Prefetch {
  /** Milliseconds; unknown until a run has ended. */
  #meanMs = Infinity;

  /** How many more may be claimed. */
  room({ concurrency, running, queued }: Load): number {
    const free = Math.max(0, concurrency - running - queued);
    const ahead = Math.floor(concurrency * SHORT_WAIT_MS / this.#meanMs);
    // Not one by one: the queue is filled when it is half empty.
    const fill = queued > ahead / 2 ? 0 : ahead - queued;
    return Math.min(MAX_ADVANCE, free + fill);
  }

  /** A run has ended. */
  ended(durationMs: number): void {
    // The division above needs something to divide by.
    const ms = Math.max(durationMs, 0.001);
    if (this.#meanMs === Infinity) this.#meanMs = ms;
    else this.#meanMs += (ms - this.#meanMs) * (ms > this.#meanMs ? WEIGHT_LONGER : WEIGHT_SHORTER);
  }
}
