import { afterEach, beforeEach } from "vitest";
import type { KvLike } from "../../plugins/storage/kv/mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { context } from "../conformance/storage_suite.ts";
import { openKv, scratchKv } from "./kv.ts";

/** What each test of a file has for itself. */
export interface EachKv {
  /** Of a file of its own. */
  readonly handle: KvLike;
  /** Opens a store, which is closed when the test is over. */
  opened(storage: Storage): Promise<Storage>;
}

/** Gives each test a KV file of its own. */
export function eachKv(): EachKv {
  let handle: KvLike;
  let remove: () => void;
  const stores: Storage[] = [];
  beforeEach(async () => {
    const scratch = scratchKv();
    remove = scratch.remove;
    handle = await openKv(scratch.file);
  });
  afterEach(async () => {
    for (const storage of stores.splice(0)) await storage.close();
    handle.close();
    remove();
  });
  return {
    get handle() {
      return handle;
    },
    async opened(storage) {
      stores.push(storage);
      await storage.open(context);
      return storage;
    },
  };
}
