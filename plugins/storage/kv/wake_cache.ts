import { MAX_KV_KNOWN_WAKES } from "../../../src/contract/mod.ts";
import type { SharedWake } from "./shared_wake.ts";

interface Known {
  readonly entry: SharedWake;
  readonly era: number;
}

/**
 * The shared entries of what runs, as they were read or written last: by whoever began the runs, they are also left. Those of
 * what is over are found when they are due. They are trusted until somebody else has written.
 */
export class WakeCache {
  readonly #entries = new Map<string, Known>();
  #era = 0;

  /** What is there now, if that is known. */
  trusted(name: string): SharedWake | undefined {
    const known = this.#entries.get(name);
    return known?.era === this.#era ? known.entry : undefined;
  }

  /** What was there last, as far as that is known. */
  latest(name: string): SharedWake | undefined {
    return this.#entries.get(name)?.entry;
  }

  /** Somebody else has written: any of them may have changed. */
  doubt(): void {
    this.#era++;
  }

  /** Keeps what is there now. */
  set(entry: SharedWake): void {
    this.#entries.delete(entry.name);
    if (!entry.running || entry.ids.size === 0) return;
    this.#entries.set(entry.name, { entry, era: this.#era });
    if (this.#entries.size > MAX_KV_KNOWN_WAKES) {
      this.#entries.delete(this.#entries.keys().next().value!);
    }
  }
}
