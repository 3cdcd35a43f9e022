import { describe, expect, it } from "vitest";
import { noting } from "../support/noting.ts";
import { DAY, HOUR, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

describe.each(STORES)("jitter on %s", (store) => {
  async function setUp() {
    const made = world(store);
    const noted = noting(made.clock);
    return { ...made, ...noted, scheduler: await made.start({ tasks: [noted.task] }) };
  }

  it.each([[0, 0], [30_000, 30_000]])(
    "J1 T9 B076 the last point before an end and a one-shot keep within a jitter of %i ms of their time",
    async (jitter, within) => {
      const { clock, task, scheduler, runs } = await setUp();
      for (let i = 0; i < 20; i++) {
        await scheduler.cron(`last ${i}`, "0 1 * * *", task, undefined, { jitter, endAt: START + HOUR });
        await scheduler.at(task, START + HOUR, undefined, { jitter });
      }
      await clock.advance("3d");
      expect(runs).toHaveLength(40);
      expect(runs.every(({ point }) => point === START + HOUR)).toBe(true);
      expect(runs.filter(({ at }) => Math.abs(at - START - HOUR) > within)).toEqual([]);
      expect((await scheduler.list().page()).schedules).toEqual([]);
    },
  );

  it("J1 T1 a one-shot already past, with jitter, fires within a tick", async () => {
    const { clock, task, scheduler, runs } = await setUp();
    await scheduler.at(task, START - DAY, undefined, { jitter: "1h" });
    await clock.advance(10);
    expect(runs).toHaveLength(1);
  });

  it("J3 B079 a thousand hourly schedules with a spread of a minute: at most 40 in any second, each at its own always", async () => {
    const { task, scheduler, clock } = await setUp();
    const requests = Array.from({ length: 1_000 }, () => ({ task, cron: "0 * * * *", jitter: { spread: "60s" } }));
    const made = await scheduler.createMany(requests);
    const offsets = made.map(({ nextRun }) => nextRun!.getTime() - START - HOUR);
    const seconds = new Map<number, number>();
    for (const offset of offsets) {
      expect(offset).toBeGreaterThanOrEqual(0);
      expect(offset).toBeLessThanOrEqual(MINUTE);
      seconds.set(Math.floor(offset / SECOND), (seconds.get(Math.floor(offset / SECOND)) ?? 0) + 1);
    }
    expect(Math.max(...seconds.values())).toBeLessThanOrEqual(40);
    await clock.advance(HOUR + MINUTE);
    const next = await Promise.all(made.slice(0, 50).map((schedule) => schedule.info()));
    expect(next.map(({ nextRun }) => nextRun!.getTime() - START - 2 * HOUR)).toEqual(offsets.slice(0, 50));
  });

  it("J3 B079 without jitter a thousand due at once run in batches that the limit keeps, none lost", async () => {
    const made = world(store);
    const noted = noting(made.clock, { lasts: () => "10ms" });
    const scheduler = await made.start({ tasks: [noted.task], concurrency: 50 });
    await scheduler.createMany(Array.from({ length: 1_000 }, () => ({ task: noted.task, cron: "0 * * * *" })));
    await made.clock.advance(HOUR + MINUTE);
    expect(noted.runs).toHaveLength(1_000);
    expect(noted.together()).toBe(50);
  });

  it.each(["once", "skip", "all"] as const)(
    "J2 C2 C3 C4 hourly with jitter, back after an outage, %s: every point is accounted for once",
    async (catchup) => {
      const made = world(store);
      const noted = noting(made.clock);
      const creator = made.create({ tasks: [noted.task] });
      const schedule = await creator.every(noted.task, "1h", undefined, { catchup, jitter: "5m" });
      await made.clock.set(START + 10 * HOUR + 30 * MINUTE);
      await made.start({ tasks: [noted.task] });
      await made.clock.advance("3h");
      const hours = noted.points(START).map((second) => second / 3_600);
      const { missedCount, nextRun } = await schedule.info();
      const caughtUp = { once: [10], skip: [], all: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }[catchup];
      expect(hours).toEqual([...caughtUp, 11, 12, 13]);
      expect(missedCount).toBe(10 - caughtUp.length);
      expect(Math.abs(nextRun!.getTime() - START - 14 * HOUR)).toBeLessThanOrEqual(5 * MINUTE);
    },
  );

  it("J3 C2 a spread longer than the interval: one run for what was missed, not one for each point within the spread", async () => {
    const made = world(store);
    const noted = noting(made.clock);
    const creator = made.create({ tasks: [noted.task] });
    const schedule = await creator.every(noted.task, "1m", undefined, { jitter: { spread: "2h" } });
    await made.clock.set(START + DAY);
    await made.start({ tasks: [noted.task] });
    await made.clock.advance(0);
    expect(noted.runs).toHaveLength(1);
    const { missedCount, nextRun } = await schedule.info();
    expect(missedCount).toBe((noted.runs[0]!.point - START) / MINUTE - 1);
    expect(nextRun!.getTime()).toBeGreaterThan(START + DAY);
    expect(nextRun!.getTime()).toBeLessThanOrEqual(START + DAY + MINUTE);
  });

  it("J2 A3 a point fired early is not fired again when its run asks for another time", async () => {
    const made = world(store);
    const noted = noting(made.clock, { again: () => "1ms" });
    const scheduler = await made.start({ tasks: [noted.task] });
    await scheduler.every(noted.task, "1h", undefined, { jitter: "10m", adaptive: true, maxRuns: 400 });
    await made.clock.advance("30h");
    const points = noted.runs.map(({ point }) => point).filter((point) => (point - START) % HOUR === 0);
    expect(new Set(points).size).toBe(points.length);
  });
});
