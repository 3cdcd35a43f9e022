import { describe, expect, it } from "vitest";
import { kv, type KvAtomicLike, type KvKey, type KvLike, type KvOptions } from "../../plugins/storage/kv/mod.ts";
import {
  type Clock,
  type PastRun,
  type ScheduleDocument,
  SchedulerError,
  type Storage,
  writeHistory,
} from "../../src/contract/mod.ts";
import { change, count, create, document, id, moved, operation, store } from "../../src/testing/storage/documents.ts";
import { eachKv } from "../support/each_kv.ts";
import { context } from "./storage_suite.ts";

const own = eachKv();

function open(options: Partial<KvOptions> = {}): Promise<Storage> {
  return own.opened(kv({ kv: own.handle, ...options }));
}

async function keys(prefix: KvKey = []): Promise<KvKey[]> {
  const found: KvKey[] = [];
  const entries = own.handle.list({ prefix }, { limit: 10_000, batchSize: 500 });
  for await (const { key } of entries) found.push(key as KvKey);
  return found;
}

/** What a commit was made of. */
interface Commit {
  checks: number;
  mutations: number;
  bytes: number;
}

/** Checks of each commit, but for those that only tell others that there is something to look at. */
function checked(commits: readonly Commit[]): readonly number[] {
  return commits.filter(({ mutations }) => mutations > 1).map(({ checks }) => checks);
}

/** The handle, with a note of every commit, and whatever is to happen instead of some. */
function noted(
  commits: Commit[],
  instead: () => "locked" | "conflict" | "broken" | undefined = () => undefined,
): KvLike {
  const atomic = (): KvAtomicLike => {
    const real = own.handle.atomic();
    const commit: Commit = { checks: 0, mutations: 0, bytes: 0 };
    return {
      check: (...checks) => (commit.checks += checks.length, real.check(...checks)),
      set(key, value) {
        commit.mutations++;
        commit.bytes += (value instanceof Uint8Array ? value.length : 16) + JSON.stringify(key).length;
        return real.set(key, value);
      },
      delete: (key) => (commit.mutations++, commit.bytes += JSON.stringify(key).length, real.delete(key)),
      sum: (key, n) => (commit.mutations++, real.sum(key, n)),
      // deno-lint-ignore require-await
      async commit() {
        commits.push(commit);
        const what = instead();
        if (what === "broken") throw new Error("connection reset");
        if (what === "locked") throw new TypeError("database is locked");
        return what === "conflict" ? { ok: false } : real.commit();
      },
    };
  };
  return {
    atomic,
    getMany: (keys) => own.handle.getMany(keys),
    list: (selector, options) => own.handle.list(selector, options),
    close() {
      throw new Error("what was given is not to be closed");
    },
  };
}

function bytesOf(document: ScheduleDocument): number {
  return new TextEncoder().encode(JSON.stringify(document)).length;
}

/** A document of exactly so many bytes. */
function sized(n: number, bytes: number, letter = "x"): ScheduleDocument {
  const made = (input: string) => document(n, 5_000, { definition: { input, name: `n${n}` } });
  const each = new TextEncoder().encode(letter).length;
  const room = bytes - bytesOf(made(""));
  return made(letter.repeat(Math.floor(room / each)) + "x".repeat(room % each));
}

describe("kv: sizes", () => {
  it.each(["x", "é", "界", "🎵"])(
    "B135 a document of 65,536 bytes in %s is stored, one byte more is refused by name",
    async (letter) => {
      const storage = await open();
      const limit = storage.supports.maxDocumentBytes!;
      expect(limit).toBe(65_536);
      await store(storage, [sized(1, limit, letter)]);
      expect(await storage.get(id(1))).toEqual(sized(1, limit, letter));
      for (const bytes of [limit + 1, 70_000, 1_000_000]) {
        const [refused, beside] = await storage.apply([create(sized(2, bytes, letter)), create(document(bytes, 1))], 1);
        expect(refused).toMatchObject({ committed: false, reason: { code: "input_too_large" } });
        const { message } = (refused as { reason: Error }).reason;
        expect(message).toContain(`"n2" of task "work": ${bytes} bytes`);
        expect(message).toContain("65536");
        expect(beside!.committed).toBe(true);
      }
      expect(await storage.get(id(2))).toBeUndefined();
    },
  );

  it("B135 an update that makes a document too large is refused, and what was there stays", async () => {
    const storage = await open();
    await store(storage, [sized(1, 1_000)]);
    const larger = { ...sized(1, 70_000), id: id(1) };
    await expect(change(storage, id(1), () => larger)).rejects.toMatchObject({ code: "input_too_large" });
    expect(await storage.get(id(1))).toEqual(sized(1, 1_000));
  });

  it("B135 what runs leave in a document is never refused: it goes on in further parts, and leaves none behind", async () => {
    const [storage, other] = [await open(), await open()];
    const history = writeHistory(
      count(100).map((n): PastRun => {
        const times = { point: n, startedAt: n, endedAt: n };
        return { fence: n + 1, ...times, attempt: 1, outcome: "faulted", instance: "a", fault: "\u0001".repeat(300) };
      }),
    );
    const full = sized(1, 65_536);
    await store(storage, [full]);
    await change(storage, id(1), (current) => moved(current, { history }));
    expect(bytesOf(moved(full, { history }))).toBeGreaterThan(4 * 65_536 - 20_000);
    expect(await other.get(id(1))).toEqual(moved(full, { history }));
    expect((await keys(["ostinato", "part"])).length).toBeGreaterThanOrEqual(3);
    await change(other, id(1), (current) => moved(current, { history: "" }));
    expect(await storage.get(id(1))).toEqual(full);
    expect(await keys(["ostinato", "part"])).toEqual([]);
    await change(storage, id(1), () => null);
    expect(await keys(["ostinato", "part"])).toEqual([]);
  });

  it("a unit of more changes, writes or bytes than a commit takes is refused with the number; at the limit it commits", async () => {
    const storage = await open();
    const unit = async (documents: readonly ScheduleDocument[]) =>
      (await storage.apply([documents.flatMap(create)], 1_000))[0]!;
    const most = storage.supports.maxGroupOperations!;
    expect(await unit(count(most).map((n) => document(n, 1)))).toMatchObject({ committed: true });
    const reasons = [
      await unit(count(most + 1).map((n) => document(1_000 + n, 1))),
      await unit(count(most).map((n) => document(2_000 + n, 1, { definition: { tags: count(20).map(String) } }))),
      await unit(count(13).map((n) => sized(3_000 + n, 64_000))),
    ];
    expect(reasons.map((result) => result.committed ? "" : result.reason.message)).toEqual([
      "unit of work: 101 changes; expected at most 100, which is what Deno KV takes in one commit",
      "unit of work: 2104 keys to write; expected at most 998, which is what Deno KV takes in one commit",
      expect.stringMatching(/^unit of work: 83\d{4} bytes to write; expected at most 818176, /),
    ]);
    expect(await storage.find({ limit: 1, after: id(999) })).toEqual([]);
    expect(await unit(count(12).map((n) => sized(3_000 + n, 64_000)))).toMatchObject({ committed: true });
  });

  it("names and keys of the longest texts fit into keys, whatever their letters", async () => {
    const storage = await open();
    for (const [n, letter] of ["x", "é", "界", "\u0000", "\ud800"].entries()) {
      const text = letter.repeat(200);
      const definition = { task: text, owner: text, name: text, key: text, target: text, group: text, tags: [text] };
      await store(storage, [document(n, 5_000, { definition })]);
      expect((await storage.find({ name: text, owner: text, limit: 2 })).map((one) => one.id)).toEqual([id(n)]);
    }
  });
});

describe("kv: commits", () => {
  it("no commit passes a limit, alone or beside others, however much comes at once", async () => {
    const commits: Commit[] = [];
    const handles = [await open({ kv: noted(commits) }), await open({ kv: noted(commits) })];
    const large = (n: number) => sized(n, 20_000);
    await Promise.all(handles.flatMap((storage, which) => [
      store(storage, count(700).map((n) => document(which * 10_000 + n, 5_000, { definition: { tags: ["a", "b"] } }))),
      store(storage, count(60).map((n) => large(which * 10_000 + 1_000 + n))),
    ]));
    const drain = async (storage: Storage) => {
      for (let more = true; more;) {
        ({ more } = await storage.advance({ lanes: ["work"], limit: 1_000, now: 6_000 }, (current) => ({
          document: moved(current, { wakeAt: 9_000, runCount: current.progress.runCount + 1 }),
          value: 0,
        })));
      }
    };
    await Promise.all(handles.map(drain));
    const all: ScheduleDocument[] = [];
    for (let page = [document(0, 0)] as readonly ScheduleDocument[]; page.length > 0;) {
      page = await handles[0]!.find({ limit: 1_000, ...(all.length === 0 ? {} : { after: all.at(-1)!.id }) });
      all.push(...page);
    }
    expect(all.map(({ progress }) => progress.runCount)).toEqual(Array(1_520).fill(1));
    // A wrapped handle is not known to be Deno's own, so that the package's limit of ten checks holds for it.
    expect(Math.max(...commits.map(({ checks }) => checks))).toBeLessThanOrEqual(10);
    expect(Math.max(...commits.map(({ mutations }) => mutations))).toBeLessThanOrEqual(1_000);
    expect(Math.max(...commits.map(({ bytes }) => bytes))).toBeLessThanOrEqual(800 * 1024);
  });

  it("while nobody else writes, one check guards a commit of hundreds; beside others, each document is checked", async () => {
    const commits: Commit[] = [];
    const [one, other] = [await open({ kv: noted(commits) }), await open()];
    await store(one, [document(5_000, 9_000)]);
    commits.length = 0;
    await store(one, count(200).map((n) => document(n, 9_000)));
    expect(checked(commits)).toEqual([1]);
    await store(other, [document(6_000, 9_000)]);
    commits.length = 0;
    await store(one, count(30).map((n) => document(1_000 + n, 9_000)));
    expect(checked(commits)).toEqual([10, 10, 10]);
    commits.length = 0;
    await store(one, count(30).map((n) => document(2_000 + n, 9_000)));
    expect(checked(commits)).toEqual([1]);
  });

  it("what another handle changed after this one last wrote is never overwritten from memory", async () => {
    const [one, other] = [await open(), await open()];
    await store(one, [document(1, 5_000), document(2, 5_000)]);
    for (const round of count(5)) {
      await change(other, id(1), (current) => moved(current, { runCount: current.progress.runCount + 1 }));
      // Makes the first handle the last writer again, without having seen the other's change.
      await change(one, id(2), (current) => moved(current, { fence: round + 1 }));
      await change(one, id(1), (current) => moved(current, { runCount: current.progress.runCount + 1 }));
    }
    expect((await other.get(id(1)))!.progress.runCount).toBe(10);
  });

  it("M4 what only looks, or refuses, is never answered from memory that others have overtaken", async () => {
    const [one, other] = [await open(), await open()];
    await store(one, [document(1, 5_000)]);
    await change(other, id(1), (current) => moved(current, { runCount: 7 }));
    const look = operation({ id: id(1) }, (current) => ({ value: current!.progress.runCount }));
    const refuse = operation({ id: id(1) }, (current) => ({
      value: 0,
      reject: new SchedulerError("conflict", `seen ${current!.progress.runCount}`),
    }));
    const grow = operation({ id: id(1) }, (current) => ({
      document: moved(current!, { runCount: current!.progress.runCount + 1 }),
      value: current!.progress.runCount,
    }));
    const results = await one.apply([[look], [refuse], [grow]], 1_000);
    expect(results).toMatchObject([{ values: [7] }, { reason: { message: "seen 7" } }, { values: [7] }]);
    await change(other, id(1), () => null);
    expect(await one.apply([[operation({ id: id(1) }, (current) => ({ value: current?.id }))]], 1_000)).toEqual([
      { committed: true, values: [undefined] },
    ]);
  });

  it("B137 a locked database is tried again with the same commit; the decision is not made again", async () => {
    let locked = 3;
    let decisions = 0;
    const commits: Commit[] = [];
    const storage = await open({ kv: noted(commits, () => locked-- > 0 ? "locked" : undefined) });
    await storage.apply([[operation(null, () => (decisions++, { document: document(1, 5_000), value: 0 }))]], 1);
    expect([decisions, locked < 0, (await storage.get(id(1)))?.id]).toEqual([1, true, id(1)]);
  });

  it("B137 a failed check is no lock: what others have changed is read and decided upon again", async () => {
    let conflicts = 0;
    const seen: (number | undefined)[] = [];
    const other = await open();
    await store(other, [document(1, 5_000)]);
    const storage = await open({ kv: noted([], () => conflicts-- > 0 ? "conflict" : undefined) });
    conflicts = 3;
    const results = await storage.apply([[operation({ id: id(1) }, (current) => {
      seen.push(current?.progress.runCount);
      return { document: moved(current!, { runCount: current!.progress.runCount + 1 }), value: seen.length };
    })]], 1);
    expect([seen, results[0]]).toEqual([[0, 0, 0, 0], { committed: true, values: [4] }]);
    expect((await other.get(id(1)))!.progress.runCount).toBe(1);
  });

  it("B105 what was claimed before the store failed is told: its runs must start", async () => {
    let commits = 0;
    const storage = await open({ kv: noted([], () => ++commits === 3 ? "broken" : undefined) });
    const other = await open();
    // Each with an instant of its own, so that each is checked by itself.
    await store(other, count(30).map((n) => document(n, 5_000 + n)));
    commits = 0;
    const result = await storage.advance({ lanes: ["work"], limit: 30, now: 6_000 }, (current) => ({
      document: moved(current, { wakeAt: 9_000, fence: 1 }),
      value: current.id,
    }));
    expect([result.values.length, result.more]).toEqual([20, true]);
    const claimed = (await other.find({ limit: 50 })).filter(({ progress }) => progress.fence === 1);
    expect(claimed.map((one) => one.id)).toEqual([...result.values].sort());
  });

  it("a store that never lets a commit through is given up with a retryable error, and goes on afterwards", async () => {
    let broken = false;
    const storage = await open({ kv: noted([], () => broken ? "conflict" : undefined) });
    broken = true;
    const failed = storage.apply([create(document(1, 5_000))], 1);
    await expect(failed).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    broken = false;
    expect((await storage.apply([create(document(1, 5_000))], 1))[0]!.committed).toBe(true);
  });
});

describe("kv: indexes", () => {
  it("nothing is left of a document that is removed, and nothing stands outside of the prefix", async () => {
    const storage = await open({ prefix: "app" });
    const all = { owner: "alice", name: "n", key: "k", target: "t", group: "g", tags: ["a", "b"] };
    await store(storage, [document(1, 5_000, { definition: all })]);
    expect((await keys(["app"])).length).toBeGreaterThan(10);
    await change(storage, id(1), () => null);
    expect((await keys()).map((key) => key.slice(0, 2))).toEqual([["app", "meta"], ["app", "meta"], ["app", "meta"]]);
  });

  it("entries that lead nowhere are passed over, and removed where they are found", async () => {
    const storage = await open();
    await store(storage, [document(5, 7_000, { definition: { target: "t", name: "real" } })]);
    const stray: KvKey[] = [
      ["ostinato", "wake", "work", 4_000, id(1)],
      ["ostinato", "wake", "work", 4_001, id(5)],
      ["ostinato", "task", "work", id(1)],
      ["ostinato", "target", "t", id(2)],
      ["ostinato", "name", "lost", "system"],
      ["ostinato", "name", "moved", "system"],
    ];
    for (const key of stray) {
      const commit = own.handle.atomic();
      const value = key[1] === "name" ? id(key[2] === "lost" ? 1 : 5) : null;
      commit.set(key, value);
      commit.set(["ostinato", "meta", "last"], null);
      await commit.commit();
    }
    expect((await storage.find({ limit: 5 })).map((one) => one.id)).toEqual([id(5)]);
    expect((await storage.find({ target: "t", limit: 5 })).map((one) => one.id)).toEqual([id(5)]);
    expect(await storage.find({ name: "lost", limit: 5 })).toEqual([]);
    expect(await storage.find({ name: "moved", limit: 5 })).toEqual([]);
    const moves = await storage.advance(
      { lanes: ["work"], limit: 5, now: 6_000 },
      (current) => ({ value: current.id }),
    );
    expect([moves.values, moves.more, moves.nextWake]).toEqual([[], false, 7_000]);
    const left = new Set((await keys()).map((key) => JSON.stringify(key)));
    expect(stray.filter((key) => left.has(JSON.stringify(key)))).toEqual([]);
  });

  it("N1 a name whose entry leads nowhere is free", async () => {
    const storage = await open();
    const commit = own.handle.atomic();
    commit.set(["ostinato", "name", "nightly", "system"], id(9));
    await commit.commit();
    await store(storage, [document(1, 5_000, { definition: { name: "nightly" } })]);
    expect((await storage.find({ name: "nightly", limit: 5 })).map((one) => one.id)).toEqual([id(1)]);
  });

  it("N3 a name that its holder leaves in the same unit is taken, beside others too", async () => {
    const [storage, other] = [await open(), await open()];
    await store(storage, [document(1, 5_000, { definition: { name: "only", key: "k" } })]);
    await store(other, [document(2, 5_000)]);
    const [result] = await storage.apply([[
      operation({ owner: "system", key: "k" }, () => ({ document: null, value: 0 })),
      operation(null, () => ({ document: document(3, 5_000, { definition: { name: "only" } }), value: 0 })),
    ]], 1_000);
    expect(result!.committed).toBe(true);
    expect((await other.find({ name: "only", limit: 5 })).map((one) => one.id)).toEqual([id(3)]);
  });

  it("two prefixes in one store know nothing of each other", async () => {
    const [one, other] = [await open({ prefix: "one" }), await open({ prefix: "other" })];
    await store(one, [document(1, 5_000, { definition: { name: "n" } })]);
    await store(other, [document(1, 6_000, { definition: { name: "n" } })]);
    expect([await one.nextWake(["work"]), await other.nextWake(["work"])]).toEqual([5_000, 6_000]);
  });
});

describe("kv: opening and closing", () => {
  it.each([
    [4, "store_too_new"],
    [2, "config_invalid"],
  ])("M7 a store of version %d, which is newer or was never released, is refused", async (version, code) => {
    const commit = own.handle.atomic();
    commit.set(["ostinato", "meta", "version"], version);
    await commit.commit();
    await expect(kv(own.handle).open(context)).rejects.toMatchObject({
      code,
      details: { given: version, expected: 3 },
    });
  });

  it.each([
    [{}, "path: undefined"],
    [{ path: "" }, 'path: ""'],
    [{ path: "a", kv: {} }, 'path: "a"'],
    [{ kv: { get() {} } }, "kv: an object"],
    [{ path: "a", prefixx: "b" }, "prefixx"],
    [{ path: "a", prefix: "" }, 'prefix: ""'],
    [{ path: "a", pollInterval: 1 }, "pollInterval: 1"],
    [7, "options: 7"],
  ])("options that do not fit are refused by name: %j", (options, named) => {
    const made = () => kv(options as unknown as KvOptions);
    expect(made).toThrow(expect.objectContaining({ code: "config_invalid" }));
    expect(made).toThrow(named);
  });

  it("a file that cannot be opened is named, and not tried for ever", async () => {
    const opening = kv("/no/such/directory/schedules.kv").open(context);
    await expect(opening).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
    await expect(opening).rejects.toThrow("/no/such/directory/schedules.kv");
  });

  it("B139 closing ends a watch, a poll and the calls under way, without an unhandled rejection", async () => {
    const storage = kv({ kv: own.handle, pollInterval: 10 });
    await storage.open(context);
    storage.subscribe!(() => {});
    const pending = [storage.find({ limit: 5 }), store(storage, count(50).map((n) => document(n, 5_000)))];
    await storage.close();
    await Promise.all(pending);
    // What was given is still open.
    expect((await keys(["ostinato", "schedule"])).length).toBe(50);
  });

  it("B139 X3 closing leaves no timer behind, also where others are told last thing", async () => {
    const pending = new Set<symbol>();
    const clock: Clock = {
      ...context.clock,
      setTimer(callback, delayMs, options) {
        const timer = Symbol();
        pending.add(timer);
        const cancel = context.clock.setTimer(
          () => {
            pending.delete(timer);
            callback();
          },
          delayMs,
          options,
        );
        return () => {
          pending.delete(timer);
          cancel();
        };
      },
    };
    const storage = kv({ kv: own.handle, pollInterval: 10 });
    await storage.open({ ...context, clock });
    storage.subscribe!(() => {});
    // The first is told of with its commit, the second would be later.
    for (const n of count(2)) await store(storage, [document(n, 5_000)]);
    expect(pending.size).toBeGreaterThan(0);
    await storage.close();
    expect(pending.size).toBe(0);
  });

  it("a subscriber hears of what others create, not of its own, and not of every single one", async () => {
    let looks = 0;
    const counting = {
      ...noted([]),
      getMany(keys: KvKey[]) {
        if (keys[0]![2] === "changed") looks++;
        return own.handle.getMany(keys);
      },
    };
    const [one, other] = [await open({ kv: counting, pollInterval: 10 }), await open()];
    let told = 0;
    one.subscribe!(() => void told++);
    for (const n of count(20)) await store(one, [document(n, 5_000)]);
    const before = looks;
    await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThan(before + 3);
    expect(told).toBe(0);
    for (const n of count(20)) await store(other, [document(100 + n, 5_000)]);
    await expect.poll(() => told, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(told).toBeLessThan(10);
  });
});
