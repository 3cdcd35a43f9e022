import { type Clock, STORE_LOOK_MS } from "../../../src/contract/mod.ts";
import { FileLooks } from "../file/file_looks.ts";
import { type Every, fileWrites } from "../file/file_writes.ts";
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

/** A write is told before it can be seen. One that is seen later still is found by the looks after this one. */
const FIRST_LOOK_MS = 20;

/** Word that a file was written. A store's own watch sees only the writes of its own process to a file. */
export function watchingFile(path: string, clock: Clock, every?: Every): Signal {
  return async ({ look }) => {
    const writes = await fileWrites(path, every);
    const looks = new FileLooks({ clock, writes, firstLookMs: FIRST_LOOK_MS, look });
    looks.start();
    // deno-lint-ignore require-await
    return async () => looks.stop();
  };
}
