import { describe, expect, it } from "vitest";
import { defineTask } from "../../../mod.ts";
import type { Json, RunContext } from "../../../src/contract/mod.ts";
import { HOUR, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

/** A task that keeps what its runs are told. */
function telling(name: string) {
  const told: { input: Json | undefined; ctx: RunContext; elapsed: number; at: number }[] = [];
  return {
    told,
    on: (now: () => number) =>
      defineTask(name, (input, ctx) => void told.push({ input, ctx, elapsed: ctx.elapsed, at: now() })),
  };
}

describe.each(STORES)("what a run is told over %s", (kind) => {
  it("S1 elapsed: 0 the first time, then the time since the previous start, whatever runs took, across a restart", async () => {
    const { clock, start } = world(kind);
    const elapsed: number[] = [];
    const task = defineTask("task", async (_input, ctx) => {
      elapsed.push(ctx.elapsed);
      await clock.sleep("3s");
    });
    const first = await start({ tasks: [task] });
    await first.every(task, "10s");
    await clock.advance("34s");
    expect(elapsed).toEqual([0, 10_000, 10_000]);
    await first.close();
    await clock.advance("60s");
    await start({ tasks: [task] });
    await clock.advance("6s");
    // The newest missed point runs at the restart, at 94 s, and the next one at 100 s.
    expect(elapsed).toEqual([0, 10_000, 10_000, 64_000, 6_000]);
  });

  it("S1 elapsed counts from the run before also for a retry, a trigger and a link of a chain", async () => {
    const { clock, start } = world(kind);
    const elapsed: number[] = [];
    const task = defineTask("task", (_input, ctx) => {
      elapsed.push(ctx.elapsed);
      if (elapsed.length === 1) throw new Error("no");
    });
    const scheduler = await start({ tasks: [task] });
    const { id } = await scheduler.every(task, "1m", undefined, { retry: { limit: 1, delay: "7s" } });
    await clock.advance("67s");
    await clock.advance("3s");
    await scheduler.trigger(id);
    await clock.advance("50s");
    expect(elapsed).toEqual([0, 7_000, 3_000, 50_000]);
  });

  it("S2 scheduledAt is the point served, not the start; attempt, runId, schedule and missed are told", async () => {
    const { clock, create, start } = world(kind);
    const task = telling("task");
    const definition = task.on(() => clock.now());
    const { id } = await create({ tasks: [definition] }).every(definition, "1m", { n: 1 }, {
      name: "beat",
      target: "room:7",
      state: { s: 1 },
    });
    await clock.advance("210s");
    const scheduler = await start({ tasks: [definition] });
    await clock.advance("30s");
    const [late, next] = task.told.map(({ ctx }) => ctx);
    expect(late).toMatchObject({ scheduledAt: new Date(START + 3 * MINUTE), missed: 2, attempt: 1 });
    expect(next).toMatchObject({ scheduledAt: new Date(START + 4 * MINUTE), missed: 0, attempt: 1 });
    expect(task.told.map(({ at }) => at)).toEqual([START + 210 * SECOND, START + 240 * SECOND]);
    for (const { input, ctx } of task.told) {
      expect(input).toEqual({ n: 1 });
      expect(ctx).toMatchObject({
        schedule: { id, name: "beat", kind: "every" },
        target: "room:7",
        state: { s: 1 },
        owner: "system",
        runAs: "system",
      });
    }
    const ids = task.told.map(({ ctx }) => ctx.runId);
    expect(new Set(ids).size).toBe(2);
    expect((await scheduler.runs(id)).map((run) => run.id)).toEqual(ids.toReversed());
  });

  it("S2 a handler may take its context apart, and may change the dates that it is given", async () => {
    const { clock, start } = world(kind);
    const seen: unknown[] = [];
    const task = defineTask("task", async (_input, { scheduledAt, signal, schedules, requireCaller, retire }) => {
      scheduledAt.setFullYear(1999);
      await schedules.after("task", "1d");
      seen.push(signal.aborted);
      try {
        seen.push(requireCaller());
        retire("not scheduled");
      } catch (error) {
        seen.push((error as { code: string }).code);
      }
      if (seen.length === 2) retire("taken apart");
    });
    const scheduler = await start({ tasks: [task] });
    const { id } = await scheduler.every(task, "1s");
    await clock.advance("1s");
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "taken apart", faultCount: 0 });
    expect((await scheduler.runs(id))[0]!.scheduledAt).toEqual(new Date(START + SECOND));
    await scheduler.invoke(task);
    expect(seen).toEqual([false, "no_caller", false, { id: "system", admin: true }, "conflict"]);
  });

  it("S3 state is handed to every run unchanged, whatever a handler does to the one it got", async () => {
    const { clock, start } = world(kind);
    const seen: string[] = [];
    const task = defineTask("task", (_input, { state }) => {
      seen.push(JSON.stringify(state));
      (state as { list: number[] }).list.push(99);
      (state as Record<string, unknown>)["added"] = true;
    });
    const scheduler = await start({ tasks: [task] });
    const given = { list: [1, 2], text: "é\u2028\u0000" };
    const { id } = await scheduler.every(task, "1s", undefined, { state: given });
    given.list.push(3);
    await clock.advance("3s");
    const kept = JSON.stringify({ list: [1, 2], text: "é\u2028\u0000" });
    expect(seen).toEqual([kept, kept, kept]);
    expect(JSON.stringify((await scheduler.info(id)).state)).toBe(kept);
  });

  it("S4 input is handed to every run unchanged, whatever a handler does to the one it got", async () => {
    const { clock, start } = world(kind);
    const seen: string[] = [];
    const task = defineTask("task", (input: { list: number[] }) => {
      seen.push(JSON.stringify(input));
      input.list.push(99);
    });
    const scheduler = await start({ tasks: [task] });
    const given = { list: [1] };
    await scheduler.every(task, "1s", given);
    given.list.push(2);
    await clock.advance("2s");
    expect(seen).toEqual(['{"list":[1]}', '{"list":[1]}']);
  });

  it.each([
    ["U+0000", { a: "x\u0000y" }],
    ["a key __proto__", JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":null}')],
    ["-0 aside, odd numbers", [1e308, 5e-324, 2 ** 53 + 2, -1.5]],
    ["emoji and separators", "🦊\u2028\u2029\ufeff"],
    ["deep nesting", Array.from({ length: 90 }).reduce((inner: unknown) => [inner], "x")],
    ["null", null],
    ["an empty object", {}],
  ])("S4 B141 B146 an input of %s comes to the handler as it was given, after a restart too", async (_what, input) => {
    const { clock, create, start } = world(kind);
    const seen: string[] = [];
    const task = defineTask("task", (given) => void seen.push(JSON.stringify(given)));
    const maker = create({ tasks: [task] });
    const { id } = await maker.after(task, "1s", input as Json, { state: input as Json });
    await maker.close();
    const scheduler = await start({ tasks: [task] });
    await clock.advance("1s");
    expect(seen).toEqual([JSON.stringify(input)]);
    expect(JSON.stringify((await scheduler.info(id)).state)).toBe(JSON.stringify(input));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("S4 input is validated again before a run: what no longer fits is a fault, and what the schema makes of it is handed over", async () => {
    const { clock, create, start } = world(kind);
    const schema = (accepts: (value: unknown) => boolean) => ({
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) =>
          accepts(value) ? { value: { wrapped: value } } : { issues: [{ message: "not that", path: ["orderId"] }] },
      },
    });
    const seen: unknown[] = [];
    const before = defineTask("task", { input: schema(() => true), run: () => {} });
    const after = defineTask("task", {
      input: schema((value) => (value as { v: number }).v === 2),
      run: (input) => void seen.push(input),
    });
    const maker = create({ tasks: [before] });
    const bad = await maker.after(before, "1s", { v: 1 });
    await maker.after(before, "1s", { v: 2 });
    const scheduler = await start({ tasks: [after] });
    await clock.advance("1s");
    expect(seen).toEqual([{ wrapped: { v: 2 } }]);
    const info = await scheduler.info(bad.id);
    expect(info).toMatchObject({ retireReason: "failed", faultCount: 1, input: { v: 1 } });
    expect(info.lastFault!.message).toContain("not that");
  });

  it("S5 the signal aborts on stop with abortRunning, timeout, replace, abortRun and a close's end, each with its reason", async () => {
    const { clock, start } = world(kind);
    const reasons: Record<string, unknown> = {};
    const task = defineTask("task", (input, { signal }) =>
      new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          reasons[input as string] ??= signal.reason;
          resolve();
        });
      }));
    const scheduler = await start({ tasks: [task] });
    const stopped = await scheduler.every(task, "1m", "stop");
    await scheduler.every(task, "1m", "timeout", { timeout: "5s" });
    await scheduler.every(task, "1m", "replace", { overlap: "replace" });
    const aborted = await scheduler.every(task, "1m", "abortRun");
    await scheduler.every(task, "1m", "close", { overlap: "queue" });
    await clock.advance("1m");
    await scheduler.stop(stopped.id, { abortRunning: true });
    await scheduler.abortRun((await scheduler.runs(aborted.id))[0]!.id);
    await clock.advance("1m");
    expect(Object.keys(reasons).sort()).toEqual(["abortRun", "replace", "stop", "timeout"]);
    await scheduler.close({ drain: 0 });
    expect(reasons).toMatchObject({
      stop: { name: "AbortError" },
      timeout: { name: "TimeoutError" },
      replace: { name: "AbortError" },
      abortRun: { name: "AbortError" },
      close: { code: "closed" },
    });
  });

  it("S5 a signal that nobody asked for before the abort is aborted when it is asked for", async () => {
    const { clock, start } = world(kind);
    const seen: unknown[] = [];
    const task = defineTask("task", async (_input, ctx) => {
      await clock.sleep("3s");
      seen.push(ctx.signal.aborted, (ctx.signal.reason as Error).name);
    });
    const scheduler = await start({ tasks: [task] });
    await scheduler.after(task, 0, undefined, { timeout: "2s" });
    await clock.advance("3s");
    expect(seen).toEqual([true, "TimeoutError"]);
  });

  it("S6 a scheduled run has no caller; an invoked one has the client's principal", async () => {
    const { clock, start } = world(kind);
    const task = defineTask("task", (_input, ctx) => {
      if (ctx.caller !== undefined) return [ctx.caller, ctx.requireCaller(), ctx.owner, ctx.runAs];
      return ctx.requireCaller();
    });
    const scheduler = await start({ tasks: [task] });
    const alice = scheduler.as({ id: "alice" });
    const { id } = await alice.after(task, 0);
    await clock.settled();
    const info = await alice.info(id);
    expect(info).toMatchObject({ retireReason: "failed" });
    expect(info.lastFault).toMatchObject({ name: "SchedulerError", message: expect.stringContaining("has no caller") });
    expect(await alice.invoke(task)).toEqual([{ id: "alice" }, { id: "alice" }, "alice", "alice"]);
  });

  it("S7 ctx.schedules acts as the schedule's authority: its creations are its owner's, and others' are refused", async () => {
    const { clock, start } = world(kind);
    const refused: unknown[] = [];
    const foreign: string[] = [];
    const task = defineTask("task", async (_input, { schedules }) => {
      await schedules.after("task", "1h");
      await schedules.stop(foreign[0]!).catch((error: unknown) => refused.push(error));
      await schedules.after("task", "1h", undefined, { owner: "bob" }).catch((error: unknown) => refused.push(error));
    });
    const scheduler = await start({ tasks: [task] });
    foreign.push((await scheduler.as({ id: "bob" }).every(task, "1h")).id);
    await scheduler.as({ id: "alice" }).after(task, 0);
    await clock.settled();
    expect(refused).toMatchObject([{ code: "permission_denied" }, { code: expect.any(String) }]);
    const alices = (await scheduler.list({ owner: "alice" }).page()).schedules;
    expect(alices).toHaveLength(1);
    expect(await alices[0]!.info()).toMatchObject({ owner: "alice", authority: { id: "alice" } });
    expect(await scheduler.valid(foreign[0]!)).toBe(true);
  });

  it("S7 U3 changes commit with the run: what follows is seen inside at once, outside only when it has settled", async () => {
    const { clock, start } = world(kind);
    const outside: boolean[] = [];
    const task = defineTask("task", async (_input, { schedules }) => {
      const made = await schedules.after("task2", "1h");
      expect(await schedules.valid(made.id)).toBe(true);
      outside.push(await scheduler.valid(made.id));
      await clock.sleep("5s");
    });
    const task2 = defineTask("task2", () => {});
    const scheduler = await start({ tasks: [task, task2] });
    await scheduler.after(task, 0);
    await clock.settled();
    expect(outside).toEqual([false]);
    await clock.advance("5s");
    expect((await scheduler.list({ task: "task2" }).page()).schedules).toHaveLength(1);
  });

  it("S7 U3 changes of a run that faults, times out or is aborted never happened", async () => {
    const { clock, start } = world(kind);
    const task = defineTask("task", async (input, { schedules, signal }) => {
      await schedules.after("task2", "1h");
      if (input === "fault") throw new Error("no");
      await clock.sleep("1m", { signal }).catch(() => {});
    });
    const task2 = defineTask("task2", () => {});
    const scheduler = await start({ tasks: [task, task2] });
    await scheduler.after(task, 0, "fault");
    await scheduler.after(task, 0, "timeout", { timeout: "1s" });
    const { id } = await scheduler.after(task, 0, "abort");
    await clock.settled();
    await scheduler.abortRun((await scheduler.runs(id))[0]!.id);
    await clock.advance("10s");
    expect((await scheduler.list({ task: "task2" }).page()).schedules).toEqual([]);
  });

  it("U3 a change that the handler did not wait for and that fails faults the run, and nothing of it happens", async () => {
    const { clock, start } = world(kind);
    const task = defineTask("task", (_input, { schedules }) => {
      void schedules.every(task, "1h", undefined, { name: "follows" });
      void schedules.after("no such task", "1h");
    });
    const scheduler = await start({ tasks: [task] });
    const { id } = await scheduler.after(task, 0);
    await clock.settled();
    const fault = { message: expect.stringContaining("no such task") as string };
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "failed", lastFault: fault });
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it("F1 U3 one that failed before the end, and that nobody handles, is logged", async () => {
    const errors: unknown[][] = [];
    const logger = { error: (...told: unknown[]) => void errors.push(told), warn() {}, info() {}, debug() {} };
    const { clock, start } = world(kind);
    const task = defineTask("task", async (_input, { schedules }) => {
      void schedules.after("no such task", "1h");
      await schedules.every(task, "1h");
    });
    const scheduler = await start({ tasks: [task], logger });
    const { id } = await scheduler.after(task, 0);
    await clock.settled();
    // The runtime tells of a promise once nothing else is left to do in its turn.
    await new Promise((resolve) => setTimeout(resolve));
    expect(errors).toEqual([[
      expect.stringContaining("left a promise behind"),
      expect.objectContaining({ code: "unknown_task" }),
    ]]);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed" });
  });

  it("S7 X1 a unit is over with its run", async () => {
    const { clock, start } = world(kind);
    let kept: RunContext["schedules"] | undefined;
    const task = defineTask("task", (_input, ctx) => void (kept = ctx.schedules));
    const scheduler = await start({ tasks: [task] });
    await scheduler.after(task, 0);
    await clock.settled();
    await expect(kept!.after(task, 0)).rejects.toMatchObject({ code: "conflict" });
  });

  it.each(["returns", "throws", "is aborted by its timeout", "is given back at closing"])(
    "S7 U3 what a handler that %s left behind is told that its run is over, also where it asks for the first time",
    async (how) => {
      const { clock, start, create } = world(kind);
      let left: RunContext | undefined;
      let kept: RunContext["schedules"] | undefined;
      const task = defineTask("task", async (asks: boolean, ctx) => {
        left = ctx;
        kept = asks ? ctx.schedules : undefined;
        await Promise.resolve();
        if (how === "throws") throw new Error("no");
        if (how !== "returns") await clock.sleep("1h");
      });
      for (const asks of [false, true]) {
        const scheduler = await start({ tasks: [task] });
        const { id } = await scheduler.every(task, "1h", asks, { timeout: "1m", startAt: clock.now() });
        const victim = await scheduler.after(task, "9h", false);
        await clock.settled();
        if (how === "is aborted by its timeout") await clock.advance("2m");
        if (how === "is given back at closing") await scheduler.close({ drain: 0 });
        const late = { code: "conflict", message: expect.stringContaining("the run is over") as string };
        const over = how === "is given back at closing" ? { code: "closed" } : late;
        expect(kept === undefined).toBe(!asks);
        const { schedules } = left!;
        await expect(schedules.after(task, 0, false)).rejects.toMatchObject(over);
        await expect(schedules.createMany([{ task, after: 0, input: false }])).rejects.toMatchObject(over);
        await expect(schedules.stop(victim.id)).rejects.toMatchObject(over);
        await expect(schedules.pause(victim.id)).rejects.toMatchObject(over);
        await expect(schedules.valid(victim.id)).rejects.toMatchObject(over);
        expect(() => left!.retire("too late")).toThrow(expect.objectContaining(late));
        await scheduler.close({ drain: 0 });
        const later = create({ tasks: [task] });
        expect(await later.valid(victim.id)).toBe(true);
        expect(await later.info(id)).toMatchObject({ retired: false });
        expect((await later.list().page()).schedules).toHaveLength(2);
        await later.stop(id);
        await later.stop(victim.id);
      }
    },
  );

  it("I4 persist: false is of this process: it fires, is listed and stopped here, and nowhere else", async () => {
    const { clock, create, start } = world(kind);
    const told: string[] = [];
    const task = defineTask("task", (_input, { schedule }) => void told.push(schedule.id));
    const scheduler = await start({ tasks: [task] });
    const other = create({ tasks: [task] });
    const { id } = await scheduler.every(task, "1m", undefined, { persist: false, name: "here" });
    expect(await scheduler.info(id)).toMatchObject({ persist: false, nextRun: new Date(START + MINUTE) });
    expect((await scheduler.list().page()).schedules.map((one) => one.id)).toEqual([id]);
    expect((await other.list().page()).schedules).toEqual([]);
    await expect(other.info(id)).rejects.toMatchObject({ code: "not_found" });
    expect(await other.stop(id)).toBe(false);
    await clock.advance("2m");
    expect(told).toEqual([id, id]);
    await scheduler.close();
    const next = await start({ tasks: [task] });
    await clock.advance("1h");
    expect(told).toHaveLength(2);
    expect(await next.valid(id)).toBe(false);
    expect(await next.every(task, "1h", undefined, { name: "here" })).toMatchObject({
      nextRun: new Date(START + 2 * MINUTE + 2 * HOUR),
    });
  });

  it("I3 a creation that resolved is found by whoever opens the store, before its maker closes", async () => {
    const { create } = world(kind);
    const task = defineTask("task", () => {});
    const maker = create({ tasks: [task] });
    const made = await Promise.all(Array.from({ length: 200 }, (_, i) => maker.after(task, "1h", { i })));
    const found = [];
    for await (const { id } of create().list()) found.push(id);
    expect(found.sort()).toEqual(made.map(({ id }) => id).sort());
  });
});
