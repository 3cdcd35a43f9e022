import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { again, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import type { RunContext, SchedulerEvents } from "../../../src/contract/mod.ts";
import { MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

/** Seconds from the start of the test's time. */
function seconds(dates: readonly Date[]): number[] {
  return dates.map((date) => (date.getTime() - START) / SECOND);
}

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const refusing = (trap: string) => () => {
  throw new Error(`trapped ${trap}`);
};
const hostileProxy = new Proxy({}, {
  get: refusing("get"),
  has: refusing("has"),
  getPrototypeOf: refusing("getPrototypeOf"),
  ownKeys: refusing("ownKeys"),
});
const cyclic = new Error("outer");
cyclic.cause = new TypeError("inner", { cause: cyclic });
const chain = Array.from({ length: 1_000 }).reduce((cause: unknown, _, i) => new Error(`e${i}`, { cause }), "root");

/** What a handler may throw, and what is kept of it. */
const THROWN: Readonly<Record<string, readonly [thrown: unknown, kept: Record<string, unknown>]>> = {
  "undefined": [undefined, { name: "Thrown", message: "undefined" }],
  "null": [null, { name: "Thrown", message: "null" }],
  "a string": ["no luck", { name: "Thrown", message: "no luck" }],
  "a symbol": [Symbol("s"), { name: "Thrown", message: "Symbol(s)" }],
  "a function": [() => 1, { name: "Thrown", message: "() => 1" }],
  "a frozen object": [Object.freeze({ a: 1 }), { name: "Error", message: '{"a":1}' }],
  "an object without prototype": [Object.create(null), { name: "Error", message: "{}" }],
  "an error with a cyclic cause": [cyclic, { name: "Error", message: "outer", cause: "TypeError: inner" }],
  "an error with a thousand causes": [chain, {
    message: "e999",
    cause: expect.stringMatching(/^Error: e998; .*e994$/),
  }],
  "a proxy that throws": [hostileProxy, { name: "Error", message: "a value that cannot be shown" }],
  "a revoked proxy": [revoked.proxy, { name: "Error", message: "a value that cannot be shown" }],
  "an error whose message throws": [
    Object.defineProperty(new Error(), "message", { get: refusing("message") }),
    { name: "Error" },
  ],
  "an error with a name that is no text": [Object.assign(new Error("m"), { name: 42 }), {
    name: "Error",
    message: "m",
  }],
  "U+0000 and half a surrogate pair": [new Error("x\u0000y\ud800"), { message: "x\ufffdy\ufffd" }],
  "a message of a megabyte": [new Error("m".repeat(1_000_000)), { message: expect.stringMatching(/^m{997}\.\.\.$/) }],
  "a RangeError": [new RangeError("out"), {
    name: "RangeError",
    message: "out",
    stack: expect.stringContaining("out"),
  }],
};

/** What a handler may answer that is a trap for whoever looks at it. */
const ANSWERED: Readonly<Record<string, unknown>> = {
  "an object whose then throws when read": Object.defineProperty({}, "then", { get: refusing("then") }),
  "a revoked proxy": revoked.proxy,
  "a proxy that throws": hostileProxy,
  "a thenable that throws when it is subscribed to": { then: refusing("subscription") },
};

describe.each(STORES)("faults over %s", (kind) => {
  it("F1 a fault stops neither its schedule's cadence nor another schedule", async () => {
    const { clock, start } = world(kind);
    const points: Record<string, Date[]> = { failing: [], sound: [] };
    const failing = defineTask("failing", (_input, { scheduledAt }) => {
      points["failing"]!.push(scheduledAt);
      throw new Error("always");
    });
    const sound = defineTask("sound", (_input, { scheduledAt }) => void points["sound"]!.push(scheduledAt));
    const scheduler = await start({ tasks: [failing, sound] });
    const one = await scheduler.every(failing, "10s");
    const other = await scheduler.every(sound, "10s");
    await clock.advance("1m");
    expect(seconds(points["failing"]!)).toEqual([10, 20, 30, 40, 50, 60]);
    expect(seconds(points["sound"]!)).toEqual([10, 20, 30, 40, 50, 60]);
    expect(await one.info()).toMatchObject({ runCount: 6, faultCount: 6, nextRun: new Date(START + 70 * SECOND) });
    expect(await other.info()).toMatchObject({ runCount: 6, faultCount: 0, lastFault: undefined });
  });

  for (const [what, [thrown, kept]] of Object.entries(THROWN)) {
    it.each(["throws", "rejects with"])(`F1 F2 a handler that %s ${what} makes a fault like any other`, async (how) => {
      const { clock, start, messages } = world(kind);
      let runs = 0;
      const hostile = defineTask("hostile", () => {
        runs++;
        if (how === "throws") throw thrown;
        return Promise.reject(thrown);
      });
      const scheduler = await start({ tasks: [hostile] });
      const { id } = await scheduler.every(hostile, "1s");
      await clock.advance("3s");
      expect(runs).toBe(3);
      const info = await scheduler.info(id);
      expect(info).toMatchObject({ faultCount: 3, consecutiveFaults: 3, running: [] });
      expect(info.lastFault).toMatchObject({ ...kept, at: START + 3 * SECOND });
      expect(messages.filter(({ level }) => level === "error")).toHaveLength(3);
    });
  }

  for (const [what, answer] of Object.entries(ANSWERED)) {
    it(`F1 a handler that answers ${what} makes a fault and holds nothing`, async () => {
      const { clock, start } = world(kind);
      const points: Date[] = [];
      const hostile = defineTask("hostile", (_input, { scheduledAt }) => {
        points.push(scheduledAt);
        return answer;
      });
      const other = defineTask("other", () => {});
      const scheduler = await start({ tasks: [hostile, other], concurrency: 1 });
      const { id } = await scheduler.every(hostile, "1s");
      const sound = await scheduler.every(other, "1s");
      await clock.advance("3s");
      expect(seconds(points)).toEqual([1, 2, 3]);
      expect(await scheduler.info(id)).toMatchObject({ faultCount: 3, running: [] });
      expect(await sound.info()).toMatchObject({ runCount: 3, faultCount: 0 });
    });
  }

  it("F2 retires a recurring schedule with max_faults after 50 consecutive faults, unless told otherwise", async () => {
    const { clock, start } = world(kind);
    const runs: string[] = [];
    const failing = defineTask("failing", (_input, { schedule }) => {
      runs.push(schedule.name!);
      throw new Error("always");
    });
    const scheduler = await start({ tasks: [failing] });
    const retired: string[] = [];
    scheduler.on("retired", ({ schedule, reason }) => retired.push(`${schedule.name} ${reason}`));
    await scheduler.every(failing, "10s", undefined, { name: "default" });
    await scheduler.every(failing, "10s", undefined, { name: "three", maxFaults: 3 });
    const never = await scheduler.every(failing, "10s", undefined, { name: "never", maxFaults: 0 });
    await scheduler.cron("cron", "* * * * * *", failing, undefined, { maxFaults: 1 });
    await clock.advance("10m");
    const count = (name: string) => runs.filter((run) => run === name).length;
    expect({ default: count("default"), three: count("three"), never: count("never"), cron: count("cron") })
      .toEqual({ default: 50, three: 3, never: 60, cron: 1 });
    expect(retired).toEqual(["cron max_faults", "three max_faults", "default max_faults"]);
    expect(await never.info()).toMatchObject({ faultCount: 60, consecutiveFaults: 60, retired: false });
  });

  it("F2 a success resets the consecutive count and leaves the total and the last fault", async () => {
    const { clock, start } = world(kind);
    let run = 0;
    const sometimes = defineTask("sometimes", () => {
      if (++run % 3 !== 0) throw new Error(`run ${run}`);
    });
    const scheduler = await start({ tasks: [sometimes] });
    const { id } = await scheduler.every(sometimes, "1s", undefined, { maxFaults: 3 });
    await clock.advance("30s");
    expect(run).toBe(30);
    expect(await scheduler.info(id)).toMatchObject({
      faultCount: 20,
      consecutiveFaults: 0,
      lastFault: { name: "Error", message: "run 29", at: START + 29 * SECOND },
    });
  });

  it("F2 lastFault keeps name, message, stack, cause and time, also across a restart", async () => {
    const { clock, create, start } = world(kind);
    const failing = defineTask("failing", () => {
      throw new TypeError("no such room", { cause: new Error("database is gone") });
    });
    const first = await start({ tasks: [failing] });
    const { id } = await first.every(failing, "1m");
    await clock.advance("1m");
    await first.close();
    const { lastFault } = await create().info(id);
    expect(lastFault).toEqual({
      name: "TypeError",
      message: "no such room",
      stack: expect.stringContaining("faults.test.ts"),
      cause: "Error: database is gone",
      at: START + MINUTE,
    });
  });

  it("F3 a one-shot whose run faults retires with failed, and is not dropped", async () => {
    const { clock, start } = world(kind);
    const failing = defineTask("failing", () => {
      throw new Error("no");
    });
    const scheduler = await start({ tasks: [failing] });
    const { id } = await scheduler.after(failing, "1s", undefined, { maxFaults: 0 });
    await clock.advance("1s");
    const info = await scheduler.info(id);
    expect(info).toMatchObject({ retired: true, retireReason: "failed", runCount: 1, faultCount: 1, nextRun: null });
    expect(info.lastFault).toMatchObject({ message: "no" });
    expect(await scheduler.runs(id)).toMatchObject([{ outcome: "faulted", fault: "Error: no" }]);
    expect(await scheduler.valid(id)).toBe(false);
  });

  it("F4 retries the same deadline after 10 s, 20 s and then no longer than maxDelay, and says which attempt", async () => {
    const { clock, start } = world(kind);
    const runs: [at: number, point: number, attempt: number][] = [];
    const failing = defineTask("failing", (_input, { scheduledAt, attempt }) => {
      runs.push([(clock.now() - START) / SECOND, (scheduledAt.getTime() - START) / SECOND, attempt]);
      throw new Error(`attempt ${attempt}`);
    });
    const scheduler = await start({ tasks: [failing] });
    const retries: (number | undefined)[] = [];
    scheduler.on("faulted", ({ retryAt }) => retries.push(retryAt && (retryAt.getTime() - START) / SECOND));
    const { id } = await scheduler.after(failing, "5s", undefined, {
      retry: { limit: 4, delay: "10s", backoff: 2, maxDelay: "30s" },
    });
    await clock.advance("5s");
    expect(await scheduler.info(id)).toMatchObject({ retired: false, faultCount: 1, consecutiveFaults: 0 });
    await clock.advance("10m");
    expect(runs).toEqual([[5, 5, 1], [15, 5, 2], [35, 5, 3], [65, 5, 4], [95, 5, 5]]);
    expect(retries).toEqual([15, 35, 65, 95, undefined]);
  });

  it("F4 exhausted, the attempts count as one fault for maxFaults, and a one-shot retires with failed", async () => {
    const { clock, start } = world(kind);
    const failing = defineTask("failing", {
      retry: { limit: 2, delay: "1s", backoff: 1 },
      run() {
        throw new Error("no");
      },
    });
    const scheduler = await start({ tasks: [failing] });
    const recurring = await scheduler.every(failing, "1m", undefined, { maxFaults: 3 });
    const once = await scheduler.after(failing, "1m");
    await clock.advance("2m");
    expect(await once.info().catch((error: { code: string }) => error.code)).toMatchObject({
      retireReason: "failed",
      runCount: 3,
      faultCount: 3,
      consecutiveFaults: 1,
    });
    await clock.advance("30s");
    expect(await recurring.info()).toMatchObject({ faultCount: 6, consecutiveFaults: 2, runCount: 6, retired: false });
    await clock.advance("32s");
    expect(await recurring.info()).toMatchObject({ retireReason: "max_faults", faultCount: 9, runCount: 9 });
  });

  it("F4 a retry that succeeds resets the consecutive count, completes a one-shot, and the cadence is kept", async () => {
    const { clock, start } = world(kind);
    const runs: [point: number, attempt: number][] = [];
    const second = defineTask("second", (_input, { attempt, scheduledAt }) => {
      runs.push([(scheduledAt.getTime() - START) / SECOND, attempt]);
      if (attempt === 1) throw new Error("first");
    });
    const scheduler = await start({ tasks: [second] });
    const recurring = await scheduler.every(second, "10s", undefined, { retry: { limit: 1, delay: "3s" } });
    await clock.advance("35s");
    expect(runs).toEqual([[10, 1], [10, 2], [20, 1], [20, 2], [30, 1], [30, 2]]);
    expect(await recurring.info()).toMatchObject({
      consecutiveFaults: 0,
      faultCount: 3,
      missedCount: 0,
      overlapCount: 0,
    });
    const once = await scheduler.after(second, 0, undefined, { retry: { limit: 1, delay: "3s" } });
    await clock.advance("3s");
    expect(await once.info()).toMatchObject({ retireReason: "completed", faultCount: 1, consecutiveFaults: 0 });
  });

  it("F4 a retry waits across a restart and stays due", async () => {
    const { clock, start } = world(kind);
    const attempts: number[] = [];
    const failing = defineTask("failing", (_input, { attempt }) => {
      attempts.push(attempt);
      if (attempt < 2) throw new Error("no");
    });
    const first = await start({ tasks: [failing] });
    const { id } = await first.after(failing, "1s", undefined, { retry: { limit: 1, delay: "1m" } });
    await clock.advance("1s");
    await first.close();
    await clock.advance("1h");
    const next = await start({ tasks: [failing] });
    await clock.settled();
    expect(attempts).toEqual([1, 2]);
    expect(await next.info(id)).toMatchObject({ retireReason: "completed" });
  });

  it("F5 aborts through the signal at the timeout, and counts a fault", async () => {
    const { clock, start } = world(kind);
    const reasons: unknown[] = [];
    const obeying = defineTask("obeying", async (_input, { signal }) => {
      await clock.sleep("1m", { signal }).catch((reason: unknown) => {
        reasons.push(reason);
        throw reason;
      });
    });
    const scheduler = await start({ tasks: [obeying] });
    const { id } = await scheduler.every(obeying, "1h", undefined, { timeout: "10s", startAt: START + SECOND });
    await clock.advance("10999ms");
    expect((await scheduler.info(id)).running).toHaveLength(1);
    await clock.advance("1ms");
    expect(reasons).toMatchObject([{ name: "TimeoutError" }]);
    expect(await scheduler.info(id)).toMatchObject({ faultCount: 1, running: [], lastFault: { name: "TimeoutError" } });
    expect(await scheduler.runs(id)).toMatchObject([{ outcome: "timeout", endedAt: new Date(START + 11 * SECOND) }]);
  });

  it("F5 a handler that ignores the signal frees its slot 5 s after the timeout; its late result is ignored", async () => {
    const { clock, start } = world(kind);
    const contexts: RunContext[] = [];
    const ignoring = defineTask("ignoring", async (_input, context) => {
      contexts.push(context);
      await context.schedules.after("other", "1h");
      await clock.sleep("60s");
      await context.schedules.after("other", "1h").catch(() => {});
      return again("1s");
    });
    const others: number[] = [];
    const other = defineTask("other", () => void others.push((clock.now() - START) / SECOND));
    const scheduler = await start({ tasks: [ignoring, other], concurrency: 1 });
    const { id } = await scheduler.after(ignoring, "1s", undefined, { timeout: "10s" });
    await scheduler.after(other, "2s");
    await clock.advance("15999ms");
    expect(others).toEqual([]);
    expect(contexts[0]!.signal.aborted).toBe(true);
    await clock.advance("1ms");
    expect(others).toEqual([16]);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "failed", faultCount: 1, running: [] });
    const told: string[] = [];
    for (const event of ["succeeded", "faulted", "leaseLost"] as const) scheduler.on(event, () => told.push(event));
    await clock.advance("50s");
    expect(contexts).toHaveLength(1);
    expect(told).toEqual([]);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "failed", faultCount: 1, runCount: 1 });
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it("F5 what a handler answers between its timeout and the end of the grace is a fault all the same", async () => {
    const { clock, start } = world(kind);
    const late = defineTask("late", () => clock.sleep("12s"));
    const scheduler = await start({ tasks: [late] });
    const { id } = await scheduler.after(late, 0, undefined, { timeout: "10s" });
    await clock.advance("12s");
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "failed", lastFault: { name: "TimeoutError" } });
    expect(await scheduler.runs(id)).toMatchObject([{ outcome: "timeout", endedAt: new Date(START + 12 * SECOND) }]);
  });

  it("F5 B108: a timed-out, throwing or rejecting run never holds the next point", async () => {
    const { clock, start } = world(kind);
    const ways: readonly ((context: RunContext) => unknown)[] = [
      () => {
        throw new Error("at once");
      },
      () => Promise.reject(new Error("later")),
      () => new Promise(() => {}),
      () => undefined,
      ({ signal }) => clock.sleep("1h", { signal }),
    ];
    const seen: number[] = [];
    const odd = defineTask("odd", (_input, context) => {
      seen.push((context.scheduledAt.getTime() - START) / SECOND);
      return ways[seen.length - 1]?.(context);
    });
    const scheduler = await start({ tasks: [odd] });
    const { id } = await scheduler.every(odd, "10s", undefined, { timeout: "2s" });
    await clock.advance("60s");
    expect(seen).toEqual([10, 20, 30, 40, 50, 60]);
    expect(await scheduler.info(id)).toMatchObject({ faultCount: 4, overlapCount: 0 });
  });

  it("F5 F4 a timed-out run is retried like any fault", async () => {
    const { clock, start } = world(kind);
    const attempts: number[] = [];
    const slow = defineTask("slow", {
      timeout: "1s",
      retry: { limit: 1, delay: "1s" },
      async run(_input, { attempt, signal }) {
        attempts.push(attempt);
        if (attempt === 1) await clock.sleep("1m", { signal });
      },
    });
    const scheduler = await start({ tasks: [slow] });
    const { id } = await scheduler.after(slow, 0);
    await clock.advance("2s");
    expect(attempts).toEqual([1, 2]);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", faultCount: 1 });
  });

  it("F5 a timeout longer than a timer holds still waits that long", async () => {
    const { clock, start } = world(kind);
    const endless = defineTask("endless", () => new Promise(() => {}));
    const scheduler = await start({ tasks: [endless], leaseMs: 3_600_000 });
    const { id } = await scheduler.after(endless, 0, undefined, { timeout: "30d" });
    await clock.advance("29d");
    expect((await scheduler.info(id)).running).toHaveLength(1);
    await clock.advance("1d");
    await clock.advance("5s");
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "failed", lastFault: { name: "TimeoutError" } });
  });

  it("F1 B153: listeners that throw or reject harm nothing, and each is told to the logger once", async () => {
    const { clock, start, messages } = world(kind);
    const failing = defineTask("failing", () => Promise.reject(new Error("no")));
    const scheduler = await start({ tasks: [failing] });
    scheduler.on("started", () => {
      throw new Error("a listener");
    });
    scheduler.on("faulted", () => Promise.reject(new Error("an async listener")));
    const faults: SchedulerEvents["faulted"][] = [];
    scheduler.on("faulted", (event) => faults.push(event));
    await scheduler.every(failing, "1s");
    await clock.advance("2s");
    expect(faults).toHaveLength(2);
    expect(messages.map(({ level, text }) => `${level} ${text}`)).toEqual([
      'error a listener of "started" threw',
      'error a listener of "faulted" threw',
      'error a listener of "started" threw',
      'error a listener of "faulted" threw',
    ]);
  });

  it("F1 a logger that throws harms nothing either", async () => {
    const { clock, start } = world(kind);
    const refuse = () => {
      throw new Error("the log is full");
    };
    let runs = 0;
    const failing = defineTask("failing", () => {
      runs++;
      throw new Error("no");
    });
    const scheduler = await start({
      tasks: [failing],
      logger: { error: refuse, warn: refuse, info: refuse, debug: refuse },
    });
    const { id } = await scheduler.every(failing, "1s");
    await clock.advance("3s");
    expect(runs).toBe(3);
    expect(await scheduler.info(id)).toMatchObject({ faultCount: 3, running: [] });
  });
});

describe("conflicts in the store", () => {
  it("F6 a write lock that is held while a run is claimed and settled makes no fault and no second run", async () => {
    const { clock, start, file } = world("sqlite");
    const other = new DatabaseSync(file!);
    const attempts: number[] = [];
    const task = defineTask("task", (_input, { attempt }) => {
      attempts.push(attempt);
      other.exec("begin immediate");
      setTimeout(() => other.exec("rollback"), 20);
    });
    const scheduler = await start({ tasks: [task] });
    const { id } = await scheduler.every(task, "1s");
    for (let run = 0; run < 3; run++) {
      other.exec("begin immediate");
      setTimeout(() => other.exec("rollback"), 20);
      await clock.advance("1s");
    }
    other.close();
    expect(attempts).toEqual([1, 1, 1]);
    expect(await scheduler.info(id)).toMatchObject({ runCount: 3, faultCount: 0, missedCount: 0 });
  });

  it("F6 a lock held for longer than the driver waits is tried again by the engine: late, and still one run", async () => {
    const { clock, start, file } = world("sqlite");
    const other = new DatabaseSync(file!);
    const attempts: number[] = [];
    const task = defineTask("task", (_input, { attempt }) => void attempts.push(attempt));
    const scheduler = await start({ tasks: [task], storage: sqlite({ path: file!, busyTimeout: 20 }) });
    const errors: string[] = [];
    scheduler.on("storeError", ({ operation }) => errors.push(operation));
    const { id } = await scheduler.every(task, "1m");
    other.exec("begin immediate");
    await clock.advance("61s");
    expect(attempts).toEqual([]);
    expect(errors.length).toBeGreaterThan(0);
    other.exec("rollback");
    other.close();
    await clock.advance("10s");
    expect(attempts).toEqual([1]);
    expect(await scheduler.info(id)).toMatchObject({ runCount: 1, faultCount: 0, missedCount: 0 });
  });
});
