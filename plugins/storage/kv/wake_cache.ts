import { MAX_KV_KNOWN_WAKES } from "../../../src/contract/mod.ts";
import type { SharedEntry } from "./shared_wake.ts";

interface Known {
  readonly entry: SharedEntry;
  readonly era: number;
}

/**
 * Shared entries as they were read or written last: those of what runs, and the lists of its documents. By whoever began the
 * runs, they are also left. Those of what waits or is over are found when they are due. They are trusted until somebody else
 * has written.
 */
export class WakeCache {
  readonly #entries = new Map<string, Known>();
  #era = 0;

  /** What is there now, if that is known. */
  trusted(name: string): SharedEntry | undefined {
    const known = this.#entries.get(name);
    return known?.era === this.#era ? known.entry : undefined;
  }

  /** What was there last, as far as that is known. */
  latest(name: string): SharedEntry | undefined {
    return this.#entries.get(name)?.entry;
  }

  /** Somebody else has written: any of them may have changed. */
  doubt(): void {
    this.#era++;
  }

  /** Keeps what is there now. */
  set(entry: SharedEntry): void {
    this.#entries.delete(entry.name);
    if (entry.ids.size === 0) return;
    this.#entries.set(entry.name, { entry, era: this.#era });
    if (this.#entries.size > MAX_KV_KNOWN_WAKES) {
      this.#entries.delete(this.#entries.keys().next().value!);
    }
  }
}
