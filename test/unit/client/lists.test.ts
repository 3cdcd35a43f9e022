import { describe, expect, it } from "vitest";
import { defineTask, type ListFilter, type ScheduleClient } from "../../../mod.ts";
import { bench, DAY, HOUR, START, STORES } from "./stores.ts";

const noop = defineTask("noop", () => {});
const other = defineTask("other", () => {});

async function ids(client: ScheduleClient, filter: ListFilter = {}): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const schedule of client.list(filter)) found.push(schedule.id);
  return found;
}

describe.each(STORES)("lists on %s", (_, store) => {
  it("V3 finds by each condition, and by all of them together", async () => {
    const { scheduler } = bench(store, [noop, other]);
    const a = await scheduler.every(noop, "1h", 1, { name: "a", target: "room:1", tags: ["red", "blue"], group: "g" });
    const b = await scheduler.every(other, "2h", 1, { target: "room:1", tags: ["blue"], owner: "bob" });
    const c = await scheduler.at(noop, START + 3 * HOUR, 1, { target: "room:2", persist: false, tags: ["red"] });
    const of = async (filter: ListFilter) => [...await ids(scheduler, filter)].sort();
    const sorted = (...schedules: readonly { readonly id: string }[]) => schedules.map(({ id }) => id).sort();
    expect(await of({})).toEqual(sorted(a, b, c));
    expect(await of({ name: "a" })).toEqual(sorted(a));
    expect(await of({ target: "room:1" })).toEqual(sorted(a, b));
    expect(await of({ task: "noop" })).toEqual(sorted(a, c));
    expect(await of({ tag: "red" })).toEqual(sorted(a, c));
    expect(await of({ tag: "re" })).toEqual([]);
    expect(await of({ group: "g" })).toEqual(sorted(a));
    expect(await of({ owner: "bob" })).toEqual(sorted(b));
    expect(await of({ dueBefore: START + 2 * HOUR })).toEqual(sorted(a));
    expect(await of({ dueBefore: new Date(START + 2 * HOUR + 1) })).toEqual(sorted(a, b));
    expect(await of({ target: "room:1", tag: "blue", owner: "bob", dueBefore: "2027-01-01T00:00:00Z" })).toEqual(
      sorted(b),
    );
    expect(await of({ target: "room:1", tag: "blue", owner: "bob", task: "noop" })).toEqual([]);
  });

  it("V3 pages in one order, with a cursor on every page but the last", async () => {
    const { scheduler } = bench(store, [noop]);
    const made = await scheduler.createMany(
      Array.from({ length: 30 }, (_, i) => ({ task: noop, after: "1h", persist: i % 3 !== 0 })),
    );
    const all = made.map(({ id }) => id).sort();
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await scheduler.list({ limit: 10, ...(cursor === undefined ? {} : { cursor }) }).page();
      pages.push(page.schedules.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(pages).toEqual([all.slice(0, 10), all.slice(10, 20), all.slice(20)]);
    expect(await ids(scheduler, { limit: 7 })).toEqual(all);
    expect(await ids(scheduler, { cursor: all[27]! })).toEqual(all.slice(28));
  });

  it.each(["zzz", "", 7, null, "0".repeat(27)])(
    "V3 refuses %j, which no page came with, as a cursor",
    async (cursor) => {
      const { scheduler } = bench(store, [noop]);
      await scheduler.after(noop, "1h");
      const refusal = { code: "invalid_option", message: expect.stringMatching(/^list\.cursor: /) as string };
      const filter = { cursor } as ListFilter;
      await expect(scheduler.list(filter).page()).rejects.toMatchObject(refusal);
      await expect(ids(scheduler, filter)).rejects.toMatchObject(refusal);
      await expect(scheduler.api.call({ id: "bob" }, "list", filter)).rejects.toMatchObject(refusal);
    },
  );

  it("V3 the largest page has a cursor only where another page follows", async () => {
    const { scheduler } = bench(store, [noop]);
    await scheduler.createMany(Array.from({ length: 1_000 }, () => ({ task: noop, after: "1h" })));
    const whole = await scheduler.list({ limit: 1_000 }).page();
    expect([whole.schedules.length, whole.cursor]).toEqual([1_000, undefined]);
    await scheduler.after(noop, "1h");
    const first = await scheduler.list({ limit: 1_000 }).page();
    expect([first.schedules.length, first.cursor]).toEqual([1_000, first.schedules.at(-1)!.id]);
    expect((await scheduler.list({ limit: 1_000, cursor: first.cursor! }).page()).schedules).toHaveLength(1);
  });

  it("V3 shows each schedule that stays exactly once while others come and go", async () => {
    const { scheduler } = bench(store, [noop]);
    const made = await scheduler.createMany(Array.from({ length: 60 }, () => ({ task: noop, after: "1h" })));
    const stay = made.filter((_, i) => i % 2 === 0).map(({ id }) => id).sort();
    const go = made.filter((_, i) => i % 2 === 1);
    const seen: string[] = [];
    for await (const schedule of scheduler.list({ limit: 5 })) {
      seen.push(schedule.id);
      await go.pop()?.stop();
      // New ones come after all others, so a list that they kept coming to would not end.
      if (seen.length <= 20) await scheduler.after(noop, "1h");
    }
    expect(stay.filter((id) => seen.filter((one) => one === id).length !== 1)).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("V3 L3 leaves out what has retired and what was stopped", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    await scheduler.after(noop, "1s", 1, { target: "x" });
    const stopped = await scheduler.every(noop, "1h", 1, { target: "x" });
    await clock.advance("5s");
    await stopped.stop();
    expect(await ids(scheduler)).toEqual([]);
    expect(await scheduler.listFor("x")).toEqual([]);
  });

  it("I6 listFor is open to anyone; stopFor stops those the caller may stop", async () => {
    const { scheduler } = bench(store, [noop]);
    const [alice, bob] = [scheduler.as({ id: "alice" }), scheduler.as({ id: "bob" })];
    const mine = await alice.every(noop, "1h", 1, { target: "room:42" });
    const here = await alice.every(noop, "1h", 1, { target: "room:42", persist: false });
    const his = await bob.every(noop, "1h", 1, { target: "room:42" });
    const elsewhere = await alice.every(noop, "1h", 1, { target: "room:43" });
    const all = [mine, here, his].map(({ id }) => id).sort();
    for (const client of [scheduler, alice, bob, scheduler.as({ id: "carol" })]) {
      expect((await client.listFor("room:42")).map(({ id }) => id).sort()).toEqual(all);
    }
    expect(await scheduler.as({ id: "carol" }).stopFor("room:42")).toBe(0);
    expect(await alice.stopFor("room:42")).toBe(2);
    expect((await bob.listFor("room:42")).map(({ id }) => id)).toEqual([his.id]);
    expect(await scheduler.stopFor("room:42")).toBe(1);
    expect(await scheduler.stopFor("room:42")).toBe(0);
    expect(await ids(scheduler)).toEqual([elsewhere.id]);
  });

  it("V3 L1 what a caller does to a filter or to options after the call changes nothing of it", async () => {
    const { scheduler } = bench(store, [noop]);
    const made = await scheduler.every(noop, "1h", undefined, { target: "a" });
    await scheduler.every(noop, "1h", undefined, { target: "b" });
    const filter = { target: "a" };
    const list = scheduler.list(filter);
    filter.target = "b";
    expect((await list.page()).schedules.map(({ id }) => id)).toEqual([made.id]);
    const listed: string[] = [];
    for await (const { id } of list) listed.push(id);
    expect(listed).toEqual([made.id]);
    const calls = [
      (change: object) => made.pause(change),
      (change: object) => made.resume(change),
      (change: object) => made.trigger(change),
      (change: object) => made.update({ maxFaults: 7 }, change),
      (change: object) => made.stop(change),
    ];
    // In a unit of work a call is read when those before it are through.
    await scheduler.transaction(async (tx) => {
      const slow = tx.every(noop, "2h");
      const other = { abortRunning: false };
      const stopped = tx.stop(made.id, other);
      Object.assign(other, { abortRunning: "no" });
      await slow;
      expect(await stopped).toBe(true);
      throw new Error("undone");
    }).catch((error: Error) => expect(error.message).toBe("undone"));
    for (const call of calls) {
      const change: { ifRevision?: string } = { ifRevision: (await made.info()).revision };
      const called = call(change);
      change.ifRevision = "another";
      await called;
    }
    expect(await scheduler.valid(made.id)).toBe(false);
  });

  it("I6 listFor and stopFor reach past one page", async () => {
    const { scheduler } = bench(store, [noop]);
    await scheduler.createMany(Array.from({ length: 1_500 }, () => ({ task: noop, after: "1h", target: "x" })));
    expect(await scheduler.listFor("x")).toHaveLength(1_500);
    expect(await scheduler.stopFor("x")).toBe(1_500);
    expect(await scheduler.listFor("x")).toEqual([]);
  });

  it("V4 runs tells those in progress and the recent ones, the newest first, as many as history says", async () => {
    let fail = false;
    const flaky = defineTask("flaky", async () => {
      if (fail) throw new Error("no");
      await clock.sleep("10s");
    });
    const { clock, scheduler } = bench(store, [flaky]);
    await scheduler.start();
    const made = await scheduler.every(flaky, "1m", undefined, { history: 2 });
    await clock.advance("1m");
    await clock.advance("1m");
    fail = true;
    await clock.advance("1m");
    fail = false;
    await clock.advance("65s");
    const runs = await made.runs();
    expect(runs.map(({ outcome, fault }) => [outcome, fault])).toEqual([
      ["running", undefined],
      ["faulted", expect.stringMatching(/no$/)],
      ["succeeded", undefined],
    ]);
    const [running, faulted, succeeded] = runs;
    expect(running).toMatchObject({
      scheduleId: made.id,
      attempt: 1,
      scheduledAt: new Date(START + 240_000),
      startedAt: new Date(START + 240_000),
    });
    expect(running!.endedAt).toBeUndefined();
    expect(faulted).toMatchObject({ scheduledAt: new Date(START + 180_000), endedAt: new Date(START + 180_000) });
    expect(succeeded).toMatchObject({ startedAt: new Date(START + 120_000), endedAt: new Date(START + 130_000) });
    expect(new Set(runs.map(({ id }) => id)).size).toBe(3);
    expect((await made.info()).running).toEqual([running]);
    expect(await scheduler.running()).toEqual([running]);
  });

  it("V1 info tells counters, times and decisions after runs and faults", async () => {
    const seen: number[] = [];
    const task = defineTask("t", async (_input, ctx) => {
      seen.push(ctx.elapsed);
      await clock.sleep("2s");
      if (seen.length === 2) throw new TypeError("second");
    });
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    const made = await scheduler.every(task, "1m", { x: 1 }, { state: { s: 1 }, target: "y" });
    await clock.advance("130s");
    expect(await made.info()).toMatchObject({
      id: made.id,
      input: { x: 1 },
      state: { s: 1 },
      target: "y",
      runCount: 2,
      faultCount: 1,
      consecutiveFaults: 1,
      lastFault: { name: "TypeError", message: "second" },
      lastRun: new Date(START + 120_000),
      nextRun: new Date(START + 180_000),
      lastDurationMs: 2_000,
      meanDurationMs: 2_000,
      missedCount: 0,
      overlapCount: 0,
      running: [],
      retired: false,
    });
    const { p99DurationMs } = await made.info();
    expect(Math.abs(p99DurationMs! - 2_000)).toBeLessThanOrEqual(100);
  });

  it("L5 pause hides the next run, and resume goes on in phase", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    const made = await scheduler.every(noop, "1h");
    expect([await made.pause(), await made.pause()]).toEqual([true, false]);
    expect(await made.info()).toMatchObject({ paused: true, nextRun: null });
    expect(await ids(scheduler, { dueBefore: START + DAY })).toEqual([]);
    await clock.advance("150m");
    expect([await made.resume(), await made.resume()]).toEqual([true, false]);
    expect(await made.info()).toMatchObject({
      paused: false,
      nextRun: new Date(START + 3 * HOUR),
      runCount: 0,
      missedCount: 0,
    });
  });
});
