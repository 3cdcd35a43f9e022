import { MAX_ADVANCE, SchedulerError, type Storage } from "../../contract/mod.ts";
import { assert, equal } from "../assert.ts";
import { change, count, document, id, moved, retired, started, store } from "./documents.ts";
import type { StorageCase } from "./types.ts";

/** A year from now in every test's time: far enough not to be due again. */
const LATER = 9_000_000_000_000;

function advance(storage: Storage, now: number, lanes: readonly string[] = ["work"], limit = 100) {
  return storage.advance(
    { lanes, limit, now },
    (current) => ({ document: started(current, LATER), value: current.id }),
  );
}

/** What is due: found exactly, moved once, bounded, lane by lane. Cases with times of their own need no store's clock. */
export const advanceCases: readonly StorageCase[] = [
  {
    name: "T1 advance: a document is due from its instant on and not a millisecond before",
    async run({ open }) {
      const storage = await open();
      if (storage.supports.clock) return;
      await store(storage, [document(1, 5_000), document(2, 5_001)]);
      const early = await advance(storage, 4_999);
      equal(early, { values: [], more: false, nextWake: 5_000, now: 4_999, damaged: [] }, "a millisecond before");
      const exact = await advance(storage, 5_000);
      equal(exact, { values: [id(1)], more: false, nextWake: 5_001, now: 5_000, damaged: [] }, "at the instant");
      equal((await storage.get(id(1)))?.progress.wakeAt, LATER, "what the step made of it");
      equal((await advance(storage, 5_000)).values, [], "the second time");
    },
  },
  {
    name: "T7 advance: instants of any size keep their order: before 1970, past 2^31 and 2^32, the year 9999",
    async run({ open }) {
      const storage = await open();
      if (storage.supports.clock) return;
      const instants = [-5_000, 0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 1_767_225_600_000, 253_402_300_799_999];
      await store(storage, instants.map((at, n) => document(n, at)));
      for (const [n, at] of instants.entries()) {
        equal(await storage.nextWake(["work"]), at, "nextWake");
        const result = await storage.advance({ lanes: ["work"], limit: 10, now: at }, (current, now) => ({
          document: null,
          value: [current.id, current.progress.wakeAt, now],
        }));
        equal(result.values, [[id(n), at, at]], "what the step was told");
      }
      equal(await storage.nextWake(["work"]), null, "when nothing is left");
    },
  },
  {
    name: "advance: the longest due come first, at most as many as asked, and `more` tells of the rest",
    async run({ open }) {
      const storage = await open();
      const order = [7, 3, 9, 1, 5, 0, 8, 2, 6, 4];
      await store(storage, order.map((n) => document(n, 5_000 + n)));
      const first = await advance(storage, 6_000, ["work"], 4);
      equal(first.values, [id(0), id(1), id(2), id(3)], "the first four");
      assert(first.more, "more are left");
      equal(first.nextWake, 5_004, "nextWake");
      const second = await advance(storage, 6_000, ["work"], 6);
      equal([...second.values].sort(), [4, 5, 6, 7, 8, 9].map(id), "the others");
      equal((await advance(storage, 6_000)).more, false, "more, at the end");
    },
  },
  {
    name: "advance: as many as the largest batch holds are moved at once",
    async run({ open }) {
      const storage = await open();
      await store(storage, count(MAX_ADVANCE + 5).map((n) => document(n, 5_000)));
      const result = await advance(storage, 5_000, ["work"], MAX_ADVANCE);
      equal(new Set(result.values).size, result.values.length, "ids without repetition");
      assert(result.values.length <= MAX_ADVANCE && result.more, "the batch is bounded, and more are left");
      let seen = result.values.length;
      for (let more = true; more;) {
        const next = await advance(storage, 5_000, ["work"], MAX_ADVANCE);
        seen += next.values.length;
        more = next.more;
      }
      equal(seen, MAX_ADVANCE + 5, "documents moved in all");
    },
  },
  {
    name: "T3 advance: what is told on the way is stored by then, and is not told again at the end",
    async run({ open }) {
      const storage = await open();
      const ids = count(MAX_ADVANCE).map((n) => id(n));
      await store(storage, count(MAX_ADVANCE).map((n) => document(n, 5_000)));
      const told: string[] = [];
      const stored: Promise<number | null | undefined>[] = [];
      const result = await storage.advance(
        { lanes: ["work"], limit: MAX_ADVANCE, now: 5_000 },
        (current) => ({ document: started(current, LATER), value: current.id }),
        (values) => {
          told.push(...values);
          stored.push(...values.slice(-1).map(async (last) => (await storage.get(last))?.progress.wakeAt));
        },
      );
      equal([...told, ...result.values].sort(), ids.sort(), "each once");
      equal(
        [...new Set(await Promise.all(stored))],
        told.length > 0 ? [LATER] : [],
        "what was stored when it was told",
      );
    },
  },
  {
    name: "advance: one that is due again after its step waits for the next call",
    async run({ open }) {
      const storage = await open();
      // Hours, so that a store with a clock of its own comes to the same.
      const hour = 3_600_000;
      const now = await storage.now(10 * hour);
      await store(storage, [document(1, now - 4 * hour)]);
      const twice = () =>
        storage.advance({ lanes: ["work"], limit: 10, now }, (current) => ({
          document: moved(current, { wakeAt: current.progress.wakeAt! + 1.5 * hour }),
          value: (current.progress.wakeAt! - now) / hour,
        }));
      const results = [await twice(), await twice(), await twice(), await twice()];
      equal(results.map((result) => result.values), [[-4], [-2.5], [-1], []], "steps of each call");
      equal(results.map((result) => result.more), [true, true, false, false], "more");
    },
  },
  {
    name: "advance: a rejected step, or one that changes nothing, leaves its document as it is",
    async run({ open }) {
      const storage = await open();
      const documents = count(3).map((n) => document(n, 5_000));
      await store(storage, documents);
      const result = await storage.advance({ lanes: ["work"], limit: 10, now: 5_000 }, (current) => {
        const value = current.id;
        if (current.id === id(0)) return { value };
        if (current.id === id(1)) {
          return { document: null, value, reject: new SchedulerError("conflict", "not now") };
        }
        return { document: started(current, LATER), value };
      });
      equal([...result.values].sort(), [id(0), id(1), id(2)], "values, of each that was stepped");
      assert(result.more, "what was left is still due");
      equal(await storage.get(id(0)), documents[0], "without a change");
      equal(await storage.get(id(1)), documents[1], "rejected");
      equal((await storage.get(id(2)))?.progress.wakeAt, LATER, "changed");
    },
  },
  {
    name: "M2 advance: only the lanes asked for are looked into",
    async run({ open }) {
      const storage = await open();
      const inLane = (n: number, task: string) => document(n, 5_000 + n, { definition: { task } });
      await store(storage, [inLane(0, "foreign"), inLane(1, "mail"), inLane(2, "work"), inLane(3, "mai")]);
      equal((await advance(storage, 6_000, [])).values, [], "no lanes");
      equal(await storage.nextWake([]), null, "nextWake of no lanes");
      equal((await advance(storage, 6_000, ["nobody"])).nextWake, null, "a lane that is empty");
      const result = await advance(storage, 6_000, ["work", "mail", "work"]);
      equal([...result.values].sort(), [id(1), id(2)], "the lanes asked for");
      equal(await storage.nextWake(["foreign", "mai"]), 5_000, "the others are where they were");
    },
  },
  {
    name: "M2 advance: a backlog of a lane that nobody has takes nothing from the others",
    async run({ open }) {
      const storage = await open();
      const foreign = (n: number) => document(n, n, { definition: { task: "foreign" } });
      for (const block of count(3)) await store(storage, count(1_000).map((n) => foreign(block * 1_000 + n)));
      await store(storage, [document(9_000, 5_000)]);
      equal((await advance(storage, 5_000, ["work"], 10)).values, [id(9_000)], "the one that can run");
      equal(await storage.backlog(4_000, 100), [
        { task: "foreign", due: 100, earliest: 0 },
        { task: "work", due: 0, earliest: LATER },
      ], "the backlog, counted to its limit");
    },
  },
  {
    name: "advance: fifty lanes with work, one of them flooded, are all served",
    async run({ open }) {
      const storage = await open();
      const lanes = count(50).map((n) => `lane ${n}`);
      await store(storage, lanes.map((task, n) => document(n, 4_000 + n, { definition: { task } })));
      await store(storage, count(500).map((n) => document(100 + n, n, { definition: { task: "lane 7" } })));
      const served = new Set<string>();
      for (let more = true, calls = 0; more; calls++) {
        assert(calls < 60, "the calls come to an end");
        const result = await storage.advance({ lanes, limit: 100, now: 5_000 }, (current) => ({
          document: started(current, LATER),
          value: current.id,
        }));
        for (const value of result.values) served.add(value);
        more = result.more;
      }
      equal(served.size, 550, "documents served");
    },
  },
  {
    name: "L3 advance: retired documents wait in the lane of everybody, and those without a deadline nowhere",
    async run({ open }) {
      const storage = await open();
      await store(storage, [document(1, 5_000), document(2, null), document(3, 5_000)]);
      await change(storage, id(1), (current) => retired(current, 10_000));
      await change(storage, id(3), (current) => moved(current, { wakeAt: null, pausedAt: 2_000 }));
      equal(await storage.nextWake(["work"]), null, "nextWake of the task's lane");
      equal(await storage.nextWake(["", "work"]), 70_000, "nextWake with the lane of everybody");
      const result = await storage.advance({ lanes: [""], limit: 5, now: 70_000 }, (current) => ({
        document: null,
        value: current.id,
      }));
      equal(result.values, [id(1)], "what is due");
      equal(await storage.get(id(1)), undefined, "the removed one");
    },
  },
  {
    name: "M1 advance: two handles at once never both win a document, and between them win all",
    async run({ open }) {
      const handles = [await open(), await open()];
      await store(handles[0]!, count(300).map((n) => document(n, 5_000)));
      const won: string[] = [];
      const drain = async (storage: Storage) => {
        for (let more = true; more;) {
          const result = await advance(storage, 5_000, ["work"], 20);
          won.push(...result.values);
          more = result.more;
        }
      };
      await Promise.all([...handles, ...handles].map(drain));
      equal(won.length, 300, "wins");
      equal(new Set(won).size, 300, "different documents won");
    },
  },
  {
    name: "M4 advance: what one handle moved, another sees before it decides",
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      await store(a, [document(1, 5_000)]);
      for (const round of count(4)) {
        const storage = round % 2 === 0 ? a : b;
        const result = await storage.advance({ lanes: ["work"], limit: 1, now: 5_000 + round }, (current) => ({
          document: started(current, 5_001 + round),
          value: current.progress.fence,
        }));
        equal(result.values, [round], "the fence that the step saw");
      }
    },
  },
  {
    name: "M1 nextWake: a deadline made or moved by one handle is the other's, too",
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      equal(await a.nextWake(["work"]), null, "an empty store");
      await store(b, [document(1, 9_000), document(2, 8_000)]);
      equal(await a.nextWake(["work"]), 8_000, "after a creation elsewhere");
      await change(b, id(2), () => null);
      equal(await a.nextWake(["work"]), 9_000, "after a removal elsewhere");
      await change(b, id(1), (current) => moved(current, { wakeAt: 7_000 }));
      equal(await a.nextWake(["work"]), 7_000, "after a move elsewhere");
    },
  },
];
