import { describe, expect, it } from "vitest";
import { kv, type KvAtomicLike, type KvKey, type KvLike } from "../../plugins/storage/kv/mod.ts";
import type { AdvanceResult, ScheduleDocument, Storage } from "../../src/contract/mod.ts";
import { change, count, document, id, moved, retired, store } from "../../src/testing/storage/documents.ts";
import { eachKv } from "../support/each_kv.ts";

const own = eachKv();

function open(handle: KvLike = own.handle): Promise<Storage> {
  return own.opened(kv(handle));
}

/** A handle that is not known to be Deno's own: ten checks in a commit. Notes how many each commit has. */
function plain(checks: number[] = []): KvLike {
  const atomic = () => {
    const real = own.handle.atomic();
    let count = 0;
    const commit: KvAtomicLike = {
      check: (...some) => (count += some.length, real.check(...some)),
      set: (key, value) => real.set(key, value),
      delete: (key) => real.delete(key),
      sum: (key, n) => real.sum(key, n),
      commit: () => (checks.push(count), real.commit()),
    };
    return commit;
  };
  return {
    getMany: (keys) => own.handle.getMany(keys),
    list: (selector, options) => own.handle.list(selector, options),
    atomic,
    close() {},
  };
}

async function entries(prefix: KvKey): Promise<{ key: KvKey; value: unknown }[]> {
  const found: { key: KvKey; value: unknown }[] = [];
  const listed = own.handle.list({ prefix }, { limit: 10_000, batchSize: 500 });
  for await (const { key, value } of listed) found.push({ key: key as KvKey, value });
  return found;
}

const wakes = () => entries(["ostinato", "wake"]);

/** The document with a run that is leased until an instant. */
function running(current: ScheduleDocument, leaseUntil: number): ScheduleDocument {
  const { fence, runCount } = current.progress;
  const run = { fence: fence + 1, point: 1, attempt: 1, missed: 0, instance: "a", leaseUntil, claimedAt: 1 };
  return moved(current, { wakeAt: leaseUntil, runs: [run], fence: fence + 1, runCount: runCount + 1 });
}

/** Starts or takes over what is due. */
function claim(storage: Storage, now: number, limit = 1_000): Promise<AdvanceResult<string>> {
  return storage.advance(
    { lanes: ["work"], limit, now },
    (current) => ({ document: running(current, now + 5_000), value: current.id }),
  );
}

async function claimAll(storage: Storage, now: number, limit = 1_000): Promise<string[]> {
  const taken: string[] = [];
  for (let more = true; more;) {
    const result = await claim(storage, now, limit);
    taken.push(...result.values);
    more = result.more;
  }
  return taken;
}

function settle(storage: Storage, n: number, now = 7_000): Promise<void> {
  return change(storage, id(n), (current) => retired(moved(current, { runs: [] }), now));
}

const ids = (from: number, to: number) => count(to - from).map((n) => id(from + n));

describe("kv: entries that are shared", () => {
  it("what is claimed in one commit shares entries of at most a hundred, which go with the last that settles", async () => {
    const storage = await open();
    await store(storage, count(230).map((n) => document(n, 5_000)));
    expect((await claim(storage, 6_000)).values).toEqual(ids(0, 230));
    expect((await wakes()).map(({ key }) => key[3])).toEqual([11_000, 11_000, 11_000]);
    for (const n of count(229)) await settle(storage, n);
    expect((await wakes()).filter(({ key }) => key[2] === "work").length).toBe(1);
    expect(await storage.nextWake(["work"])).toBe(11_000);
    await settle(storage, 229);
    expect(await storage.nextWake(["work"])).toBeNull();
    expect(await storage.backlog(1e9, 1_000)).toEqual([{ task: "", due: 230, earliest: 67_000 }]);
  });

  it("what waits for one instant from one commit on shares entries, but for the first", async () => {
    const storage = await open();
    await store(storage, [...count(120).map((n) => document(n, 5_000)), document(500, 6_000), document(501, 7_000)]);
    const found = (await wakes()).map(({ key, value }) => [key[3], (value as Uint8Array).length === 1]);
    expect(found).toEqual([[5_000, true], [5_000, false], [5_000, false], [6_000, true], [7_000, true]]);
    expect(await storage.backlog(1e9, 1_000)).toEqual([{ task: "work", due: 122, earliest: 5_000 }]);
    await change(storage, id(7), (current) => moved(current, { wakeAt: null }));
    await change(storage, id(8), () => null);
    const left = ids(0, 120).filter((_, n) => n !== 7 && n !== 8);
    expect((await claim(storage, 5_000)).values).toEqual(left);
    expect((await storage.find({ running: true, limit: 200 })).map((one) => one.id)).toEqual(left);
  });

  it("M1 several handles at once claim each document of an entry once, and check the entry for all", async () => {
    const first = await open();
    for (const n of count(4)) await store(first, count(100).map((i) => document(100 * n + i, 5_000)));
    const checks: number[] = [];
    const handles = [await open(), await open(plain(checks)), await open(plain(checks))];
    const taken = await Promise.all(handles.map((storage) => claimAll(storage, 6_000, 130)));
    expect(taken.flat().toSorted()).toEqual(ids(0, 400));
    expect(Math.max(...checks)).toBeLessThanOrEqual(10);
    expect((await wakes()).every(({ key }) => key[3] === 11_000)).toBe(true);
  });

  it("M1 what others change of an entry meanwhile is seen by a commit that checks the entry alone", async () => {
    const checks: number[] = [];
    const handle = plain(checks);
    let meddle = async () => {};
    const atomic = () => {
      const commit = handle.atomic();
      const real = commit.commit.bind(commit);
      return Object.assign(commit, { commit: () => meddle().then(real) });
    };
    const [storage, other] = [await open({ ...handle, atomic }), await open()];
    await store(other, count(30).map((n) => document(n, 5_000)));
    checks.length = 0;
    meddle = () => {
      meddle = async () => {};
      return change(other, id(20), (current) => moved(current, { wakeAt: 9_000, runCount: 7 }));
    };
    expect((await claimAll(storage, 6_000)).toSorted()).toEqual(ids(0, 30).filter((_, n) => n !== 20));
    expect(checks).toEqual([2, 2]);
    expect((await other.get(id(20)))!.progress.runCount).toBe(7);
  });

  it("M3 leases that run out are found by another handle, without those that have settled", async () => {
    const [storage, other] = [await open(), await open()];
    await store(storage, count(150).map((n) => document(n, 5_000)));
    await claim(storage, 6_000);
    await Promise.all(count(120).map((n) => settle(storage, n)));
    expect((await claim(other, 10_999)).values).toEqual([]);
    expect((await claimAll(other, 11_000)).toSorted()).toEqual(ids(120, 150));
    expect(new Set((await wakes()).filter(({ key }) => key[2] === "work").map(({ key }) => key[3]))).toEqual(
      new Set([16_000]),
    );
  });

  it("M3 what a claim leaves of an entry is found by the next", async () => {
    const [storage, other] = [await open(), await open(plain())];
    await store(storage, count(40).map((n) => document(n, 5_000)));
    await claim(storage, 6_000);
    expect((await claim(other, 11_000, 7)).values.length).toBe(7);
    expect((await claimAll(other, 11_000, 7)).length).toBe(33);
    expect((await claimAll(other, 16_000)).toSorted()).toEqual(ids(0, 40));
  });

  it("M1 M3 several handles at once take over each document of an entry once", async () => {
    const first = await open();
    await store(first, count(200).map((n) => document(n, 5_000)));
    await claim(first, 6_000);
    const handles = [await open(), await open(plain()), await open(plain())];
    const taken = await Promise.all(handles.map((storage) => claimAll(storage, 11_000, 30)));
    expect(taken.flat().toSorted()).toEqual(ids(0, 200));
  });

  it("M4 what others have moved out of an entry is not taken from memory", async () => {
    const [storage, other] = [await open(), await open()];
    await store(storage, count(20).map((n) => document(n, 5_000)));
    await claim(storage, 6_000);
    await settle(other, 3);
    // Makes the first handle the last writer again, without having seen the other's change.
    await settle(storage, 4);
    await settle(storage, 5);
    const taken = await claim(storage, 11_000);
    expect(taken.values).toEqual(ids(0, 20).filter((_, n) => n < 3 || n > 5));
    expect((await other.get(id(3)))!.progress.retired).toEqual({ at: 7_000, reason: "completed" });
    expect((await storage.find({ running: true, limit: 50 })).map((one) => one.id)).toEqual(taken.values);
  });

  it("a document that comes back to the same instant is found once", async () => {
    const [storage, other] = [await open(), await open()];
    await store(storage, count(3).map((n) => document(n, 5_000)));
    await claim(storage, 6_000);
    await change(other, id(1), (current) => moved(current, { wakeAt: null }));
    await change(other, id(1), (current) => moved(current, { wakeAt: 11_000 }));
    expect((await other.find({ running: true, limit: 50 })).map((one) => one.id)).toEqual(ids(0, 3));
    expect((await claim(other, 11_000)).values.toSorted()).toEqual(ids(0, 3));
    expect((await wakes()).length).toBe(1);
  });

  it("what another handle moves or removes leaves the entry at once, and nothing is left of it", async () => {
    const [storage, other] = [await open(), await open(plain())];
    await store(storage, count(3).map((n) => document(n, 5_000)));
    await claim(storage, 6_000);
    await settle(other, 0);
    await change(storage, id(1), () => null);
    expect(await other.backlog(1e9, 10)).toEqual([
      { task: "", due: 1, earliest: 67_000 },
      { task: "work", due: 1, earliest: 11_000 },
    ]);
    await change(other, id(2), () => null);
    expect(await storage.nextWake(["work"])).toBeNull();
    await change(storage, id(0), () => null);
    expect((await entries([])).map(({ key }) => key[1])).toEqual(["meta", "meta", "meta"]);
  });

  it("an id that stands in an entry by mistake is passed over, and removed with the next claim", async () => {
    const storage = await open();
    await store(storage, [document(1, 9_000)]);
    const commit = own.handle.atomic();
    const stray = new TextEncoder().encode(` ${JSON.stringify([id(1), id(7)])}`);
    commit.set(["ostinato", "wake", "work", 5_000, "stray"], stray);
    commit.set(["ostinato", "meta", "last"], null);
    await commit.commit();
    const result = await claim(storage, 6_000);
    expect([result.values, result.more, result.nextWake]).toEqual([[], false, 9_000]);
    expect((await wakes()).length).toBe(1);
  });

  it("L3 records go together when their time has come", async () => {
    const storage = await open();
    await store(storage, count(120).map((n) => document(n, 5_000)));
    await storage.advance({ lanes: ["work"], limit: 200, now: 6_000 }, (current) => ({
      document: retired(current, 6_000),
      value: 0,
    }));
    expect((await wakes()).map(({ key }) => [key[2], key[3]])).toEqual([["", 66_000], ["", 66_000]]);
    const gone = (now: number) =>
      storage.advance({ lanes: [""], limit: 200, now }, () => ({ document: null, value: 0 }));
    expect((await gone(65_999)).values.length).toBe(0);
    expect((await gone(66_000)).values.length).toBe(120);
    expect((await entries([])).map(({ key }) => key[1])).toEqual(["meta", "meta", "meta"]);
  });
});

describe("kv: lists of what is live", () => {
  const lists = () => entries(["ostinato", "tasks"]);
  /** An id of a second, by its number in that. */
  const ulid = (second: number, n: number) => `01KA${String(second).padStart(4, "0")}${String(n).padStart(18, "0")}`;
  const at = (id: string, wakeAt: number) => ({ ...document(0, wakeAt), id });

  async function paged(storage: Storage, query: { task?: string }, limit: number): Promise<string[]> {
    const found: string[] = [];
    for (let page = await storage.find({ ...query, limit }); page.length > 0;) {
      found.push(...page.map((one) => one.id));
      page = await storage.find({ ...query, limit, after: found.at(-1)! });
    }
    return found;
  }

  it("documents that wait together are listed together, and leave the list with the last that retires", async () => {
    const [storage, other] = [await open(), await open(plain())];
    await store(storage, count(40).map((n) => document(n, 5_000)));
    expect([(await lists()).length, (await entries(["ostinato", "task"])).length]).toEqual([1, 1]);
    await claim(storage, 6_000);
    for (const n of count(38)) await settle(n % 2 === 0 ? storage : other, n);
    expect(await paged(storage, { task: "work" }, 7)).toEqual(ids(38, 40));
    expect(await paged(other, {}, 1)).toEqual(ids(38, 40));
    await change(other, id(38), (current) => ({ ...current, definition: { ...current.definition, task: "rest" } }));
    expect([await paged(storage, { task: "work" }, 7), await paged(storage, { task: "rest" }, 7)]).toEqual([
      [id(39)],
      [id(38)],
    ]);
    await change(storage, id(39), () => null);
    expect((await lists()).map(({ key }) => key[2])).toEqual(["rest"]);
  });

  it("V3 pages go in order of id through lists that overlap, of several seconds, and what stands alone", async () => {
    const storage = await open();
    const made: string[] = [];
    for (const second of count(4)) {
      for (const round of count(30)) {
        const some = count(8).map((n) => ulid(second, 30 * n + round));
        await store(storage, some.map((id, n) => at(id, n < 6 ? 5_000 : 6_000 + 1_000 * n + round)));
        made.push(...some);
      }
    }
    await store(storage, [at("a later one", 5_000), at("b", 5_000), at(ulid(7, 1), 5_000)]);
    made.push("a later one", "b", ulid(7, 1));
    expect((await lists()).length).toBeGreaterThan(100);
    for (const limit of [7, 100, 1_000]) {
      expect(await paged(storage, { task: "work" }, limit)).toEqual(made.toSorted());
      expect(await paged(storage, {}, limit)).toEqual(made.toSorted());
    }
    const from = ulid(2, 100);
    expect((await storage.find({ task: "work", limit: 50, after: from })).map((one) => one.id)).toEqual(
      made.toSorted().filter((id) => id > from).slice(0, 50),
    );
  });

  it("M1 two handles that settle what stands in one list settle each once", async () => {
    const [storage, other] = [await open(plain()), await open()];
    await store(storage, count(90).map((n) => document(n, 5_000)));
    await claim(storage, 6_000);
    await Promise.all(count(90).map((n) => settle(n % 3 === 0 ? other : storage, n)));
    expect([await lists(), await paged(other, {}, 10)]).toEqual([[], []]);
    expect((await other.find({ retired: true, limit: 100 })).length).toBe(90);
  });
});

describe("kv: reading many", () => {
  it("documents are found wherever they stand: close together, far apart, and gone", async () => {
    const storage = await open();
    await store(storage, count(700).map((n) => document(n, n % 7 === 0 ? 5_000 : 9_000)));
    await store(storage, count(60).map((n) => document(5_000 + n, 5_000)));
    await Promise.all(count(700).filter((n) => n % 35 === 0).map((n) => change(storage, id(n), () => null)));
    const fresh = await open();
    const expected = [...ids(0, 700).filter((_, n) => n % 7 === 0 && n % 35 !== 0), ...ids(5_000, 5_060)];
    expect((await claimAll(fresh, 6_000)).toSorted()).toEqual(expected);
  });

  it("lists the live ones of every task in order of id, page by page", async () => {
    const storage = await open();
    const tasks = ["a", "b", "\ud800", "c"];
    await store(storage, count(90).map((n) => document(n, 5_000, { definition: { task: tasks[n % 4]! } })));
    await change(storage, id(13), (current) => retired(current, 6_000));
    const found: string[] = [];
    for (let page = await storage.find({ limit: 7 }); page.length > 0;) {
      found.push(...page.map((one) => one.id));
      page = await storage.find({ limit: 7, after: found.at(-1)! });
    }
    expect(found).toEqual(ids(0, 90).filter((_, n) => n !== 13));
  });
});
