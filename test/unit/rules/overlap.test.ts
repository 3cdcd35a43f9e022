import { describe, expect, it } from "vitest";
import { noting } from "../support/noting.ts";
import { DAY, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

const ended = (durations: readonly string[]) => (run: number) => durations[run] ?? "0ms";

describe.each(STORES)("overlap on %s", (store) => {
  /** Every second from t on; the first run lasts 2.5 s, or as told. */
  async function setUp(overlap: object | string, durations: readonly string[] = ["2500ms"]) {
    const made = world(store);
    const noted = noting(made.clock, { lasts: ended(durations) });
    const scheduler = await made.start({ tasks: [noted.task] });
    const schedule = await scheduler.every(noted.task, "1s", undefined, { overlap: overlap as "skip", startAt: START });
    return { ...made, ...noted, scheduler, schedule };
  }

  it("O1 skip, the default: every 1 s, running to t+2.5 s: t+1 and t+2 are dropped, the next run is at t+3", async () => {
    const { clock, starts, points, schedule } = await setUp("skip");
    await clock.advance("4s");
    expect(starts(START)).toEqual([0, 3, 4]);
    expect(points(START)).toEqual([0, 3, 4]);
    expect(await schedule.info()).toMatchObject({ overlapCount: 2, missedCount: 0, faultCount: 0, overlap: "skip" });
  });

  it("O1 a run exactly as long as the interval drops no point", async () => {
    const { clock, starts, schedule } = await setUp("skip", Array.from({ length: 6 }, () => "1s"));
    await clock.advance("5s");
    expect(starts(START)).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await schedule.info()).overlapCount).toBe(0);
  });

  it("O2 queue: one run starts at t+2.5, the other point counts one, the run after that is at t+3", async () => {
    const { clock, starts, points, schedule } = await setUp("queue");
    await clock.advance("2499ms");
    expect(starts(START)).toEqual([0]);
    await clock.advance("1501ms");
    expect(starts(START)).toEqual([0, 2.5, 3, 4]);
    expect(points(START)).toEqual([0, 1, 3, 4]);
    expect(await schedule.info()).toMatchObject({ overlapCount: 1, missedCount: 0 });
  });

  it("O2 queue with limit 2: both points wait and run one after another, oldest first", async () => {
    const { clock, starts, points, together, schedule } = await setUp({ policy: "queue", limit: 2 }, [
      "2500ms",
      "100ms",
    ]);
    await clock.advance("3s");
    expect(starts(START)).toEqual([0, 2.5, 2.6, 3]);
    expect(points(START)).toEqual([0, 1, 2, 3]);
    expect(together()).toBe(1);
    expect((await schedule.info()).overlapCount).toBe(0);
  });

  it("O3 concurrent: each point starts at once beside the running ones", async () => {
    const { clock, starts, together, schedule } = await setUp("concurrent", ["2500ms", "2500ms", "2500ms", "2500ms"]);
    await clock.advance("4s");
    expect(starts(START)).toEqual([0, 1, 2, 3, 4]);
    expect(together()).toBe(3);
    expect((await schedule.info()).overlapCount).toBe(0);
  });

  it("O3 concurrent with limit 2: a point over it counts as overlapped", async () => {
    const four = Array.from({ length: 4 }, () => "2500ms");
    const { clock, starts, together, schedule } = await setUp({ policy: "concurrent", limit: 2 }, four);
    await clock.advance("4s");
    expect(starts(START)).toEqual([0, 1, 3, 4]);
    expect(together()).toBe(2);
    expect((await schedule.info()).overlapCount).toBe(1);
  });

  it("O4 replace: the running one is aborted and counts as overlapped, not as a fault; the new one follows its end", async () => {
    const { clock, starts, points, together, scheduler, schedule } = await setUp("replace", ["2500ms", "2500ms"]);
    const faulted: unknown[] = [];
    scheduler.on("faulted", (event) => faulted.push(event));
    await clock.advance("3s");
    expect(starts(START)).toEqual([0, 1, 2, 3]);
    expect(points(START)).toEqual([0, 1, 2, 3]);
    expect(together()).toBe(1);
    expect(await schedule.info()).toMatchObject({ overlapCount: 2, faultCount: 0, consecutiveFaults: 0 });
    expect(faulted).toEqual([]);
    expect((await schedule.runs()).map(({ outcome }) => outcome)).toEqual([
      "succeeded",
      "succeeded",
      "replaced",
      "replaced",
    ]);
  });

  it("O4 replace: one that ignores its signal is waited for, and only the newest point follows", async () => {
    const made = world(store);
    const started: number[] = [];
    const { defineTask } = await import("../../../mod.ts");
    const deaf = defineTask("deaf", async () => {
      started.push((made.clock.now() - START) / SECOND);
      if (started.length === 1) await made.clock.sleep("3500ms");
    });
    const scheduler = await made.start({ tasks: [deaf] });
    const schedule = await scheduler.every(deaf, "1s", undefined, { overlap: "replace", startAt: START });
    await made.clock.advance("4s");
    expect(started).toEqual([0, 3.5, 4]);
    // The run itself, and the points at 1 and 2 s that the one at 3 s took the place of.
    expect((await schedule.info()).overlapCount).toBe(3);
  });

  it.each(["the instance", "the task"])(
    "O4 replace: a run that takes the last slot of %s gives way, too",
    async (whose) => {
      const made = world(store);
      const noted = noting(made.clock, { lasts: () => "150s" });
      const task = whose === "the task" ? { ...noted.task, concurrency: 1 } : noted.task;
      const scheduler = await made.start({
        tasks: [task],
        leaseMs: 21_000,
        ...(task === noted.task && { concurrency: 1 }),
      });
      const told: number[] = [];
      scheduler.on("overlapped", ({ count, point }) => told.push(count, (point.getTime() - START) / SECOND));
      const schedule = await scheduler.every(task, "1m", undefined, { overlap: "replace", startAt: START });
      await made.clock.advance("170s");
      expect(noted.points(START)).toEqual([0, 60, 120]);
      // The point is seen where the lease is renewed, three times in its length.
      const late = noted.runs.map(({ at, point }) => at - point);
      expect(Math.max(...late)).toBeLessThanOrEqual(7 * SECOND);
      expect(await schedule.info()).toMatchObject({ overlapCount: 2, missedCount: 0, faultCount: 0 });
      expect(told).toEqual([1, 0, 1, 60]);
    },
  );

  it("O5 the policy holds across instances: a run that another holds counts as executing", async () => {
    const made = world(store);
    const noted = noting(made.clock, { lasts: ended(["2500ms"]) });
    const first = await made.start({ tasks: [noted.task] });
    const schedule = await first.every(noted.task, "1s", undefined, { startAt: START });
    await made.clock.advance(0);
    const second = await made.start({ tasks: [noted.task] });
    await made.clock.advance("4s");
    expect(noted.starts(START)).toEqual([0, 3, 4]);
    expect(await second.info(schedule.id)).toMatchObject({ overlapCount: 2, missedCount: 0 });
  });

  it("O5 the policy holds across restarts: points that passed while the dead instance's lease lasted are overlapped", async () => {
    const made = world(store);
    const noted = noting(made.clock, { lasts: ended(["1h"]) });
    const first = await made.start({ tasks: [noted.task], leaseMs: 5_000 });
    const schedule = await first.every(noted.task, "1s", undefined, { startAt: START, onLost: "fault" });
    await made.clock.advance(0);
    expect(noted.starts(START)).toEqual([0]);
    // A second clock, because the first instance is to give no sign of life any more.
    const later = world("memory", START + 8_700);
    const storage = made.handle();
    const second = await later.start({ storage, tasks: [noted.task], leaseMs: 5_000 });
    await later.clock.advance(0);
    // 1 to 4 s during the lease; 5 to 7 s missed, and 8 s standing for them.
    expect(await second.info(schedule.id)).toMatchObject({ overlapCount: 4, missedCount: 3, faultCount: 1 });
    expect(noted.points(START)).toEqual([0, 8]);
    await second.close();
  });

  it.each(
    [
      ["skip", [0, 3, 6, 9], 1],
      ["queue", [0, 1, 3, 5], 1],
      ["concurrent", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3],
    ] as const,
  )(
    "O1 O2 O3 B110: every minute, 150 s long, three instances, %s: minutes %j, %i together",
    async (overlap, minutes, most) => {
      const made = world(store);
      const noted = noting(made.clock, { lasts: () => "150s" });
      const instances = [];
      for (let i = 0; i < 3; i++) instances.push(await made.start({ tasks: [noted.task] }));
      const schedule = await instances[0]!.every(noted.task, "1m", undefined, { overlap, startAt: START });
      await made.clock.advance(10 * MINUTE - 1);
      expect(noted.runs.map(({ point }) => (point - START) / MINUTE).slice(0, minutes.length)).toEqual(minutes);
      expect(noted.together()).toBe(most);
      const { runCount, overlapCount, missedCount } = await schedule.info();
      expect(runCount).toBe(noted.runs.length);
      expect(missedCount).toBe(0);
      // Ten points arrived: each ran, was dropped, or is the one that waits.
      expect(runCount + overlapCount + (overlap === "queue" ? 1 : 0)).toBe(10);
    },
  );

  it.each(
    [
      ["throws synchronously", () => {
        throw new Error("at once");
      }],
      ["rejects", () => Promise.reject(new Error("later"))],
      [
        "times out",
        (signal: AbortSignal) => new Promise<never>((_, reject) => signal.onabort = () => reject(signal.reason)),
      ],
      ["returns undefined without being async", () => undefined],
    ] as const,
  )("O1 B108: the point after a run that %s runs", async (_title, handler) => {
    const { defineTask } = await import("../../../mod.ts");
    const made = world(store);
    let runs = 0;
    const task = defineTask("guarded", (_input, { signal }) => {
      runs++;
      return handler(signal);
    });
    const scheduler = await made.start({ tasks: [task] });
    const schedule = await scheduler.every(task, "10s", undefined, { timeout: "2s", startAt: START });
    await made.clock.advance("10s");
    expect(runs).toBe(2);
    expect((await schedule.info()).overlapCount).toBe(0);
  });

  it("O1 B108: the point after a run whose middleware threw runs", async () => {
    const made = world(store);
    const noted = noting(made.clock);
    let calls = 0;
    const plugin = {
      name: "hook",
      contract: 1 as const,
      wrapRun: (_run: unknown, next: () => Promise<unknown>) => {
        if (calls++ === 0) throw new Error("the hook threw");
        return next();
      },
    };
    const scheduler = await made.start({ tasks: [noted.task], plugins: [plugin] });
    const schedule = await scheduler.every(noted.task, "1s");
    await made.clock.advance("2s");
    expect(calls).toBe(2);
    expect(noted.points(START)).toEqual([2]);
    expect(await schedule.info()).toMatchObject({ faultCount: 1, overlapCount: 0 });
  });

  it("L5 O1 trigger: one run beside the cadence, under the overlap policy; false where that drops it", async () => {
    const { clock, starts, schedule } = await setUp("skip", ["300ms", "2s"]);
    await clock.advance("500ms");
    expect(await schedule.trigger()).toBe(true);
    await clock.advance(0);
    expect(await schedule.trigger()).toBe(false);
    await clock.advance("3500ms");
    // The triggered one lasts from 0.5 to 2.5 s.
    expect(starts(START)).toEqual([0, 0.5, 3, 4]);
    expect((await schedule.info()).overlapCount).toBe(3);
  });

  it("T9 L5 a trigger that replaces a run counts as no deadline, and a pause does not hold it", async () => {
    const made = world(store);
    const noted = noting(made.clock, { lasts: ended(["10s", "10s"]) });
    const scheduler = await made.start({ tasks: [noted.task] });
    const schedule = await scheduler.every(noted.task, "1m", undefined, { overlap: "replace", maxRuns: 2 });
    await made.clock.advance("61s");
    expect(await schedule.trigger()).toBe(true);
    await made.clock.advance("1s");
    expect(noted.starts(START)).toEqual([60, 61]);
    expect(await schedule.info()).toMatchObject({ retired: false, runCount: 2, overlapCount: 1 });
    await schedule.pause();
    expect(await schedule.trigger()).toBe(true);
    await made.clock.advance("1s");
    expect(noted.starts(START)).toEqual([60, 61, 62]);
    await schedule.resume();
    await made.clock.advance("1m");
    expect(noted.starts(START)).toEqual([60, 61, 62, 120]);
    expect(await schedule.info()).toMatchObject({ retireReason: "ended", runCount: 4 });
  });

  it("T1 a one-shot whose time comes during a triggered run fires when that has ended", async () => {
    const made = world(store);
    const noted = noting(made.clock, { lasts: ended(["2s"]) });
    const scheduler = await made.start({ tasks: [noted.task] });
    const once = await scheduler.after(noted.task, "10s", undefined, { retention: DAY });
    await made.clock.advance("9s");
    expect(await once.trigger()).toBe(true);
    await made.clock.advance("5s");
    expect(noted.starts(START)).toEqual([9, 11]);
    expect(noted.points(START)).toEqual([9, 10]);
    expect(await once.info()).toMatchObject({ retireReason: "completed", overlapCount: 0 });
  });
});
