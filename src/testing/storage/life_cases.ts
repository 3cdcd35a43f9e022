import { isSchedulerError, writeProgress } from "../../contract/mod.ts";
import { faultyStore, type StoreFault } from "../faulty_store.ts";
import { assert, equal, rejection } from "../assert.ts";
import { change, count, create, document, id, moved, operation, retired, started, store } from "./documents.ts";
import type { StorageCase, StorageHarness } from "./types.ts";

/** A deadline that is not due in any test, whatever clock decides. */
const LATER = 9_000_000_000_000;

/** Opening, closing, reopening, failing in the middle, and what is damaged. */
export const lifeCases: readonly StorageCase[] = [
  {
    name: "I3 reopen: what resolved is there after every handle was closed, with its deadlines and names",
    needs: ["durable"],
    async run({ open }) {
      const first = await open();
      await store(first, [document(1, 5_000, { definition: { name: "n", target: "t" } }), document(2, 6_000)]);
      await change(first, id(2), () => null);
      await first.close();
      const second = await open();
      equal(await second.get(id(1)), document(1, 5_000, { definition: { name: "n", target: "t" } }), "the document");
      equal(await second.get(id(2)), undefined, "the removed one");
      equal(await second.nextWake(["work"]), 5_000, "its deadline");
      const [taken] = await second.apply([create(document(3, 1, { definition: { name: "n" } }))], 1_000);
      assert(!taken!.committed, "its name is taken");
    },
  },
  {
    name: "X1 close: waits for what is under way; afterwards calls are refused; twice is once",
    async run({ open }) {
      const [storage, other] = [await open(), await open()];
      const pending = storage.apply([create(document(1, 5_000))], 1_000);
      await storage.close();
      equal(await pending, [{ committed: true, values: [id(1)] }], "what was under way");
      await storage.close();
      const calls = [
        () => storage.apply([create(document(2, 5_000))], 1_000),
        () => storage.advance({ lanes: ["work"], limit: 1, now: 9_000 }, () => ({ document: null, value: 0 })),
        () => storage.get(id(1)),
        () => storage.find({ limit: 1 }),
        () => storage.nextWake(["work"]),
        () => storage.backlog(0, 1),
      ];
      for (const call of calls) {
        const error = await rejection(call(), "a call on a closed store");
        assert(isSchedulerError(error, "store_unavailable"), "the code is store_unavailable");
      }
      equal((await other.find({ limit: 5 })).map((found) => found.id), [id(1)], "what another handle finds");
    },
  },
  {
    name: "M1 subscribe: tells of another handle's write, until it is told to stop",
    needs: ["push"],
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      let told = 0;
      let tell = () => {};
      const stop = a.subscribe!(() => {
        told++;
        tell();
      });
      for (const n of count(3)) {
        const heard = new Promise<void>((resolve) => tell = resolve);
        await store(b, [document(n, 5_000)]);
        await heard;
        equal(await a.nextWake(["work"]), 5_000, "what is there when it tells");
      }
      stop();
      const before = told;
      await store(b, [document(9, 5_000)]);
      equal(told, before, "calls after it was stopped");
    },
  },
  {
    name: "B097 crash: whichever call fails, before or after it took effect, nothing is torn or twice",
    async run(harness) {
      for (const reply of ["fails", "is lost"] as const) {
        for (let at = 1;; at++) {
          if (!await survives(harness, { at, reply }, at * 1_000 + (reply === "fails" ? 0 : 500_000))) break;
        }
      }
    },
  },
  ...(["definition", "progress"] as const).flatMap((what) => [
    parked(what, "text that is no JSON", "{broken"),
    parked(what, "JSON that is no document", '{"task":"work","runs":7}'),
  ]),
  parked(
    "definition",
    "an interval of zero (B061)",
    JSON.stringify({
      ...document(0, 0).definition,
      spec: { kind: "every", every: 0, anchor: 0 },
    }),
  ),
  {
    name: "damage: a progress that tells another time than its document is found by puts it there, once",
    damages: true,
    async run({ open, damage }) {
      const storage = await open();
      await store(storage, count(3).map((n) => document(n, 5_000)));
      await damage!(id(0), "progress", writeProgress(document(0, LATER).progress));
      await damage!(id(1), "progress", writeProgress({ ...document(1, 0).progress, wakeAt: null }));
      const step = () =>
        storage.advance({ lanes: ["work"], limit: 10, now: 6_000 }, (current) => {
          const isDue = (current.progress.wakeAt ?? Infinity) <= 6_000;
          return isDue ? { document: started(current, LATER), value: current.id } : { value: current.id };
        });
      const { now: _, ...first } = await step();
      equal(first, { values: count(3).map(id), more: false, nextWake: LATER, damaged: [] }, "the first time");
      equal((await step()).values, [], "what is found the second time");
      equal((await storage.get(id(1)))?.progress.wakeAt, null, "the time of the one that waits for nothing");
    },
  },
  {
    name: "parked documents can be stopped and updated like any other",
    damages: true,
    async run({ open, damage }) {
      const storage = await open();
      await store(storage, count(2).map((n) => document(n, 5_000, { definition: { name: `n${n}` } })));
      for (const n of count(2)) await damage!(id(n), "progress", "{broken");
      await storage.advance({ lanes: ["work"], limit: 5, now: 5_000 }, () => ({ document: null, value: 0 }));
      await change(storage, id(0), () => null);
      equal(await storage.get(id(0)), undefined, "the stopped one");
      const repaired = document(1, 7_000, { definition: { name: "n1" } });
      await change(storage, id(1), (current) => {
        equal(current.definition.name, "n1", "what the columns still tell");
        return repaired;
      });
      equal(await storage.get(id(1)), repaired, "the updated one");
      equal(await storage.nextWake(["work"]), 7_000, "its deadline");
    },
  },
];

/** One that was damaged is parked where it is found, tells so, keeps its text, and holds nobody up. */
function parked(what: "definition" | "progress", how: string, text: string): StorageCase {
  return {
    name: `damage: a ${what} with ${how} is parked and reported once, and the others go on`,
    damages: true,
    async run({ open, damage }) {
      const storage = await open();
      await store(storage, count(3).map((n) => document(n, 5_000 + n, { definition: { name: `n${n}` } })));
      await storage.advance({ lanes: ["work"], limit: 1, now: 5_000 }, () => ({ value: 0 }));
      await damage!(id(1), what, text);
      const step = () =>
        storage.advance({ lanes: ["work"], limit: 10, now: 6_000 }, (current) => ({
          document: started(current, LATER),
          value: current.id,
        }));
      const result = await step();
      equal(result.values, [id(0), id(2)], "the others");
      equal(result.damaged.map((one) => [one.id, one.task]), [[id(1), "work"]], "the damaged one");
      assert(result.damaged[0]!.error.length > 0, "the report says why");
      const { now: _, ...second } = await step();
      equal(second, { values: [], more: false, nextWake: LATER, damaged: [] }, "the second time");
      const shown = await storage.get(id(1));
      assert((shown?.parked?.length ?? 0) > 0, "it says that it is parked");
      equal(shown?.definition.name, "n1", "its name");
      const listed = await storage.find({ limit: 10 });
      equal(listed.map((found) => [found.id, found.parked !== undefined]), [[id(0), false], [id(1), true], [
        id(2),
        false,
      ]], "the list");
    },
  };
}

/**
 * Plays a schedule's life until the fault strikes, then looks with a fresh handle at what is stored. Answers whether
 * the fault struck at all.
 */
async function survives({ open }: StorageHarness, fault: StoreFault, first: number): Promise<boolean> {
  const { storage, struck } = faultyStore(await open(), fault);
  const [parent, child] = [id(first), id(first + 1)];
  let reached = 0;
  try {
    await store(storage, [document(first, 5_000, { definition: { name: `n${first}` } })]);
    reached = 1;
    await storage.advance({ lanes: ["work"], limit: 10, now: 5_000 }, (current) => ({
      document: started(current, 6_000),
      value: 0,
    }));
    reached = 2;
    await storage.apply([[
      operation({ id: parent }, (current) => ({ document: moved(current!, { settledCount: 1 }), value: parent })),
      ...create(document(first + 1, 9_999_999)),
    ]], 5_500);
    reached = 3;
    await change(storage, parent, (current) => retired(current, 6_000));
    reached = 4;
    await change(storage, parent, () => null);
    reached = 5;
  } catch (error) {
    assert(isSchedulerError(error, "store_unavailable"), `the fault is the only failure; got ${error}`);
  }
  if (!struck()) return false;
  await verify(await open(), parent, child, fault.reply === "is lost" ? reached + 1 : reached);
  return true;
}

/** What must be stored after so many of the five writes took effect. */
async function verify(
  storage: Awaited<ReturnType<StorageHarness["open"]>>,
  parent: string,
  child: string,
  writes: number,
) {
  const document = await storage.get(parent);
  const progress = document?.progress;
  const what = `after ${writes} writes`;
  equal(document !== undefined, writes >= 1 && writes < 5, `${what}: the document is there`);
  equal(progress?.fence, document === undefined ? undefined : writes >= 2 ? 1 : 0, `${what}: its fence`);
  equal(progress?.settledCount, document === undefined ? undefined : writes >= 3 ? 1 : 0, `${what}: settled`);
  equal((await storage.get(child)) !== undefined, writes >= 3, `${what}: what the run created`);
  equal(progress?.retired !== undefined, writes === 4, `${what}: retired`);
  // Out of the way of the next round.
  for (const one of [parent, child]) {
    if (await storage.get(one) !== undefined) await change(storage, one, () => null);
  }
}
