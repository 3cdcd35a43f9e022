import { describe, expect, it } from "vitest";
import { type AdvanceRequest, type Clock, type Group, MAX_TIMER_MS, type Storage } from "../../../src/contract/mod.ts";
import { defineTask } from "../../../mod.ts";
import { faultyStore } from "../../../src/testing/mod.ts";
import { noting } from "../support/noting.ts";
import { DAY, HOUR, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

const iso = (text: string) => Date.parse(text);

describe("long waits", () => {
  /** A clock that notes every delay that is armed. */
  function watched(clock: Clock): { readonly clock: Clock; readonly delays: number[] } {
    const delays: number[] = [];
    return {
      delays,
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        setTimer: (callback, delay, options) => {
          delays.push(delay);
          return clock.setTimer(callback, delay, options);
        },
        defer: (callback) => clock.defer(callback),
        busy: () => clock.busy!(),
        onJump: (callback) => clock.onJump!(callback),
        pass: (ms, until) => clock.pass!(ms, until),
      },
    };
  }

  it.each(STORES)(
    "T7 B058 a one-shot in 60 days and a monthly cron fire at their time, with a handful of timers, on %s",
    async (store) => {
      const made = world(store);
      const { clock, delays } = watched(made.clock);
      const noted = noting(made.clock);
      const scheduler = await made.start({ clock, tasks: [noted.task] });
      await scheduler.after(noted.task, 5_184_000_000);
      await made.clock.advance("59d");
      expect(noted.runs).toEqual([]);
      await made.clock.advance(DAY - 1);
      expect(noted.runs).toEqual([]);
      await made.clock.advance(1);
      expect(noted.starts(START)).toEqual([5_184_000]);
      expect(Math.max(...delays)).toBeLessThanOrEqual(MAX_TIMER_MS);
      expect(delays.length).toBeLessThan(20);

      noted.runs.length = 0;
      delays.length = 0;
      await scheduler.cron("monthly", "0 0 1 * *", noted.task);
      await made.clock.advance("90d");
      expect(noted.runs.map(({ at }) => at)).toEqual([iso("2026-04-01T00:00:00Z"), iso("2026-05-01T00:00:00Z")]);
      expect(Math.max(...delays)).toBeLessThanOrEqual(MAX_TIMER_MS);
      expect(delays.length).toBeLessThan(40);
    },
  );

  it("T7 a deadline centuries away is waited for, not spun on", async () => {
    const made = world("memory");
    const { clock, delays } = watched(made.clock);
    const noted = noting(made.clock);
    const scheduler = await made.start({ clock, tasks: [noted.task] });
    await scheduler.at(noted.task, "2326-01-01T00:00:00Z");
    await made.clock.advance(iso("2326-01-01T00:00:00Z") - START - 1);
    expect(noted.runs).toEqual([]);
    await made.clock.advance(1);
    expect(noted.runs).toHaveLength(1);
    // 300 years in timers of 24.8 days: about 4,400 for each of the scheduler's two stores.
    expect(delays.length).toBeLessThan(9_000);
  });

  it("T7 F5 a timeout longer than a timer holds ends no run early, scheduled or invoked", async () => {
    const made = world("memory");
    const ended: string[] = [];
    const long = defineTask("long", {
      timeout: "40d",
      run: async (input: string, { signal }) => {
        await made.clock.sleep("30d", { signal });
        ended.push(`${input} after ${(made.clock.now() - START) / DAY} d`);
      },
    });
    const scheduler = await made.start({ tasks: [long], leaseMs: 3_600_000 });
    await scheduler.after(long, 0, "scheduled");
    const invoked = scheduler.invoke(long, "invoked");
    await made.clock.advance("29d");
    expect(ended).toEqual([]);
    await made.clock.advance("2d");
    await invoked;
    expect(ended.sort()).toEqual(["invoked after 30 d", "scheduled after 30 d"]);
  });
});

describe.each(STORES)("clock jumps on %s", (store) => {
  async function setUp(behaviour: Parameters<typeof noting>[1], start: string) {
    const made = world(store, iso(start));
    const noted = noting(made.clock, behaviour);
    const scheduler = await made.start({ tasks: [noted.task] });
    const at = () => noted.runs.map(({ point }) => new Date(point).toISOString().slice(11, 19));
    return { ...made, ...noted, scheduler, at };
  }

  it.each([
    ["skip", "skip" as const, [], 8],
    ["once", "once" as const, ["06:00:00"], 7],
    ["all, at most 3", { policy: "all" as const, limit: 3 }, ["04:00:00", "05:00:00", "06:00:00"], 5],
  ])(
    "T8 B064 hourly, asleep from 22:00 to 06:15 with 8 points passed: %s runs the right ones, next at 07:00",
    async (_title, catchup, ran, missed) => {
      const { clock, task, scheduler, at, runs, together } = await setUp({}, "2026-01-01T21:30:00Z");
      const schedule = await scheduler.cron("hourly", "0 * * * *", task, undefined, { catchup });
      await clock.advance("31m");
      expect(at()).toEqual(["22:00:00"]);
      await clock.set("2026-01-02T06:15:00Z");
      expect(at().slice(1)).toEqual(ran);
      expect(together()).toBe(1);
      expect(runs.slice(1).every(({ at }) => at === iso("2026-01-02T06:15:00Z"))).toBe(true);
      expect(await schedule.info()).toMatchObject({ missedCount: missed, nextRun: new Date("2026-01-02T07:00:00Z") });
      await clock.advance("2h");
      expect(at().slice(1 + ran.length)).toEqual(["07:00:00", "08:00:00"]);
    },
  );

  it("T8 B066 every minute, the clock steps back an hour at 12:00:30: no point runs again, 12:01 does", async () => {
    const { clock, task, scheduler, at } = await setUp({}, "2026-01-01T11:58:00Z");
    const schedule = await scheduler.cron("minutes", "* * * * *", task);
    await clock.advance("150s");
    expect(at()).toEqual(["11:59:00", "12:00:00"]);
    await clock.set("2026-01-01T11:00:30Z");
    await clock.advance("1h");
    expect(at()).toEqual(["11:59:00", "12:00:00"]);
    await clock.advance("90s");
    expect(at()).toEqual(["11:59:00", "12:00:00", "12:01:00", "12:02:00"]);
    expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: 0 });
  });

  it("T8 B066 a run in progress keeps a lease of the usual length when the clock steps back", async () => {
    const { clock, task, scheduler, handle, runs } = await setUp({ lasts: () => "10m" }, "2026-01-01T12:00:00Z");
    const once = await scheduler.after(task, 0);
    await clock.advance("30s");
    await clock.set("2026-01-01T11:00:30Z");
    await clock.advance("20s");
    const storage = handle();
    await storage.open({ clock, logger: console });
    const { leaseUntil } = (await storage.get(once.id))!.progress.runs[0]!;
    await storage.close();
    expect(leaseUntil).toBeLessThanOrEqual(clock.now() + 30_000);
    expect(leaseUntil).toBeGreaterThan(clock.now());
    await clock.advance("10m");
    expect(runs).toHaveLength(1);
    expect(await once.info()).toMatchObject({ runCount: 1, faultCount: 0, retireReason: "completed" });
  });

  it.each(["2026-01-01T12:10:30Z", "2026-01-03T12:00:30Z"])(
    "T8 C6 the clock jumps ahead to %s under a run: it goes on, is not lost, and what passed is overlap's business",
    async (to) => {
      const { clock, task, scheduler, at } = await setUp(
        { lasts: (run) => run === 0 ? "45s" : "0ms" },
        "2026-01-01T12:00:00Z",
      );
      const lost: unknown[] = [];
      scheduler.on("lost", (event) => lost.push(event));
      scheduler.on("leaseLost", (event) => lost.push(event));
      const schedule = await scheduler.every(task, "1m", undefined, { startAt: iso("2026-01-01T12:00:00Z") });
      await clock.advance("10s");
      await clock.set(to);
      await clock.advance("35s");
      const passed = Math.floor((iso(to) + 35_000 - iso("2026-01-01T12:00:00Z")) / MINUTE);
      // The first run ends 35 s after the jump, five seconds after a point.
      expect(lost).toEqual([]);
      expect(at()).toEqual(["12:00:00"]);
      expect(await schedule.info()).toMatchObject({ overlapCount: passed, missedCount: 0, faultCount: 0, runCount: 1 });
      await clock.advance("55s");
      expect(at()).toHaveLength(2);
    },
  );

  it("T8 M3 an instance whose clock jumped ahead believes the leases of others once more, not for ever", async () => {
    const { clock, task, scheduler, handle } = await setUp({ lasts: () => "5m" }, "2026-01-01T12:00:00Z");
    const once = await scheduler.after(task, 0);
    await clock.advance("1s");
    // Another instance, with a clock of its own that jumps. The first one gives no sign of life from here on.
    const other = world("memory", clock.now());
    const taken = noting(other.clock);
    const second = await other.start({ storage: handle(), tasks: [taken.task] });
    await other.clock.advance("1s");
    await other.clock.set("2026-01-01T18:00:00Z");
    await other.clock.advance("29s");
    expect(taken.runs).toEqual([]);
    expect(await second.info(once.id)).toMatchObject({ runCount: 1, faultCount: 0 });
    await other.clock.advance("2s");
    expect(taken.runs).toHaveLength(1);
    await second.close();
  });

  it("T1 T8 points that a forward jump has lined up wait for their time when the clock is set right again", async () => {
    const { clock, task, scheduler, runs } = await setUp({ lasts: () => "1s" }, "2026-01-01T12:00:00Z");
    const origin = iso("2026-01-01T12:00:00Z");
    await scheduler.every(task, "10s", undefined, { catchup: "all" });
    await clock.advance("12s");
    await clock.set(clock.now() + 60 * SECOND);
    await clock.set(clock.now() - 60 * SECOND);
    await clock.advance("90s");
    const told = runs.map(({ point, at }) => [(point - origin) / SECOND, (at - origin) / SECOND]);
    // The first of them began while the clock said that it was late.
    expect(told).toEqual([[10, 10], [20, 72], [30, 30], [40, 40], [50, 50], [60, 60], [70, 70], [80, 80], [90, 90], [
      100,
      100,
    ]]);
  });

  it("T8 jumps to and fro fire no point twice and lose none but the missed", async () => {
    const { clock, task, scheduler, runs } = await setUp({}, "2026-01-01T12:00:00Z");
    const origin = iso("2026-01-01T12:00:00Z");
    const schedule = await scheduler.every(task, "10s", undefined, { catchup: "all" });
    for (const jump of [35, -120, 7, 400, -3, -390, 0, 61]) {
      await clock.advance("12s");
      await clock.set(clock.now() + jump * SECOND);
    }
    await clock.advance("10m");
    const points = runs.map(({ point }) => (point - origin) / SECOND);
    expect(points).toEqual(points.map((_, i) => (i + 1) * 10));
    expect(await schedule.info()).toMatchObject({ missedCount: 0, overlapCount: 0, runCount: points.length });
  });
});

describe("a clock that a test moves", () => {
  it("waits for what handlers ask of a store, however slow it is", async () => {
    const { clock, start, handle } = world("memory");
    const delay = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
    const { storage } = faultyStore(handle(), { at: Infinity, reply: "fails", delay });
    const asked: unknown[] = [];
    const task = defineTask("task", async (_input, ctx) => {
      asked.push(await scheduler.valid(ctx.schedule.id));
      for await (const { kind } of scheduler.list()) asked.push(kind);
      asked.push(await ctx.schedules.stop("01JGFJJZ00QWERTYQWERTYQWER"));
    });
    const scheduler = await start({ storage, tasks: [task] });
    const { id } = await scheduler.every(task, "1m", undefined, { maxRuns: 1 });
    await clock.advance("1m");
    expect(asked).toEqual([true, "every", false]);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "ended", lastDurationMs: 0 });
  });
});

describe("a store with a clock of its own", () => {
  /** A store whose clock goes on whatever is done to that of its instances. */
  function withClock(inner: Storage, now: () => number): Storage {
    return new Proxy(inner, {
      get(target, key) {
        if (key === "supports") return { ...target.supports, clock: true };
        if (key === "now") return () => Promise.resolve(now());
        if (key === "advance") {
          return (request: AdvanceRequest, step: Parameters<Storage["advance"]>[1]) =>
            target.advance({ ...request, now: now() }, step);
        }
        if (key === "apply") return (groups: readonly Group[]) => target.apply(groups, now());
        const member: unknown = Reflect.get(target, key, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  it.each([["told of", true], ["that nobody tells of", false]])(
    "T8 decides what is due however an instance's clock jumps, in jumps %s",
    async (_title, told) => {
      const { clock, handle, start } = world("memory");
      const server = () => START + clock.monotonic();
      const at: number[] = [];
      const task = defineTask("task", () => void at.push((server() - START) / SECOND));
      const { onJump: _onJump, ...untold } = {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        setTimer: (callback: () => void, delay: number) => clock.setTimer(callback, delay),
        defer: (callback: () => void) => clock.defer(callback),
        busy: () => clock.busy!(),
        onJump: (callback: () => void) => clock.onJump!(callback),
        pass: (ms: number, until: Promise<void>) => clock.pass!(ms, until),
      };
      const scheduler = await start({
        storage: withClock(handle(), server),
        tasks: [task],
        clock: told ? clock : untold,
      });
      await scheduler.every(task, "1m");
      for (const jump of [-1, 2, -5, -1, 7]) {
        await clock.advance("30s");
        await clock.set(clock.now() + jump * HOUR);
        await clock.advance("30s");
      }
      expect(at).toEqual([60, 120, 180, 240, 300]);
    },
  );
});

describe.each(STORES)("after a crash, on %s", (store) => {
  it.each([
    ["rerun" as const, [[60, 1, 0], [60, 2, 0], [540, 1, 7], [600, 1, 0], [660, 1, 0]]],
    ["fault" as const, [[60, 1, 0], [540, 1, 7], [600, 1, 0], [660, 1, 0]]],
  ])(
    "M8 M3 an interrupted run, onLost %s: what follows it is armed, what passed is caught up",
    async (onLost, expected) => {
      const made = world(store);
      const first = noting(made.clock, { lasts: () => "1h" });
      const dying = await made.start({ tasks: [first.task] });
      const schedule = await dying.every(first.task, "1m", undefined, { onLost });
      await made.clock.advance("61s");
      // Its clock stands still from here on, as a dead instance's does; another takes over nine minutes later.
      const later = world("memory", START + 599 * SECOND);
      const second = noting(later.clock);
      const scheduler = await later.start({ storage: made.handle(), tasks: [second.task] });
      await later.clock.advance("62s");
      const told = [...first.runs, ...second.runs].map((
        run,
      ) => [(run.point - START) / SECOND, run.attempt, run.missed]);
      expect(told).toEqual(expected);
      expect(await scheduler.info(schedule.id)).toMatchObject({
        missedCount: 7,
        overlapCount: 0,
        faultCount: 1,
        nextRun: new Date(START + 12 * MINUTE),
      });
      await scheduler.close();
    },
  );
});
