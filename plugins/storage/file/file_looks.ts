import { type Clock, STORE_LOOK_MS, STORE_LOOKS_MS } from "../../../src/contract/mod.ts";
import type { FileWrites } from "./file_writes.ts";

/** What {@linkcode FileLooks} work with. */
export interface FileLooksOptions {
  readonly clock: Clock;
  readonly writes: FileWrites;
  /** Time from a write to the first look, in milliseconds. Default 0: it is looked at within the report. */
  readonly firstLookMs?: number;
  /** Looks whether it was others that wrote. */
  readonly look: () => void;
}

/**
 * When a store that lives in a file is looked at for what others have written. The operating system tells that the file or
 * its log was written, so nothing is asked while nothing happens. Where files cannot be watched, the store is looked at
 * four times a second.
 */
export class FileLooks {
  readonly #options: FileLooksOptions;
  #stop: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #stirred = false;
  #round = 0;

  constructor(options: FileLooksOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stop ??= this.#watch();
  }

  /** Leaves no watcher and no timer behind. */
  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  #watch(): () => void {
    try {
      const stop = this.#options.writes({
        written: () => this.#stir(),
        broken: () => {
          // One that is closed has nothing more to say.
          if (this.#stop !== stop) return;
          stop();
          this.#stop = this.#poll();
        },
      });
      return stop;
    } catch {
      return this.#poll();
    }
  }

  #poll(): () => void {
    let cancel: () => void;
    const again = () => {
      cancel = this.#setTimer(() => {
        this.#options.look();
        again();
      }, STORE_LOOK_MS);
    };
    again();
    return () => cancel();
  }

  /**
   * Looks, and again for a while: a write is reported before its commit has been flushed and can be seen, and nothing is
   * reported after that.
   */
  #stir(): void {
    if (this.#stop === undefined) return;
    this.#stirred = true;
    if (this.#cancelLook !== undefined && this.#round === 0) return;
    const { firstLookMs = 0 } = this.#options;
    if (firstLookMs === 0) return this.#lookInRound(0);
    this.#cancelLook?.();
    this.#round = 0;
    this.#cancelLook = this.#setTimer(() => this.#lookInRound(0), firstLookMs);
  }

  #lookInRound(round: number): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    this.#round = round;
    this.#stirred = false;
    const next = STORE_LOOKS_MS[round];
    if (next !== undefined) {
      this.#cancelLook = this.#setTimer(() => this.#lookInRound(this.#stirred ? 0 : round + 1), next);
    }
    this.#options.look();
  }

  #setTimer(callback: () => void, ms: number): () => void {
    return this.#options.clock.setTimer(callback, ms, { unref: true });
  }
}
