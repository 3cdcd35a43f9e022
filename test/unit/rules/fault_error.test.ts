import { describe, expect, it } from "vitest";
import { defineTask, FaultError } from "../../../mod.ts";
import { MAX_DEADLINE, RETRY } from "../../../src/contract/mod.ts";
import { SECOND, START, STORES, world } from "../support/schedulers.ts";

describe.each(STORES)("what a fault says of further attempts, over %s", (kind) => {
  async function failing(thrown: () => unknown) {
    const { clock, start } = world(kind);
    const runs: [at: number, attempt: number][] = [];
    const task = defineTask("failing", (_input, { attempt }) => {
      runs.push([(clock.now() - START) / SECOND, attempt]);
      throw thrown();
    });
    return { clock, runs, task, scheduler: await start({ tasks: [task] }) };
  }

  it("F4 F3 retry: false ends the deadline at once: a one-shot retires with failed", async () => {
    const { clock, runs, task, scheduler } = await failing(() => new FaultError("no use", { retry: false }));
    const { id } = await scheduler.after(task, "1s", undefined, { retry: { limit: 5, delay: "1s" } });
    await clock.advance("30s");
    expect(runs).toEqual([[1, 1]]);
    expect(await scheduler.info(id)).toMatchObject({
      retireReason: "failed",
      faultCount: 1,
      lastFault: { name: "FaultError", message: "no use" },
    });
  });

  it("F4 F2 retry: false counts once for maxFaults, and a recurring schedule goes on in phase", async () => {
    const { clock, runs, task, scheduler } = await failing(() => new FaultError("no use", { retry: false }));
    const { id } = await scheduler.every(task, "10s", undefined, { retry: { limit: 5, delay: "1s" }, maxFaults: 3 });
    await clock.advance("25s");
    expect(runs).toEqual([[10, 1], [20, 1]]);
    expect(await scheduler.info(id)).toMatchObject({ consecutiveFaults: 2, retired: false });
    await clock.advance("10s");
    expect(await scheduler.info(id)).toMatchObject({ faultCount: 3, retireReason: "max_faults" });
  });

  it("F4 a duration holds the next attempt back, and shortens no delay that is longer", async () => {
    const delays = ["45s", "1s", 0];
    const { clock, runs, task, scheduler } = await failing(() => new FaultError("busy", { retry: delays.shift()! }));
    await scheduler.after(task, 0, undefined, { retry: { limit: 3, delay: "10s", backoff: 1 } });
    await clock.advance("5m");
    expect(runs).toEqual([[0, 1], [45, 2], [55, 3], [65, 4]]);
  });

  it("F4 T6 a delay that passes the year 9999 waits for the last instant there is", async () => {
    const { clock, task, scheduler } = await failing(() => new FaultError("busy", { retry: "9999999w" }));
    const { id } = await scheduler.after(task, 0, undefined, { retry: { limit: 1, delay: "1s" } });
    await clock.advance("1s");
    expect(await scheduler.info(id)).toMatchObject({ nextRun: new Date(MAX_DEADLINE), retired: false });
    expect((await scheduler.info(id)).parked).toBeUndefined();
  });

  it("F4 a duration grants no attempt that retry does not", async () => {
    const { clock, runs, task, scheduler } = await failing(() => new FaultError("busy", { retry: "1s" }));
    await scheduler.after(task, 0);
    await clock.advance("1m");
    expect(runs).toEqual([[0, 1]]);
  });

  it("F4 any error may carry it, and one that carries nonsense is retried as usual", async () => {
    const marks: unknown[] = [-1, NaN, Infinity, "1h", true, {}, false];
    const { clock, runs, task, scheduler } = await failing(() =>
      Object.assign(new Error("own"), { [RETRY]: marks.shift() })
    );
    await scheduler.after(task, 0, undefined, { retry: { limit: 9, delay: "1s", backoff: 1 } });
    await clock.advance("1m");
    expect(runs.map(([at]) => at)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});

it.each([-1, NaN, "soon", null, true])("F4 a FaultError refuses %j as a delay", (retry) => {
  expect(() => new FaultError("busy", { retry: retry as never })).toThrow(
    expect.objectContaining({ code: "invalid_duration" }),
  );
});
