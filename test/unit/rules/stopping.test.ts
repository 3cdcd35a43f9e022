import { describe, expect, it } from "vitest";
import { again, defineTask } from "../../../mod.ts";
import type { RunContext } from "../../../src/contract/mod.ts";
import { HOUR, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

/** A handler that waits for the test, or for its signal. */
function gated(name: string) {
  const contexts: RunContext[] = [];
  const gates: ((value?: unknown) => void)[] = [];
  const task = defineTask(name, (_input, context) => {
    contexts.push(context);
    return new Promise<unknown>((resolve, reject) => {
      gates.push(resolve);
      context.signal.addEventListener("abort", () => reject(context.signal.reason), { once: true });
    });
  });
  return { task, contexts, open: (value?: unknown) => gates.splice(0).forEach((gate) => gate(value)) };
}

const gone = { code: "not_found" };

describe.each(STORES)("stopping and retirement over %s", (kind) => {
  it("L1 answers true for a live schedule, false for anything already over, and is never an error then", async () => {
    const { clock, start, create } = world(kind);
    const quick = defineTask("quick", () => {});
    const failing = defineTask("failing", () => Promise.reject(new Error("no")));
    const scheduler = await start({ tasks: [quick, failing] });
    const live = await scheduler.every(quick, "1m");
    const fired = await scheduler.at(quick, START);
    const failed = await scheduler.at(failing, START);
    const elsewhere = await create({ tasks: [quick], storage: world("memory").handle() }).every(quick, "1m");
    await clock.settled();
    expect(await scheduler.stop(live.id)).toBe(true);
    const over = [live.id, fired.id, failed.id, elsewhere.id, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense", "", "\u0000"];
    for (const id of over) expect(await scheduler.stop(id)).toBe(false);
    for (const id of over) expect(await scheduler.stop(id)).toBe(false);
    await expect(scheduler.stop(undefined as never)).rejects.toMatchObject({ code: "invalid_option" });
  });

  it("L1 P2 refuses only a live schedule of somebody else; one that is over answers false to anybody", async () => {
    const { clock, start } = world(kind);
    const quick = defineTask("quick", () => {});
    const scheduler = await start({ tasks: [quick] });
    const alice = scheduler.as({ id: "alice" });
    const bob = scheduler.as({ id: "bob" });
    const live = await alice.every(quick, "1m");
    const fired = await alice.at(quick, START);
    await clock.settled();
    await expect(bob.stop(live.id)).rejects.toMatchObject({ code: "permission_denied" });
    expect(await bob.stop(fired.id)).toBe(false);
    // Bob's call has not removed Alice's record.
    expect(await alice.info(fired.id)).toMatchObject({ retireReason: "completed" });
    expect(await scheduler.as({ id: "root", admin: true }).stop(live.id)).toBe(true);
  });

  it("L2 a stopped schedule is removed, not retired: no further run, no record", async () => {
    const { clock, start } = world(kind);
    const runs: number[] = [];
    const quick = defineTask("quick", () => void runs.push(clock.now() - START));
    const scheduler = await start({ tasks: [quick] });
    const events: string[] = [];
    for (const name of ["stopped", "retired"] as const) scheduler.on(name, () => events.push(name));
    const { id } = await scheduler.every(quick, "1m");
    await clock.advance("119s");
    expect(await scheduler.stop(id)).toBe(true);
    await clock.advance("1h");
    expect(runs).toEqual([MINUTE]);
    expect(events).toEqual(["stopped"]);
    await expect(scheduler.info(id)).rejects.toMatchObject(gone);
    expect(await scheduler.valid(id)).toBe(false);
  });

  it("L2 B089: a run in progress goes on, its result is ignored, no row comes back and nothing is an error", async () => {
    const { clock, start, messages } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    const events: string[] = [];
    for (const name of ["succeeded", "faulted", "leaseLost", "storeError"] as const) {
      scheduler.on(name, () => events.push(name));
    }
    const first = await scheduler.every(slow.task, "1m", undefined, { name: "beat" });
    await clock.advance("1m");
    expect(await scheduler.stop(first.id)).toBe(true);
    await clock.advance("2m");
    expect(slow.contexts[0]!.signal.aborted).toBe(false);
    const second = await scheduler.every(slow.task, "1h", undefined, { name: "beat" });
    expect(second.id).not.toBe(first.id);
    slow.open();
    await clock.settled();
    expect(await second.info()).toMatchObject({ runCount: 0, nextRun: new Date(START + 3 * MINUTE + HOUR) });
    await expect(first.info()).rejects.toMatchObject(gone);
    expect([events, messages]).toEqual([[], []]);
  });

  it("L2 S5 abortRunning aborts the run through its signal; the schedule is gone at once, for every call", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    const { id } = await scheduler.every(slow.task, "1m", undefined, { name: "beat" });
    await clock.advance("1m");
    expect(await scheduler.stop(id, { abortRunning: true })).toBe(true);
    expect(slow.contexts[0]!.signal.reason).toMatchObject({ name: "AbortError" });
    expect(await scheduler.stop(id, { abortRunning: true })).toBe(false);
    await expect(scheduler.info(id)).rejects.toMatchObject(gone);
    await expect(scheduler.runs(id)).rejects.toMatchObject(gone);
    expect((await scheduler.list().page()).schedules).toEqual([]);
    await clock.advance("1h");
    expect(slow.contexts).toHaveLength(1);
    expect(await scheduler.running()).toEqual([]);
  });

  it("L2 abortRunning reaches a run that another instance holds", async () => {
    const { clock, start, create } = world(kind);
    const slow = gated("slow");
    const runner = await start({ tasks: [slow.task] });
    const { id } = await runner.every(slow.task, "1m");
    await clock.advance("62s");
    const other = create();
    expect(await other.stop(id, { abortRunning: true })).toBe(true);
    await clock.advance("10s");
    expect(slow.contexts[0]!.signal.aborted).toBe(true);
    await clock.advance("1m");
    expect(await other.running()).toEqual([]);
  });

  it("L2 a one-shot whose run has started is past stopping, and makes no further link, retry or rerun", async () => {
    const { clock, start } = world(kind);
    for (const end of ["again", "fault"] as const) {
      const slow = gated("slow");
      const scheduler = await start({ tasks: [slow.task] });
      const { id } = await scheduler.after(slow.task, 0, undefined, { retry: { limit: 5, delay: "1s" } });
      await clock.settled();
      expect(await scheduler.stop(id)).toBe(false);
      expect(slow.contexts[0]!.signal.aborted).toBe(false);
      slow.open(end === "again" ? again("1s") : again(-1));
      await clock.advance("10s");
      expect(slow.contexts).toHaveLength(1);
      expect(await scheduler.info(id)).toMatchObject({ retireReason: end === "again" ? "completed" : "failed" });
      await scheduler.close();
    }
  });

  it("L2 a one-shot that waits for its next link or attempt is not past stopping", async () => {
    const { clock, start } = world(kind);
    const chain = defineTask("chain", () => again("1m"));
    const failing = defineTask("failing", () => Promise.reject(new Error("no")));
    const scheduler = await start({ tasks: [chain, failing] });
    const link = await scheduler.after(chain, 0);
    const retry = await scheduler.after(failing, 0, undefined, { retry: { limit: 1, delay: "1m" } });
    await clock.advance("30s");
    expect(await link.stop()).toBe(true);
    expect(await retry.stop()).toBe(true);
    await clock.advance("1h");
    await expect(link.info()).rejects.toMatchObject(gone);
    await expect(retry.info()).rejects.toMatchObject(gone);
  });

  it("L3 keeps a retired record for 60 s, or the retention asked for, and then not_found", async () => {
    const { clock, start } = world(kind);
    const failing = defineTask("failing", () => Promise.reject(new Error("no")));
    const scheduler = await start({ tasks: [failing] });
    const one = await scheduler.after(failing, "1s", undefined, { name: "one", target: "t", retention: "60s" });
    const short = await scheduler.after(failing, "1s", undefined, { retention: "5s" });
    const none = await scheduler.after(failing, "1s", undefined, { retention: 0 });
    const byDefault = await scheduler.after(failing, "1s");
    await clock.advance("1s");
    expect(await one.info()).toMatchObject({ retireReason: "failed", faultCount: 1, runCount: 1, nextRun: null });
    expect((await one.info()).lastFault).toMatchObject({ message: "no" });
    expect(await scheduler.valid(one.id)).toBe(false);
    expect((await scheduler.list().page()).schedules).toEqual([]);
    expect(await scheduler.listFor("t")).toEqual([]);
    await clock.advance("5s");
    await expect(short.info()).rejects.toMatchObject(gone);
    await expect(none.info()).rejects.toMatchObject(gone);
    await clock.advance("54999ms");
    expect((await one.info()).retired).toBe(true);
    expect((await byDefault.info()).retired).toBe(true);
    await clock.advance("1ms");
    await expect(one.info()).rejects.toMatchObject(gone);
    await expect(byDefault.info()).rejects.toMatchObject(gone);
  });

  it("L3 the owner's stop removes the record of a retired schedule at once, and answers false", async () => {
    const { clock, start } = world(kind);
    const quick = defineTask("quick", () => {});
    const scheduler = await start({ tasks: [quick] });
    const made = await scheduler.as({ id: "alice" }).after(quick, 0, undefined, { name: "n" });
    await clock.settled();
    // The name is free as soon as it is retired.
    const next = await scheduler.as({ id: "alice" }).after(quick, "1h", undefined, { name: "n" });
    expect(next.id).not.toBe(made.id);
    expect(await scheduler.as({ id: "alice" }).stop(made.id)).toBe(false);
    await expect(scheduler.info(made.id)).rejects.toMatchObject(gone);
    expect(await next.info()).toMatchObject({ retired: false });
  });

  it("L3 another instance removes what is over, whatever its task, also after a restart", async () => {
    const { clock, start } = world(kind);
    const quick = defineTask("quick", () => {});
    const first = await start({ tasks: [quick] });
    const { id } = await first.after(quick, 0);
    await clock.settled();
    await first.close();
    const other = await start({ tasks: [] });
    expect((await other.info(id)).retired).toBe(true);
    await clock.advance("60s");
    await expect(other.info(id)).rejects.toMatchObject(gone);
  });

  it("L4 retires with the reason that is true: completed, failed, max_faults, ended, a custom one", async () => {
    const { clock, start } = world(kind);
    const quick = defineTask("quick", () => {});
    const failing = defineTask("failing", () => Promise.reject(new Error("no")));
    const leaving = defineTask("leaving", (_input, ctx) => ctx.retire("room closed"));
    const far = defineTask("far", () => again("9999999d"));
    const targeted = defineTask("targeted", { run: () => {}, resolveTarget: () => undefined });
    const scheduler = await start({ tasks: [quick, failing, leaving, targeted, far] });
    const keep = { retention: "1d" };
    const made = {
      completed: await scheduler.after(quick, "1s", undefined, keep),
      failed: await scheduler.after(failing, "1s", undefined, keep),
      max_faults: await scheduler.every(failing, "1s", undefined, { ...keep, maxFaults: 2 }),
      ended: await scheduler.every(quick, "1s", undefined, { ...keep, maxRuns: 3 }),
      "room closed": await scheduler.every(leaving, "1s", undefined, keep),
      invalid_target: await scheduler.every(targeted, "1s", undefined, { ...keep, target: "room:1" }),
      deadline_out_of_range: await scheduler.after(far, "1s", undefined, keep),
    };
    await clock.advance("10s");
    for (const [reason, schedule] of Object.entries(made)) {
      expect(await schedule.info()).toMatchObject({ retired: true, retireReason: reason });
    }
  });

  it("L4 refuses a reason that is no text of 1 to 200 characters, which makes the run a fault", async () => {
    const { clock, start } = world(kind);
    const reasons: unknown[] = ["", "x".repeat(201), 42, undefined, "a\u0000b", "\ud800"];
    const leaving = defineTask("leaving", (_input, ctx) => ctx.retire(reasons.shift() as string));
    const scheduler = await start({ tasks: [leaving] });
    const { id } = await scheduler.every(leaving, "1s");
    await clock.advance("6s");
    const info = await scheduler.info(id);
    expect(info).toMatchObject({ faultCount: 6, retired: false });
    expect(info.lastFault!.message).toMatch(/^retire: .* expected text of 1 to 200 characters/);
  });

  it("L4 a reason given by a run that then faults retires nothing", async () => {
    const { clock, start } = world(kind);
    const leaving = defineTask("leaving", (_input, ctx) => {
      ctx.retire("room closed");
      throw new Error("no");
    });
    const scheduler = await start({ tasks: [leaving] });
    const { id } = await scheduler.every(leaving, "1s");
    await clock.advance("1s");
    expect(await scheduler.info(id)).toMatchObject({ retired: false, faultCount: 1 });
  });

  it("L5 pause holds deadlines; resume goes on in phase, and what passed is neither run nor missed", async () => {
    const { clock, start } = world(kind);
    const runs: number[] = [];
    const quick = defineTask("quick", () => void runs.push((clock.now() - START) / SECOND));
    const scheduler = await start({ tasks: [quick] });
    const { id } = await scheduler.every(quick, "10s");
    await clock.advance("25s");
    expect(await scheduler.pause(id)).toBe(true);
    expect(await scheduler.pause(id)).toBe(false);
    expect(await scheduler.info(id)).toMatchObject({ paused: true, nextRun: null });
    await clock.advance("60s");
    expect(await scheduler.resume(id)).toBe(true);
    expect(await scheduler.resume(id)).toBe(false);
    expect(await scheduler.info(id)).toMatchObject({ paused: false, nextRun: new Date(START + 90 * SECOND) });
    await clock.advance("20s");
    expect(runs).toEqual([10, 20, 90, 100]);
    expect(await scheduler.info(id)).toMatchObject({ missedCount: 0, overlapCount: 0, runCount: 4 });
  });

  it.each(["skip", "once", "all"] as const)(
    "L5 B074: daily at 02:00, paused at 01:00, resumed at 07:49, catchup %s: no run before tomorrow 02:00",
    async (catchup) => {
      const { clock, start } = world(kind);
      const runs: number[] = [];
      const quick = defineTask("quick", () => void runs.push((clock.now() - START) / HOUR));
      const scheduler = await start({ tasks: [quick] });
      const { id } = await scheduler.cron("daily", "0 2 * * *", quick, undefined, { catchup });
      await clock.advance("1h");
      await scheduler.pause(id);
      await clock.advance("409m");
      await scheduler.resume(id);
      await clock.advance("24h");
      expect(runs).toEqual([26]);
      expect(await scheduler.info(id)).toMatchObject({ missedCount: 0 });
    },
  );

  it("L5 a paused schedule stays paused across a restart; a run in progress goes on", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const first = await start({ tasks: [slow.task] });
    const { id } = await first.every(slow.task, "1m");
    await clock.advance("1m");
    await first.pause(id);
    slow.open();
    await clock.settled();
    expect(await first.runs(id)).toMatchObject([{ outcome: "succeeded" }]);
    await first.close();
    const next = await start({ tasks: [slow.task] });
    await clock.advance("10m");
    expect(slow.contexts).toHaveLength(1);
    await next.resume(id);
    await clock.advance("1m");
    expect(slow.contexts).toHaveLength(2);
  });

  it("L5 a one-shot paused past its deadline fires once it is resumed", async () => {
    const { clock, start } = world(kind);
    const runs: number[] = [];
    const quick = defineTask("quick", () => void runs.push((clock.now() - START) / SECOND));
    const scheduler = await start({ tasks: [quick] });
    const { id } = await scheduler.after(quick, "10s");
    await scheduler.pause(id);
    await clock.advance("1m");
    expect(runs).toEqual([]);
    await scheduler.resume(id);
    await clock.advance("1s");
    expect(runs).toEqual([60]);
  });

  it("L5 trigger starts one run now beside the cadence, also while paused, and never moves the cadence", async () => {
    const { clock, start } = world(kind);
    const runs: number[] = [];
    const quick = defineTask("quick", (_input, { scheduledAt }) => {
      runs.push((scheduledAt.getTime() - START) / SECOND);
    });
    const scheduler = await start({ tasks: [quick] });
    const { id } = await scheduler.every(quick, "10s", undefined, { maxRuns: 3 });
    await clock.advance("3s");
    expect(await scheduler.trigger(id)).toBe(true);
    await clock.settled();
    expect(runs).toEqual([3]);
    await clock.advance("7s");
    await scheduler.pause(id);
    await clock.advance("5s");
    expect(await scheduler.trigger(id)).toBe(true);
    await clock.settled();
    expect(runs).toEqual([3, 10, 15]);
    await scheduler.resume(id);
    await clock.advance("30s");
    expect(runs).toEqual([3, 10, 15, 20, 30]);
  });

  it("L5 S1 runs that are triggered at one instant, or at a deadline's, each have an idempotency key of their own", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const over: RunContext[] = [];
    const quick = defineTask("quick", (_input, context) => void over.push(context));
    const scheduler = await start({ tasks: [slow.task, quick] });
    const beside = await scheduler.every(slow.task, "1h", undefined, { overlap: "concurrent" });
    const after = await scheduler.every(quick, "1h");
    await clock.advance("1h");
    await scheduler.transaction(async (tx) => {
      for (const { id } of [beside, beside, after]) await tx.trigger(id);
    });
    await clock.settled();
    await after.trigger();
    await clock.settled();
    const points = (contexts: readonly RunContext[]) => contexts.map(({ scheduledAt }) => scheduledAt.getTime());
    const each = [0, 1, 2].map((ms) => START + HOUR + ms);
    expect(points(slow.contexts)).toEqual(each);
    expect(points(over)).toEqual(each);
  });

  it("L5 trigger obeys overlap: false and counted under skip, waits under queue, beside under concurrent", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    const make = (overlap: "skip" | "queue" | "concurrent") => scheduler.every(slow.task, "1h", undefined, { overlap });
    const skip = await make("skip");
    const queue = await make("queue");
    const concurrent = await make("concurrent");
    await clock.advance("1h");
    expect(slow.contexts).toHaveLength(3);
    expect(await skip.trigger()).toBe(false);
    expect(await queue.trigger()).toBe(true);
    expect(await queue.trigger()).toBe(false);
    expect(await concurrent.trigger()).toBe(true);
    await clock.settled();
    expect(slow.contexts).toHaveLength(4);
    expect((await skip.info()).overlapCount).toBe(1);
    expect((await queue.info()).overlapCount).toBe(1);
    slow.open();
    await clock.settled();
    slow.open();
    await clock.settled();
    expect([await skip.info(), await queue.info(), await concurrent.info()].map(({ runCount }) => runCount))
      .toEqual([1, 2, 2]);
  });

  it("L5 update keeps id and counters, changes what it names and nothing else", async () => {
    const { clock, start } = world(kind);
    const runs: unknown[] = [];
    const quick = defineTask("quick", (input) => void runs.push([(clock.now() - START) / SECOND, input]));
    const scheduler = await start({ tasks: [quick] });
    const { id } = await scheduler.every(quick, "10s", { v: 1 }, { target: "t", tags: ["a"], state: { s: 1 } });
    await clock.advance("20s");
    const updated = await scheduler.update(id, { every: "30s", input: { v: 2 } });
    expect(updated.id).toBe(id);
    await clock.advance("60s");
    expect(runs).toEqual([[10, { v: 1 }], [20, { v: 1 }], [50, { v: 2 }], [80, { v: 2 }]]);
    expect(await scheduler.info(id)).toMatchObject({ runCount: 4, target: "t", tags: ["a"], state: { s: 1 } });
    await scheduler.update(id, { target: "u" });
    expect(await scheduler.info(id)).toMatchObject({
      nextRun: new Date(START + 110 * SECOND),
      target: "u",
      input: { v: 2 },
    });
  });

  it("L5 pause, resume and trigger answer false, and update refuses, for what is over", async () => {
    const { clock, start } = world(kind);
    const quick = defineTask("quick", () => {});
    const scheduler = await start({ tasks: [quick] });
    const { id } = await scheduler.after(quick, 0);
    await clock.settled();
    for (const over of [id, "01ARZ3NDEKTSV4RRFFQ69G5FAV"]) {
      expect(await scheduler.pause(over)).toBe(false);
      expect(await scheduler.resume(over)).toBe(false);
      expect(await scheduler.trigger(over)).toBe(false);
      await expect(scheduler.update(over, { history: 1 })).rejects.toMatchObject({
        code: over === id ? "conflict" : "not_found",
      });
    }
  });

  it("L6 abortRun aborts a run through its signal and counts a fault; false once it is over", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    const { id } = await scheduler.every(slow.task, "1m", undefined, { retry: { limit: 3 } });
    await clock.advance("1m");
    const [run] = await scheduler.running();
    expect(await scheduler.abortRun(run!.id)).toBe(true);
    await clock.settled();
    expect(slow.contexts[0]!.signal.reason).toMatchObject({ name: "AbortError" });
    expect(await scheduler.info(id)).toMatchObject({ faultCount: 1, consecutiveFaults: 1, running: [] });
    expect(await scheduler.runs(id)).toMatchObject([{ id: run!.id, outcome: "aborted" }]);
    expect(await scheduler.abortRun(run!.id)).toBe(false);
    // The cadence goes on, and what was aborted on purpose is not tried again.
    await clock.advance("1m");
    expect(slow.contexts.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it("L6 abortRun on whichever instance the run executes, by its owner or an admin only", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const runner = await start({ tasks: [slow.task] });
    const { id } = await runner.as({ id: "alice" }).every(slow.task, "1m");
    await clock.advance("61s");
    const other = await start({ tasks: [] });
    const [run] = await other.running();
    await expect(other.as({ id: "bob" }).abortRun(run!.id)).rejects.toMatchObject({ code: "permission_denied" });
    expect(slow.contexts[0]!.signal.aborted).toBe(false);
    expect(await other.as({ id: "alice" }).abortRun(run!.id)).toBe(true);
    await clock.advance("10s");
    expect(slow.contexts[0]!.signal.aborted).toBe(true);
    expect(await other.info(id)).toMatchObject({ faultCount: 1, running: [] });
    expect(await other.running()).toEqual([]);
  });

  it("L6 abortRun answers false for what is no run: a schedule's id, nonsense; I1 and a run's id is no schedule's", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task] });
    const { id } = await scheduler.every(slow.task, "1m");
    await clock.advance("1m");
    const [run] = await scheduler.running();
    for (const odd of [id, `${id}-2`, `${id}-`, `${id}--1`, "nonsense-1", "", "-1", `${id}-zzzzzzzzzzzz`]) {
      expect(await scheduler.abortRun(odd)).toBe(false);
    }
    await expect(scheduler.abortRun(1 as never)).rejects.toMatchObject({ code: "invalid_option" });
    expect(await scheduler.stop(run!.id)).toBe(false);
    expect(await scheduler.valid(run!.id)).toBe(false);
    expect(slow.contexts[0]!.signal.aborted).toBe(false);
  });

  it("L6 a handler that ignores the abort frees its slot after 5 s, and the fault is counted then", async () => {
    const { clock, start } = world(kind);
    const ignoring = defineTask("ignoring", () => new Promise(() => {}));
    const scheduler = await start({ tasks: [ignoring] });
    const { id } = await scheduler.every(ignoring, "1m");
    await clock.advance("1m");
    const [run] = await scheduler.running();
    expect(await scheduler.abortRun(run!.id)).toBe(true);
    await clock.advance("4999ms");
    expect((await scheduler.info(id)).running).toHaveLength(1);
    await clock.advance("1ms");
    expect(await scheduler.info(id)).toMatchObject({ running: [], faultCount: 1 });
  });

  it("L6 L2 the 5 s are not begun anew, however often the lease is renewed or others change something", async () => {
    const { clock, create, start } = world(kind);
    const ignoring = defineTask("ignoring", () => new Promise(() => {}));
    // Renewed every second, and then the run is found to be one that is to be aborted.
    const scheduler = await start({ tasks: [ignoring], leaseMs: 3 * SECOND });
    const other = create({ tasks: [ignoring] });
    const abort: ((id: string, runId: string) => Promise<boolean>)[] = [
      (_id, runId) => scheduler.abortRun(runId),
      (id) => scheduler.stop(id, { abortRunning: true }),
    ];
    for (const how of abort) {
      const { id } = await scheduler.every(ignoring, "1d", undefined, { startAt: clock.now() + SECOND });
      await clock.advance("2s");
      const [run] = await scheduler.running();
      expect(await how(id, run!.id)).toBe(true);
      for (let second = 0; second < 4; second++) {
        await clock.advance("1s");
        await other.after(ignoring, "1d");
      }
      expect(await scheduler.running()).toHaveLength(1);
      await clock.advance("1s");
      expect(await scheduler.running()).toEqual([]);
    }
  });

  it("L6 a run that waits for a slot is aborted without its handler ever being called", async () => {
    const { clock, start } = world(kind);
    const slow = gated("slow");
    const scheduler = await start({ tasks: [slow.task], concurrency: 1 });
    const { id } = await scheduler.every(slow.task, "1h", undefined, { overlap: "concurrent" });
    await scheduler.transaction(async (tx) => {
      await tx.trigger(id);
      await tx.trigger(id);
    });
    await clock.settled();
    const waiting = (await scheduler.running()).filter((run) => run.id !== slow.contexts[0]!.runId);
    expect(waiting).toHaveLength(1);
    expect(await scheduler.abortRun(waiting[0]!.id)).toBe(true);
    await clock.advance("10s");
    slow.open();
    await clock.settled();
    expect(slow.contexts).toHaveLength(1);
    expect((await scheduler.runs(id)).map(({ outcome }) => outcome)).toEqual(["aborted", "succeeded"]);
    expect(await scheduler.info(id)).toMatchObject({ faultCount: 1, runCount: 2, running: [] });
  });
});
