import { isSchedulerError, MAX_OPERATIONS, SchedulerError } from "../../contract/mod.ts";
import { assert, equal, rejection } from "../assert.ts";
import { change, count, create, document, id, moved, operation, store } from "./documents.ts";
import type { StorageCase } from "./types.ts";

/** Groups: all or nothing, in order, each operation seeing those before it. */
export const groupCases: readonly StorageCase[] = [
  {
    name: "I3 apply: what resolved is read back as it was, by any handle",
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      const whole = document(1, 5_000, {
        definition: {
          input: { deep: [1, -1.5, null, true, "text"] },
          state: { counter: 7 },
          spec: { kind: "every", every: 60_000, anchor: 5_000, startAt: 1, endAt: 253_402_300_799_999, maxRuns: 9 },
          options: { catchup: { policy: "all", limit: 3 } },
          tags: ["red", "blue"],
          target: "room:42",
          group: "billing",
          name: "nightly",
          key: "k",
          runAs: "bob",
          timeout: 250,
          onLost: "fault",
          maxLost: 2,
        },
        progress: {
          runs: [{ fence: 1, point: 1, attempt: 1, missed: 2, instance: "i", leaseUntil: 9_000, claimedAt: 8_000 }],
          waiting: [{ point: 2, at: 3, attempt: 2, missed: 0, cause: "retry" }],
          backlog: [{ next: 1, last: 2 }],
          fence: 1,
          runCount: 2 ** 40,
          lastFault: { name: "Error", message: "broken", at: 5 },
          lastDurationMs: 0,
          lastRun: 0,
          durationSum: 1.25,
          sketch: "abc",
          history: "i,1,2,1,1,1,1,broken",
          decisions: [["missed", 1, 2, 3, "detail"], ["ran", 1, 1]],
        },
      });
      equal(await a.apply([create(whole)], 1_000), [{ committed: true, values: [whole.id] }], "result");
      equal(await b.get(whole.id), whole, "the document on another handle");
      equal(await a.get(whole.id), whole, "the document on the same handle");
      equal(await b.get(id(2)), undefined, "an id nobody has");
    },
  },
  {
    name: "apply: a document is replaced, removed, or left as it is",
    async run({ open }) {
      const storage = await open();
      await store(storage, [document(1, 5_000), document(2, 5_000), document(3, 5_000)]);
      const results = await storage.apply([
        [operation({ id: id(1) }, (current) => ({ document: moved(current!, { runCount: 4 }), value: "moved" }))],
        [operation({ id: id(2) }, () => ({ document: null, value: "removed" }))],
        [operation({ id: id(3) }, (current) => ({ value: current!.id }))],
        [operation({ id: id(9) }, (current) => ({ document: null, value: String(current) }))],
      ], 2_000);
      equal(results.map((result) => result.committed && result.values), [["moved"], ["removed"], [id(3)], [
        "undefined",
      ]], "values");
      equal((await storage.get(id(1)))?.progress.runCount, 4, "the replaced one");
      equal(await storage.get(id(2)), undefined, "the removed one");
      equal(await storage.get(id(3)), document(3, 5_000), "the one left alone");
    },
  },
  {
    name: "apply: a definition that changes is stored with the progress that changes beside it",
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      await store(a, [document(1, 5_000)]);
      await change(a, id(1), (current) => ({
        ...moved(current, { wakeAt: 7_000 }),
        definition: { ...current.definition, task: "other", target: "t", tags: ["x"] },
      }));
      const [found] = await b.find({ task: "other", target: "t", tag: "x", limit: 5 });
      equal(found?.progress.wakeAt, 7_000, "wakeAt");
      equal(await b.nextWake(["work"]), null, "the old lane");
      equal(await b.nextWake(["other"]), 7_000, "the new lane");
    },
  },
  {
    name: "U1 apply: a reject in the middle leaves nothing of its group, and others beside it go on",
    async run({ open }) {
      const storage = await open();
      await store(storage, [document(1, 5_000)]);
      const reason = new SchedulerError("permission_denied", "not yours");
      const results = await storage.apply<unknown>([
        create(document(2, 5_000)),
        [
          operation(null, () => ({ document: document(3, 5_000), value: 0 })),
          operation({ id: id(1) }, () => ({ document: null, value: 0 })),
          operation({ id: id(1) }, () => ({ value: 0, reject: reason })),
          operation(null, () => ({ document: document(4, 5_000), value: 0 })),
        ],
        create(document(5, 5_000)),
      ], 1_000);
      equal(results.map((result) => result.committed), [true, false, true], "committed");
      const refused = results[1]!;
      assert(!refused.committed && refused.reason === reason, "the reject reaches the caller as it is");
      const ids = (await storage.find({ limit: 10 })).map((found) => found.id);
      equal(ids, [id(1), id(2), id(5)], "what is stored");
    },
  },
  {
    name: "U2 apply: later operations see what earlier ones did; create-then-remove leaves nothing",
    async run({ open }) {
      const storage = await open();
      await store(storage, [document(1, 5_000, { definition: { name: "old" } })]);
      const seen: unknown[] = [];
      await storage.apply([[
        operation(null, () => ({ document: document(2, 5_000, { definition: { name: "brief" } }), value: 0 })),
        operation({ owner: "system", name: "brief" }, (current) => {
          seen.push(current?.id);
          return { document: moved(current!, { runCount: 1 }), value: 0 };
        }),
        operation({ id: id(2) }, (current) => {
          seen.push(current?.progress.runCount);
          return { document: null, value: 0 };
        }),
        operation({ id: id(2) }, (current) => (seen.push(current), { value: 0 })),
        operation({ owner: "system", name: "old" }, () => ({ document: null, value: 0 })),
        operation({ owner: "system", name: "old" }, (current) => (seen.push(current), { value: 0 })),
        operation(null, () => ({ document: document(3, 5_000, { definition: { name: "old" } }), value: 0 })),
      ]], 1_000);
      equal(seen, [id(2), 1, undefined, undefined], "what was seen");
      equal((await storage.find({ limit: 10 })).map((found) => found.id), [id(3)], "what is stored");
    },
  },
  {
    name: "apply: groups of one call see those before them, and so do calls of one turn",
    async run({ open }) {
      const storage = await open();
      const grow = [
        operation({ id: id(1) }, (current) => {
          const runCount = (current?.progress.runCount ?? 0) + 1;
          return { document: moved(current ?? document(1, 5_000), { runCount }), value: runCount };
        }),
      ];
      const calls = await Promise.all(count(50).map(() => storage.apply([grow, grow], 1_000)));
      const values = calls.flat().flatMap((result) => result.committed ? result.values : [-1]);
      equal(values, count(100).map((n) => n + 1), "values in order");
    },
  },
  {
    name: "T8 apply: decisions are told the time that was passed, whatever it is",
    async run({ open }) {
      const storage = await open();
      if (storage.supports.clock) return;
      const times = [0, 5, 1_767_225_600_000, 253_402_300_799_999];
      for (const now of times) {
        const [result] = await storage.apply([[operation(null, (_, told) => ({ value: told }))]], now);
        equal(result, { committed: true, values: [now] }, "the time told");
        equal(await storage.now(now), now, "the store's time");
      }
    },
  },
  {
    name: "I1 apply: an id in use is a conflict that stores nothing of its group, and others beside it go on",
    async run({ open }) {
      const storage = await open();
      await store(storage, [document(1, 5_000)]);
      const results = await storage.apply([
        create(document(2, 5_000)),
        [...create(document(3, 5_000)), ...create(document(1, 9_000))],
        create(document(4, 5_000)),
      ], 1_000);
      equal(results.map((result) => result.committed), [true, false, true], "committed");
      const refused = results[1]!;
      assert(!refused.committed && isSchedulerError(refused.reason, "conflict"), "the reason is a conflict");
      equal((await storage.find({ limit: 10 })).map((found) => found.id), [id(1), id(2), id(4)], "what is stored");
      equal(await storage.get(id(1)), document(1, 5_000), "the one that was there");
    },
  },
  {
    name: "apply: a decision that throws fails its own call and no other of the same turn",
    async run({ open }) {
      const storage = await open();
      const broken = [operation(null, (): never => {
        throw new RangeError("a broken decision");
      })];
      const [first, failed, last] = await Promise.all([
        storage.apply([create(document(1, 5_000))], 1_000),
        rejection(storage.apply([create(document(2, 5_000)), broken], 1_000), "the broken call"),
        storage.apply([create(document(3, 5_000))], 1_000),
      ]);
      assert(failed instanceof RangeError, "the error reaches the caller as it was thrown");
      assert(first[0]!.committed && last[0]!.committed, "the other calls are committed");
    },
  },
  {
    name: "apply: a group of the largest size commits whole, and one more is refused whole",
    async run({ open }) {
      const storage = await open();
      const most = Math.min(MAX_OPERATIONS, storage.supports.maxGroupOperations ?? MAX_OPERATIONS);
      const group = (from: number, size: number) => count(size).flatMap((n) => create(document(from + n, 5_000)));
      const [fits] = await storage.apply([group(0, most)], 1_000);
      assert(fits!.committed, "the largest group commits");
      const [large] = await storage.apply([group(most, most + 1)], 1_000);
      assert(!large!.committed, "a larger one is refused");
      assert(await storage.get(id(most - 1)) !== undefined, "the last of the first group is stored");
      const [extra] = await storage.find({ limit: 1, after: id(most - 1) });
      equal(extra, undefined, "nothing of the second is");
    },
  },
];
