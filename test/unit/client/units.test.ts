import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { defineTask, type Schedule, type TransactionClient } from "../../../mod.ts";
import { createClient, SYSTEM_PRINCIPAL } from "../../../src/client/mod.ts";
import { memoryHost, refusal, task } from "./memory_host.ts";
import { bench, HOUR, MINUTE, START, STORES } from "./stores.ts";

const noop = defineTask("noop", () => {});

describe.each(STORES)("units of work on %s", (_, store) => {
  it("U1 a transaction's changes take effect together when its function resolves", async () => {
    const { scheduler } = bench(store, [noop]);
    const old = await scheduler.every(noop, "1h");
    const kept = await scheduler.every(noop, "1h");
    const answer = await scheduler.transaction(async (tx) => {
      const made = await tx.after(noop, "1h", 1);
      await tx.stop(old.id);
      await tx.update(kept.id, { every: "2h" });
      await tx.pause(kept.id);
      expect(await scheduler.valid(made.id)).toBe(false);
      expect(await scheduler.valid(old.id)).toBe(true);
      expect((await scheduler.info(kept.id)).spec).toMatchObject({ every: HOUR });
      return made;
    });
    expect(await scheduler.valid(answer.id)).toBe(true);
    expect(await scheduler.valid(old.id)).toBe(false);
    expect(await scheduler.info(kept.id)).toMatchObject({ spec: { every: 2 * HOUR }, paused: true });
    expect(await answer.stop()).toBe(true);
  });

  it("U1 none of them does when the function throws, and the error is the function's own", async () => {
    const { scheduler } = bench(store, [noop]);
    const old = await scheduler.every(noop, "1h");
    const own = new Error("changed my mind");
    const failing = scheduler.transaction(async (tx) => {
      await tx.createMany([{ task: noop, after: "1h" }, { task: noop, every: "1m", persist: false }]);
      await tx.stop(old.id);
      throw own;
    });
    await expect(failing).rejects.toBe(own);
    expect((await scheduler.list().page()).schedules.map(({ id }) => id)).toEqual([old.id]);
  });

  it("U1 waits for calls that the function did not wait for", async () => {
    const { scheduler } = bench(store, [noop]);
    let made: Promise<Schedule> | undefined;
    await scheduler.transaction((tx) => {
      made = tx.every(noop, "1h");
    });
    expect(await scheduler.valid((await made!).id)).toBe(true);
  });

  it("U1 fails with a call that the function did not wait for and that fails, and nothing takes effect", async () => {
    const { scheduler } = bench(store, [noop]);
    const failing = scheduler.transaction((tx) => {
      void tx.every(noop, "1h", 1, { name: "whole" });
      void tx.after("no such task", "1h");
      void tx.after(noop, "no duration");
      void tx.every(noop, "2h", 1, { name: "rest" });
    });
    await expect(failing).rejects.toEqual(refusal("unknown_task", /no such task/));
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it("U1 a failure that the function handles is its own business, and after one that ends it the rest is quiet", async () => {
    const { scheduler } = bench(store, [noop]);
    const answer = await scheduler.transaction(async (tx) => {
      const code = await tx.after("no such task", "1h").catch((error) => error.code);
      await tx.every(noop, "1h");
      return code;
    });
    expect(answer).toBe("unknown_task");
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
    const ended = scheduler.transaction(async (tx) => {
      const [first, second] = [tx.after("no such task", "1h"), tx.after("nor this one", "1h")];
      await first;
      await second;
    });
    await expect(ended).rejects.toEqual(refusal("unknown_task", /no such task/));
  });

  it("U2 inside, the id is usable at once, and create-then-stop leaves nothing behind", async () => {
    const { scheduler } = bench(store, [noop]);
    const stopped = await scheduler.transaction(async (tx) => {
      const made = await tx.every(noop, "1h", 1, { target: "x" });
      expect(await tx.valid(made.id)).toBe(true);
      expect(await tx.info(made.id)).toMatchObject({ input: 1, target: "x", nextRun: made.nextRun });
      expect(await made.pause()).toBe(true);
      expect(await tx.info(made.id)).toMatchObject({ paused: true, nextRun: null });
      expect(await tx.stop(made.id)).toBe(true);
      expect(await tx.valid(made.id)).toBe(false);
      expect(await tx.stop(made.id)).toBe(false);
      await expect(tx.info(made.id)).rejects.toEqual(refusal("not_found", /./));
      return made.id;
    });
    expect(await scheduler.valid(stopped)).toBe(false);
    await expect(scheduler.info(stopped)).rejects.toEqual(refusal("not_found", /./));
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it("U2 names and keys made inside are found inside", async () => {
    const { scheduler } = bench(store, [noop]);
    await scheduler.transaction(async (tx) => {
      const first = await tx.cron("n", "@daily", noop);
      expect((await tx.cron("n", "@hourly", noop)).id).toBe(first.id);
      const keyed = await tx.after(noop, "1h", 1, { key: "k" });
      expect((await tx.after(noop, "2h", 2, { key: "k" })).id).toBe(keyed.id);
      await tx.stop(first.id);
      expect((await tx.cron("n", "@daily", noop)).id).not.toBe(first.id);
    });
    const names = (await scheduler.list().page()).schedules.map(({ name }) => name);
    expect(names).toHaveLength(2);
    expect(new Set(names)).toEqual(new Set(["n", undefined]));
  });

  it("U2 finds stored names and keys, and schedules of this process only", async () => {
    const { scheduler } = bench(store, [noop]);
    const named = await scheduler.cron("n", "@daily", noop);
    const keyed = await scheduler.after(noop, "1h", 1, { key: "k" });
    const local = await scheduler.every(noop, "1h", 1, { persist: false });
    await scheduler.transaction(async (tx) => {
      expect((await tx.cron("n", "@daily", noop)).id).toBe(named.id);
      expect((await tx.after(noop, "1h", 1, { key: "k" })).id).toBe(keyed.id);
      expect(await tx.stop(local.id)).toBe(true);
      await tx.every(noop, "1m", 1, { persist: false, name: "mine" });
    });
    expect(await scheduler.valid(local.id)).toBe(false);
    const [mine] = (await scheduler.list({ name: "mine" }).page()).schedules;
    expect(await mine!.info()).toMatchObject({ persist: false });
  });

  it("U1 a call that is refused inside says so there, and the others go on", async () => {
    const { scheduler } = bench(store, [noop]);
    await scheduler.transaction(async (tx) => {
      await expect(tx.at("nope", START)).rejects.toEqual(refusal("unknown_task", /nope/));
      const many = tx.createMany([{ task: noop, every: "1h" }, { task: noop, cron: "0 0 30 2 *" }]);
      await expect(many).rejects.toEqual(refusal("invalid_cron", /./));
      await tx.every(noop, "1m");
    });
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
  });

  it("U1 U2 of a call of several that is refused nothing stays: not what it made, changed or stopped", async () => {
    const { scheduler } = bench(store, [noop]);
    const [made, keyed, ...others] = await scheduler.transaction(async (tx) => {
      const made = await tx.every(noop, "1h", 1, { name: "made" });
      const keyed = await tx.after(noop, "1h", 1, { key: "k" });
      const many = tx.createMany([
        { task: noop, name: "made", every: "2h", input: 2 },
        { task: noop, name: "made", owner: "alice", every: "2h" },
        { task: noop, key: "k", onConflict: "error", after: "2h" },
      ]);
      await expect(many).rejects.toEqual(refusal("conflict", /"k" names a live schedule already/));
      expect(await tx.info(made.id)).toMatchObject({ spec: { every: HOUR }, input: 1 });
      const again = await tx.every(noop, "1h", 1, { name: "made" });
      return [made, keyed, again, await tx.every(noop, "3h", 3, { name: "made", owner: "alice" })];
    });
    expect(others[0]!.id).toBe(made!.id);
    expect((await scheduler.list().page()).schedules.map(({ id }) => id)).toEqual(
      [made!, keyed!, others[1]!].map(({ id }) => id).sort(),
    );
    expect(await scheduler.info(made!.id)).toMatchObject({ spec: { every: HOUR }, input: 1 });
    expect(await others[1]!.info()).toMatchObject({ owner: "alice", input: 3 });
  });

  it("U1 a call of several goes through nothing that the unit has done before it", async () => {
    const { scheduler } = bench(store, [noop]);
    await scheduler.transaction(async (tx) => {
      for (let n = 0; n < 300; n++) await tx.every(noop, "1h", n, { name: `n${n}` });
      const copied = vi.spyOn(Map.prototype, Symbol.iterator);
      try {
        await tx.createMany([{ task: noop, after: "1h" }, { task: noop, after: "2h" }]);
        const sizes = copied.mock.contexts.map((map) => (map as Map<unknown, unknown>).size);
        expect(Math.max(0, ...sizes)).toBeLessThan(300);
      } finally {
        copied.mockRestore();
      }
    });
  });

  it("U1 a transaction that is over, nested, or no function is refused", async () => {
    const { scheduler } = bench(store, [noop]);
    let kept: TransactionClient | undefined;
    let schedule: Schedule | undefined;
    await scheduler.transaction(async (tx) => {
      kept = tx;
      schedule = await tx.every(noop, "1h");
      const nesting = tx as unknown as { transaction(work: () => void): Promise<void> };
      await expect(nesting.transaction(() => {})).rejects.toEqual(refusal("conflict", /already inside/));
    });
    await expect(kept!.every(noop, "1h")).rejects.toEqual(refusal("conflict", /the transaction is over/));
    await expect(kept!.valid(schedule!.id)).rejects.toEqual(refusal("conflict", /the transaction is over/));
    expect(await schedule!.info()).toMatchObject({ nextRun: schedule!.nextRun });
    await expect(scheduler.transaction("x" as never)).rejects.toEqual(refusal("invalid_option", /^transaction: "x"/));
  });

  it("U3 what a run does through ctx.schedules commits with its success, as the schedule's authority", async () => {
    const parent = defineTask("parent", async (_input, ctx) => {
      await ctx.schedules.after(noop, "1h", 7, { key: "child" });
      await ctx.schedules.stop(ctx.schedule.id);
    });
    const { clock, scheduler } = bench(store, [noop, parent]);
    await scheduler.start();
    const alice = scheduler.as({ id: "alice" });
    const made = await alice.every(parent, "1m");
    await clock.advance("1m");
    expect(await scheduler.valid(made.id)).toBe(false);
    const [child] = (await scheduler.list().page()).schedules;
    expect(await child!.info()).toMatchObject({
      owner: "alice",
      input: 7,
      key: "child",
      nextRun: new Date(START + MINUTE + HOUR),
    });
  });

  it("U3 a run that faults has done nothing, and its client ends with it", async () => {
    let kept: TransactionClient | undefined;
    const failing = defineTask("failing", async (_input, ctx) => {
      kept = ctx.schedules;
      const made = await ctx.schedules.after(noop, "1h");
      expect(await ctx.schedules.valid(made.id)).toBe(true);
      throw new Error("no");
    });
    const { clock, scheduler } = bench(store, [noop, failing]);
    await scheduler.start();
    const made = await scheduler.every(failing, "1m");
    await clock.advance("1m");
    expect(await made.info()).toMatchObject({ faultCount: 1, lastFault: { message: "no" } });
    expect((await scheduler.list().page()).schedules.map(({ id }) => id)).toEqual([made.id]);
    await expect(kept!.after(noop, "1h")).rejects.toEqual(refusal("conflict", /the run is over/));
  });

  it("U3 a run whose changes meet somebody else's is a fault, none of them is made, and a retry may succeed", async () => {
    let meddle = true;
    const racing = defineTask("racing", async (_input, ctx) => {
      await ctx.schedules.every(noop, "1h", 1, { target: "made" });
      await ctx.schedules.cron("n", "@daily", noop);
      if (meddle) await scheduler.cron("n", "@hourly", noop);
      meddle = false;
    });
    const { clock, scheduler } = bench(store, [noop, racing]);
    await scheduler.start();
    const made = await scheduler.every(racing, "1m", undefined, { retry: { limit: 1, delay: "1s" } });
    await clock.advance("1m");
    expect(await scheduler.listFor("made")).toEqual([]);
    expect(await made.info()).toMatchObject({
      lastFault: { message: expect.stringMatching(/somebody else meanwhile/) },
    });
    await clock.advance("2s");
    expect(await scheduler.listFor("made")).toHaveLength(1);
    expect(await made.info()).toMatchObject({ runCount: 2, consecutiveFaults: 0 });
  });

  it("U3 a run may change its own schedule, and what it says holds after the run is settled", async () => {
    const own = defineTask("own", async (_input, ctx) => {
      await ctx.schedules.update(ctx.schedule.id, { every: "1h" });
      await ctx.schedules.pause(ctx.schedule.id);
    });
    const { clock, scheduler } = bench(store, [own]);
    await scheduler.start();
    const made = await scheduler.every(own, "1m");
    await clock.advance("10m");
    expect(await made.info()).toMatchObject({ runCount: 1, faultCount: 0, paused: true, spec: { every: HOUR } });
  });

  it.each([
    ["completes", {}, "completed"],
    ["says so itself", { reason: "delivered" }, "delivered"],
    ["was all that maxRuns allows", { maxRuns: 1 }, "ended"],
  ])("U3 L4 what the last run of a schedule changes of its own is no fault: it %s", async (_how, how, reason) => {
    const { reason: asked, maxRuns } = how as { readonly reason?: string; readonly maxRuns?: number };
    const own = defineTask("own", async (_input, ctx) => {
      await ctx.schedules.update(ctx.schedule.id, { state: "done", tags: ["done"] });
      await ctx.schedules.after(noop, "1h", 1, { target: "made" });
      if (asked !== undefined) ctx.retire(asked);
    });
    const { clock, scheduler } = bench(store, [noop, own]);
    await scheduler.start();
    const options = { retention: "1d", retry: { limit: 2, delay: "1s" } } as const;
    const made = maxRuns === undefined
      ? await scheduler.after(own, "1m", undefined, options)
      : await scheduler.every(own, "1m", undefined, { ...options, maxRuns });
    await clock.advance("10m");
    expect(await made.info()).toMatchObject({ runCount: 1, faultCount: 0, retireReason: reason });
    expect(await scheduler.listFor("made")).toHaveLength(1);
  });

  it("U3 L5 another time that a one-shot's last run gives its schedule is a fault, and not dropped in silence", async () => {
    const own = defineTask("own", async (_input, ctx) => {
      await ctx.schedules.update(ctx.schedule.id, { after: "1h" });
    });
    const { clock, scheduler } = bench(store, [own]);
    await scheduler.start();
    const made = await scheduler.after(own, "1m", undefined, { retention: "1d" });
    await clock.advance("2m");
    expect(await made.info()).toMatchObject({
      retireReason: "failed",
      lastFault: { message: expect.stringMatching(/has retired \(completed\)/) },
    });
  });

  it("U3 X2 a run that is draining still commits its changes", async () => {
    const slow = defineTask("slow", async (_input, ctx) => {
      await clock.sleep("10s");
      await ctx.schedules.every(noop, "1h", 1, { target: "made" });
    });
    const { clock, scheduler, open } = bench(store, [noop, slow]);
    await scheduler.start();
    await scheduler.after(slow, "1s");
    await clock.advance("2s");
    const closing = scheduler.close();
    await clock.advance("1m");
    await closing;
    expect(await open().listFor("made")).toHaveLength(1);
  });

  it("U3 S6 what an invoked task does through ctx.schedules commits with its success, as the caller", async () => {
    const invoked = defineTask("invoked", async (input, ctx) => {
      const made = await ctx.schedules.every(noop, "1h", 1, { target: "made" });
      if (input === "fail") throw new Error("no");
      return made.id;
    });
    const { scheduler } = bench(store, [noop, invoked]);
    const alice = scheduler.as({ id: "alice" });
    await expect(alice.invoke(invoked, "fail")).rejects.toThrow("no");
    expect(await scheduler.listFor("made")).toEqual([]);
    const id = await alice.invoke(invoked) as string;
    expect(await scheduler.info(id)).toMatchObject({ owner: "alice" });
  });

  it("U3 P2 a run may not touch what its authority may not", async () => {
    const seen: unknown[] = [];
    const meddling = defineTask("meddling", async (input, ctx) => {
      await ctx.schedules.stop(input as string).catch((error) => seen.push(error));
    });
    const { clock, scheduler } = bench(store, [noop, meddling]);
    await scheduler.start();
    const victim = await scheduler.every(noop, "1d");
    await scheduler.as({ id: "alice" }).after(meddling, "1s", victim.id);
    await clock.advance("1m");
    expect(seen).toEqual([refusal("permission_denied", /somebody else/)]);
    expect(await scheduler.valid(victim.id)).toBe(true);
  });
});

describe("units of work against others' changes", () => {
  it("U2 a name that somebody else takes before the commit makes it fail, retryably, and nothing is done", async () => {
    const host = await memoryHost([task("t")]);
    const client = createClient(host, SYSTEM_PRINCIPAL);
    const failing = client.transaction(async (tx) => {
      await tx.every("t", "1h", 1);
      await tx.cron("n", "@daily", "t");
      await client.cron("n", "@hourly", "t");
    });
    await expect(failing).rejects.toEqual(refusal("conflict", /"n".*somebody else meanwhile/));
    await expect(failing).rejects.toMatchObject({ retryable: true });
    expect((await client.list().page()).schedules.map(({ name }) => name)).toEqual(["n"]);
  });

  it("U2 a schedule found by name and stopped before the commit makes it fail", async () => {
    const host = await memoryHost([task("t")]);
    const client = createClient(host, SYSTEM_PRINCIPAL);
    const first = await client.cron("n", "@daily", "t");
    const failing = client.transaction(async (tx) => {
      await tx.cron("n", "@daily", "t");
      await first.stop();
    });
    await expect(failing).rejects.toEqual(refusal("conflict", /meanwhile/));
  });

  it("U1 a schedule that somebody else stops before the commit is stopped, and that is no error", async () => {
    const host = await memoryHost([task("t")]);
    const client = createClient(host, SYSTEM_PRINCIPAL);
    const first = await client.every("t", "1h");
    await client.transaction(async (tx) => {
      expect(await tx.stop(first.id)).toBe(true);
      await first.stop();
      await tx.every("t", "1m");
    });
    expect((await client.list().page()).schedules).toHaveLength(1);
  });

  it("U1 deadlines are told as they were committed, not as they were when the call was made", async () => {
    const host = await memoryHost([task("t")]);
    const client = createClient(host, SYSTEM_PRINCIPAL);
    const made = await client.transaction(async (tx) => {
      const inside = await tx.every("t", "1h");
      host.time += 600_000;
      return inside;
    });
    expect((await made.info()).nextRun).toEqual(made.nextRun);
  });

  it("U1 a unit of more than 10,000 changes is refused whole", async () => {
    const host = await memoryHost([task("t")]);
    const client = createClient(host, SYSTEM_PRINCIPAL);
    const many = (n: number) => Array.from({ length: n }, () => ({ task: "t", after: "1h" }));
    await expect(client.createMany(many(10_001))).rejects.toEqual(refusal("invalid_option", /at most 10000 schedules/));
    const failing = client.transaction(async (tx) => {
      await tx.createMany(many(10_000));
      await tx.after("t", "1h");
    });
    await expect(failing).rejects.toEqual(
      refusal("invalid_option", /unit of work: 10001 changes; expected at most 10000/),
    );
    expect((await client.list().page()).schedules).toEqual([]);
  });
});

describe("units of work and single calls", () => {
  type Step = { readonly what: string; readonly nth: number; readonly word: string; readonly persist: boolean };

  /** Makes one call; its answer, with ids as they are and errors by code. */
  async function make(
    client: TransactionClient,
    known: string[],
    { what, nth, word, persist }: Step,
  ): Promise<unknown> {
    const id = known[nth % Math.max(1, known.length)] ?? "none";
    const created = async (call: Promise<Schedule>) => {
      const schedule = await call;
      if (!known.includes(schedule.id)) known.push(schedule.id);
      return [schedule.id, schedule.kind, schedule.nextRun];
    };
    const calls: Record<string, () => Promise<unknown>> = {
      every: () => created(client.every("t", `${nth + 1}m`, nth, { persist })),
      named: () => created(client.every("t", `${nth % 2 + 1}h`, 1, { name: word, persist })),
      cron: () => created(client.cron(word, "@daily", "t")),
      keep: () => created(client.after("t", "1h", nth, { key: word, persist })),
      replace: () => created(client.after("t", `${nth}h`, nth, { key: word, onConflict: "replace" })),
      error: () => created(client.after("t", "1h", nth, { key: word, onConflict: "error" })),
      many: () =>
        client.createMany([{ task: "t", every: "1h", name: word }, {
          task: "t",
          after: "1h",
          key: word,
          onConflict: "error",
        }]),
      stop: () => client.stop(id),
      pause: () => client.pause(id),
      resume: () => client.resume(id),
      trigger: () => client.trigger(id),
      update: () => created(client.update(id, { every: `${nth + 1}m` })),
      valid: () => client.valid(id),
      info: () => client.info(id),
    };
    return await calls[what]!().then((answer) => answer, (error) => error.code);
  }

  const step = fc.record<Step>({
    what: fc.constantFrom(
      ..."every named cron keep replace error many stop pause resume trigger update valid info".split(" "),
    ),
    nth: fc.nat(5),
    word: fc.constantFrom("a", "b"),
    persist: fc.boolean(),
  });

  it("U1 U2 the same calls answer the same, and leave the same, in one transaction as one by one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const [alone, together] = [await memoryHost([task("t")]), await memoryHost([task("t")])];
        const [a, b] = [createClient(alone, SYSTEM_PRINCIPAL), createClient(together, SYSTEM_PRINCIPAL)];
        const known: { readonly a: string[]; readonly b: string[] } = { a: [], b: [] };
        const answers: unknown[] = [];
        for (const one of steps) answers.push(forms(await make(a, known.a, one)));
        const inside: unknown[] = [];
        await b.transaction(async (tx) => {
          for (const one of steps) inside.push(forms(await make(tx, known.b, one)));
        });
        expect(inside).toEqual(answers);
        for (const place of ["stored", "local"] as const) {
          const all = { limit: 1_000, retired: true } as const;
          expect(await together.find(place, all)).toEqual(await alone.find(place, all));
        }
      }),
      { numRuns: 200 },
    );
  });

  /** Schedules have methods of their own, which no two share. */
  function forms(answer: unknown): unknown {
    return Array.isArray(answer)
      ? answer.map((one) => typeof one?.stop === "function" ? [one.id, one.nextRun] : one)
      : answer;
  }
});
