import type { Clock, Write } from "../../../src/contract/mod.ts";
import { LOOK_MS } from "./hints.ts";

/** How far the floor stays behind the look that left nothing due, in milliseconds: commits under way are seen after it. */
const MARGIN_MS = 1_000;

/** A look into lanes. */
export interface Look {
  /** After which instant it may begin. */
  readonly after: number;
  /** It has left nothing that was due by an instant. */
  done(now: number): void;
}

/**
 * Before which instant nothing is due any more in a lane, as far as this handle has seen and been told. Whatever was due
 * there has left its entries in the index, where they stay as long as somebody holds an old snapshot, and every look would
 * go through all of them (B125). Kept only while others' writes are told of, and for no longer than a notification may be
 * lost for.
 */
export class DueFloor {
  readonly #clock: Clock;
  readonly #isTold: () => boolean;
  readonly #lanes = new Map<string, number>();
  /** The database's time of the first look that the floors go back to. */
  #since = -Infinity;
  #resets = 0;

  /** @param isTold Whether notifications of what others write come in. */
  constructor(clock: Clock, isTold: () => boolean) {
    this.#clock = clock;
    this.#isTold = isTold;
  }

  /** Begins a look. */
  look(lanes: readonly string[]): Look {
    if (!this.#isTold()) this.reset();
    const resets = this.#resets;
    return {
      after: Math.min(...lanes.map((lane) => this.#lanes.get(lane) ?? -Infinity)),
      // What came in meanwhile may have come too late for it.
      done: (now) => resets === this.#resets ? this.#looked(lanes, now) : undefined,
    };
  }

  #looked(lanes: readonly string[], now: number): void {
    if (this.#lanes.size === 0) this.#since = now;
    if (now < this.#since || now - this.#since > LOOK_MS) return this.reset();
    for (const lane of lanes) this.#lanes.set(lane, now - MARGIN_MS);
  }

  /**
   * Begins a write; what it answers is called with what was decided, and when, once it is through or has failed. A look
   * that did not see it was made before its commit, so stays below what was to come then, if the commit was quick.
   */
  writing(): (writes: readonly Write[], now: number) => void {
    const began = this.#clock.monotonic();
    return (writes, now) => {
      const isSlow = this.#clock.monotonic() - began > MARGIN_MS / 2;
      if (isSlow || writes.some(({ after }) => (after?.progress.wakeAt ?? Infinity) <= now)) this.reset();
    };
  }

  /** Anything may have come in. */
  reset(): void {
    this.#resets++;
    this.#lanes.clear();
  }
}
