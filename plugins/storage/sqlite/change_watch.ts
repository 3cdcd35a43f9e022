import type { Clock } from "../../../src/contract/mod.ts";
import { FileLooks } from "../file/file_looks.ts";
import type { FileWrites } from "../file/file_writes.ts";

/** What a {@linkcode ChangeWatch} works with. */
export interface ChangeWatchOptions {
  readonly clock: Clock;
  readonly writes: FileWrites;
  /** Whether somebody else has written since it was last asked. */
  readonly changed: () => boolean;
}

/** Tells listeners of what others write to the file: of each write that is told, a look at the database says whose it is. */
export class ChangeWatch {
  readonly #changed: () => boolean;
  readonly #looks: FileLooks;
  readonly #listeners = new Set<() => void>();

  constructor({ clock, writes, changed }: ChangeWatchOptions) {
    this.#changed = changed;
    this.#looks = new FileLooks({ clock, writes, look: () => this.#look() });
  }

  /** Adds a listener; answers a function that removes it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) {
      // What came before is not to be told.
      this.#mayHaveChanged();
      this.#looks.start();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#looks.stop();
    };
  }

  /** Leaves no watcher and no timer behind. */
  close(): void {
    this.#listeners.clear();
    this.#looks.stop();
  }

  #look(): void {
    if (!this.#mayHaveChanged()) return;
    for (const listener of [...this.#listeners]) listener();
  }

  /** A database that cannot be asked has changed, too: whoever listens will find out how. */
  #mayHaveChanged(): boolean {
    try {
      return this.#changed();
    } catch {
      return true;
    }
  }
}
