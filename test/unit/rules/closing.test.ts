import { describe, expect, it } from "vitest";
import { defineTask } from "../../../mod.ts";
import type { Clock, RunContext, Schedule, Storage, TransactionClient } from "../../../src/contract/mod.ts";
import { systemClock } from "../../../src/system.ts";
import { faultyStore, type ManualClock } from "../../../src/testing/mod.ts";
import { cuttable, HOUR, SECOND, START, STORES, world } from "../support/schedulers.ts";

/** A handler that waits for the test. */
function gated(name: string) {
  const contexts: RunContext[] = [];
  const gates: (() => void)[] = [];
  const task = defineTask(name, (_input, context) => {
    contexts.push(context);
    return new Promise<void>((resolve) => gates.push(resolve));
  });
  return { task, contexts, open: () => gates.splice(0).forEach((gate) => gate()) };
}

/** Tells whether a promise is settled; few turns go by, since a clock left alone for long moves by itself. */
async function isSettled(promise: Promise<unknown>, clock: ManualClock): Promise<boolean> {
  let over = false;
  promise.then(() => (over = true), () => (over = true));
  await clock.settled();
  return over;
}

/** The machine's clock with a hundredth of the patience. */
function hasty(): Clock {
  const clock = systemClock();
  return { ...clock, setTimer: (callback, delayMs, options) => clock.setTimer(callback, delayMs / 100, options) };
}

/** A store that a test may have say nothing to what it is asked to write, as one whose network is gone. */
function silenced(inner: Storage) {
  let isSilent = false;
  let unanswered = 0;
  const storage: Storage = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      if (key === "apply" && isSilent) return () => new Promise(() => unanswered++);
      return member.bind(target);
    },
  });
  return { storage, silence: () => void (isSilent = true), unanswered: () => unanswered };
}

describe.each(STORES)("closing over %s", (kind) => {
  it("X1 waits for a running handler, settles it, and keeps what became of it", async () => {
    const { clock, start, create } = world(kind);
    const slow = defineTask("slow", () => clock.sleep("10s"));
    const scheduler = await start({ tasks: [slow] });
    const { id } = await scheduler.every(slow, "1m");
    await clock.advance("1m");
    const closing = scheduler.close({ drain: "30s" });
    expect(await isSettled(closing, clock)).toBe(false);
    await clock.advance("10s");
    await closing;
    const [run] = await create().runs(id);
    expect(run).toMatchObject({ outcome: "succeeded", attempt: 1, scheduledAt: new Date(START + 60 * SECOND) });
    expect(run!.endedAt).toEqual(new Date(START + 70 * SECOND));
  });

  it("X1 called and awaited by a handler it does not wait for that, and its run is settled all the same", async () => {
    const { clock, start, create } = world(kind);
    let scheduler = create();
    const last = defineTask("last", async () => {
      await clock.sleep("1s");
      await scheduler.close();
      await clock.sleep("1s");
    });
    const slow = defineTask("slow", () => clock.sleep("10s"));
    scheduler = await start({ tasks: [last, slow] });
    const [{ id }, other] = [await scheduler.after(last, "1m"), await scheduler.after(slow, "1m")];
    await clock.advance("62s");
    const closing = scheduler.close();
    expect(await isSettled(closing, clock)).toBe(false);
    await clock.advance("8s");
    await closing;
    const later = create();
    for (const run of [...await later.runs(id), ...await later.runs(other.id)]) {
      expect(run).toMatchObject({ outcome: "succeeded", attempt: 1 });
    }
    expect((await later.info(id)).retireReason).toBe("completed");
  });

  it("X1 called by what a handler has left behind, it waits as for anybody", async () => {
    const { clock, start, create } = world(kind);
    let scheduler = create();
    let closing: Promise<void> | undefined;
    const first = defineTask("first", () => void clock.sleep("2s").then(() => closing = scheduler.close()));
    const slow = defineTask("slow", () => clock.sleep("10s"));
    scheduler = await start({ tasks: [first, slow] });
    await scheduler.createMany([{ task: first, after: "1m" }, { task: slow, after: "1m" }]);
    await clock.advance("62s");
    expect(await isSettled(closing!, clock)).toBe(false);
    await clock.advance("8s");
    await closing;
  });

  it("X1 called by a listener it waits, also where what a handler did has led to the event", async () => {
    const { clock, start } = world(kind);
    const quick = defineTask("quick", () => {});
    let over = false;
    const long = defineTask("long", async () => {
      await scheduler.after(quick, 0);
      await clock.sleep("10s");
      over = true;
    });
    const scheduler = await start({ tasks: [quick, long] });
    const ticks: unknown[] = [];
    let closing: Promise<boolean> | undefined;
    scheduler.on("succeeded", async ({ schedule }) => {
      if (schedule.task !== "quick") return;
      ticks.push(await scheduler.tick({ budget: 0 }).then(() => "done", (error) => error.code));
      closing = scheduler.close().then(() => over);
    });
    await scheduler.after(long, 0);
    await clock.advance("1s");
    await clock.advance("10s");
    expect(await closing).toBe(true);
    expect(ticks).toEqual(["done"]);
  });

  it("X1 called by an invoked handler, it does not wait for that either", async () => {
    const { start, create } = world(kind);
    let scheduler = create();
    const last = defineTask("last", async () => {
      await scheduler.close();
      return "done";
    });
    scheduler = await start({ tasks: [last] });
    expect(await scheduler.invoke(last)).toBe("done");
    await scheduler.close();
    await expect(scheduler.list().page()).rejects.toMatchObject({ code: "closed" });
  });

  it("X1 aborts a handler when the drain time is over, waits 5 s more, then releases it for others", async () => {
    const { clock, start, create } = world(kind);
    const stubborn = gated("stubborn");
    const scheduler = await start({ tasks: [stubborn.task] });
    const { id } = await scheduler.after(stubborn.task, "1s");
    await clock.advance("1s");
    const [context] = stubborn.contexts;
    const closing = scheduler.close({ drain: "3s" });
    await clock.advance("2999ms");
    expect(context!.signal.aborted).toBe(false);
    await clock.advance("1ms");
    expect(context!.signal.reason).toMatchObject({ code: "closed" });
    await clock.advance("4999ms");
    expect(await isSettled(closing, clock)).toBe(false);
    await clock.advance("1ms");
    await closing;
    const info = await create().info(id);
    expect(info).toMatchObject({ running: [], faultCount: 0, retired: false });
  });

  it("X1 runs again, on the next instance and at once, what was released", async () => {
    const { clock, start } = world(kind);
    const stubborn = gated("stubborn");
    const first = await start({ tasks: [stubborn.task] });
    const { id } = await first.after(stubborn.task, "1s");
    await clock.advance("1s");
    await first.close({ drain: 0 });
    const second = await start({ tasks: [stubborn.task] });
    await clock.settled();
    expect(stubborn.contexts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    // What the first instance's handler comes to now is nobody's business.
    stubborn.open();
    await clock.settled();
    expect(await second.runs(id)).toMatchObject([
      { attempt: 2, outcome: "succeeded" },
      { attempt: 1, outcome: "released", startedAt: new Date(START + 1_000) },
    ]);
    expect(await second.info(id)).toMatchObject({ retireReason: "completed", faultCount: 0, runCount: 2 });
  });

  it("X1 V4 what was released leaves its trace, and counts neither as a fault nor as a loss", async () => {
    const { clock, start, create } = world(kind);
    const stubborn = gated("stubborn");
    const options = { maxLost: 1, maxFaults: 1 };
    for (let times = 1; times <= 3; times++) {
      const scheduler = await start({ tasks: [stubborn.task] });
      if (times === 1) await scheduler.after(stubborn.task, "1s", undefined, { name: "one", ...options });
      await clock.advance("1s");
      await scheduler.close({ drain: 0 });
    }
    const reader = create({ tasks: [stubborn.task] });
    const [{ id }] = (await reader.list().page()).schedules as [Schedule];
    const runs = await reader.runs(id);
    expect(runs.map(({ attempt, outcome, fault }) => [attempt, outcome, fault])).toEqual(
      [3, 2, 1].map((attempt) => [attempt, "released", undefined]),
    );
    expect(new Set(runs.map(({ instance }) => instance)).size).toBe(3);
    const { decisions, text, lastRun } = await reader.explain(id);
    expect(decisions.map(({ what }) => what)).toEqual(["ran", "released", "ran", "released", "ran", "released"]);
    expect(decisions.at(-1)).toMatchObject({ count: 1, point: new Date(START + 1_000) });
    expect(text).toContain("gave back a run for the point 2026-01-01T00:00:01.000Z: its instance closed before");
    expect(lastRun).toMatchObject({ attempt: 3, outcome: "released" });
    const info = await reader.info(id);
    expect(info).toMatchObject({
      runCount: 3,
      faultCount: 0,
      consecutiveFaults: 0,
      retired: false,
      lastFault: undefined,
    });
  });

  it("X1 counts what closing cut off as a fault, and does not repeat it, where it may run at most once", async () => {
    const { clock, start, create } = world(kind);
    const stubborn = gated("stubborn");
    const first = await start({ tasks: [stubborn.task] });
    const { id } = await first.after(stubborn.task, "1s", undefined, { onLost: "fault", retry: { limit: 3 } });
    await clock.advance("1s");
    await first.close({ drain: 0 });
    const info = await create().info(id);
    expect(info).toMatchObject({ retired: true, retireReason: "failed", faultCount: 1, running: [] });
    expect(info.lastFault).toMatchObject({ message: "the scheduler closed before the run had ended" });
  });

  it("X1 hands back what was claimed but not started, as if it had never been claimed", async () => {
    const { clock, start, create } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task], concurrency: 2 });
    const made = await scheduler.createMany(
      Array.from({ length: 10 }, () => ({ task: slow.task, after: "1s" })),
    );
    await clock.advance("1s");
    expect(slow.contexts).toHaveLength(2);
    const closing = scheduler.close({ drain: "10s" });
    await clock.settled();
    slow.open();
    await clock.advance("1s");
    await closing;
    const reader = create();
    const infos = await Promise.all(made.map(({ id }) => reader.info(id)));
    const untouched = infos.filter((info) => !info.retired);
    expect(untouched).toHaveLength(8);
    for (const info of untouched) {
      expect(info).toMatchObject({ runCount: 0, faultCount: 0, running: [], lastRun: null });
    }
    const next = await start({ tasks: [slow.task] });
    await clock.settled();
    expect(slow.contexts).toHaveLength(10);
    expect(slow.contexts.every(({ attempt, elapsed }) => attempt === 1 && elapsed === 0)).toBe(true);
    slow.open();
    await clock.settled();
    expect(await Promise.all(made.map(async ({ id }) => (await next.info(id)).retireReason)))
      .toEqual(Array(10).fill("completed"));
  });

  it("X1 loses no run that is being claimed at the very moment of the close", async () => {
    const { clock, start, create } = world(kind);
    const ran: string[] = [];
    const quick = defineTask("quick", (_input, { schedule }) => void ran.push(schedule.id));
    const maker = create({ tasks: [quick] });
    const made = await maker.createMany(Array.from({ length: 50 }, () => ({ task: quick, at: START })));
    // The claim is on its way to the store when the close begins.
    const scheduler = await start({ tasks: [quick], concurrency: 3 });
    await scheduler.close({ drain: 0 });
    const infos = await Promise.all(made.map(({ id }) => maker.info(id)));
    expect(infos.filter(({ retired }) => retired).map(({ id }) => id).sort()).toEqual([...ran].sort());
    expect(infos.flatMap(({ running }) => running)).toEqual([]);
    const another = await start({ tasks: [quick] });
    await clock.advance("1s");
    expect([...ran].sort()).toEqual(made.map(({ id }) => id).sort());
    expect((await Promise.all(made.map(({ id }) => another.info(id)))).map(({ runCount }) => runCount))
      .toEqual(Array(50).fill(1));
  });

  it("X1 B112: claims nothing more although a handler makes its schedule due again at once", async () => {
    const { clock, start, create } = world(kind);
    let calls = 0;
    const eager = defineTask("eager", async (_input, { schedules }) => {
      calls++;
      await clock.sleep("1s");
      await schedules.after("eager", 0);
    });
    const scheduler = await start({ tasks: [eager], concurrency: 10 });
    await scheduler.createMany(Array.from({ length: 100 }, () => ({ task: eager, at: START })));
    await clock.advance("500ms");
    expect(calls).toBe(10);
    const closing = scheduler.close({ drain: "5s" });
    await clock.advance("5s");
    await closing;
    expect(calls).toBe(10);
    const left = [];
    for await (const schedule of create({ tasks: [eager] }).list()) left.push(schedule.id);
    expect(left).toHaveLength(100);
  });

  it("X1 B094: renews the lease of a run that drains, so that nobody starts it a second time", async () => {
    const { clock, start } = world(kind);
    const starts: string[] = [];
    const long = defineTask("long", async (_input, { runId, signal }) => {
      starts.push(runId);
      await clock.sleep("60s", { signal });
    });
    const first = await start({ tasks: [long], leaseMs: 20_000 });
    const { id } = await first.every(long, "1h", undefined, { startAt: START + SECOND });
    await clock.advance("1s");
    const second = await start({ tasks: [long], leaseMs: 20_000 });
    await clock.advance("5s");
    const closing = first.close({ drain: "2m" });
    await clock.advance("60s");
    await closing;
    expect(starts).toHaveLength(1);
    expect(await second.info(id)).toMatchObject({ runCount: 1, faultCount: 0, running: [] });
    expect(await second.runs(id)).toMatchObject([{ outcome: "succeeded" }]);
  });

  it("X1 is idempotent: every close answers the one that is under way", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    await scheduler.after(slow.task, 0);
    await clock.settled();
    let closed = 0;
    const closings = [scheduler.close({ drain: "1m" }), scheduler.close({ drain: 0 }), scheduler[Symbol.asyncDispose]()]
      .map((closing) => closing.then(() => closed++));
    await clock.advance("59s");
    expect([closed, slow.contexts[0]!.signal.aborted]).toEqual([0, false]);
    slow.open();
    await Promise.all(closings);
    expect(closed).toBe(3);
    await scheduler.close();
  });

  it("X1 closes at the end of an `await using` block", async () => {
    const { clock, create } = world(kind);
    const kept = create();
    {
      await using scheduler = create();
      await scheduler.start();
      expect(await scheduler.valid("nothing")).toBe(false);
    }
    await clock.settled();
    expect(await kept.valid("nothing")).toBe(false);
  });

  it("X1 ends although the store no longer answers", async () => {
    const { clock, start, handle } = world(kind);
    const store = cuttable(handle());
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task], storage: store.storage });
    await scheduler.after(slow.task, 0);
    await clock.settled();
    store.cut();
    slow.open();
    await scheduler.close({ drain: "2s" });
    expect(store.refused()).toBeGreaterThan(0);
  });

  it("X1 B112 ends although the store says nothing any more, neither yes nor no", async () => {
    const { start, handle } = world(kind);
    const store = silenced(handle());
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task], storage: store.storage, clock: hasty() });
    const started = new Promise((resolve) => scheduler.on("started", resolve));
    await scheduler.after(slow.task, 0);
    await started;
    store.silence();
    await scheduler.close({ drain: 0 });
    expect(store.unanswered()).toBeGreaterThan(0);
  });

  it("X1 closes a scheduler that was never opened, and one whose store would not open", async () => {
    const { create, handle } = world(kind);
    await create().close();
    const broken = new Proxy(handle(), {
      get: (target, key) =>
        key === "open" ? () => Promise.reject(new Error("no such store")) : Reflect.get(target, key, target),
    });
    const scheduler = create({ storage: broken });
    await expect(scheduler.start()).rejects.toThrow("no such store");
    await scheduler.close();
    await expect(scheduler.start()).rejects.toMatchObject({ code: "closed" });
  });

  it("X1 refuses options that close does not have", async () => {
    const { create } = world(kind);
    const scheduler = create();
    await expect(scheduler.close({ drian: "1s" } as never)).rejects.toMatchObject({ code: "unknown_option" });
    await expect(scheduler.close({ drain: "soon" })).rejects.toMatchObject({ code: "invalid_duration" });
    await expect(scheduler.close(5 as never)).rejects.toMatchObject({ code: "invalid_option" });
    await scheduler.start();
  });

  it("X2 leaves stored schedules as they are, and drops those that are not persistent", async () => {
    const { create } = world(kind);
    const beat = defineTask("beat", () => {});
    const scheduler = create({ tasks: [beat] });
    const stored = await scheduler.every(beat, "1h");
    const local = await scheduler.every(beat, "1h", undefined, { persist: false });
    await scheduler.close();
    const next = create({ tasks: [beat] });
    expect((await next.info(stored.id)).nextRun).toEqual(new Date(START + HOUR));
    await expect(next.info(local.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("X2 every call but close throws closed, also while it closes", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    const schedule = await scheduler.after(slow.task, 0);
    await clock.settled();
    const alice = scheduler.as({ id: "alice" });
    const closing = scheduler.close({ drain: "1m" });
    const calls: Record<string, () => unknown> = {
      start: () => scheduler.start(),
      at: () => scheduler.at(slow.task, START + HOUR),
      after: () => scheduler.after(slow.task, "1h"),
      every: () => scheduler.every(slow.task, "1h"),
      cron: () => scheduler.cron("n", "* * * * *", slow.task),
      createMany: () => scheduler.createMany([]),
      sync: () => scheduler.sync([], { group: "g" }),
      valid: () => scheduler.valid(schedule.id),
      stop: () => scheduler.stop(schedule.id),
      update: () => scheduler.update(schedule.id, { history: 1 }),
      pause: () => scheduler.pause(schedule.id),
      resume: () => scheduler.resume(schedule.id),
      trigger: () => scheduler.trigger(schedule.id),
      info: () => scheduler.info(schedule.id),
      runs: () => scheduler.runs(schedule.id),
      running: () => scheduler.running(),
      abortRun: () => scheduler.abortRun(`${schedule.id}-1`),
      list: () => scheduler.list().page(),
      iterate: () => scheduler.list()[Symbol.asyncIterator]().next(),
      listFor: () => scheduler.listFor("t"),
      stopFor: () => scheduler.stopFor("t"),
      transaction: () => scheduler.transaction(() => {}),
      invoke: () => scheduler.invoke(slow.task),
      nextRuns: () => scheduler.nextRuns({ every: "1h" }, 1),
      "a schedule's own": () => schedule.info(),
      "another principal's": () => alice.listFor("t"),
    };
    const refuseAll = async () => {
      const answers: Record<string, unknown> = {};
      for (const [name, call] of Object.entries(calls)) {
        try {
          await call();
          answers[name] = "answered";
        } catch (error) {
          answers[name] = (error as { code?: string }).code ?? error;
        }
      }
      return answers;
    };
    const expected = Object.fromEntries(Object.keys(calls).map((name) => [name, "closed"]));
    expect(await refuseAll()).toEqual(expected);
    slow.open();
    await closing;
    expect(await refuseAll()).toEqual(expected);
  });

  it("X2 a handler that drains may use ctx.schedules, and its changes commit with it", async () => {
    const { clock, start, create } = world(kind);
    const slow = defineTask("slow", async (_input, { schedules }) => {
      await clock.sleep("10s");
      await schedules.after("slow", "1h", "made while closing");
    });
    const scheduler = await start({ tasks: [slow] });
    await scheduler.after(slow, 0);
    await clock.settled();
    const closing = scheduler.close({ drain: "30s" });
    await clock.advance("10s");
    await closing;
    const [made] = (await create({ tasks: [slow] }).list().page()).schedules;
    expect((await made!.info()).input).toBe("made while closing");
  });

  it("X2 a handler that outlives the close can change nothing any more", async () => {
    const { clock, start, create } = world(kind);
    const stubborn = gated("stubborn");
    const scheduler = await start({ tasks: [stubborn.task] });
    await scheduler.every(stubborn.task, "1h", undefined, { startAt: START });
    await clock.advance("1h");
    const unit: TransactionClient = stubborn.contexts[0]!.schedules;
    await unit.after(stubborn.task, "1h");
    await scheduler.close({ drain: 0 });
    await expect(unit.after(stubborn.task, "1h")).rejects.toMatchObject({ code: "closed" });
    stubborn.open();
    await clock.settled();
    expect((await create().list().page()).schedules).toHaveLength(1);
  });

  it("X1 aborts calls that clients invoked once the drain time is over, and refuses their changes", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    const call = scheduler.as({ id: "alice" }).invoke(slow.task);
    const answer = call.catch((error: unknown) => error);
    await clock.settled();
    await scheduler.close({ drain: "1s" });
    expect(await answer).toMatchObject({ code: "closed" });
    expect(slow.contexts[0]!.signal.aborted).toBe(true);
  });

  it("X1 X2 a call whose task is still being asked when the close begins is refused, and its handler is not called", async () => {
    const { clock, start } = world(kind);
    let allow: ((allowed: boolean) => void) | undefined;
    let called = 0;
    const task = defineTask("task", {
      authorize: () => new Promise<boolean>((resolve) => allow = resolve),
      run: () => void called++,
    });
    const scheduler = await start({ tasks: [task] });
    const call = expect(scheduler.as({ id: "alice" }).invoke(task)).rejects.toMatchObject({ code: "closed" });
    await clock.settled();
    await scheduler.close();
    allow!(true);
    await call;
    expect(called).toBe(0);
  });

  it("X3 leaves no timer behind, whatever it was doing", async () => {
    const { clock, start, handle } = world(kind);
    let pending = 0;
    const counting = new Proxy(clock, {
      get(target, key) {
        if (key !== "setTimer") {
          const member: unknown = Reflect.get(target, key, target);
          return typeof member === "function" ? member.bind(target) : member;
        }
        return (callback: () => void, delayMs: number) => {
          pending++;
          let over = false;
          const end = () => {
            if (!over) pending--;
            over = true;
          };
          const cancel = target.setTimer(() => {
            end();
            callback();
          }, delayMs);
          return () => {
            end();
            cancel();
          };
        };
      },
    });
    const stubborn = gated("stubborn");
    const faults = faultyStore(handle(), { at: 12, calls: 3, reply: "fails" });
    const scheduler = await start({ clock: counting, tasks: [stubborn.task], storage: faults.storage });
    await scheduler.every(stubborn.task, "1s", undefined, { timeout: "3s", retry: { limit: 2 }, overlap: "queue" });
    await scheduler.cron("c", "* * * * *", stubborn.task, undefined, { overlap: "concurrent" });
    await clock.advance("100s");
    expect(pending).toBeGreaterThan(0);
    await scheduler.close({ drain: "1s" });
    expect(faults.struck()).toBe(true);
    expect(pending).toBe(0);
  });
});
