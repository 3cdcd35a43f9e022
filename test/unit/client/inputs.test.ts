import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTask, type ScheduleInfo } from "../../../mod.ts";
import { refusal } from "./memory_host.ts";
import { bench, STORES } from "./stores.ts";

describe.each(STORES)("inputs on %s", (_, store) => {
  it("B141 B143 B146 S4 a run gets the very input that was given, after a restart too", async () => {
    const inputs = [
      { a: "x\u0000y", lone: "\ud800", sep: "\u2028", emoji: "😀" },
      JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":"x","hasOwnProperty":null,"":0}'),
      { n: 12345678901234567890.1, small: 5e-324, text: "12345678901234567890.10", nested: [[], {}, [null, true]] },
      "text",
      0,
      null,
      false,
      [],
      "é".repeat(16_000),
    ];
    const seen = new Map<number, string>();
    const task = defineTask("task", (input, ctx) => void seen.set(ctx.state as number, JSON.stringify(input)));
    const { clock, scheduler, open } = bench(store, [task]);
    for (const [i, input] of inputs.entries()) await scheduler.after(task, "1m", input, { state: i });
    await scheduler.close();
    const later = open();
    await later.start();
    await clock.advance("1m");
    expect(seen.size).toBe(inputs.length);
    for (const [i, input] of inputs.entries()) expect(seen.get(i)).toBe(JSON.stringify(input));
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it("S3 S4 what a caller changes once a call has begun is not the schedule's any more", async () => {
    const task = defineTask("task", () => {});
    const given = { n: 0, list: [0] };
    const at = new Date("2030-01-01T00:00:00Z");
    const changed = <T>(made: T): T => {
      given.n++;
      given.list.push(given.n);
      at.setTime(at.getTime() + 60_000);
      return made;
    };
    const { scheduler } = bench(store, [task]);
    const options = { state: given, tags: ["a"] };
    // The first of them opens the store.
    const alone = [0, 1].map(() => changed(scheduler.at(task, at, given, options)));
    const list = changed(scheduler.createMany([0, 1].map(() => ({ task, at, input: given, ...options }))));
    const set = changed(scheduler.sync([{ name: "set", task, at, input: given, ...options }], { group: "group" }));
    const unit = changed(scheduler.transaction((tx) => {
      return Promise.all([0, 1].map(() => changed(tx.at(task, at, given, options))));
    }));
    const told = async (made: Iterable<{ info(): Promise<ScheduleInfo> }>) => {
      const infos = await Promise.all([...made].map((schedule) => schedule.info()));
      return infos.map(({ input, state, nextRun }) => {
        expect(state).toEqual(input);
        const { n, list } = input as typeof given;
        expect(list).toHaveLength(n + 1);
        return [n, (nextRun!.getTime() - Date.parse("2030-01-01T00:00:00Z")) / 60_000];
      });
    };
    const first = await told(await Promise.all(alone));
    expect(first).toEqual([[0, 0], [1, 1]]);
    expect(await told(await list)).toEqual([[2, 2], [2, 2]]);
    expect(await told(await set)).toEqual([[3, 3]]);
    // When the unit's work begins is another matter.
    const [before, after] = await told(await unit);
    expect(after).toEqual(before!.map((one) => one + 1));
    const { id } = await scheduler.at(task, at);
    const { n } = given;
    const updated = await changed(scheduler.update(id, { input: given, state: given, at }));
    expect(await told([updated])).toEqual([[n, n]]);
  });

  it("V1 S3 what is done to an answer of info, or to the configuration, does nothing to a schedule", async () => {
    const task = defineTask("task", () => Promise.reject(new Error("no")));
    const defaults: Record<string, unknown> = { catchup: { policy: "all", limit: 7 } };
    const { clock, scheduler } = bench(store, [task], { defaults } as never);
    (defaults["catchup"] as { limit: number }).limit = 8;
    defaults["overlap"] = "queue";
    await scheduler.start();
    const options = { timezone: "Europe/Berlin", dst: { gap: "skip" }, tags: ["a"], state: [1] } as const;
    const made = await scheduler.cron("c", "* * * * *", task, { n: [1] }, options);
    await clock.advance("1m");
    const told = await made.info() as unknown as Record<string, Record<string, unknown>>;
    const before = structuredClone(told);
    expect(told).toMatchObject({ catchup: { limit: 7 }, overlap: "skip", lastFault: { message: "no" } });
    for (const key of ["tags", "spec", "options", "catchup", "authority", "lastFault", "input", "state"]) {
      told[key]!["0"] = "changed";
    }
    (told["spec"]!["dst"] as Record<string, unknown>)["gap"] = "fire";
    expect(await made.info()).toEqual(before);
  });

  it("S4 no input at all stays none", async () => {
    const seen: unknown[] = [];
    const task = defineTask("task", (input) => void seen.push(input));
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    expect((await (await scheduler.after(task, "1m")).info()).input).toBeUndefined();
    await clock.advance("1m");
    expect(seen).toEqual([undefined]);
  });

  it("S4 the schema is asked again before a run, and its reading is what the handler gets", async () => {
    let least = 0;
    const seen: unknown[] = [];
    const task = defineTask("task", {
      input: z.object({ n: z.coerce.number(), unit: z.string().default("m") }).refine(
        ({ n }) => n >= least,
        "too small",
      ),
      run: (input) => void seen.push(input),
    });
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    const made = await scheduler.every(task, "1m", { n: "7" });
    await clock.advance("1m");
    least = 10;
    await clock.advance("1m");
    expect(seen).toEqual([{ n: 7, unit: "m" }]);
    expect(await made.info()).toMatchObject({
      input: { n: "7" },
      faultCount: 1,
      lastFault: { message: expect.stringMatching(/^input: too small/) },
    });
  });

  it("S3 a state of 4 KiB is handed to every run unchanged, one byte more is refused", async () => {
    const state = { text: "x".repeat(4 * 1024 - 11) };
    expect(JSON.stringify(state)).toHaveLength(4 * 1024);
    const seen: unknown[] = [];
    const task = defineTask("task", (_input, ctx) => void seen.push(ctx.state));
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    await scheduler.every(task, "1m", undefined, { state });
    await clock.advance("2m");
    expect(seen).toEqual([state, state]);
    const larger = scheduler.every(task, "1m", undefined, { state: { text: `${state.text}x` } });
    await expect(larger).rejects.toEqual(
      refusal("state_too_large", /^state: .* expected at most 4096/),
    );
  });

  it("S4 I3 what the caller does with its object after the call changes nothing", async () => {
    const seen: unknown[] = [];
    const task = defineTask("task", (input) => void seen.push(input));
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    const mine = { list: [1] };
    const creating = scheduler.after(task, "1m", mine);
    await creating;
    mine.list.push(2);
    await clock.advance("1m");
    expect(seen).toEqual([{ list: [1] }]);
  });

  it("S3 S4 what a handler does with its input and state changes neither the next run's nor what info tells", async () => {
    const seen: string[] = [];
    const task = defineTask("task", (input, ctx) => {
      seen.push(JSON.stringify([input, ctx.state]));
      (input as { list: number[] }).list.push(2);
      (ctx.state as { list: number[] }).list.push(2);
    });
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    const made = await scheduler.every(task, "1m", { list: [1] }, { state: { list: [1] } });
    await clock.advance("2m");
    ((await made.info()).input as { list: number[] }).list.push(3);
    await clock.advance("1m");
    expect(seen).toEqual(Array(3).fill('[{"list":[1]},{"list":[1]}]'));
    expect(await made.info()).toMatchObject({ input: { list: [1] }, state: { list: [1] }, faultCount: 0 });
  });

  it("B141 S4 names, keys, targets and tags survive whatever well-formed text they are", async () => {
    const texts = ["__proto__", "constructor", "toString", "hasOwnProperty", "a b", "é😀", "%_'\"\\;--", "null", " "];
    const task = defineTask("__proto__", () => {});
    const { scheduler } = bench(store, [task]);
    for (const text of texts) {
      const made = await scheduler.every(task, "1h", undefined, {
        name: text,
        target: text,
        group: text,
        tags: [text],
      });
      expect(await made.info()).toMatchObject({
        name: text,
        target: text,
        group: text,
        tags: [text],
        task: "__proto__",
      });
      for (const filter of [{ name: text }, { target: text }, { group: text }, { tag: text }]) {
        expect((await scheduler.list(filter).page()).schedules.map(({ id }) => id)).toEqual([made.id]);
      }
      expect((await scheduler.every(task, "1h", undefined, { name: text, target: text, group: text, tags: [text] })).id)
        .toBe(made.id);
    }
  });

  it("I1 ids are ULIDs, unique among thousands made at once", async () => {
    const task = defineTask("task", () => {});
    const { scheduler } = bench(store, [task]);
    const made = await Promise.all(Array.from({ length: 2_000 }, () => scheduler.after(task, "1h")));
    expect(new Set(made.map(({ id }) => id)).size).toBe(2_000);
    for (const { id } of made) expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  });

  it("I3 what resolved is there for a scheduler that opens the store next", async () => {
    const task = defineTask("task", () => {});
    const { scheduler, open } = bench(store, [task]);
    const made = await Promise.all(Array.from({ length: 100 }, (_, i) => scheduler.after(task, "1h", i)));
    const other = open();
    for (const one of made) expect(await other.valid(one.id)).toBe(true);
  });

  it("I4 a schedule of this process only runs here, and nobody else sees it", async () => {
    const points: number[] = [];
    const task = defineTask("task", (_input, ctx) => void points.push(ctx.scheduledAt.getTime()));
    const { clock, scheduler, open } = bench(store, [task]);
    const other = open();
    await Promise.all([scheduler.start(), other.start()]);
    const made = await scheduler.every(task, "1m", undefined, { persist: false, name: "n" });
    expect([await other.valid(made.id), await other.stop(made.id)]).toEqual([false, false]);
    expect((await other.list().page()).schedules).toEqual([]);
    await clock.advance("3m");
    expect(points).toHaveLength(3);
    await scheduler.close();
    await clock.advance("3m");
    expect(points).toHaveLength(3);
  });

  it("I6 a target that is no more retires the schedule with a fault", async () => {
    let exists = true;
    let runs = 0;
    const task = defineTask("task", {
      run: () => void runs++,
      resolveTarget: (target) => Promise.resolve(exists && target === "room:1"),
    });
    const { clock, scheduler } = bench(store, [task]);
    await scheduler.start();
    const made = await scheduler.every(task, "1m", undefined, { target: "room:1" });
    await clock.advance("1m");
    exists = false;
    await clock.advance("1m");
    expect(runs).toBe(1);
    expect(await made.info()).toMatchObject({ retired: true, retireReason: "invalid_target", faultCount: 1 });
  });
});
