import type { DocumentQuery, ScheduleDocument, Storage } from "../../contract/mod.ts";
import { assert, equal } from "../assert.ts";
import { change, count, document, id, moved, retired, store } from "./documents.ts";
import type { StorageCase } from "./types.ts";

async function found(storage: Storage, query: Partial<DocumentQuery>): Promise<string[]> {
  return (await storage.find({ limit: 100, ...query })).map((document) => document.id);
}

function running(document: ScheduleDocument): ScheduleDocument {
  return moved(document, {
    runs: [{ fence: 1, point: 1, attempt: 1, missed: 0, instance: "i", leaseUntil: 9_000, claimedAt: 1 }],
  });
}

/** Lists: every filter, and pages that stay stable. */
export const findCases: readonly StorageCase[] = [
  {
    name: "V3 find: every condition alone, and all together",
    async run({ open }) {
      const storage = await open();
      const all = { owner: "alice", task: "mail", name: "n", target: "room:42", group: "g", tags: ["red", "blue"] };
      await store(storage, [
        document(1, 5_000),
        document(2, 5_000, { definition: { owner: "alice" } }),
        document(3, 5_000, { definition: { task: "mail" } }),
        document(4, 5_000, { definition: { name: "n" } }),
        document(5, 5_000, { definition: { target: "room:42" } }),
        document(6, 5_000, { definition: { group: "g" } }),
        document(7, 5_000, { definition: { tags: ["blue"] } }),
        document(8, 4_000),
        running(document(9, 5_000)),
        retired(document(10, 5_000, { definition: { ...all, name: "r" } }), 1_000),
        running(document(11, 4_000, { definition: all })),
      ]);
      const expected: [Partial<DocumentQuery>, number[]][] = [
        [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]],
        [{ retired: true }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
        [{ owner: "alice" }, [2, 11]],
        [{ owner: "system" }, [1, 3, 4, 5, 6, 7, 8, 9]],
        [{ owner: "bob" }, []],
        [{ task: "mail" }, [3, 11]],
        [{ name: "n" }, [4, 11]],
        [{ target: "room:42" }, [5, 11]],
        [{ target: "room:42", retired: true }, [5, 10, 11]],
        [{ group: "g" }, [6, 11]],
        [{ tag: "blue" }, [7, 11]],
        [{ tag: "red" }, [11]],
        [{ tag: "re" }, []],
        [{ dueBefore: 5_000 }, [8, 11]],
        [{ dueBefore: 4_000 }, []],
        [{ running: true }, [9, 11]],
        [{ owner: "alice", task: "mail", name: "n", target: "room:42", group: "g", tag: "red", running: true }, [11]],
        [{ owner: "alice", task: "mail", name: "n", target: "room:42", group: "g", dueBefore: 4_001 }, [11]],
      ];
      for (const [query, ns] of expected) equal(await found(storage, query), ns.map(id), JSON.stringify(query));
    },
  },
  {
    name: "L5 find: a paused schedule has no next deadline, so it is due before nothing",
    async run({ open }) {
      const storage = await open();
      await store(storage, [document(1, 5_000)]);
      await change(storage, id(1), (current) => moved(current, { wakeAt: null, pausedAt: 2_000 }));
      equal(await found(storage, { dueBefore: 9_000 }), [], "due before");
      equal(await found(storage, {}), [id(1)], "all live ones");
    },
  },
  {
    name: "V3 find: pages in order of id hold each document once while others come and go",
    async run({ open }) {
      const [storage, other] = [await open(), await open()];
      await store(
        storage,
        [...count(40)].reverse().map((n) => document(10 * n, 5_000, { definition: { group: "g" } })),
      );
      for (const filter of [{}, { group: "g" }]) {
        const seen: string[] = [];
        for (let after: string | undefined, page = 0;; page++) {
          const ids = await found(storage, { ...filter, limit: 7, ...(after === undefined ? {} : { after }) });
          if (ids.length === 0) break;
          seen.push(...ids);
          after = ids.at(-1)!;
          // One that was listed goes, one before the cursor comes, one not yet listed moves.
          if (page === 1) await change(other, ids[0]!, () => null);
          if (page === 1) await store(other, [document(5, 5_000, { definition: { group: "other" } })]);
          if (page === 2) await change(other, id(390), (current) => moved(current, { runCount: 1 }));
        }
        equal(seen, [...seen].sort(), "order");
        equal(new Set(seen).size, seen.length, "repetitions");
        const stable = count(40).map((n) => id(10 * n)).filter((one) => seen.includes(one));
        assert(stable.length >= 39, `all that stayed were listed; got ${stable.length}`);
        await change(storage, id(5), () => null);
      }
    },
  },
  {
    name: "V3 find: a limit is kept, and a cursor need not exist any more",
    async run({ open }) {
      const storage = await open();
      await store(storage, count(10).map((n) => document(n, 5_000)));
      equal(await found(storage, { limit: 3 }), [0, 1, 2].map(id), "three");
      await change(storage, id(4), () => null);
      equal(await found(storage, { limit: 2, after: id(4) }), [5, 6].map(id), "after one that is gone");
      equal(await found(storage, { limit: 2, after: id(9) }), [], "after the last");
    },
  },
  {
    name: "backlog: every lane with what is due in it, and its earliest",
    async run({ open }) {
      const storage = await open();
      equal(await storage.backlog(5_000, 10), [], "an empty store");
      await store(storage, [
        document(1, 4_000),
        document(2, 6_000),
        document(3, 9_000, { definition: { task: "mail" } }),
        document(4, null, { definition: { task: "paused" } }),
      ]);
      const lanes = [...await storage.backlog(6_000, 10)].sort((a, b) => a.task < b.task ? -1 : 1);
      equal(lanes, [{ task: "mail", due: 0, earliest: 9_000 }, { task: "work", due: 2, earliest: 4_000 }], "lanes");
    },
  },
];
