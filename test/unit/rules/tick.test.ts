import { describe, expect, it } from "vitest";
import { defineTask } from "../../../mod.ts";
import { CONTRACT, type DocumentQuery, type Storage } from "../../../src/contract/mod.ts";
import { faultyStore } from "../../../src/testing/mod.ts";
import { MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

describe.each(STORES)("tick, over %s", (kind) => {
  it("T1 tick without start: runs what is due, settles it, and answers when the next wake-up is", async () => {
    const { create, clock } = world(kind);
    const ran: number[] = [];
    const task = defineTask("task", async (_input, { scheduledAt }) => {
      await clock.sleep(50);
      ran.push(scheduledAt.getTime() - START);
    });
    const scheduler = create({ tasks: [task], retention: "1d" });
    const due = await scheduler.createMany([{ task, after: 0 }, { task, after: 0 }]);
    const later = await scheduler.after(task, "1m");
    expect(await scheduler.tick()).toEqual(new Date(START + MINUTE));
    expect(ran).toEqual([0, 0]);
    for (const { id } of due) {
      expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", runCount: 1 });
    }
    expect(await scheduler.valid(later.id)).toBe(true);
    await clock.advance("1h");
    // Nothing goes on between two ticks.
    expect(ran).toEqual([0, 0]);
    await scheduler.tick();
    expect(ran).toEqual([0, 0, MINUTE]);
  });

  it("X1 tick called by a run of its own instance is refused, since it would wait for that", async () => {
    const { start, clock } = world(kind);
    let scheduler = world(kind).create();
    const task = defineTask("task", async () => void await scheduler.tick());
    scheduler = await start({ tasks: [task] });
    const { id } = await scheduler.after(task, "1s");
    await clock.advance("1s");
    expect((await scheduler.info(id)).lastFault).toMatchObject({
      message: expect.stringMatching(/^tick: called by a run/),
    });
  });

  it("C2 T2 tick: what was missed between two ticks is one run, and the cadence stays in phase", async () => {
    const { create, clock } = world(kind);
    const missed: number[] = [];
    const task = defineTask("task", (_input, ctx) => void missed.push(ctx.missed));
    const scheduler = create({ tasks: [task] });
    await scheduler.every(task, "1m");
    for (let tick = 0; tick < 3; tick++) {
      await clock.advance("10m");
      expect(await scheduler.tick()).toEqual(new Date(clock.now() + MINUTE));
    }
    expect(missed).toEqual([9, 9, 9]);
  });

  it("U3 tick: what a run makes due at once runs in the same tick", async () => {
    const { create } = world(kind);
    let ran = 0;
    const child = defineTask("child", () => void ran++);
    const parent = defineTask("parent", async (_input, { schedules }) => void await schedules.after(child, 0));
    const scheduler = create({ tasks: [parent, child] });
    await scheduler.after(parent, 0);
    await scheduler.tick();
    expect(ran).toBe(1);
  });

  it("tick: a schedule that lives in this process only is run as well", async () => {
    const { create } = world(kind);
    let ran = 0;
    const task = defineTask("task", () => void ran++);
    const scheduler = create({ tasks: [task] });
    await scheduler.after(task, 0, undefined, { persist: false });
    await scheduler.tick();
    expect(ran).toBe(1);
  });

  it("tick: it answers by what a run that lives in this process only has made in the store, too", async () => {
    const { create, clock } = world(kind);
    const child = defineTask("child", () => {});
    const parent = defineTask("parent", async (_input, { schedules }) => {
      await clock.sleep("1s");
      await schedules.after(child, "5s");
    });
    const scheduler = create({ tasks: [parent, child] });
    await scheduler.after(parent, 0, undefined, { persist: false });
    expect(await scheduler.tick()).toEqual(new Date(START + 6 * SECOND));
  });

  it("tick: with nothing to come the answer is undefined", async () => {
    expect(await world(kind).create().tick()).toBeUndefined();
  });

  it("M3 tick: a run longer than the budget is not waited for, keeps its lease, and settles when it ends", async () => {
    const { create, clock } = world(kind);
    const task = defineTask("task", () => clock.sleep("1m"));
    const scheduler = create({ tasks: [task], retention: "1d" });
    const { id } = await scheduler.after(task, 0);
    const began = clock.now();
    await scheduler.tick({ budget: "20s" });
    expect(clock.now() - began).toBe(20 * SECOND);
    expect((await scheduler.info(id)).running).toHaveLength(1);
    await clock.advance("1m");
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", runCount: 1, faultCount: 0 });
  });

  it("tick: once the budget is over nothing more is taken up", async () => {
    const { create, clock } = world(kind);
    let ran = 0;
    const task = defineTask("task", async () => {
      await clock.sleep("10s");
      ran++;
    });
    const scheduler = create({ tasks: [task], concurrency: 1 });
    await scheduler.createMany(Array.from({ length: 5 }, () => ({ task, after: 0 })));
    await scheduler.tick({ budget: "25s" });
    await clock.advance("1h");
    expect(ran).toBe(3);
    await scheduler.tick();
    expect(ran).toBe(5);
  });

  it("tick: once the budget is over a run that ends starts nothing that has waited for its end", async () => {
    const { create, clock } = world(kind);
    let starts = 0;
    const task = defineTask("task", async () => {
      starts++;
      await clock.sleep("90s");
    });
    const scheduler = create({ tasks: [task] });
    const { id } = await scheduler.every(task, "1m", undefined, { overlap: { policy: "queue", limit: 5 } });
    await clock.advance("1m");
    await scheduler.tick({ budget: "10s" });
    await clock.advance("10m");
    expect(starts).toBe(1);
    expect(await scheduler.info(id)).toMatchObject({ runCount: 1, running: [] });
    await scheduler.tick({ budget: "10s" });
    expect(starts).toBe(2);
  });

  it("tick: on a started scheduler it waits as well, and the scheduler goes on", async () => {
    const { start, clock } = world(kind);
    let ran = 0;
    const task = defineTask("task", () => void ran++);
    const scheduler = await start({ tasks: [task] });
    await scheduler.every(task, "1m");
    await scheduler.after(task, 0);
    await scheduler.tick();
    expect(ran).toBe(1);
    await clock.advance("1m");
    expect(ran).toBe(2);
  });

  it("tick: two at once are one, and start may follow", async () => {
    const { create, clock } = world(kind);
    let ran = 0;
    const task = defineTask("task", () => void ran++);
    const scheduler = create({ tasks: [task] });
    await scheduler.every(task, "1m");
    await scheduler.after(task, 0);
    expect(await Promise.all([scheduler.tick(), scheduler.tick()])).toEqual([
      new Date(START + MINUTE),
      new Date(START + MINUTE),
    ]);
    await scheduler.start();
    await clock.advance("1m");
    expect(ran).toBe(2);
  });

  it("X1 X2 tick: closing ends it; afterwards it answers closed", async () => {
    const { create, clock } = world(kind);
    const task = defineTask("task", () => clock.sleep("1h"));
    const scheduler = create({ tasks: [task] });
    await scheduler.after(task, 0);
    const tick = expect(scheduler.tick({ budget: "1d" })).rejects.toMatchObject({ code: "closed" });
    await scheduler.close({ drain: "1s" });
    await tick;
    await expect(scheduler.tick()).rejects.toMatchObject({ code: "closed" });
  });

  it("X1 X3 tick: one that is overtaken by a close, while it looks at the tasks that are kept, claims nothing", async () => {
    const { create, handle } = world(kind);
    const inner = handle();
    let claims = 0;
    let answer: (() => void) | undefined;
    const storage: Storage = new Proxy(inner, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (key === "find") {
          return async (query: DocumentQuery) => {
            const found = await inner.find(query);
            await new Promise<void>((resolve) => answer = resolve);
            return found;
          };
        }
        if (typeof member !== "function") return member;
        return (...parameters: unknown[]) => {
          if (key === "advance") claims++;
          return member.apply(target, parameters);
        };
      },
    });
    const records = defineTask("records", { internal: true, run: () => {} });
    const kept = { name: "kept", contract: CONTRACT, tasks: { records, taskOf: () => undefined } };
    const scheduler = create({ storage, plugins: [kept] });
    await scheduler.valid("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    const tick = expect(scheduler.tick()).rejects.toMatchObject({ code: "closed" });
    await expect.poll(() => answer).toBeDefined();
    await scheduler.close();
    answer!();
    await tick;
    expect(claims).toBe(0);
  });

  it("M6 tick: a store that fails in between is tried again within the budget", async () => {
    const { create, handle } = world(kind);
    let ran = 0;
    const task = defineTask("task", () => void ran++);
    await create({ tasks: [task] }).after(task, 0);
    // now, advance
    const { storage, struck } = faultyStore(handle(), { at: 2, reply: "fails", calls: 2 });
    const next = await create({ tasks: [task], storage, retention: "1m" }).tick();
    expect([ran, struck(), next instanceof Date]).toEqual([1, true, true]);
  });

  it("tick: options that do not fit are refused", async () => {
    const scheduler = world(kind).create();
    await expect(scheduler.tick({ bugdet: 1 } as object)).rejects.toMatchObject({ code: "unknown_option" });
    await expect(scheduler.tick({ budget: "soon" as "1s" })).rejects.toMatchObject({ code: "invalid_duration" });
  });
});
