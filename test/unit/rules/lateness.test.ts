import { describe, expect, it } from "vitest";
import { defineTask } from "../../../mod.ts";
import { START, STORES, world } from "../support/schedulers.ts";

describe.each(STORES)("V5 the event started, on %s", (store) => {
  it("tells how late a run starts, with the time for which it waited, claimed, for a slot", async () => {
    const { clock, start } = world(store);
    const short = defineTask("short", (ms: number) => ms > 0 ? clock.sleep(ms) : undefined);
    const scheduler = await start({ tasks: [short], concurrency: 1 });
    const late: unknown[] = [];
    scheduler.on("started", ({ run }) => late.push([run.startedAt.getTime() - START, run.latenessMs]));
    // Runs that have been short so far are claimed ahead; then one takes its time.
    for (let i = 0; i < 20; i++) await scheduler.at(short, START + 500, 0);
    for (const ms of [2_000, 0, 0]) await scheduler.at(short, START + 1_000, ms);
    await clock.advance("10s");
    expect(late.slice(-3)).toEqual([[1_000, 0], [3_000, 2_000], [3_000, 2_000]]);
  });

  it("counts a retry from when it was due, not from its deadline", async () => {
    const { clock, start } = world(store);
    const flaky = defineTask("flaky", { retry: { limit: 1, delay: "5s" }, run: () => Promise.reject(new Error("no")) });
    const scheduler = await start({ tasks: [flaky] });
    const late: unknown[] = [];
    scheduler.on("started", ({ run }) => late.push([run.attempt, run.latenessMs]));
    await scheduler.at(flaky, START + 1_000);
    await clock.advance("10s");
    expect(late).toEqual([[1, 0], [2, 0]]);
  });
});
