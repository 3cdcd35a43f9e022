import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defineTask, type Scheduler } from "../../../mod.ts";
import { type Group, type RunContext, type Storage, StorageError } from "../../../src/contract/mod.ts";
import { faultyStore } from "../../../src/testing/mod.ts";
import { cuttable, HOUR, MINUTE, SECOND, START, type StoreKind, STORES, world } from "../support/schedulers.ts";

/** A handler whose first runs hang, as those of an instance that dies would, and whose later ones end at once. */
function hanging(hangs: number) {
  const contexts: RunContext[] = [];
  const gates: (() => void)[] = [];
  const task = defineTask("hanging", async (_input, context) => {
    contexts.push(context);
    if (contexts.length <= hangs) await new Promise<void>((resolve) => gates.push(resolve));
  });
  return { task, contexts, open: () => gates.splice(0).forEach((gate) => gate()) };
}

/** An instance that runs one schedule and then loses the store, and another that finds the run. */
async function lost(kind: StoreKind, hangs = 1) {
  const one = world(kind);
  const { task, contexts, open } = hanging(hangs);
  const connection = cuttable(one.handle());
  const dying = await one.start({ tasks: [task], storage: connection.storage });
  return {
    ...one,
    task,
    contexts,
    open,
    connection,
    dying,
    async fail(): Promise<Scheduler> {
      connection.cut();
      return await one.start({ tasks: [task] });
    },
  };
}

describe.each(STORES)("several instances over %s", (kind) => {
  it("M6 I3 a creation whose reply is lost may be stored, and is then run on time by the instance that made it", async () => {
    const { clock, handle, start } = world(kind);
    const ran: number[] = [];
    const task = defineTask("task", () => void ran.push(clock.now() - START));
    let isLost = false;
    const storage = new Proxy(handle(), {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== "function") return member;
        if (key !== "apply" || !isLost) return member.bind(target);
        return async (...parameters: unknown[]) => {
          await member.apply(target, parameters);
          throw new StorageError("the reply is lost");
        };
      },
    });
    const scheduler = await start({ tasks: [task], storage });
    isLost = true;
    await expect(scheduler.after(task, "10s")).rejects.toMatchObject({ code: "store_unavailable" });
    isLost = false;
    await clock.advance("10s");
    expect(ran).toEqual([10 * SECOND]);
  });

  it("M2 leaves a deadline alone whose task it has not, and says so; an instance that has it runs it", async () => {
    const { clock, create, start } = world(kind);
    const mine = defineTask("mine", () => {});
    const ran: Date[] = [];
    const other = defineTask("other", (_input, { scheduledAt }) => void ran.push(scheduledAt));
    const maker = create({ tasks: [mine, other] });
    const made = await maker.at(other, START + SECOND);
    await maker.at(other, START + 2 * SECOND);
    const scheduler = await start({ tasks: [mine] });
    const told: unknown[] = [];
    scheduler.on("unclaimed", (event) => told.push(event));
    await clock.advance("10s");
    expect(told).toEqual([{ task: "other", due: 2, oldest: new Date(START + SECOND) }]);
    await clock.advance("1m");
    expect(told).toHaveLength(2);
    expect(await maker.info(made.id)).toMatchObject({ retired: false, runCount: 0, missedCount: 0 });
    const able = await start({ tasks: [other] });
    await clock.settled();
    expect(ran).toEqual([new Date(START + SECOND), new Date(START + 2 * SECOND)]);
    await clock.advance("10m");
    expect(told).toHaveLength(2);
    expect(await able.info(made.id).catch((error: { code: string }) => error.code)).toBe("not_found");
  });

  it("M2 M6 says so also where the store failed at the first look", async () => {
    const { clock, create, handle } = world(kind);
    const other = defineTask("other", () => {});
    await create({ tasks: [other] }).after(other, 0);
    // now, backlog
    const { storage, struck } = faultyStore(handle(), { at: 2, reply: "fails" });
    const scheduler = create({ storage });
    const told: unknown[] = [];
    scheduler.observe(({ name, event }) => told.push("operation" in event ? event.operation : name));
    await scheduler.start();
    await clock.advance("1m");
    expect(struck()).toBe(true);
    expect(told).toEqual(["backlog", "unclaimed"]);
  });

  it.each(["answers", "fails"])("M2 V5 says nothing where the store %s after the close", async (how) => {
    const { clock, create, handle } = world(kind);
    const other = defineTask("other", () => {});
    await create({ tasks: [other] }).after(other, 0);
    await clock.advance("10s");
    const inner = handle();
    let settle: (() => void) | undefined;
    const storage: Storage = new Proxy(inner, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== "function") return member;
        if (key !== "backlog") return member.bind(target);
        return async (before: number, limit: number) => {
          const lanes = await inner.backlog(before, limit);
          await new Promise<void>((resolve) => settle = resolve);
          if (how === "fails") throw new StorageError("gone");
          return lanes;
        };
      },
    });
    const scheduler = create({ storage });
    const told: string[] = [];
    scheduler.observe(({ name }) => told.push(name));
    await scheduler.start();
    await expect.poll(() => settle).toBeDefined();
    await scheduler.close();
    settle!();
    await clock.settled();
    expect(told).toEqual(["closed"]);
  });

  it("L6 however often others change something, one look at the runs is under way, and one follows it", async () => {
    const { clock, handle, start } = world(kind);
    const inner = handle();
    const { promise: answer, resolve: answerNow } = Promise.withResolvers<void>();
    let hint: () => void = () => {};
    let looks: number | undefined;
    const storage: Storage = new Proxy(inner, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== "function") return member;
        if (key === "subscribe") {
          return (listener: () => void) => {
            hint = listener;
            return () => {};
          };
        }
        if (key !== "apply" || looks === undefined) return member.bind(target);
        looks++;
        return async (groups: readonly Group[], now: number) => {
          await answer;
          return await inner.apply(groups, now);
        };
      },
    });
    const slow = defineTask("slow", () => new Promise(() => {}));
    const scheduler = await start({ storage, tasks: [slow] });
    await scheduler.after(slow, 0);
    await clock.advance("1s");
    looks = 0;
    for (let i = 0; i < 10; i++) hint();
    expect(looks).toBe(1);
    answerNow();
    await clock.settled();
    expect(looks).toBe(2);
  });

  it("M2 many overdue schedules of a task that nobody has do not hold up the others", async () => {
    const { clock, create, start } = world(kind);
    const absent = defineTask("absent", () => {});
    const ran: number[] = [];
    const mine = defineTask("mine", () => void ran.push(clock.now() - START));
    const maker = create({ tasks: [absent, mine] });
    await maker.createMany(Array.from({ length: 5_000 }, () => ({ task: absent, at: START - HOUR })));
    await maker.at(mine, START + SECOND);
    await start({ tasks: [mine] });
    await clock.advance("1s");
    expect(ran).toEqual([SECOND]);
  });

  it("M3 starts a lost run again once its lease of 30 s has ended, and counts a fault", async () => {
    const { clock, dying, task, contexts, fail } = await lost(kind);
    const { id } = await dying.every(task, "1h", undefined, { startAt: START + SECOND });
    await clock.advance("1s");
    const other = await fail();
    const told: unknown[] = [];
    other.on("lost", ({ run, rerun }) => told.push([run.attempt, rerun]));
    await clock.advance("29999ms");
    expect(contexts).toHaveLength(1);
    await clock.advance("1ms");
    expect(contexts.map(({ attempt, scheduledAt }) => [attempt, scheduledAt.getTime() - START]))
      .toEqual([[1, SECOND], [2, SECOND]]);
    expect(told).toEqual([[1, true]]);
    expect(await other.info(id)).toMatchObject({
      runCount: 2,
      faultCount: 1,
      consecutiveFaults: 0,
      lastFault: { name: "LeaseLost" },
      nextRun: new Date(START + HOUR + SECOND),
    });
    expect((await other.runs(id)).map(({ outcome }) => outcome)).toEqual(["succeeded", "lost"]);
  });

  it("M3 counts a lost run as a fault and does not repeat it with onLost: fault", async () => {
    const { clock, dying, task, contexts, fail } = await lost(kind);
    const recurring = await dying.every(task, "1h", undefined, { startAt: START + SECOND, onLost: "fault" });
    await clock.advance("1s");
    const other = await fail();
    await clock.advance("10m");
    expect(contexts).toHaveLength(1);
    expect(await other.info(recurring.id)).toMatchObject({ faultCount: 1, consecutiveFaults: 1, running: [] });
    await clock.advance("1h");
    expect(contexts).toHaveLength(2);
  });

  it("M3 F3 a one-shot that may run at most once retires with lost", async () => {
    const { clock, dying, task, contexts, fail } = await lost(kind);
    const { id } = await dying.after(task, "1s", undefined, { onLost: "fault", retry: { limit: 5 } });
    await clock.advance("1s");
    const other = await fail();
    await clock.advance("30s");
    expect(contexts).toHaveLength(1);
    expect(await other.info(id)).toMatchObject({ retireReason: "lost", faultCount: 1, runCount: 1 });
  });

  it.each([[undefined, 3], [1, 1], [2, 2]])(
    "M3 a one-shot that takes its instance with it (maxLost %s) retires with lost after %s losses",
    async (maxLost, losses) => {
      const { clock, handle, start, create } = world(kind);
      const { task, contexts } = hanging(Infinity);
      const { id } = await create({ tasks: [task] }).at(
        task,
        START,
        undefined,
        maxLost === undefined ? { retention: "1d" } : { maxLost, retention: "1d" },
      );
      for (let died = 0; died < 5; died++) {
        const connection = cuttable(handle());
        await start({ tasks: [task], storage: connection.storage });
        await clock.settled();
        connection.cut();
        await clock.advance("30s");
      }
      expect(contexts).toHaveLength(losses);
      const last = await start({ tasks: [task] });
      await clock.settled();
      expect(await last.info(id)).toMatchObject({ retireReason: "lost", faultCount: losses, runCount: losses });
    },
  );

  it("M3 F3 what is claimed beside a run that takes its instance with it each time is not lost with it for good", async () => {
    const { clock, handle, start, create } = world(kind);
    let die = () => {};
    const poison = defineTask("poison", () => {
      die();
      return new Promise<void>(() => {});
    });
    const harmless = defineTask("harmless", () => {});
    const tasks = [poison, harmless];
    const due = { at: START, retention: "1d" } as const;
    const [first, ...others] = await create({ tasks }).createMany([
      { task: poison, ...due },
      ...Array.from({ length: 5 }, () => ({ task: harmless, ...due })),
    ]);
    let draws = 0;
    const random = vi.spyOn(Math, "random").mockImplementation(() => (++draws * 0.37) % 1);
    onTestFinished(() => random.mockRestore());
    for (let life = 0; life < 4; life++) {
      const connection = cuttable(handle());
      die = connection.cut;
      const instance = await start({ tasks, storage: connection.storage });
      await clock.settled();
      if (life === 2) {
        expect((await instance.explain(others[0]!.id)).waits).toMatchObject([{ for: "retry", attempt: 3 }]);
      }
      await clock.advance("30s");
      connection.cut();
      await clock.advance("30s");
    }
    const last = create();
    expect(await last.info(first!.id)).toMatchObject({ retireReason: "lost", faultCount: 3 });
    for (const { id } of others) {
      expect(await last.info(id)).toMatchObject({ retireReason: "completed", faultCount: 2 });
    }
  });

  it("M3 F2 losses in a row retire a recurring schedule at maxFaults, so that no run takes instances for ever", async () => {
    const { clock, handle, start, create } = world(kind);
    const { task, contexts } = hanging(Infinity);
    const { id } = await create({ tasks: [task] }).every(task, "1h", undefined, {
      startAt: START + SECOND,
      maxFaults: 2,
      maxLost: 100,
      retention: "1d",
    });
    await clock.advance("1s");
    for (let died = 0; died < 4; died++) {
      const connection = cuttable(handle());
      await start({ tasks: [task], storage: connection.storage });
      await clock.settled();
      connection.cut();
      await clock.advance("30s");
    }
    expect(contexts).toHaveLength(2);
    const last = create();
    expect(await last.info(id)).toMatchObject({ retireReason: "max_faults", faultCount: 2, consecutiveFaults: 2 });
  });

  it("M4 B092: an instance that lost its lease cannot settle, arm, or commit what its run buffered", async () => {
    const { clock, start, handle } = world(kind);
    const contexts: RunContext[] = [];
    const gates: (() => void)[] = [];
    const task = defineTask("task", async (_input, context) => {
      contexts.push(context);
      await context.schedules.after("task", "1h", `made by attempt ${context.attempt}`);
      if (context.attempt === 1) await new Promise<void>((resolve) => gates.push(resolve));
    });
    const connection = cuttable(handle());
    const slow = await start({ tasks: [task], storage: connection.storage });
    const events: string[] = [];
    for (const name of ["succeeded", "faulted", "leaseLost"] as const) slow.on(name, () => events.push(name));
    const { id } = await slow.after(task, "1s");
    await clock.advance("1s");
    connection.cut();
    const other = await start({ tasks: [task] });
    await clock.advance("30s");
    expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    connection.mend();
    gates[0]!();
    await clock.advance("20s");
    expect(events).toEqual(["leaseLost"]);
    expect(await other.info(id)).toMatchObject({ retireReason: "completed", runCount: 2, faultCount: 1 });
    expect((await other.runs(id)).map(({ outcome }) => outcome)).toEqual(["succeeded", "lost"]);
    const left = (await other.list().page()).schedules;
    expect(await Promise.all(left.map(async (one) => (await one.info()).input))).toEqual(["made by attempt 2"]);
  });

  it("M4 B092: tells a handler through its signal that its lease is lost, once the store answers again", async () => {
    const { clock, dying, task, contexts, connection, fail } = await lost(kind);
    await dying.after(task, "1s");
    await clock.advance("1s");
    await fail();
    await clock.advance("30s");
    expect(contexts[0]!.signal.aborted).toBe(false);
    connection.mend();
    await clock.advance("10s");
    expect(contexts[0]!.signal.reason).toMatchObject({ code: "lease_lost" });
  });

  it("M4 B096: exactly one end is recorded of a run that its lease's end and its own race for, in both orders", async () => {
    const { clock, start, handle } = world(kind);
    const gates: (() => void)[] = [];
    const task = defineTask("task", (_input, { attempt }) =>
      attempt > 1 ? undefined : new Promise<void>((resolve) => {
        gates.push(resolve);
      }));
    for (let round = 0; round < 10; round++) {
      const connection = cuttable(handle());
      const one = await start({ tasks: [task], storage: connection.storage });
      const { id } = await one.at(task, clock.now(), undefined, { onLost: "fault" });
      await clock.settled();
      connection.cut();
      const other = await start({ tasks: [task] });
      await clock.advance("29999ms");
      if (round % 2 === 0) connection.mend();
      else await clock.advance("1ms");
      connection.mend();
      gates.pop()!();
      await clock.settled();
      await clock.advance("1s");
      const info = await other.info(id);
      const runs = await other.runs(id);
      expect(runs).toHaveLength(1);
      expect([info.retireReason, info.faultCount, runs[0]!.outcome]).toEqual(
        round % 2 === 0 ? ["completed", 0, "succeeded"] : ["lost", 1, "lost"],
      );
      await one.close({ drain: 0 });
      await other.close({ drain: 0 });
    }
  });

  it("M5 renews the lease of a run for as long as it lasts, and nobody takes it", async () => {
    const { clock, start } = world(kind);
    const task = defineTask("task", () => clock.sleep("10m"));
    const one = await start({ tasks: [task] });
    const { id } = await one.after(task, "1s");
    await clock.advance("1s");
    const other = await start({ tasks: [task] });
    await clock.advance("10m");
    expect(await other.info(id)).toMatchObject({ retireReason: "completed", runCount: 1, faultCount: 0 });
  });

  it("M5 instances with long runs leave one another in peace: their renewals call forth no others", async () => {
    const { clock, start, handle } = world(kind);
    const task = defineTask("task", () => clock.sleep("2m"));
    const stores = [handle(), handle()].map((store) => faultyStore(store, { at: Infinity, reply: "fails" }));
    for (const { storage } of stores) {
      const scheduler = await start({ tasks: [task], storage, leaseMs: 30_000, concurrency: 1 });
      await scheduler.at(task, clock.now());
      await clock.advance("1s");
    }
    const before = stores.reduce((sum, { calls }) => sum + calls(), 0);
    await clock.advance("1m");
    // Six renewals each, and a look at each other's: not a conversation.
    expect(stores.reduce((sum, { calls }) => sum + calls(), 0) - before).toBeLessThan(100);
  });

  it("M6 runs go on while the store is lost; their settlements wait and are applied when it returns", async () => {
    const { clock, start, handle } = world(kind);
    const ended: number[] = [];
    const task = defineTask("task", async () => {
      await clock.sleep("5s");
      ended.push(clock.now() - START);
    });
    const connection = cuttable(handle());
    const scheduler = await start({ tasks: [task], storage: connection.storage });
    const errors: string[] = [];
    scheduler.on("storeError", ({ operation }) => errors.push(operation));
    const { id } = await scheduler.every(task, "1h", undefined, { startAt: START + SECOND });
    await clock.advance("2s");
    connection.cut();
    await clock.advance("18s");
    expect(ended).toEqual([6 * SECOND]);
    expect(errors).toContain("settle");
    // With a backoff: 100 ms, doubled up to 5 s.
    expect(connection.refused()).toBeLessThan(20);
    connection.mend();
    await clock.advance("5s");
    const info = await scheduler.info(id);
    expect(info).toMatchObject({ runCount: 1, faultCount: 0, running: [], lastDurationMs: 5 * SECOND });
    expect(await scheduler.runs(id)).toMatchObject([{ outcome: "succeeded", endedAt: new Date(START + 6 * SECOND) }]);
  });

  it("M6 M3 an outcome that waits longer than the lease is still settled, and its run not started again", async () => {
    const { clock, start, handle } = world(kind);
    let runs = 0;
    const task = defineTask("task", () => {
      runs++;
      return clock.sleep("5s");
    });
    const connection = cuttable(handle());
    const scheduler = await start({ tasks: [task], storage: connection.storage, leaseMs: 10_000 });
    const { id } = await scheduler.after(task, "1s");
    await clock.advance("2s");
    connection.cut();
    await clock.advance("1m");
    connection.mend();
    await clock.advance("10s");
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", runCount: 1, faultCount: 0 });
    expect(runs).toBe(1);
  });

  it("M6 fires what came due while the store was lost, once it returns", async () => {
    const { clock, start, handle } = world(kind);
    const ran: [point: number, missed: number][] = [];
    const task = defineTask("task", (_input, { scheduledAt, missed }) => {
      ran.push([(scheduledAt.getTime() - START) / MINUTE, missed]);
    });
    const connection = cuttable(handle());
    const scheduler = await start({ tasks: [task], storage: connection.storage });
    const { id } = await scheduler.every(task, "1m");
    await clock.advance("1m");
    connection.cut();
    await clock.advance("10m");
    expect(ran).toEqual([[1, 0]]);
    connection.mend();
    await clock.advance("10s");
    expect(ran).toEqual([[1, 0], [11, 9]]);
    await clock.advance("50s");
    expect(ran).toEqual([[1, 0], [11, 9], [12, 0]]);
    expect(await scheduler.info(id)).toMatchObject({ missedCount: 9, faultCount: 0 });
  });

  it("M6 calls fail with store_unavailable, retryable, while the store is lost", async () => {
    const { start, handle } = world(kind);
    const task = defineTask("task", () => {});
    const connection = cuttable(handle());
    const scheduler = await start({ tasks: [task], storage: connection.storage });
    connection.cut();
    await expect(scheduler.after(task, "1m")).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    connection.mend();
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it("M6 an opening that failed is tried again by the next call, as a whole", async () => {
    const { clock, create, handle } = world(kind);
    for (const at of [1, 2]) {
      let calls = 0;
      const storage = new Proxy(handle(), {
        get(target, key) {
          const member: unknown = Reflect.get(target, key, target);
          if (typeof member !== "function") return member;
          if (key !== "open" && key !== "now") return member.bind(target);
          return (...parameters: unknown[]) =>
            ++calls === at ? Promise.reject(new Error("not yet")) : member.apply(target, parameters);
        },
      });
      const ran: string[] = [];
      const task = defineTask("task", (_input, { runId }) => void ran.push(runId));
      const scheduler = create({ tasks: [task], storage });
      await expect(scheduler.start()).rejects.toThrow("not yet");
      await scheduler.after(task, 0);
      await scheduler.after(task, 0, undefined, { persist: false });
      await scheduler.start();
      await clock.settled();
      expect(ran).toHaveLength(2);
      await scheduler.close();
    }
  });

  it("T8 a forward jump takes no live lease: the run of another instance goes on alone", async () => {
    const { clock, start } = world(kind);
    let starts = 0;
    const task = defineTask("task", async () => {
      starts++;
      await clock.sleep("2m");
    });
    const one = await start({ tasks: [task] });
    const { id } = await one.after(task, "1s");
    await clock.advance("1s");
    const other = await start({ tasks: [task] });
    await clock.advance("1s");
    await clock.set(START + 10 * HOUR);
    await clock.advance("3m");
    expect(starts).toBe(1);
    expect(await other.info(id).then(({ retireReason }) => retireReason, ({ code }) => code)).toMatch(
      /completed|not_found/,
    );
    expect(starts).toBe(1);
  });

  it("T8 a backward jump fires no point twice, on neither instance, and the cadence goes on when its time has come", async () => {
    const { clock, start } = world(kind);
    const points: number[] = [];
    const task = defineTask("task", (_input, { scheduledAt }) => void points.push(scheduledAt.getTime() - START));
    const one = await start({ tasks: [task] });
    await start({ tasks: [task] });
    await one.every(task, "1m");
    await clock.advance("5m");
    await clock.set(START + 2 * MINUTE);
    await clock.advance("5m");
    expect(points).toEqual([1, 2, 3, 4, 5, 6, 7].map((minute) => minute * MINUTE));
  });

  it("M1 B100: nothing is leased before it is due, so that a lease of an hour holds up nothing that is due in six", async () => {
    const { clock, start } = world(kind);
    let runs = 0;
    const task = defineTask("task", () => void runs++);
    const instances = [];
    for (let i = 0; i < 3; i++) instances.push(await start({ tasks: [task], leaseMs: 3_600_000 }));
    const { id } = await instances[0]!.after(task, "6h", undefined, { retention: "1d" });
    await clock.advance("5h");
    expect((await instances[1]!.info(id)).running).toEqual([]);
    await clock.advance("2h");
    expect(runs).toBe(1);
    expect(await instances[2]!.info(id)).toMatchObject({ runCount: 1, retireReason: "completed" });
  });
});

/** Every promise about a schedule that is made, fires twice and is stopped, with each call to the store failing in turn. */
describe.each(STORES)("crash points over %s", (kind) => {
  async function scenario(at: number, reply: "fails" | "is lost") {
    const { clock, start, handle, create } = world(kind);
    const faults = faultyStore(handle(), { at, reply });
    const points: number[] = [];
    const once: number[] = [];
    const every = defineTask("every", async (_input, { scheduledAt, schedules }) => {
      points.push((scheduledAt.getTime() - START) / MINUTE);
      await schedules.every("once", "1d", `from ${scheduledAt.getTime()}`, { key: `k${scheduledAt.getTime()}` });
    });
    const single = defineTask("once", () => void once.push(clock.now()));
    const scheduler = create({ tasks: [every, single], storage: faults.storage });
    // Whoever is refused tries again.
    await scheduler.start().catch(() => scheduler.start());
    const made = await Promise.allSettled([
      scheduler.every(every, "1m", undefined, { name: "beat", retry: { limit: 2, delay: "1s" } }),
      scheduler.at(single, START + 90 * SECOND, undefined, { name: "single" }),
    ]);
    await clock.advance("2m");
    await clock.advance("30s");
    await scheduler.close({ drain: 0 });
    const reopened = await start({ tasks: [every, single] });
    await clock.advance("2m");
    return { clock, faults, points, once, made, reopened, create };
  }

  const MOST_CALLS = 60;

  it.each(["fails", "is lost"] as const)(
    "I3 M3 B097 B105: whichever call to the store %s, every deadline runs, none is stuck and counters add up",
    async (reply) => {
      let struck = 0;
      for (let at = 1; at <= MOST_CALLS; at++) {
        const { faults, points, once, made, reopened } = await scenario(at, reply);
        if (!faults.struck()) break;
        struck++;
        const where = `call ${at} ${reply}`;
        const beat = (await reopened.list({ name: "beat" }).page()).schedules[0];
        const single = (await reopened.list({ name: "single" }).page()).schedules[0];
        const [beatMade, singleMade] = made.map(({ status }) => status === "fulfilled");
        // What resolved is there; what was refused is not, unless it is the reply that was lost.
        if (beatMade) expect(beat, where).toBeDefined();
        else if (reply === "fails") expect(beat, where).toBeUndefined();
        if (beat !== undefined) {
          expect([...new Set(points)], where).toEqual([1, 2, 3, 4]);
          const info = await beat.info();
          expect(info.running, where).toEqual([]);
          expect(info.missedCount, where).toBe(0);
          expect(info.runCount, where).toBeGreaterThanOrEqual(points.length);
          // A point runs twice only where its run was lost, and that is counted.
          expect(points.length - 4, where).toBeLessThanOrEqual(info.faultCount);
          const followers = [];
          for await (const { id } of reopened.list({ task: "once" })) followers.push(id);
          expect(followers.length, where).toBe(4 + (single === undefined ? 0 : 1));
        }
        if (singleMade) expect(once.length, where).toBeGreaterThanOrEqual(1);
        expect(single, where).toBeUndefined();
        if (reply === "fails") expect(once.length, where).toBeLessThanOrEqual(1);
      }
      expect(struck).toBeGreaterThan(10);
      expect(struck).toBeLessThan(MOST_CALLS);
    },
    60_000,
  );
});
