import { describe, expect, it } from "vitest";
import { defineTask } from "../../../mod.ts";
import { bench, HOUR, MINUTE, START, STORES } from "./stores.ts";

/** A task that notes, for each run, its cadence point and how far from it the run started. */
function noting(now: () => number) {
  const runs: { readonly point: number; readonly moved: number }[] = [];
  const task = defineTask("noting", (_input, ctx) => {
    const point = ctx.scheduledAt.getTime();
    runs.push({ point, moved: now() - point });
  });
  return { runs, task };
}

describe.each(STORES)("jitter on %s", (_, store) => {
  function setUp() {
    const holder: { now: () => number } = { now: () => 0 };
    const { runs, task } = noting(() => holder.now());
    const made = bench(store, [task]);
    holder.now = () => made.clock.now();
    return { ...made, runs, task };
  }

  it("J1 moves each deadline by its own amount, within the jitter on either side", async () => {
    const { clock, scheduler, runs, task } = setUp();
    await scheduler.start();
    await scheduler.every(task, "1h", undefined, { jitter: "10m" });
    await clock.advance("100h");
    const moved = runs.map((run) => run.moved);
    expect(moved.filter((ms) => Math.abs(ms) > 10 * MINUTE)).toEqual([]);
    expect(new Set(moved).size).toBeGreaterThan(moved.length / 2);
    // Of 99 or more fair draws, each half gets fewer than 20 less than once in 10^9.
    expect(moved.filter((ms) => ms < 0).length).toBeGreaterThan(20);
    expect(moved.filter((ms) => ms > 0).length).toBeGreaterThan(20);
  });

  it("J2 fires every cadence point once, in order, also where the jitter exceeds the interval", async () => {
    const { clock, scheduler, runs, task } = setUp();
    await scheduler.start();
    const made = await scheduler.every(task, "1m", undefined, { jitter: "5m" });
    await clock.advance("10h");
    const points = runs.map(({ point }) => (point - START) / MINUTE);
    expect(points).toEqual(Array.from({ length: points.length }, (_, i) => i + 1));
    expect(points.length).toBeGreaterThanOrEqual(10 * 60 - 6);
    expect(points.length).toBeLessThanOrEqual(10 * 60 + 6);
    expect(await made.info()).toMatchObject({ missedCount: 0, overlapCount: 0, faultCount: 0 });
  });

  it("J3 a spread gives one schedule the same offset at every deadline, also after a restart", async () => {
    const { clock, scheduler, open, runs, task } = setUp();
    await scheduler.start();
    await scheduler.cron("spread", "0 * * * *", task, undefined, { jitter: { spread: "10m" } });
    await clock.advance("5h");
    await scheduler.close();
    await open().start();
    await clock.advance("5h");
    const offsets = new Set(runs.map(({ moved }) => moved));
    expect(runs.length).toBeGreaterThanOrEqual(9);
    expect(offsets.size).toBe(1);
    const [offset] = offsets;
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(offset).toBeLessThanOrEqual(10 * MINUTE);
  });

  it("B079 J3 a thousand hourly schedules with a spread of a minute start at most 40 in any second", async () => {
    const { scheduler, task } = setUp();
    const made = await scheduler.createMany(
      Array.from({ length: 1_000 }, () => ({ task, cron: "0 * * * *", jitter: { spread: "1m" } })),
    );
    const seconds = new Map<number, number>();
    for (const { nextRun } of made) {
      const second = Math.floor((nextRun!.getTime() - START - HOUR) / 1_000);
      expect(second).toBeGreaterThanOrEqual(0);
      expect(second).toBeLessThanOrEqual(60);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
    }
    expect(Math.max(...seconds.values())).toBeLessThanOrEqual(40);
  });

  it("B079 without jitter a thousand schedules due together all run, each once", async () => {
    const { clock, scheduler, runs, task } = setUp();
    await scheduler.start();
    await scheduler.createMany(Array.from({ length: 1_000 }, () => ({ task, cron: "0 * * * *" })));
    await clock.advance("1h");
    expect(runs).toHaveLength(1_000);
  });

  it("B076 J1 the last point of a bounded cron and a one-shot fire exactly at their time with jitter 0, near it with 30 s", async () => {
    const { clock, scheduler, runs, task } = setUp();
    await scheduler.start();
    const at = START + HOUR;
    for (const jitter of [0, "30s"]) {
      await scheduler.at(task, at, undefined, { jitter });
      await scheduler.cron(`last ${jitter}`, "0 1 * * *", task, undefined, { jitter, endAt: at });
    }
    await clock.advance("2d");
    expect(runs.map(({ point }) => point)).toEqual([at, at, at, at]);
    expect(runs.filter(({ moved }) => moved === 0).length).toBeGreaterThanOrEqual(2);
    expect(runs.filter(({ moved }) => Math.abs(moved) > 30_000)).toEqual([]);
  });
});
