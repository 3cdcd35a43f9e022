import { describe, expect, it } from "vitest";
import type { CatchupOption } from "../../../mod.ts";
import { noting } from "../support/noting.ts";
import { DAY, HOUR, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

const YEARS_10 = 315_532_800;

describe.each(STORES)("catchup on %s", (store) => {
  /** A schedule that nothing runs between the first start and the second, so long after the schedule's creation. */
  async function down(timing: { every: string } | { cron: string }, downMs: number, options: object = {}) {
    const made = world(store);
    const noted = noting(made.clock);
    const creator = made.create({ tasks: [noted.task] });
    const [schedule] = await creator.createMany([{ task: noted.task, ...timing, ...options }]);
    await made.clock.set(START + downMs);
    const scheduler = await made.start({ tasks: [noted.task] });
    await made.clock.advance(0);
    const points = () => noted.points(START);
    return { ...made, ...noted, points, scheduler, id: schedule!.id, info: () => scheduler.info(schedule!.id) };
  }

  it.each(
    [
      ["once", 1, [4_320], [4_319]],
      ["skip", 0, [], [4_320]],
      ["all", 100, Array.from({ length: 100 }, (_, i) => 4_221 + i), [4_220]],
      [{ policy: "all", limit: 3 }, 3, [4_318, 4_319, 4_320], [4_317]],
      [{ policy: "all", window: "5m" }, 5, [4_316, 4_317, 4_318, 4_319, 4_320], [4_315]],
    ] as const,
  )(
    "C2 C3 C4 B068: every minute, back after 4,320 missed points, %j: %i runs, then on in phase",
    async (catchup, count, minutes, [missed]) => {
      // Half a minute and a second late: beyond the grace of the newest.
      const { clock, points, runs, info, together } = await down({ cron: "* * * * *" }, 3 * DAY + 31 * SECOND, {
        catchup,
      });
      expect(runs).toHaveLength(count);
      expect(points().map((second) => second / 60)).toEqual(minutes);
      expect(runs.every(({ at }) => at === START + 3 * DAY + 31 * SECOND)).toBe(true);
      expect(together()).toBe(count === 0 ? 0 : 1);
      expect(await info()).toMatchObject({
        missedCount: missed,
        overlapCount: 0,
        nextRun: new Date(START + 3 * DAY + MINUTE),
      });
      await clock.advance("2m");
      expect(points().slice(count).map((second) => second / 60)).toEqual([4_321, 4_322]);
    },
  );

  it("C1 C2 B068 half a minute late the newest of 4,320 is ordinary: one run, the others folded into it", async () => {
    const { runs, points, info } = await down({ cron: "* * * * *" }, 3 * DAY + 30 * SECOND);
    expect(points()).toEqual([3 * 86_400]);
    expect(runs[0]).toMatchObject({ missed: 4_319, attempt: 1 });
    expect(await info()).toMatchObject({ missedCount: 4_319, nextRun: new Date(START + 3 * DAY + MINUTE) });
  });

  it("C2 the run is told how many points it stands for besides its own, and listeners which were missed", async () => {
    const made = world(store);
    const noted = noting(made.clock);
    await made.create({ tasks: [noted.task] }).every(noted.task, "1m");
    await made.clock.set(START + 10 * MINUTE + 40 * SECOND);
    const scheduler = made.create({ tasks: [noted.task] });
    const told: unknown[] = [];
    scheduler.on("missed", ({ count, oldest, newest }) => told.push([count, +oldest - START, +newest - START]));
    await scheduler.start();
    await made.clock.advance(0);
    expect(noted.runs.map(({ missed }) => missed)).toEqual([9]);
    expect(told).toEqual([[9, MINUTE, 9 * MINUTE]]);
  });

  it("C4 each run is told the point it stands for, oldest first, one after another, whatever they take", async () => {
    const made = world(store);
    const noted = noting(made.clock, { lasts: () => "10s", faults: (run) => run === 1 });
    await made.create({ tasks: [noted.task] }).every(noted.task, "1h", undefined, { catchup: "all" });
    await made.clock.set(START + 4 * HOUR + 10 * MINUTE);
    const scheduler = await made.start({ tasks: [noted.task] });
    await made.clock.advance("1h");
    expect(noted.points(START).map((second) => second / 3_600)).toEqual([1, 2, 3, 4, 5]);
    expect(noted.starts(START + 4 * HOUR + 10 * MINUTE)).toEqual([0, 10, 20, 30, 3_000]);
    expect(noted.together()).toBe(1);
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
  });

  it("C4 what is still owed survives a close and a restart, oldest first", async () => {
    const made = world(store);
    const noted = noting(made.clock, { lasts: () => "10s" });
    await made.create({ tasks: [noted.task] }).every(noted.task, "1h", undefined, { catchup: "all" });
    await made.clock.set(START + 4 * HOUR + 10 * MINUTE);
    const first = await made.start({ tasks: [noted.task] });
    await made.clock.advance("15s");
    const closing = first.close();
    await made.clock.advance("5s");
    await closing;
    await made.clock.set(START + 5 * HOUR + 20 * SECOND);
    await made.start({ tasks: [noted.task] });
    await made.clock.advance("1m");
    expect(noted.points(START).map((second) => second / 3_600)).toEqual([1, 2, 3, 4, 5]);
    expect(noted.together()).toBe(1);
  });

  it.each(
    [
      ["skip: it is dropped", "skip", [1, 2, 3, 6], 2],
      ["queue: it waits at the end of the line", "queue", [1, 2, 3, 4, 6], 1],
    ] as const,
  )(
    "C4 C6 a point that comes while the line goes on is overlap's business, %s",
    async (_title, overlap, ran, dropped) => {
      const made = world(store);
      const noted = noting(made.clock, { lasts: () => "40s" });
      const creator = made.create({ tasks: [noted.task] });
      const schedule = await creator.every(noted.task, "1m", undefined, { catchup: "all", overlap });
      // Three runs of 40 s from 3:35 on; 4:00 and 5:00 come meanwhile, and what waited is over before 6:00 + 15 s.
      await made.clock.set(START + 3 * MINUTE + 35 * SECOND);
      await made.start({ tasks: [noted.task] });
      await made.clock.advance("190s");
      expect(noted.points(START).map((second) => second / 60)).toEqual(ran);
      expect(noted.together()).toBe(1);
      expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: dropped });
    },
  );

  it.each(["once", "skip", "all", { policy: "all", window: "1s" }, { policy: "skip", grace: 0 }] as CatchupOption[])(
    "C5 a one-shot overdue by a year fires once under %j",
    async (catchup) => {
      const made = world(store);
      const noted = noting(made.clock);
      const creator = made.create({ tasks: [noted.task] });
      const once = await creator.after(noted.task, "1h", undefined, { catchup, retention: DAY });
      await made.clock.set(START + 365 * DAY);
      await made.start({ tasks: [noted.task] });
      await made.clock.advance("1h");
      expect(noted.points(START)).toEqual([3_600]);
      expect(noted.starts(START)).toEqual([365 * 86_400]);
      expect(await once.info()).toMatchObject({ missedCount: 0, runCount: 1, retireReason: "completed" });
    },
  );

  it.each([[2 * SECOND, 0], [90 * SECOND, 0], [10 * MINUTE, 0]])(
    "C1 C2 B069 a daily cron seen %i ms late runs all the same",
    async (late, missed) => {
      const { points, info } = await down({ cron: "0 15 * * *" }, 15 * HOUR + late);
      expect(points()).toEqual([15 * 3_600]);
      expect(await info()).toMatchObject({ missedCount: missed, nextRun: new Date(START + 39 * HOUR) });
    },
  );

  it("C1 B069 a grace is honoured for one schedule and as the scheduler's default", async () => {
    const made = world(store);
    const noted = noting(made.clock);
    const creator = made.create({ tasks: [noted.task], defaults: { catchup: { policy: "skip", grace: "5m" } } });
    await creator.cron("by default", "0 15 * * *", noted.task);
    await creator.cron("its own", "1 15 * * *", noted.task, undefined, { catchup: { policy: "skip", grace: "2m" } });
    await made.clock.set(START + 15 * HOUR + 4 * MINUTE);
    const scheduler = await made.start({ tasks: [noted.task] });
    await made.clock.advance(0);
    expect(noted.points(START + 15 * HOUR)).toEqual([0]);
    const { schedules } = await scheduler.list({ name: "its own" }).page();
    expect(await schedules[0]!.info()).toMatchObject({ missedCount: 1, runCount: 0 });
  });

  it.each([[3 * MINUTE, "a deploy"], [6 * HOUR, "half a day"]])(
    "C2 C3 B071 down over 15:00, back %i ms later (%s): one run by default, none under skip",
    async (late) => {
      const once = await down({ cron: "0 15 * * *" }, 15 * HOUR + late);
      expect(once.points()).toEqual([15 * 3_600]);
      expect(once.starts(START)).toEqual([15 * 3_600 + late / SECOND]);
      const skip = await down({ cron: "0 15 * * *" }, 15 * HOUR + late, { catchup: "skip" });
      expect(skip.points()).toEqual([]);
      expect(await skip.info()).toMatchObject({ missedCount: 1, nextRun: new Date(START + 39 * HOUR) });
    },
  );

  it.each(["skip", "once", "all"] as const)(
    "L5 B074 daily at 02:00, paused at 01:00, resumed at 07:49, %s: the point was neither run nor missed",
    async (catchup) => {
      const made = world(store);
      const noted = noting(made.clock);
      const scheduler = await made.start({ tasks: [noted.task] });
      const schedule = await scheduler.cron("daily", "0 2 * * *", noted.task, undefined, { catchup });
      await made.clock.advance("1h");
      await schedule.pause();
      await made.clock.advance(6 * HOUR + 49 * MINUTE);
      await schedule.resume();
      await made.clock.advance("10h");
      expect(noted.runs).toEqual([]);
      expect(await schedule.info()).toMatchObject({ missedCount: 0, nextRun: new Date(START + 26 * HOUR) });
    },
  );

  it("C1 a grace longer than the gap: every point within it runs, late, one after another", async () => {
    const catchup = { policy: "once", grace: "5m" };
    const { points, runs, info, together } = await down({ every: "1m" }, 3 * MINUTE + 40 * SECOND, { catchup });
    expect(points()).toEqual([60, 120, 180]);
    expect(runs.map(({ missed }) => missed)).toEqual([0, 0, 0]);
    expect(together()).toBe(1);
    expect(await info()).toMatchObject({ missedCount: 0, overlapCount: 0, nextRun: new Date(START + 4 * MINUTE) });
  });

  it("C2 T9 down past maxRuns and endAt", async () => {
    const few = await down({ every: "1m" }, HOUR, { maxRuns: 5, catchup: "all", retention: DAY });
    expect(few.points()).toHaveLength(5);
    expect(await few.info()).toMatchObject({ retireReason: "ended", runCount: 5 });
    const past = await down({ every: "1m" }, HOUR, { endAt: START + 10 * MINUTE, retention: DAY });
    expect(past.points()).toEqual([600]);
    expect(await past.info()).toMatchObject({ retireReason: "ended", missedCount: 9 });
  });

  it("C2 F4 the retry of a caught-up run keeps its point, and the cadence goes on beside it", async () => {
    const made = world(store);
    const noted = noting(made.clock, { faults: (run) => run === 0 });
    const creator = made.create({ tasks: [noted.task] });
    await creator.every(noted.task, "1m", undefined, { retry: { limit: 1, delay: "90s" } });
    await made.clock.set(START + 10 * MINUTE + 40 * SECOND);
    await made.start({ tasks: [noted.task] });
    await made.clock.advance("100s");
    expect(noted.runs.map(({ point, attempt, missed }) => [(point - START) / MINUTE, attempt, missed])).toEqual([
      [10, 1, 9],
      [11, 1, 0],
      [12, 1, 0],
      [10, 2, 9],
    ]);
  });

  // A walk through the points, one by one, would take minutes.
  it.each([
    ["every", { every: "1s" }],
    ["cron", { cron: "* * * * * *" }],
    ["cron in a zone", { cron: "* * * * * *", timezone: "America/New_York" }],
  ])("C7 ten years of missed one-second points, %s: accounted for without a walk", async (_title, timing) => {
    const late = YEARS_10 * SECOND + 600;
    const once = await down(timing, late);
    expect(once.points()).toEqual([YEARS_10]);
    expect(await once.info()).toMatchObject({ missedCount: YEARS_10 - 1 });
    const skip = await down(timing, late, { catchup: "skip" });
    expect(await skip.info()).toMatchObject({ missedCount: YEARS_10, runCount: 0 });
    const all = await down(timing, late, { catchup: { policy: "all", limit: 3, window: "1d" } });
    expect(all.points()).toEqual([YEARS_10 - 2, YEARS_10 - 1, YEARS_10]);
    expect(await all.info()).toMatchObject({ missedCount: YEARS_10 - 3 });
  });
});
