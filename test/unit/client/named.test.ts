import { describe, expect, it } from "vitest";
import { defineTask } from "../../../mod.ts";
import { createClient, SYSTEM_PRINCIPAL } from "../../../src/client/mod.ts";
import { memoryHost, refusal, task } from "./memory_host.ts";
import { bench, DAY, HOUR, MINUTE, START, STORES } from "./stores.ts";

const noop = defineTask("noop", () => {});
const other = defineTask("other", () => {});

/** A task that notes the points that its runs stand for. */
function noting() {
  const points: string[] = [];
  const task = defineTask("noting", (_input, ctx) => void points.push(ctx.scheduledAt.toISOString()));
  return { points, task };
}

describe.each(STORES)("names on %s", (_, store) => {
  it("N1 registering a name again updates expression, zone, task, input and options, and keeps the id", async () => {
    const { scheduler } = bench(store, [noop, other]);
    const first = await scheduler.cron("night", "0 2 * * *", noop, { a: 1 }, { target: "x", jitter: "5s" });
    const second = await scheduler.cron("night", "0 3 * * *", other, { b: 2 }, {
      timezone: "Europe/Berlin",
      catchup: "skip",
    });
    expect(second.id).toBe(first.id);
    expect(await second.info()).toMatchObject({
      task: "other",
      input: { b: 2 },
      target: undefined,
      timezone: "Europe/Berlin",
      catchup: "skip",
      jitter: 0,
      nextRun: new Date("2026-01-01T02:00:00Z"),
    });
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
  });

  it("N1 many registrations at once, on several instances, make one record", async () => {
    const { scheduler, open } = bench(store, [noop]);
    const instances = [scheduler, open(), open()];
    const made = await Promise.all(
      Array.from({ length: 150 }, (_, i) => instances[i % 3]!.every(noop, "5s", undefined, { name: "a" })),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
  });

  it("B082 N1 many registrations during runs start each point once", async () => {
    const { points, task } = noting();
    const { clock, scheduler, open } = bench(store, [task]);
    const instances = [scheduler, open()];
    await Promise.all(instances.map((instance) => instance.start()));
    const register = () =>
      Promise.all(instances.map((instance) => instance.every(task, "5s", undefined, { name: "a" })));
    await register();
    for (let i = 0; i < 24; i++) {
      await register();
      await clock.advance("2500ms");
    }
    expect(points).toEqual(Array.from({ length: 12 }, (_, i) => new Date(START + (i + 1) * 5_000).toISOString()));
  });

  it("N2 registering again with nothing changed changes nothing and tells nobody", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    const events: string[] = [];
    scheduler.on("created", () => events.push("created"));
    scheduler.on("updated", () => events.push("updated"));
    const options = {
      name: "a",
      target: "room:1",
      tags: ["x", "y"],
      jitter: "20s",
      overlap: "queue",
      state: { n: [1] },
    } as const;
    const first = await scheduler.every(noop, "1h", { z: 1, y: { x: 2 } }, options);
    const before = await first.info();
    await clock.advance("20m");
    const again = await scheduler.every(noop, 3_600_000, { y: { x: 2 }, z: 1 }, options);
    expect(again).toMatchObject({ id: first.id, nextRun: first.nextRun });
    expect(await again.info()).toEqual(before);
    expect(events).toEqual(["created"]);
  });

  it("B081 N2 an interval of 60 min registered every 50 min, with a restart each time, runs 8 times in 500 min", async () => {
    const { points, task } = noting();
    const { clock, scheduler, open } = bench(store, [task]);
    await scheduler.close();
    for (let i = 0; i < 10; i++) {
      const instance = open();
      await instance.start();
      await instance.every(task, "60m", undefined, { name: "beat" });
      await clock.advance("50m");
      await instance.close();
    }
    expect(points).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((i) => new Date(START + i * HOUR).toISOString()));
  });

  it("N2 points missed while down are still caught up after an equal registration", async () => {
    const { points, task } = noting();
    const { clock, scheduler, open } = bench(store, [task]);
    await scheduler.every(task, "1h", undefined, { name: "beat", catchup: "all" });
    await scheduler.close();
    await clock.advance("3h");
    const later = open();
    await later.every(task, "1h", undefined, { name: "beat", catchup: "all" });
    await later.start();
    await clock.settled();
    expect(points).toEqual([1, 2, 3].map((i) => new Date(START + i * HOUR).toISOString()));
  });

  it("B085 N2 a shortened interval counts from now, not from the old deadline", async () => {
    const { points, task } = noting();
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    await scheduler.every(task, "12h", undefined, { name: "a", startAt: START + 7 * HOUR });
    await clock.advance("12h");
    const again = await scheduler.every(task, "1m", undefined, { name: "a" });
    expect(again.nextRun).toEqual(new Date(START + 12 * HOUR + MINUTE));
    await clock.advance("2m");
    expect(points).toEqual(["2026-01-01T07:00:00.000Z", "2026-01-01T12:01:00.000Z", "2026-01-01T12:02:00.000Z"]);
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
  });

  it("B086 N2 an edited expression makes no run at the edit, and no point of the new rule before it counts", async () => {
    const { points, task } = noting();
    const { clock, scheduler } = bench(store, [task]);
    await clock.set("2017-12-29T11:00:00Z");
    await scheduler.start();
    await scheduler.cron("mail", "30 11 * * 5", task);
    await clock.advance("1h");
    expect(points).toEqual(["2017-12-29T11:30:00.000Z"]);
    await clock.advance(Date.parse("2018-01-04T23:49:00Z") - clock.now());
    const edited = await scheduler.cron("mail", "0 11 * * 5", task);
    expect(edited.nextRun).toEqual(new Date("2018-01-05T11:00:00Z"));
    await clock.settled();
    expect(points).toHaveLength(1);
    await clock.advance("12h");
    expect(points).toEqual(["2017-12-29T11:30:00.000Z", "2018-01-05T11:00:00.000Z"]);
  });

  it("B086 N2 a daily job moved from 23:00 to 05:00 at noon runs next at 05:00", async () => {
    const { points, task } = noting();
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    await scheduler.cron("daily", "0 23 * * *", task);
    await clock.advance("12h");
    await scheduler.cron("daily", "0 5 * * *", task);
    await clock.advance("18h");
    expect(points).toEqual(["2026-01-02T05:00:00.000Z"]);
  });

  it("N2 changed options alone leave deadline and counters", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    await scheduler.every(noop, "1h", 1, { name: "a" });
    await clock.advance("90m");
    const changed = await scheduler.every(noop, "1h", 2, { name: "a", overlap: "queue" });
    expect(changed.nextRun).toEqual(new Date(START + 2 * HOUR));
    expect(await changed.info()).toMatchObject({ runCount: 1, input: 2, overlap: "queue" });
  });

  it("N3 a stopped name that is registered again is a new schedule with a new id", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    const first = await scheduler.cron("night", "0 2 * * *", noop);
    await clock.advance("1d");
    expect(await first.stop()).toBe(true);
    const second = await scheduler.cron("night", "0 2 * * *", noop);
    expect(second.id).not.toBe(first.id);
    expect(await second.info()).toMatchObject({ runCount: 0 });
    expect(await scheduler.valid(first.id)).toBe(false);
  });

  it("B089 N3 a stopped schedule does not run again, and a run of it leaves its successor alone", async () => {
    const points: string[] = [];
    const slow = defineTask("slow", async (_input, ctx) => {
      points.push(ctx.scheduledAt.toISOString());
      await clock.sleep("10s");
    });
    const { clock, scheduler } = bench(store, [slow]);
    await scheduler.start();
    const early = await scheduler.every(slow, "1m", undefined, { name: "a" });
    await clock.advance("59s");
    expect(await early.stop()).toBe(true);
    await clock.advance("10m");
    expect(points).toEqual([]);
    const running = await scheduler.every(slow, "1m", undefined, { name: "a" });
    await clock.advance("65s");
    expect(points).toHaveLength(1);
    expect(await running.stop()).toBe(true);
    const successor = await scheduler.every(slow, "1h", undefined, { name: "a" });
    await clock.advance("1m");
    expect(await successor.info()).toMatchObject({ nextRun: successor.nextRun, runCount: 0, faultCount: 0 });
    await expect(running.info()).rejects.toEqual(refusal("not_found", /./));
    expect((await scheduler.list().page()).schedules.map(({ id }) => id)).toEqual([successor.id]);
  });

  it("N4 sync registers a set and stops the members of its group that are no longer declared", async () => {
    const { scheduler } = bench(store, [noop]);
    const beside = await scheduler.cron("beside", "@daily", noop, undefined, { group: "mail" });
    const [a, b] = await scheduler.sync([
      { name: "a", cron: "@daily", task: noop },
      { name: "b", every: "1h", task: "noop", input: 1, target: "x" },
    ], { group: "billing" });
    const [a2, c] = await scheduler.sync([
      { name: "a", cron: "@daily", task: noop },
      { name: "c", at: START + DAY, task: noop },
    ], { group: "billing" });
    expect(a2).toMatchObject({ id: a!.id, nextRun: a!.nextRun });
    expect(await Promise.all([a, b, c, beside].map((one) => scheduler.valid(one!.id)))).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect((await scheduler.list({ group: "billing" }).page()).schedules.map(({ name }) => name).sort()).toEqual([
      "a",
      "c",
    ]);
    expect(await scheduler.sync([], { group: "billing" })).toEqual([]);
    expect(await scheduler.valid(beside.id)).toBe(true);
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
  });

  it("N4 sync is one step: a refused member leaves the whole set as it was", async () => {
    const { scheduler } = bench(store, [noop]);
    const [a] = await scheduler.sync([{ name: "a", cron: "@daily", task: noop }], { group: "g" });
    const bad = [{ name: "b", every: "1h", task: noop }, { name: "c", cron: "0 0 30 2 *", task: noop }];
    await expect(scheduler.sync(bad, { group: "g" })).rejects.toEqual(refusal("invalid_cron", /./));
    expect((await scheduler.list().page()).schedules.map(({ id }) => id)).toEqual([a!.id]);
  });

  it.each<[string, readonly object[], object | undefined, RegExp]>([
    ["no group", [], undefined, /^sync: undefined/],
    ["a member without a name", [{ cron: "@daily", task: "noop" }], { group: "g" }, /^sync\[0\]\.name: undefined/],
    ["one name twice", [{ name: "a", every: 9_000, task: "noop" }, { name: "a", every: 9_000, task: "noop" }], {
      group: "g",
    }, /^sync\[1\]\.name: "a".*once/],
    [
      "a member of another group",
      [{ name: "a", every: 9_000, task: "noop", group: "h" }],
      { group: "g" },
      /^sync\[0\]\.group: "h"/,
    ],
  ])("N4 I2 sync refuses %s", async (_, requests, options, message) => {
    const { scheduler } = bench(store, [noop]);
    await expect(scheduler.sync(requests as never, options as never)).rejects.toEqual(
      refusal("invalid_option", message),
    );
  });

  it("N5 at and every take a name too, and a name may change its kind", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    const first = await scheduler.at(noop, START + HOUR, 1, { name: "n" });
    expect(await scheduler.at(noop, START + HOUR, 1, { name: "n" })).toMatchObject({ id: first.id });
    expect(await scheduler.at(noop, START + 2 * HOUR, 1, { name: "n" })).toMatchObject({
      id: first.id,
      nextRun: new Date(START + 2 * HOUR),
    });
    await clock.advance("10m");
    const every = await scheduler.every(noop, "1m", 1, { name: "n" });
    expect(every).toMatchObject({ id: first.id, kind: "every", nextRun: new Date(START + 11 * MINUTE) });
    expect(await every.info()).toMatchObject({ adaptive: false, kind: "every" });
  });

  it.each([["", false], [" that was asked to stop", true]])(
    "N5 I5 a one-shot that is running%s and is given a new time runs again then",
    async (_, stop) => {
      const points: string[] = [];
      const slow = defineTask("slow", async (_input, ctx) => {
        points.push(ctx.scheduledAt.toISOString());
        await clock.sleep("1m");
      });
      const { clock, scheduler } = bench(store, [slow]);
      await scheduler.start();
      const named = await scheduler.after(slow, "1s", undefined, { name: "n" });
      const keyed = await scheduler.after(slow, "1s", undefined, { key: "k" });
      await clock.advance("10s");
      if (stop) expect([await named.stop(), await keyed.stop()]).toEqual([false, false]);
      expect((await scheduler.at(slow, START + HOUR, undefined, { name: "n" })).id).toBe(named.id);
      expect((await scheduler.at(slow, START + HOUR, undefined, { key: "k", onConflict: "replace" })).id).toBe(
        keyed.id,
      );
      await clock.advance("2h");
      expect(points).toEqual([1_000, 1_000, HOUR, HOUR].map((ms) => new Date(START + ms).toISOString()));
      expect(await named.info().catch(() => "gone")).toBe("gone");
    },
  );

  it("I5 a key pushed again and again fires once, the delay after the last push", async () => {
    const { points, task } = noting();
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    for (let i = 0; i < 5; i++) {
      await scheduler.after(task, "10s", { i }, { key: "save", onConflict: "replace" });
      await clock.advance("6s");
    }
    expect(points).toEqual([]);
    await clock.advance("1m");
    expect(points).toEqual([new Date(START + 24_000 + 10_000).toISOString()]);
    const later = await scheduler.after(task, "10s", {}, { key: "save" });
    expect(later.nextRun).toEqual(new Date(clock.now() + 10_000));
  });
});

describe("declared sets against others' changes", () => {
  it("N4 sync leaves alone what has left the group before the set is committed", async () => {
    const host = await memoryHost([task("t")]);
    const client = createClient(host, SYSTEM_PRINCIPAL);
    const [leaving, staying] = await client.sync([
      { name: "leaving", every: "1h", task: "t" },
      { name: "staying", every: "1h", task: "t" },
    ], { group: "g" });
    host.before = async () => {
      host.before = undefined;
      await client.update(leaving!.id, { group: "other" });
    };
    await client.sync([], { group: "g" });
    expect([await client.valid(leaving!.id), await client.valid(staying!.id)]).toEqual([true, false]);
  });
});
