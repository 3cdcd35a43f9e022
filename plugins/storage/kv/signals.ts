import { type Clock, STORE_LOOK_MS } from "../../../src/contract/mod.ts";
import { fileWrites } from "./file_writes.ts";
import type { KvEntryLike, KvKey, KvLike, KvWatchReaderLike } from "./handle.ts";

/** Where word of others' changes comes from; answers what ends it. */
export type Signal = (listener: SignalListener) => Promise<() => Promise<void>>;

/** What a signal calls. */
export interface SignalListener {
  /** Something may have changed: the counter is to be read. */
  look(): void;
  /** The counter's entry as it is now. */
  heard(entry: KvEntryLike): void;
}

/** Asks now and then. */
export function polling(clock: Clock, everyMs: number): Signal {
  // deno-lint-ignore require-await
  return async ({ look }) => {
    let cancel = () => {};
    const again = () => {
      cancel = clock.setTimer(
        () => {
          look();
          again();
        },
        everyMs,
        { unref: true },
      );
    };
    again();
    // deno-lint-ignore require-await
    return async () => cancel();
  };
}

/** The store's own word: of one key, as it changes. A watch that breaks is begun again. */
export function watching(handle: KvLike & Required<Pick<KvLike, "watch">>, key: KvKey, clock: Clock): Signal {
  // deno-lint-ignore require-await
  return async ({ look, heard }) => {
    let over = false;
    let cancelPause = () => {};
    let reader: KvWatchReaderLike | undefined;
    const read = async () => {
      reader = handle.watch([key]).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || over) return;
        heard(value![0]!);
      }
    };
    const loop = async () => {
      while (!over) {
        await read().catch(() => {});
        if (over) return;
        look();
        await new Promise<void>((resolve) => {
          const cancel = clock.setTimer(resolve, STORE_LOOK_MS, { unref: true });
          cancelPause = () => {
            cancel();
            resolve();
          };
        });
      }
    };
    const ended = loop();
    return async () => {
      over = true;
      cancelPause();
      await reader?.cancel().catch(() => {});
      await ended;
    };
  };
}

/** Looks after a file was written, in milliseconds after one another: the write is told before it can be seen. */
const LOOKS_MS = [20, STORE_LOOK_MS];

/** Word that a file was written. A store's own watch sees only the writes of its own process to a file. */
export function watchingFile(path: string, clock: Clock): Signal {
  return async ({ look }) => {
    const looks = new Looks(clock, look);
    let stopPolling: (() => Promise<void>) | undefined;
    let closed = false;
    const end = await fileWrites(path, {
      written: () => looks.stir(),
      broken() {
        if (!closed) {
          void polling(clock, STORE_LOOK_MS)({ look, heard: () => {} }).then((stop) => stopPolling = stop);
        }
      },
    });
    return async () => {
      closed = true;
      end();
      looks.stop();
      await stopPolling?.();
    };
  };
}

/** Looks some times after it was stirred, and not more often for being stirred meanwhile. */
class Looks {
  readonly #clock: Clock;
  readonly #look: () => void;
  #round = LOOKS_MS.length;
  #stirred = false;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, look: () => void) {
    this.#clock = clock;
    this.#look = look;
  }

  stir(): void {
    this.#stirred = true;
    if (this.#cancel === undefined) this.#next(0);
  }

  stop(): void {
    this.#cancel?.();
  }

  #next(round: number): void {
    this.#round = round;
    this.#cancel = this.#clock.setTimer(() => this.#run(), LOOKS_MS[round]!, { unref: true });
  }

  #run(): void {
    this.#cancel = undefined;
    const stirred = this.#stirred;
    this.#stirred = false;
    if (this.#round < LOOKS_MS.length - 1) this.#next(this.#round + 1);
    // What was told since the last look may still not be seen by this one.
    else if (stirred) this.#next(this.#round);
    this.#look();
  }
}
