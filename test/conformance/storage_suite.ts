import { describe, it } from "vitest";
import type { Clock, Storage, StorageContext } from "../../src/contract/mod.ts";
import { storageCases, type StorageHarness } from "../../src/testing/mod.ts";

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer = setTimeout(callback, delayMs);
    if (options?.unref === true) timer.unref();
    return () => clearTimeout(timer);
  },
  defer: (callback) => void setImmediate(callback),
};

/** What a driver is opened with in tests that need no time of their own. */
export const context: StorageContext = { clock, logger: console };

/** A driver's store for one case: how to make a handle on it, how to damage it, how to be rid of it. */
export interface StoreForCase extends Pick<StorageHarness, "damage"> {
  handle(): Storage;
  dispose?(): void | Promise<void>;
}

/** Holds a driver to every case that applies to it. */
export function storageSuite(name: string, makeStore: () => StoreForCase): void {
  describe(name, () => {
    for (const storageCase of storageCases()) {
      it(storageCase.name, async ({ skip }) => {
        const { handle, dispose, ...rest } = makeStore();
        const { supports } = handle();
        if (storageCase.needs?.some((key) => !supports[key])) skip();
        if (storageCase.damages === true && rest.damage === undefined) skip();
        const handles: Storage[] = [];
        const open = async () => {
          const storage = handle();
          await storage.open(context);
          handles.push(storage);
          return storage;
        };
        try {
          await storageCase.run({ ...rest, open });
        } finally {
          for (const storage of handles) await storage.close();
          await dispose?.();
        }
      });
    }
  });
}
