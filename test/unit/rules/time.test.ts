import { describe, expect, it } from "vitest";
import { MAX_DEADLINE } from "../../../src/contract/mod.ts";
import { defineTask } from "../../../mod.ts";
import { noting } from "../support/noting.ts";
import { DAY, HOUR, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

describe.each(STORES)("time and cadence on %s", (store) => {
  async function setUp(behaviour: Parameters<typeof noting>[1] = {}, start = START) {
    const made = world(store, start);
    const noted = noting(made.clock, behaviour);
    const scheduler = await made.start({ tasks: [noted.task] });
    return { ...made, ...noted, scheduler };
  }

  it("T1 a one-shot fires once at its deadline, never before it", async () => {
    const { clock, task, scheduler, starts } = await setUp();
    await scheduler.at(task, new Date(START + HOUR));
    await clock.advance(HOUR - 1);
    expect(starts(START)).toEqual([]);
    await clock.advance(1);
    expect(starts(START)).toEqual([3600]);
    await clock.advance("30d");
    expect(starts(START)).toEqual([3600]);
  });

  it.each([["a second", -SECOND], ["fifty years", -50 * 365 * DAY], ["no time", 0]])(
    "T1 a deadline past by %s at creation fires once, at once",
    async (_title, offset) => {
      const { clock, task, scheduler, starts, points } = await setUp();
      const once = await scheduler.at(task, START + offset, undefined, { retention: DAY });
      await clock.advance("1h");
      expect(starts(START)).toEqual([0]);
      expect(points(START + offset)).toEqual([0]);
      expect(await once.info()).toMatchObject({ missedCount: 0, runCount: 1, retireReason: "completed" });
    },
  );

  it("T2 a recurring schedule fires at t, t+60 s, t+120 s whatever each run took and whether it faulted", async () => {
    const durations = ["59s", "0ms", "100ms", "59999ms", "30s", "1ms"];
    const { clock, starts, schedule } = await every("1m", {
      lasts: (run) => durations[run % durations.length]!,
      faults: (run) => run % 3 === 1,
    });
    await clock.advance("12m");
    expect(starts(START)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((minute) => minute * 60));
    expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: 0, faultCount: 4 });
  });

  it("T2 retries do not move the cadence", async () => {
    const { clock, starts } = await every("1m", { faults: (run) => run === 0 || run === 1 }, {
      retry: { limit: 5, delay: "10s", backoff: 2 },
    });
    await clock.advance("3m");
    expect(starts(START)).toEqual([60, 70, 90, 120, 180]);
  });

  it("T3 the next deadline is stored before the handler is called", async () => {
    const made = world(store);
    const seen: unknown[] = [];
    const look = defineTask("look", async (_input, ctx) => {
      const { nextRun, running, runCount } = await other.info(ctx.schedule.id);
      seen.push([nextRun?.getTime(), running.length, runCount]);
    });
    const scheduler = await made.start({ tasks: [look] });
    const other = made.create({ tasks: [look] });
    await scheduler.every(look, "1m");
    await made.clock.advance("2m");
    expect(seen).toEqual([[START + 2 * MINUTE, 1, 1], [START + 3 * MINUTE, 1, 2]]);
  });

  it.each([
    ["none: one interval after creation", undefined, [60, 120]],
    ["now: at once", 0, [0, 60, 120]],
    ["in the future: then", 90, [90]],
    ["a second ago: only the phase", -1, [59, 119]],
    ["whole intervals ago: only the phase, and not at once", -600, [60, 120]],
    ["years ago: only the phase", -86_400 * 3_650 - 45, [15, 75]],
  ])("T4 every 60 s, startAt %s", async (_title, startAt, expected) => {
    const { clock, task, scheduler, starts } = await setUp();
    const options = startAt === undefined ? {} : { startAt: START + startAt * SECOND };
    const schedule = await scheduler.every(task, "1m", undefined, options);
    expect(schedule.nextRun?.getTime()).toBe(START + expected[0]! * SECOND);
    await clock.advance("2m");
    expect(starts(START)).toEqual(expected);
    expect((await schedule.info()).missedCount).toBe(0);
  });

  it("T4 a cron with startAt in the future has no point before it, and one at it counts", async () => {
    const { clock, task, scheduler, starts } = await setUp();
    await scheduler.cron("later", "*/10 * * * *", task, undefined, { startAt: START + 20 * MINUTE });
    await clock.advance("40m");
    expect(starts(START)).toEqual([1200, 1800, 2400]);
  });

  it.each([[1, 10, true], [0.4, 10, true], ["9ms", 10, true], [9.99, 10, true], [10, 10, false], [11, 11, false]])(
    "T5 B061 an interval of %s becomes %i ms; intervalClamped %s",
    async (interval, ms, clamped) => {
      const { clock, task, scheduler, runs } = await setUp();
      const schedule = await scheduler.every(task, interval);
      expect(await schedule.info()).toMatchObject({ intervalClamped: clamped, spec: { every: ms } });
      await clock.advance(ms * 5);
      expect(runs.map(({ at }) => at - START)).toEqual([1, 2, 3, 4, 5].map((n) => n * ms));
    },
  );

  it("T5 the tick is the scheduler's own", async () => {
    const made = world(store);
    const { task, runs } = noting(made.clock);
    const scheduler = await made.start({ tasks: [task], tick: 250 });
    const schedule = await scheduler.every(task, 100);
    await made.clock.advance("1s");
    expect(runs.map(({ at }) => at - START)).toEqual([250, 500, 750, 1000]);
    expect((await schedule.info()).intervalClamped).toBe(true);
  });

  it.each([0, -1, NaN, Infinity, "1000", "", null, {}])("T5 B061 an interval of %s is refused", async (interval) => {
    const { task, scheduler } = await setUp();
    await expect(scheduler.every(task, interval as number)).rejects.toMatchObject({
      code: "invalid_duration",
      message: expect.stringMatching(/every/),
    });
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it.each([
    ["new Date('x')", new Date("x"), "invalid_time"],
    ["NaN", NaN, "invalid_time"],
    ["Infinity", Infinity, "invalid_time"],
    ["''", "", "invalid_time"],
    ["null", null, "invalid_time"],
    ["{}", {}, "invalid_time"],
    ["8.64e15 + 1", 8.64e15 + 1, "invalid_time"],
    ["32 February", "2026-02-32T00:00:00Z", "invalid_time"],
    ["30 February", "2026-02-30T00:00:00Z", "invalid_time"],
    ["no offset", "2026-02-20T00:00:00", "invalid_time"],
    ["the year 10000", new Date(MAX_DEADLINE + 1), "deadline_out_of_range"],
  ])("T6 B059 a one-shot at %s is refused and nothing is stored", async (_title, when, code) => {
    const { task, scheduler, clock, runs } = await setUp();
    await expect(scheduler.at(task, when as Date)).rejects.toMatchObject({ code });
    expect((await scheduler.list().page()).schedules).toEqual([]);
    await clock.advance("1d");
    expect(runs).toEqual([]);
  });

  it("T6 the last instant of 9999 is taken, and one millisecond more is refused, however it is said", async () => {
    const { task, scheduler } = await setUp();
    const last = await scheduler.at(task, MAX_DEADLINE);
    expect(last.nextRun).toEqual(new Date("9999-12-31T23:59:59.999Z"));
    expect((await scheduler.after(task, MAX_DEADLINE - START)).nextRun?.getTime()).toBe(MAX_DEADLINE);
    const refused = { code: "deadline_out_of_range" };
    await expect(scheduler.after(task, MAX_DEADLINE - START + 1)).rejects.toMatchObject(refused);
    await expect(scheduler.every(task, MAX_DEADLINE - START + 1)).rejects.toMatchObject(refused);
    await expect(scheduler.every(task, 1e300)).rejects.toMatchObject(refused);
    await expect(scheduler.every(task, "1m", undefined, { startAt: MAX_DEADLINE + 1 })).rejects.toMatchObject(refused);
  });

  it("T6 a schedule whose next deadline would pass the year 9999 retires so, counted as a fault", async () => {
    const start = MAX_DEADLINE - 90 * SECOND;
    const { clock, task, scheduler, starts } = await setUp({}, start);
    const retention = { retention: "1h" };
    const beat = await scheduler.every(task, "1m", undefined, retention);
    const cron = await scheduler.cron("minutes", "* * * * *", task, undefined, retention);
    await clock.advance("80s");
    expect(starts(start)).toHaveLength(2);
    for (const schedule of [beat, cron]) {
      expect(await schedule.info()).toMatchObject({
        retireReason: "deadline_out_of_range",
        faultCount: 1,
        runCount: 1,
        nextRun: null,
      });
    }
  });

  it("T6 L3 a retention for ever keeps the record, and stops nothing else", async () => {
    const { clock, task, scheduler, runs } = await setUp();
    const kept = await scheduler.after(task, "1s", undefined, { retention: Number.MAX_SAFE_INTEGER });
    await scheduler.every(task, "1h");
    await clock.advance("1d");
    expect(runs).toHaveLength(25);
    expect(await kept.info()).toMatchObject({ retireReason: "completed" });
  });

  it("T9 endAt: a point exactly at it fires, none after it, and then the schedule has ended", async () => {
    const { clock, task, scheduler, starts } = await setUp();
    const options = { endAt: START + 3 * MINUTE, retention: DAY };
    const schedule = await scheduler.every(task, "1m", undefined, options);
    const before = await scheduler.every(task, "1m", undefined, { ...options, endAt: START + 3 * MINUTE - 1 });
    await clock.advance("10m");
    expect(starts(START)).toEqual([60, 60, 120, 120, 180]);
    expect(await schedule.info()).toMatchObject({ retireReason: "ended", runCount: 3, faultCount: 0 });
    expect(await before.info()).toMatchObject({ retireReason: "ended", runCount: 2 });
  });

  it("T9 endAt without any point before it is refused", async () => {
    const { task, scheduler } = await setUp();
    const options = { endAt: START + 59_999 };
    await expect(scheduler.every(task, "1m", undefined, options)).rejects.toMatchObject({ code: "invalid_option" });
    await expect(scheduler.every(task, "1m", undefined, { startAt: START + 2, endAt: START + 1 })).rejects
      .toMatchObject({
        code: "invalid_option",
      });
  });

  it("T9 maxRuns counts deadlines: retries and triggers are none, overlapped and missed points neither", async () => {
    const { clock, starts, schedule } = await every("1m", {
      faults: (run) => run === 0,
      lasts: (run) => run === 1 ? "100s" : "0ms",
    }, { maxRuns: 3, retention: DAY, retry: { limit: 2, delay: "5s" } });
    // 60: faults; 65: the retry, until 165, over 120; 180; 240 is the third.
    await clock.advance("200s");
    expect(await schedule.trigger()).toBe(true);
    await clock.advance("10m");
    expect(starts(START)).toEqual([60, 65, 180, 200, 240]);
    expect(await schedule.info()).toMatchObject({ retireReason: "ended", runCount: 5, overlapCount: 1 });
  });

  it("T9 the retry of the last run still takes place, then the schedule has ended", async () => {
    const { clock, starts, schedule } = await every("1m", { faults: (run) => run < 2 }, {
      maxRuns: 1,
      retention: DAY,
      retry: { limit: 2, delay: "90s" },
    });
    await clock.advance("90s");
    expect(await schedule.info()).toMatchObject({ retired: false });
    await clock.advance("10m");
    expect(starts(START)).toEqual([60, 150, 330]);
    expect(await schedule.info()).toMatchObject({ retireReason: "ended", faultCount: 2, consecutiveFaults: 0 });
  });

  it("T9 a queued point past maxRuns does not run", async () => {
    const { clock, starts, schedule } = await every("1s", { lasts: () => "2500ms" }, {
      maxRuns: 2,
      retention: DAY,
      overlap: { policy: "queue", limit: 5 },
    });
    await clock.advance("20s");
    expect(starts(START)).toEqual([1, 3.5]);
    expect(await schedule.info()).toMatchObject({ retireReason: "ended", runCount: 2 });
  });

  it("L5 pause holds deadlines; points passed meanwhile are neither run nor missed; it goes on in phase", async () => {
    const { clock, starts, schedule } = await every("1m", {});
    await clock.advance("90s");
    expect(await schedule.pause()).toBe(true);
    expect(await schedule.info()).toMatchObject({ paused: true, nextRun: null });
    await clock.advance("5m");
    expect(await schedule.resume()).toBe(true);
    await clock.advance("90s");
    expect(starts(START)).toEqual([60, 420, 480]);
    expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: 0, paused: false });
  });

  it("T9 L5 paused past its endAt it has ended, whoever resumes it", async () => {
    const { clock, starts, schedule } = await every("1m", {}, { endAt: START + 3 * MINUTE, retention: DAY });
    await clock.advance("90s");
    await schedule.pause();
    await clock.advance("89s");
    expect(await schedule.info()).toMatchObject({ paused: true, retired: false });
    await clock.advance("1s");
    expect(await schedule.info()).toMatchObject({ paused: false, retireReason: "ended", missedCount: 0 });
    expect(await schedule.resume()).toBe(false);
    await clock.advance("10m");
    expect(starts(START)).toEqual([60]);
  });

  it("L5 a one-shot whose deadline passed while it was paused fires when it goes on", async () => {
    const { clock, task, scheduler, starts } = await setUp();
    const once = await scheduler.after(task, "1m");
    await once.pause();
    await clock.advance("1h");
    expect(starts(START)).toEqual([]);
    await once.resume();
    await clock.advance(0);
    expect(starts(START)).toEqual([3600]);
  });

  it("L5 B085 a shorter interval does not wait for the old one", async () => {
    const { clock, task, scheduler, starts } = await setUp();
    const schedule = await scheduler.every(task, "12h");
    await clock.advance("5h");
    await schedule.update({ every: "1m" });
    await clock.advance("2m");
    expect(starts(START + 5 * HOUR)).toEqual([60, 120]);
  });

  it("L5 an update while a run executes leaves that run alone and is what comes next", async () => {
    const { clock, starts, schedule } = await every("1m", { lasts: (run) => run === 0 ? "50s" : "0ms" });
    await clock.advance("70s");
    await schedule.update({ every: "15s" });
    // 85 and 100 pass during the run, which ends at 110.
    await clock.advance("60s");
    expect(starts(START)).toEqual([60, 115, 130]);
    expect((await schedule.info()).overlapCount).toBe(2);
  });

  it("L5 B089 the end of an older run does not move what an update has set", async () => {
    const { clock, task, scheduler, starts } = await setUp({ lasts: () => "50s", again: () => "10s" });
    const poll = await scheduler.after(task, "1m");
    await clock.advance("70s");
    await poll.update({ at: START + HOUR });
    await clock.advance("10m");
    expect(await poll.info()).toMatchObject({ nextRun: new Date(START + HOUR) });
    await clock.advance("51m");
    // The run that knows it asks again: 50 s, and 10 s after that.
    expect(starts(START)).toEqual([60, 3600, 3660, 3720]);
  });

  it("L5 C4 what an update makes of the points that are owed is told, and counted", async () => {
    const made = world(store, START);
    const noted = noting(made.clock, { lasts: () => "1m" });
    const scheduler = await made.start({ tasks: [noted.task] });
    const told: number[] = [];
    scheduler.on("missed", ({ count }) => told.push(count));
    const schedule = await scheduler.every(noted.task, "10m", undefined, { catchup: "all" });
    await made.clock.set(START + HOUR + MINUTE);
    await made.clock.settled();
    await schedule.update({ every: "1d" });
    await made.clock.advance("1h");
    expect(noted.points(START)).toEqual([600]);
    expect(told).toEqual([5]);
    expect(await schedule.info()).toMatchObject({ runCount: 1, missedCount: 5 });
  });

  /** Every so often, with options. */
  async function every(interval: string, behaviour: Parameters<typeof noting>[1], options: object = {}) {
    const made = await setUp(behaviour);
    return { ...made, schedule: await made.scheduler.every(made.task, interval, undefined, options) };
  }
});

describe("no drift", () => {
  it("T2 after 10,000 firings with runs of any length every one was at its point", async () => {
    const made = world("memory");
    const noted = noting(made.clock, {
      lasts: (run) => run % 10 === 0 ? `${run % 900}ms` : "0ms",
      faults: (run) => run % 7 === 0,
    });
    const scheduler = await made.start({ tasks: [noted.task] });
    const schedule = await scheduler.every(noted.task, "1s");
    await made.clock.advance("10000s");
    expect(noted.runs).toHaveLength(10_000);
    expect(noted.runs.findIndex(({ at, point }, i) => at !== point || point !== START + (i + 1) * SECOND)).toBe(-1);
    expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: 0, runCount: 10_000 });
  });
});
