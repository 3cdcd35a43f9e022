import { describe, expect, it } from "vitest";
import { createScheduler, defineTask } from "../../mod.ts";
import { kv } from "../../plugins/storage/kv/mod.ts";
import { faultyStore, manualClock } from "../../src/testing/mod.ts";
import { create, document, id, store } from "../../src/testing/storage/documents.ts";
import { eachKv } from "../support/each_kv.ts";
import { editHeader, editLines } from "../support/kv.ts";

const own = eachKv();

/** Places of a header, with what it is about. */
const PLACES = [
  "parts",
  "lane",
  "wakeAt",
  "nextRun",
  "task",
  "owner",
  "name",
  "key",
  "group",
  "target",
  "tags",
  "live",
  "running",
  "parked",
  "shared",
  "list",
];
const VALUES = [null, 0, 1e300, "", "y".repeat(2_000), {}, ["a", 1], [["a"]]];

const quiet = { error() {}, warn() {}, info() {}, debug() {} };

async function entries(): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of own.handle.list({ prefix: [] }, { limit: 10_000, batchSize: 500 })) {
    if (key[1] !== "meta") found.push(JSON.stringify(key));
  }
  return found;
}

/** Calls of the store for each schedule and minute: what spins makes thousands. */
const CALLS = 20;
const MINUTES = 2;
const MINUTE = 60_000;
const LABELS = { tags: ["t"], target: "room:1", group: "g" };
const FILTERS = [{}, { tag: "t" }, { target: "room:1" }, { group: "g" }, { task: "work" }, { owner: "alice" }];

describe("kv: what documents are found by, edited by hand", () => {
  // One by one they have entries of their own, together they share them.
  it.each([{ together: false }, { together: true }])(
    "B061 V1: whatever stands there, they run on or are parked, the others go on, nothing spins (together: $together)",
    async ({ together }) => {
      const clock = manualClock("2026-01-01T00:00:00Z");
      const ran = new Set<string>();
      const work = defineTask("work", (_input, { schedule }) => void ran.add(schedule.id));
      const edits = PLACES.flatMap((place, at) => VALUES.map((value) => ({ place, at, value })));
      const make = createScheduler({ clock, storage: kv({ kv: own.handle }), tasks: [work], logger: quiet });
      const alice = make.as({ id: "alice" });
      const wanted = ["healthy", ...edits.map((_, n) => `edited ${n}`)].map((name, n) => {
        const every = together ? MINUTE : MINUTE + 10 * n;
        return { name, ...LABELS, task: "work", every, history: 0 } as const;
      });
      const made = [];
      for (let i = 0; i < wanted.length; i += 40) made.push(...await alice.createMany(wanted.slice(i, i + 40)));
      await make.close();
      const [healthy, ...edited] = made;
      for (const [n, { at, value }] of edits.entries()) {
        await editHeader(own.handle, edited[n]!.id, (header) => void (header[at] = value));
      }

      const { storage, calls } = faultyStore(kv({ kv: own.handle }), { at: 0, reply: "fails" });
      const scheduler = createScheduler({ clock, storage, tasks: [work], logger: quiet });
      const errors: unknown[] = [];
      scheduler.on("storeError", ({ error }) => errors.push(error));
      await scheduler.start();
      await clock.advance(`${MINUTES}m`);
      expect(errors).toEqual([]);
      expect(calls()).toBeLessThan(made.length * MINUTES * CALLS);
      expect((await scheduler.info(healthy!.id)).runCount).toBeGreaterThanOrEqual(MINUTES);
      const silent = [];
      for (const [n, { place, value }] of edits.entries()) {
        const { parked } = await scheduler.info(edited[n]!.id);
        if (!ran.has(edited[n]!.id) && parked === undefined) silent.push(`${place}: ${JSON.stringify(value)}`);
      }
      expect(silent).toEqual([]);
      for (const filter of FILTERS) {
        const found = [];
        for await (const one of scheduler.list(filter)) found.push(one.id);
        expect(found).toContain(healthy!.id);
      }
      for (const { id } of made) expect(await scheduler.stop(id)).toBe(true);
      await scheduler.close();
    },
  );

  it("B061 one of which nothing can be read is parked, out of everybody's way", async () => {
    await store(await own.opened(kv({ kv: own.handle })), [document(1, 5_000)]);
    const storage = await own.opened(kv({ kv: own.handle }));
    await editLines(own.handle, id(1), (lines) => void lines.fill("nonsense"));
    const advance = () => storage.advance({ lanes: ["work"], limit: 5, now: 6_000 }, () => ({ value: 0 }));
    expect(await advance()).toMatchObject({ damaged: [{ id: id(1), task: "work" }] });
    expect(await advance()).toMatchObject({ values: [], damaged: [], more: false, nextWake: null });
    expect((await storage.get(id(1)))?.parked).toContain("nonsense");
  });

  it("V3 an id that is left in a task's list is taken out of it, and the list with the last one", async () => {
    const storage = await own.opened(kv({ kv: own.handle }));
    await storage.apply([1, 2].map((n) => create(document(n, 5_000))), 1_000);
    const lists = async () => (await entries()).filter((key) => key.includes('"tasks"'));
    expect(await lists()).toHaveLength(1);
    for (const n of [1, 2]) {
      // What its header said of the list is lost, as where somebody has edited it.
      await editHeader(own.handle, id(n), (header) => void (header[15] = null));
      await storage.find({ task: "work", limit: 5 });
      expect(await lists()).toHaveLength(2 - n);
    }
  });
});
