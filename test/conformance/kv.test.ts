import { kv } from "../../plugins/storage/kv/mod.ts";
import type { KvLike } from "../../plugins/storage/kv/mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { damageDocument, openKv, scratchKv } from "../support/kv.ts";
import { storageSuite } from "./storage_suite.ts";

storageSuite("kv, a file", () => {
  const { file, remove } = scratchKv();
  return {
    handle: () => kv(file),
    damage: (id, what, text) => damageDocument(file, id, what, text),
    dispose: remove,
  };
});

storageSuite("kv, handles of the application on a file", () => {
  const { file, remove } = scratchKv();
  const opened: KvLike[] = [];
  return {
    handle: () =>
      late(async () => {
        const handle = await openKv(file);
        opened.push(handle);
        return kv({ kv: handle, prefix: "app", pollInterval: 20 });
      }),
    damage: (id, what, text) => damageDocument(file, id, what, text, "app"),
    dispose() {
      for (const handle of opened) handle.close();
      remove();
    },
  };
});

/** A store whose handle has to be awaited: it is made when it is opened. */
function late(make: () => Promise<Storage>): Storage {
  let made: Storage | undefined;
  const { supports, name } = kv({ path: "nowhere" });
  return new Proxy({} as Storage, {
    get(_target, key) {
      if (key === "supports") return supports;
      if (key === "name") return name;
      if (key === "open") return async (context: Parameters<Storage["open"]>[0]) => (made = await make()).open(context);
      const member = made![key as keyof Storage];
      return typeof member === "function" ? member.bind(made) : member;
    },
  });
}
