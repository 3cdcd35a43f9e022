import { basename, dirname } from "node:path";
import { type Clock, STORE_LOOK_MS, STORE_LOOKS_MS } from "../../../src/contract/mod.ts";

/** What a {@linkcode ChangeWatch} works with. */
export interface ChangeWatchOptions {
  readonly file: string;
  readonly clock: Clock;
  /** Whether somebody else has written since it was last asked. */
  readonly changed: () => boolean;
  readonly watch: WatchDirectory;
}

/** `watch` of `node:fs`, as far as it is used. */
export type WatchDirectory = (
  directory: string,
  options: { readonly persistent: false },
  listener: (event: string, name: string | null) => void,
) => { close(): void; unref(): unknown; on(event: "error", listener: () => void): unknown };

/**
 * Tells of what others write to the file. The operating system reports that the file or its log was written; a look at
 * the database then tells whether by others. So nothing is asked while nothing happens. Where files cannot be watched,
 * the database is looked at four times a second.
 */
export class ChangeWatch {
  readonly #options: ChangeWatchOptions;
  readonly #listeners = new Set<() => void>();
  #stop: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #stirred = false;
  #round = 0;

  constructor(options: ChangeWatchOptions) {
    this.#options = options;
  }

  /** Adds a listener; answers a function that removes it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#stop ??= this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Leaves no watcher and no timer behind. */
  close(): void {
    this.#listeners.clear();
    this.#stop?.();
    this.#stop = undefined;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  #start(): () => void {
    const { file, watch } = this.#options;
    const names = [basename(file), `${basename(file)}-wal`];
    this.#options.changed();
    try {
      const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
        if (name === null || names.includes(name)) this.#stir();
      });
      // Deno's watcher keeps the process, whatever `persistent` says.
      watcher.unref();
      const stop = () => watcher.close();
      watcher.on("error", () => {
        // One that is closed has nothing more to say.
        if (this.#stop !== stop) return;
        stop();
        this.#stop = this.#poll();
      });
      return stop;
    } catch {
      return this.#poll();
    }
  }

  #poll(): () => void {
    let cancel: () => void;
    const again = () => {
      cancel = this.#options.clock.setTimer(
        () => {
          this.#look();
          again();
        },
        STORE_LOOK_MS,
        { unref: true },
      );
    };
    again();
    return () => cancel();
  }

  /**
   * Looks at once, and again for a while: a write is reported before its commit has been flushed and can be seen, and
   * nothing is reported after that.
   */
  #stir(): void {
    if (this.#stop === undefined) return;
    this.#stirred = true;
    if (this.#cancelLook === undefined || this.#round > 0) this.#lookInRound(0);
  }

  #lookInRound(round: number): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    this.#round = round;
    this.#stirred = false;
    const next = STORE_LOOKS_MS[round];
    if (next !== undefined) {
      this.#cancelLook = this.#options.clock.setTimer(() => this.#lookInRound(this.#stirred ? 0 : round + 1), next, {
        unref: true,
      });
    }
    this.#look();
  }

  #look(): void {
    if (!this.#changed()) return;
    for (const listener of [...this.#listeners]) listener();
  }

  /** A database that cannot be asked has changed, too: whoever listens will find out how. */
  #changed(): boolean {
    try {
      return this.#options.changed();
    } catch {
      return true;
    }
  }
}
