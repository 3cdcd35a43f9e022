import { describe, expect, it } from "vitest";
import { defineTask, type RunContext } from "../../../mod.ts";
import type { Scheduler } from "../../../src/scheduler.ts";
import { START, STORES, world } from "../support/schedulers.ts";

const noop = defineTask("noop", () => {});

/** The names of the live schedules that a scheduler sees and that have one, with where they are kept. */
async function kept(scheduler: Scheduler): Promise<Record<string, "stored" | "local">> {
  const found: Record<string, "stored" | "local"> = {};
  for await (const one of scheduler.list()) {
    if (one.name !== undefined) found[one.name] = (await one.info()).persist ? "stored" : "local";
  }
  return found;
}

async function makeBoth({ schedules }: RunContext, prefix: string): Promise<void> {
  await schedules.every(noop, "1h", undefined, { name: `${prefix} stored` });
  await schedules.every(noop, "1h", undefined, { name: `${prefix} local`, persist: false });
}

/** Schedules of the store, and those of one process only, of one scheduler. */
describe.each(STORES)("beside those of one process only, over %s", (kind) => {
  it("U3 I4 whatever a run is of, what it changes goes where it belongs, and durably", async () => {
    const { clock, create, start } = world(kind);
    const change = defineTask("change", async (by: string, context) => {
      await makeBoth(context, by);
      for (const id of context.state as string[]) await context.schedules.stop(id);
    });
    const scheduler = await start({ tasks: [change, noop] });
    for (const persist of [true, false]) {
      const old = [
        await scheduler.every(noop, "1h", undefined, { name: "old stored" }),
        await scheduler.every(noop, "1h", undefined, { name: "old local", persist: false }),
      ];
      const state = old.map(({ id }) => id);
      await scheduler.after(change, 0, `${persist}`, { persist, retention: 0, state });
      await clock.advance("1s");
    }
    expect(await kept(scheduler)).toEqual({
      "true stored": "stored",
      "true local": "local",
      "false stored": "stored",
      "false local": "local",
    });
    expect(await kept(create())).toEqual({ "true stored": "stored", "false stored": "stored" });
  });

  it("U3 of a run of one process only nothing is stored when it faults, is refused, or its schedule was stopped", async () => {
    const { clock, start } = world(kind);
    const gates: (() => void)[] = [];
    const change = defineTask("change", async (by: string, context) => {
      await makeBoth(context, by);
      await new Promise<void>((resolve) => gates.push(resolve));
      if (by === "faulted") throw new Error("no");
    });
    const scheduler = await start({ tasks: [change, noop] });
    const [faulted, refused, stopped] = await scheduler.createMany(
      ["faulted", "refused", "stopped"].map((by) => ({ task: change, every: "1m", input: by, persist: false })),
    );
    await clock.advance("1m");
    const taken = await scheduler.every(noop, "2h", undefined, { name: "refused stored" });
    await stopped!.stop();
    for (const open of gates.splice(0)) open();
    await clock.advance("1s");
    expect(await kept(scheduler)).toEqual({ "refused stored": "stored" });
    expect(await taken.info()).toMatchObject({ nextRun: new Date(START + 7_260_000) });
    expect(await faulted!.info()).toMatchObject({ faultCount: 1, lastFault: { message: "no" } });
    expect(await refused!.info()).toMatchObject({ faultCount: 1, running: [] });
  });

  it("X1 X2 U3 what drains in one place still writes to the other, an invoked run as well", async () => {
    const { clock, create, start, messages } = world(kind);
    const gates: (() => void)[] = [];
    const late = defineTask("late", async (by: string, context) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      await makeBoth(context, by);
      return by;
    });
    for (const by of ["invoked", "local", "scheduled"]) {
      const scheduler = await start({ tasks: [late, noop] });
      const answer = by === "invoked" ? scheduler.invoke(late, by) : undefined;
      if (by !== "invoked") await scheduler.after(late, 0, by, { persist: by === "scheduled", retention: 0 });
      await clock.advance("1s");
      const closing = scheduler.close();
      await clock.settled();
      for (const open of gates.splice(0)) open();
      expect(await answer).toBe(by === "invoked" ? by : undefined);
      await closing;
    }
    const later = create();
    expect(Object.keys(await kept(later)).sort()).toEqual(["invoked stored", "local stored", "scheduled stored"]);
    expect(messages).toEqual([]);
  });

  it("X2 a list that is read across the end answers closed", async () => {
    const { create } = world(kind);
    const scheduler = create({ tasks: [noop] });
    await scheduler.createMany(Array.from({ length: 5 }, () => ({ task: noop, after: "1h" })));
    const reading = async () => {
      for await (const _ of scheduler.list({ limit: 2 })) await scheduler.close();
    };
    await expect(reading()).rejects.toMatchObject({ code: "closed" });
  });
});
