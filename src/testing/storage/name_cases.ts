import { isSchedulerError } from "../../contract/mod.ts";
import { assert, equal } from "../assert.ts";
import { change, count, create, document, id, moved, operation, retired, store } from "./documents.ts";
import type { StorageCase } from "./types.ts";

/** Names and keys: unique for an owner among live documents. */
export const nameCases: readonly StorageCase[] = [
  {
    name: "N1 names: an owner's live document is found by its name, and nobody else's",
    async run({ open }) {
      const storage = await open();
      await store(storage, [
        document(1, 5_000, { definition: { name: "nightly", owner: "alice" } }),
        document(2, 5_000, { definition: { name: "nightly", owner: "bob" } }),
        document(3, 5_000, { definition: { key: "nightly", owner: "alice" } }),
      ]);
      const seen: unknown[] = [];
      const look = (select: Parameters<typeof operation>[0]) =>
        operation(select, (current) => (seen.push(current?.id), { value: 0 }));
      await storage.apply([
        [look({ owner: "alice", name: "nightly" })],
        [look({ owner: "bob", name: "nightly" })],
        [look({ owner: "carol", name: "nightly" })],
        [look({ owner: "alice", name: "Nightly" })],
        [look({ owner: "alice", key: "nightly" })],
        [look({ owner: "bob", key: "nightly" })],
      ], 1_000);
      equal(seen, [id(1), id(2), undefined, undefined, id(3), undefined], "found");
    },
  },
  ...(["name", "key"] as const).map((what): StorageCase => ({
    name: `${what === "name" ? "N1" : "I5"} ${what}s: one that is taken is a conflict; retirement and removal free it`,
    async run({ open }) {
      const storage = await open();
      const made = (n: number) => document(n, 5_000, { definition: { [what]: "only" } });
      await store(storage, [made(1)]);
      const [taken, other] = await storage.apply([create(made(2)), create(document(3, 5_000))], 1_000);
      assert(!taken!.committed && isSchedulerError(taken!.reason, "conflict"), "a second one is a conflict");
      assert(other!.committed, "the group beside it commits");
      await change(storage, id(1), (current) => retired(current, 2_000));
      await store(storage, [made(4)]);
      await change(storage, id(4), () => null);
      await store(storage, [made(5)]);
      equal((await storage.get(id(1)))?.definition[what], "only", "the retired one still tells it");
      equal((await storage.find({ limit: 10 })).map((found) => found.id), [id(3), id(5)], "live ones");
    },
  })),
  {
    name: "N3 names: a group may stop one and make another of its name",
    async run({ open }) {
      const storage = await open();
      await store(storage, [document(1, 5_000, { definition: { name: "only", key: "k" } })]);
      const [result] = await storage.apply([[
        operation({ owner: "system", name: "only" }, () => ({ document: null, value: 0 })),
        operation({ owner: "system", key: "k" }, (current) => ({
          document: document(2, 5_000, { definition: { name: "only", key: "k" } }),
          value: current === undefined ? 1 : 2,
        })),
      ]], 1_000);
      equal(result, { committed: true, values: [0, 1] }, "result");
      equal((await storage.find({ name: "only", limit: 5 })).map((found) => found.id), [id(2)], "found");
    },
  },
  {
    name: "N1 names: many registrations at once on two handles make one document",
    async run({ open }) {
      const handles = [await open(), await open()];
      const register = (n: number) =>
        handles[n % 2]!.apply([[
          operation({ owner: "system", name: "nightly" }, (current) => {
            if (current !== undefined) return { value: current.id };
            return { document: document(n, 5_000, { definition: { name: "nightly" } }), value: id(n) };
          }),
        ]], 1_000);
      const results = (await Promise.all(count(40).map(register))).flat();
      const ids = new Set(results.map((result) => result.committed ? result.values[0] : "refused"));
      equal(ids.size, 1, "ids answered");
      equal((await handles[0]!.find({ limit: 10 })).map((found) => found.id), [...ids], "what is stored");
    },
  },
  {
    name: "M1 apply: changes of one document by two handles at once are all counted",
    async run({ open }) {
      const handles = [await open(), await open()];
      await store(handles[0]!, [document(1, 5_000)]);
      const grow = [
        operation({ id: id(1) }, (current) => {
          const runCount = current!.progress.runCount + 1;
          return { document: moved(current!, { runCount }), value: runCount };
        }),
      ];
      for (const _ of count(10)) {
        await Promise.all(count(10).map((n) => handles[n % 2]!.apply([grow], 1_000)));
      }
      for (const handle of handles) equal((await handle.get(id(1)))?.progress.runCount, 100, "the count");
    },
  },
];
