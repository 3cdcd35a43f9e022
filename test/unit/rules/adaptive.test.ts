import { describe, expect, it } from "vitest";
import { again, defineTask } from "../../../mod.ts";
import { type Behaviour, noting } from "../support/noting.ts";
import { DAY, START, STORES, world } from "../support/schedulers.ts";

describe.each(STORES)("adaptive delays on %s", (store) => {
  async function setUp(behaviour: Behaviour, start = START) {
    const made = world(store, start);
    const noted = noting(made.clock, behaviour);
    const scheduler = await made.start({ tasks: [noted.task] });
    return { ...made, ...noted, scheduler };
  }

  it("A1 the next deadline is the settlement plus the delay, whatever the run took", async () => {
    const { clock, task, scheduler, starts, points } = await setUp({ lasts: () => "4s", again: () => "10s" });
    await scheduler.after(task, "1s");
    await clock.advance("30s");
    expect(starts(START)).toEqual([1, 15, 29]);
    expect(points(START)).toEqual([1, 15, 29]);
  });

  it.each(["1m", { spread: "1m" }])("A1 J2 what a run asks for is not moved by a jitter of %j", async (jitter) => {
    const { clock, task, scheduler, points } = await setUp({ again: () => "10s" });
    await scheduler.after(task, "5m", undefined, { jitter });
    await clock.advance("10m");
    const [, ...links] = points(START);
    expect(links.length).toBeGreaterThan(20);
    expect(new Set(links.slice(1).map((point, i) => Math.round((point - links[i]!) * 1_000)))).toEqual(
      new Set([10_000]),
    );
  });

  it("A2 a chain of links under one id; any other return value completes it", async () => {
    const { clock, task, scheduler, starts } = await setUp({ again: (run) => run < 3 ? "1m" : undefined });
    const chain = await scheduler.after(task, "1m", undefined, { retention: DAY });
    expect((await chain.info()).adaptive).toBe(true);
    await clock.advance("2m");
    expect(await chain.info()).toMatchObject({
      runCount: 2,
      retired: false,
      nextRun: new Date(START + 180_000),
      running: [],
    });
    await clock.advance("10m");
    expect(starts(START)).toEqual([60, 120, 180, 240]);
    expect(await chain.info()).toMatchObject({ runCount: 4, retireReason: "completed", nextRun: null });
  });

  it("A2 a link survives a restart", async () => {
    const made = await setUp({ again: () => "1h" });
    const chain = await made.scheduler.after(made.task, "1h");
    await made.clock.advance("90m");
    await made.scheduler.close();
    const second = await made.start({ tasks: [made.task] });
    await made.clock.advance("90m");
    expect(made.starts(START)).toEqual([3600, 7200, 10800]);
    expect(await second.valid(chain.id)).toBe(true);
  });

  it("A2 S3 U3 a link hands on what it has come to as the state, and one that faults does not", async () => {
    const { start, clock } = world(store, START);
    const seen: unknown[] = [];
    const escalate = defineTask("escalate", async (_input, ctx) => {
      const level = (ctx.state ?? 0) as number;
      seen.push([level, ctx.attempt]);
      await ctx.schedules.update(ctx.schedule.id, { state: level + 1 });
      if (level === 1 && ctx.attempt === 1) throw new Error("no answer");
      return level < 2 ? again("1m") : undefined;
    });
    const scheduler = await start({ tasks: [escalate] });
    const retry = { limit: 1, delay: "10s" } as const;
    const chain = await scheduler.after(escalate, "1m", undefined, { retry, retention: DAY });
    await clock.advance("10m");
    expect(seen).toEqual([[0, 1], [1, 1], [1, 2], [2, 1]]);
    expect(await chain.info()).toMatchObject({ runCount: 4, faultCount: 1, retireReason: "completed", state: 2 });
  });

  it("A3 on an interval the next deadline alone is replaced; the cadence resumes in phase after that firing", async () => {
    const { clock, starts, schedule } = await every({ again: (run) => run === 0 ? "10s" : undefined });
    await clock.advance("3m");
    expect(starts(START)).toEqual([60, 70, 120, 180]);
    expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: 0, adaptive: true });
  });

  it("A3 a delay past several points passes over them: the cadence resumes at the first point after the firing", async () => {
    const { clock, starts, points, schedule } = await every({ again: (run) => run === 0 ? "150s" : undefined });
    await clock.advance("5m");
    expect(starts(START)).toEqual([60, 210, 240, 300]);
    expect(points(START)).toEqual([60, 210, 240, 300]);
    expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: 0 });
  });

  it("A3 a deadline that falls on a point fires once there", async () => {
    const { clock, starts } = await every({ again: (run) => run === 0 ? "2m" : undefined });
    await clock.advance("4m");
    expect(starts(START)).toEqual([60, 180, 240]);
  });

  it("A3 each run may ask again: the cadence waits for the first that does not", async () => {
    const { clock, starts } = await every({ again: (run) => run < 3 ? "25s" : undefined });
    await clock.advance("3m");
    expect(starts(START)).toEqual([60, 85, 110, 135, 180]);
  });

  it("A3 on a cron too", async () => {
    const { clock, task, scheduler, starts } = await setUp({ again: (run) => run === 0 ? "90s" : undefined });
    await scheduler.cron("beat", "*/5 * * * *", task, undefined, { adaptive: true });
    await clock.advance("10m");
    expect(starts(START)).toEqual([300, 390, 600]);
  });

  it("A3 T9 what was asked for counts as a firing and keeps within endAt and maxRuns", async () => {
    const made = await setUp({ again: () => "10s" });
    const bounded = { adaptive: true, retention: DAY };
    const few = await made.scheduler.every(made.task, "1m", undefined, { ...bounded, maxRuns: 3 });
    await made.clock.advance("10m");
    expect(made.starts(START)).toEqual([60, 70, 80]);
    expect(await few.info()).toMatchObject({ retireReason: "ended", runCount: 3 });
    const now = START + 600_000;
    made.runs.length = 0;
    const until = await made.scheduler.every(made.task, "1m", undefined, { ...bounded, endAt: now + 75_000 });
    await made.clock.advance("10m");
    expect(made.starts(now)).toEqual([60, 70]);
    expect(await until.info()).toMatchObject({ retireReason: "ended" });
  });

  it("A4 a delay below a tick is raised to a tick", async () => {
    const { clock, task, scheduler, starts } = await setUp({ again: (run) => ["0ms", 0.4, 9, 10, 11][run] });
    await scheduler.after(task, "1s");
    await clock.advance("10s");
    expect(starts(START)).toEqual([1, 1.01, 1.02, 1.03, 1.04, 1.051]);
  });

  it.each([
    ["negative", -1],
    ["NaN", NaN],
    ["infinite", Infinity],
    ["no duration", "soon"],
    ["nothing", undefined],
    ["null", null],
    ["a date", new Date()],
    ["a bigint", 10n],
  ])("A4 a delay that is %s is a fault, and a one-shot fails", async (_title, delay) => {
    const made = world(store);
    const { defineTask } = await import("../../../mod.ts");
    const odd = defineTask("odd", () => again(delay as never));
    const scheduler = await made.start({ tasks: [odd] });
    const once = await scheduler.after(odd, "1s", undefined, { retention: DAY });
    const beat = await scheduler.every(odd, "1s", undefined, { adaptive: true });
    await made.clock.advance("2s");
    expect(await once.info()).toMatchObject({ retireReason: "failed", faultCount: 1, runCount: 1 });
    expect((await once.info()).lastFault!.message).toMatch(/again.*is not a duration/);
    expect(await beat.info()).toMatchObject({ faultCount: 2, consecutiveFaults: 2, retired: false });
  });

  it.each(["300000000d", 253_402_300_800_000, 1e300])(
    "A4 T6 a delay of %s passes the year 9999 and retires the schedule, counted as a fault",
    async (delay) => {
      const { clock, task, scheduler } = await setUp({ again: () => delay });
      const once = await scheduler.after(task, "1s", undefined, { retention: DAY });
      const beat = await scheduler.every(task, "1s", undefined, { retention: DAY, adaptive: true });
      await clock.advance("5s");
      for (const schedule of [once, beat]) {
        expect(await schedule.info()).toMatchObject({
          retireReason: "deadline_out_of_range",
          faultCount: 1,
          consecutiveFaults: 1,
          runCount: 1,
          lastFault: { message: expect.stringMatching(/deadline_out_of_range/) },
        });
      }
    },
  );

  it("A4 a delay that ends exactly at the last deadline is taken", async () => {
    const { clock, task, scheduler } = await setUp({ again: () => 5_000 }, 253_402_300_799_999 - 6_000);
    const once = await scheduler.after(task, "1s", undefined, { retention: DAY });
    await clock.advance("1s");
    expect((await once.info()).nextRun).toEqual(new Date("9999-12-31T23:59:59.999Z"));
  });

  it("A5 off, the default on a recurring schedule: what the handler answers sets nothing, whatever it is", async () => {
    for (const delay of ["10s", -1, "soon", "300000000d"]) {
      const { clock, task, scheduler, starts } = await setUp({ again: () => delay });
      const beat = await scheduler.every(task, "1m");
      await clock.advance("3m");
      expect(starts(START)).toEqual([60, 120, 180]);
      expect(await beat.info()).toMatchObject({ adaptive: false, faultCount: 0, nextRun: new Date(START + 240_000) });
      await scheduler.close();
    }
  });

  it("A5 off on a one-shot: it completes", async () => {
    const { clock, task, scheduler, starts } = await setUp({ again: () => "10s" });
    const once = await scheduler.after(task, "1m", undefined, { adaptive: false, retention: DAY });
    await clock.advance("3m");
    expect(starts(START)).toEqual([60]);
    expect((await once.info()).retireReason).toBe("completed");
  });

  it("A1 F1 a run that faults asks for nothing", async () => {
    const { clock, starts } = await every({ faults: () => true, again: () => "10s" });
    await clock.advance("2m");
    expect(starts(START)).toEqual([60, 120]);
  });

  it("A1 L4 a run that retires its schedule and asks again has retired it", async () => {
    const made = world(store);
    const { defineTask } = await import("../../../mod.ts");
    const both = defineTask("both", (_input, ctx) => {
      ctx.retire("enough");
      return again("1s");
    });
    const scheduler = await made.start({ tasks: [both] });
    const once = await scheduler.after(both, "1s", undefined, { retention: DAY });
    await made.clock.advance("10s");
    expect(await once.info()).toMatchObject({ retireReason: "enough", runCount: 1, faultCount: 0 });
  });

  /** Every minute, adaptive. */
  async function every(behaviour: Behaviour) {
    const made = await setUp(behaviour);
    const schedule = await made.scheduler.every(made.task, "1m", undefined, { adaptive: true });
    return { ...made, schedule };
  }
});
