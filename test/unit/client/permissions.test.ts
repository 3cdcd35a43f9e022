import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTask, type Principal, type Schedule, type ScheduleClient } from "../../../mod.ts";
import { refusal } from "./memory_host.ts";
import { bench, HOUR, MINUTE, START, STORES } from "./stores.ts";

const noop = defineTask("noop", () => {});
const hidden = defineTask("hidden", { run: () => "secret", internal: true });

/** Every way to name a task in a call. */
const naming: readonly (readonly [string, (client: ScheduleClient, task: string) => Promise<unknown>])[] = [
  ["at", (client, task) => client.at(task, START)],
  ["after", (client, task) => client.after(task, "1h")],
  ["every", (client, task) => client.every(task, "1h")],
  ["cron", (client, task) => client.cron("n", "@daily", task)],
  ["createMany", (client, task) => client.createMany([{ task, at: START }])],
  ["sync", (client, task) => client.sync([{ name: "n", task, at: START }], { group: "g" })],
  ["transaction", (client, task) => client.transaction((tx) => tx.at(task, START))],
  ["invoke", (client, task) => client.invoke(task)],
];

async function errorOf(
  call: Promise<unknown>,
): Promise<Error & { readonly code?: string; readonly details?: unknown }> {
  return await call.then(() => new Error("resolved"), (error) => error);
}

describe.each(STORES)("permissions on %s", (_, store) => {
  it("P1 the embedding code is the system, an admin, and nobody else may be", () => {
    const { scheduler } = bench(store, [noop]);
    expect(scheduler.principal).toEqual({ id: "system", admin: true });
    expect(scheduler.as({ id: "alice" }).principal).toEqual({ id: "alice" });
    expect(scheduler.as({ id: "root", admin: true }).principal).toEqual({ id: "root", admin: true });
    for (
      const [principal, where] of [
        [{ id: "system" }, /^principal\.id: "system"/],
        [{ id: "" }, /^principal\.id: ""/],
        [{ id: "a\0" }, /^principal\.id/],
        [{ id: 7 }, /^principal\.id: 7/],
        [{}, /^principal\.id: undefined/],
        [{ id: "a", admin: "yes" }, /^principal\.admin: "yes"/],
        ["alice", /^principal: "alice"/],
        [null, /^principal: null/],
      ] as const
    ) {
      expect(() => scheduler.as(principal as unknown as Principal)).toThrow(refusal("invalid_option", where) as Error);
    }
    expect(() => scheduler.as({ id: "a", role: "x" } as never)).toThrow(
      refusal("unknown_option", /principal\.role/) as Error,
    );
  });

  it("P2 only its owner or an admin may look at and change a live schedule", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    const made = await scheduler.as({ id: "alice" }).every(noop, "1m");
    await clock.advance("1m");
    const run = (await made.runs())[0]!;
    const mallory = scheduler.as({ id: "mallory" });
    for (
      const call of [
        () => mallory.stop(made.id),
        () => mallory.update(made.id, { every: "2m" }),
        () => mallory.pause(made.id),
        () => mallory.resume(made.id),
        () => mallory.trigger(made.id),
        () => mallory.info(made.id),
        () => mallory.runs(made.id),
        () => mallory.abortRun(run.id),
        () => mallory.transaction((tx) => tx.stop(made.id)),
      ]
    ) {
      await expect(call()).rejects.toEqual(refusal("permission_denied", /belongs to somebody else/));
    }
    expect(await mallory.valid(made.id)).toBe(true);
    expect(await made.info()).toMatchObject({ paused: false, spec: { every: MINUTE }, runCount: 1 });
    const root = scheduler.as({ id: "root", admin: true });
    expect(await root.info(made.id)).toMatchObject({ owner: "alice" });
    expect(await root.update(made.id, { every: "2m" })).toMatchObject({ id: made.id });
    expect([await root.pause(made.id), await root.resume(made.id), await scheduler.trigger(made.id)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(await root.stop(made.id)).toBe(true);
  });

  it("P2 list shows an admin everything and others their own", async () => {
    const { scheduler } = bench(store, [noop]);
    const [alice, bob] = [scheduler.as({ id: "alice" }), scheduler.as({ id: "bob" })];
    const root = scheduler.as({ id: "root", admin: true });
    const made = {
      alice: await alice.every(noop, "1h"),
      bob: await bob.every(noop, "1h"),
      system: await scheduler.every(noop, "1h"),
    };
    const ids = async (client: ScheduleClient, owner?: string) =>
      (await client.list(owner === undefined ? {} : { owner }).page()).schedules.map(({ id }) => id).sort();
    const all = Object.values(made).map(({ id }) => id).sort();
    expect([await ids(scheduler), await ids(root), await ids(alice)]).toEqual([all, all, [made.alice.id]]);
    expect([await ids(alice, "alice"), await ids(root, "bob"), await ids(scheduler, "system")]).toEqual([
      [made.alice.id],
      [made.bob.id],
      [made.system.id],
    ]);
    await expect(alice.list({ owner: "bob" }).page()).rejects.toEqual(refusal("permission_denied", /list\.owner/));
    const iterating = async () => {
      for await (const one of alice.list({ owner: "bob" })) expect(one).toBeUndefined();
    };
    await expect(iterating()).rejects.toEqual(refusal("permission_denied", /list\.owner/));
  });

  it("P2 V4 running shows an admin every run and others their own", async () => {
    const slow = defineTask("slow", () => clock.sleep("1h"));
    const { clock, scheduler } = bench(store, [slow]);
    await scheduler.start();
    const [alice, bob] = [scheduler.as({ id: "alice" }), scheduler.as({ id: "bob" })];
    const made = await alice.after(slow, "1s");
    await bob.after(slow, "1s", undefined, { persist: false });
    await clock.advance("1m");
    expect((await alice.running()).map(({ scheduleId, outcome }) => [scheduleId, outcome])).toEqual([[
      made.id,
      "running",
    ]]);
    expect([(await scheduler.running()).length, (await bob.running()).length]).toEqual([2, 1]);
  });

  it("P3 a run is made under the principal that created it, and acts for it unless runAs says otherwise", async () => {
    const seen: unknown[] = [];
    const who = defineTask("who", (_input, ctx) => void seen.push([ctx.owner, ctx.runAs]));
    const { clock, scheduler } = bench(store, [who], {
      canRunAs: (principal, runAs) => principal.id === "boss" && runAs === "bob",
    });
    await scheduler.start();
    const [alice, boss] = [scheduler.as({ id: "alice" }), scheduler.as({ id: "boss" })];
    await alice.after(who, "1s");
    await alice.after(who, "2s", undefined, { runAs: { id: "alice" } });
    await boss.after(who, "3s", undefined, { runAs: { id: "bob" } });
    await scheduler.after(who, "4s", undefined, { runAs: { id: "carol" } });
    await scheduler.after(who, "5s", undefined, { owner: "dora" });
    await clock.advance("1m");
    expect(seen).toEqual([["alice", "alice"], ["alice", "alice"], ["boss", "bob"], ["system", "carol"], [
      "dora",
      "dora",
    ]]);
    await expect(alice.after(who, "1s", undefined, { runAs: { id: "bob" } })).rejects.toEqual(
      refusal("permission_denied", /^runAs\.id: "alice" may not act for "bob"/),
    );
    const own = await alice.after(who, "1h");
    await expect(alice.update(own.id, { runAs: { id: "bob" } })).rejects.toEqual(refusal("permission_denied", /runAs/));
    expect(await (await boss.after(who, "1h", undefined, { runAs: { id: "bob" } })).info()).toMatchObject({
      owner: "boss",
      runAs: "bob",
    });
  });

  it("P3 a canRunAs that answers a promise, or anything but true, allows nothing", async () => {
    for (const answer of [Promise.resolve(true), 1, "yes"]) {
      const { scheduler } = bench(store, [noop], { canRunAs: (() => answer) as never });
      const asking = scheduler.as({ id: "alice" }).after(noop, "1h", undefined, { runAs: { id: "bob" } });
      await expect(asking).rejects.toEqual(refusal("permission_denied", /^runAs\.id/));
    }
  });

  it("P3 only the system creates for somebody else, who then owns it", async () => {
    const { scheduler } = bench(store, [noop]);
    const made = await scheduler.every(noop, "1h", undefined, { owner: "alice" });
    expect(await scheduler.as({ id: "alice" }).info(made.id)).toMatchObject({
      owner: "alice",
      authority: { id: "alice" },
      runAs: "alice",
    });
    for (const client of [scheduler.as({ id: "bob" }), scheduler.as({ id: "root", admin: true })]) {
      await expect(client.every(noop, "1h", undefined, { owner: "alice" })).rejects.toEqual(
        refusal("permission_denied", /^owner/),
      );
    }
    expect((await scheduler.as({ id: "bob" }).every(noop, "1h", undefined, { owner: "bob" })).task).toBe("noop");
  });

  it.each(naming)("P4 an internal task and a name that does not exist are told alike by %s", async (_, call) => {
    const { scheduler } = bench(store, [noop, hidden]);
    for (const client of [scheduler.as({ id: "alice" }), scheduler.as({ id: "root", admin: true })]) {
      const [secret, unknown] = [await errorOf(call(client, "hidden")), await errorOf(call(client, "hid-en"))];
      expect(secret).toMatchObject({ code: "unknown_task" });
      const mask = (error: typeof secret) =>
        JSON.stringify([error.message, error.details]).replaceAll(/hidden|hid-en/g, "x");
      expect(mask(secret)).toBe(mask(unknown));
    }
  });

  it("P4 the system schedules and invokes an internal task", async () => {
    const { scheduler } = bench(store, [hidden]);
    expect(await scheduler.invoke(hidden)).toBe("secret");
    expect((await scheduler.every(hidden, "1h")).task).toBe("hidden");
  });

  it("P5 I2 authorize is asked at creation with the validated input, and a refusal looks like an unknown task", async () => {
    const asked: unknown[] = [];
    const guarded = defineTask("guarded", {
      input: z.object({ n: z.coerce.number() }),
      run: ({ n }) => n,
      authorize: (principal, input) => {
        asked.push([principal, input]);
        return principal.admin === true || input.n === 1;
      },
    });
    const { scheduler } = bench(store, [guarded]);
    const alice = scheduler.as({ id: "alice" });
    await alice.after("guarded", "1h", { n: "1" });
    await expect(alice.after("guarded", "1h", { n: "2" })).rejects.toEqual(
      refusal("unknown_task", /^task: "guarded" is no task/),
    );
    await expect(alice.invoke("guarded", { n: 2 })).rejects.toEqual(refusal("unknown_task", /"guarded"/));
    expect(await alice.invoke("guarded", { n: "1" })).toBe(1);
    await scheduler.after("guarded", "1h", { n: "3" });
    await expect(scheduler.after("guarded", "1h", { n: "3" }, { owner: "bob" })).rejects.toEqual(
      refusal("unknown_task", /./),
    );
    expect(asked).toEqual([
      [{ id: "alice" }, { n: 1 }],
      [{ id: "alice" }, { n: 2 }],
      [{ id: "alice" }, { n: 2 }],
      [{ id: "alice" }, { n: 1 }],
      [{ id: "system", admin: true }, { n: 3 }],
      [{ id: "bob" }, { n: 3 }],
    ]);
  });

  const wrong: [string, (client: ScheduleClient, task: string) => Promise<unknown>][] = [
    ["an input that the schema refuses", (client, task) => client.after(task, "1h", { n: "x" })],
    ["an input that is too large", (client, task) => client.after(task, "1h", "x".repeat(40_000))],
    ["an input that JSON would change", (client, task) => client.invoke(task, { n: 1n })],
    ["an input of an invoked run", (client, task) => client.invoke(task, { n: "x" })],
    ["an option that nobody owns", (client, task) => client.after(task, "1h", { n: 1 }, { wild: 1 } as never)],
    ["a state that is too large", (client, task) => client.after(task, "1h", { n: 1 }, { state: "x".repeat(5_000) })],
    ["another's owner", (client, task) => client.every(task, "1h", { n: 1 }, { owner: "bob" })],
    [
      "another's runAs",
      (client, task) => client.createMany([{ task, after: 0, input: { n: 1 }, runAs: { id: "bob" } }]),
    ],
  ];

  it.each(wrong)("I2 P5 %s is told to nobody whom the task refuses whatever the input", async (_, call) => {
    const definition = { input: z.object({ n: z.number() }), run: () => {} };
    const needsInput = (_principal: Principal, input: { n: number }) => input.n === 1;
    const { scheduler } = bench(store, [
      defineTask("refusing", { ...definition, authorize: () => false }),
      defineTask("deciding", { ...definition, authorize: needsInput }),
      defineTask("granting", { ...definition, authorize: ({ id }) => Promise.resolve(id === "alice") }),
    ]);
    const alice = scheduler.as({ id: "alice" });
    const [refusing, missing] = [await errorOf(call(alice, "refusing")), await errorOf(call(alice, "absentee"))];
    const mask = ({ code, message, details }: typeof refusing) =>
      JSON.stringify([code, message, details]).replaceAll(/refusing|absentee/g, "x");
    expect(mask(refusing)).toBe(mask(missing));
    for (const task of ["deciding", "granting"]) {
      expect((await errorOf(call(alice, task))).code).not.toBe("unknown_task");
    }
  });

  it("P5 waits for an authorize that answers later; one that throws, or answers no boolean, allows nothing", async () => {
    const tasks = [
      defineTask("later", {
        run: () => {},
        authorize: async (principal) => await Promise.resolve(principal.id === "alice"),
      }),
      defineTask("throws", {
        run: () => {},
        authorize: () => {
          throw new Error("no");
        },
      }),
      defineTask("rejects", { run: () => {}, authorize: () => Promise.reject(new Error("no")) }),
      defineTask("truthy", { run: () => {}, authorize: (() => "yes") as never }),
      defineTask("another library's", {
        run: () => {},
        authorize: (({ id }: Principal) => ({ then: (done: (may: boolean) => void) => done(id === "alice") })) as never,
      }),
    ];
    const { scheduler } = bench(store, tasks);
    const [alice, bob] = [scheduler.as({ id: "alice" }), scheduler.as({ id: "bob" })];
    for (const name of ["later", "another library's"]) {
      expect((await alice.after(name, "1h")).task).toBe(name);
      await expect(bob.after(name, "1h")).rejects.toEqual(refusal("unknown_task", new RegExp(`"${name}"`)));
    }
    for (const name of ["throws", "rejects", "truthy"]) {
      await expect(alice.after(name, "1h")).rejects.toEqual(refusal("unknown_task", new RegExp(name)));
    }
  });

  it("P5 a principal that is refused at firing time makes the run a fault", async () => {
    let allowed = true;
    let runs = 0;
    const guarded = defineTask("guarded", { run: () => void runs++, authorize: () => allowed });
    const { clock, scheduler } = bench(store, [guarded]);
    await scheduler.start();
    const made = await scheduler.as({ id: "alice" }).every(guarded, "1m");
    await clock.advance("1m");
    allowed = false;
    await clock.advance("1m");
    expect(runs).toBe(1);
    expect(await made.info()).toMatchObject({
      faultCount: 1,
      lastFault: { message: expect.stringMatching(/refuses "alice"/) },
    });
    await expect(made.update({ input: 1 })).rejects.toEqual(refusal("permission_denied", /refuses "alice"/));
  });

  it("S6 a scheduled run has no caller, an invoked one has the client's principal", async () => {
    const seen: unknown[] = [];
    const who = defineTask("who", (_input, ctx) => {
      seen.push(ctx.caller);
      return ctx.requireCaller();
    });
    const { clock, scheduler } = bench(store, [who]);
    await scheduler.start();
    expect(await scheduler.as({ id: "alice" }).invoke(who)).toEqual({ id: "alice" });
    const made = await scheduler.every(who, "1m");
    await clock.advance("1m");
    expect(seen).toEqual([{ id: "alice" }, undefined]);
    expect((await made.info()).lastFault!.message).toMatch(/caller/);
  });
});

describe.each(STORES)("stopping on %s", (_, store) => {
  it("L1 stop answers whether it ended a live schedule, and is never an error for what is over", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    const live = await scheduler.every(noop, "1h");
    const fired = await scheduler.after(noop, "1s");
    await clock.advance("1h");
    const [run] = await live.runs();
    expect([await scheduler.stop(live.id), await scheduler.stop(live.id)]).toEqual([true, false]);
    for (
      const id of [fired.id, run!.id, "", "nope", "x".repeat(10_000), "a\0b", "01KDTW9M000000000000000000", "__proto__"]
    ) {
      expect(await scheduler.stop(id)).toBe(false);
      expect(await scheduler.valid(id)).toBe(false);
      expect([await scheduler.pause(id), await scheduler.resume(id), await scheduler.trigger(id)]).toEqual([
        false,
        false,
        false,
      ]);
    }
    for (const runId of ["", "nope", live.id, `${live.id}-1`, "01KDTW9M000000000000000000-z"]) {
      expect(await scheduler.abortRun(runId)).toBe(false);
    }
  });

  it("L1 L3 a retired schedule: its owner's stop removes the record, others' stop does nothing, others' info is refused", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    const alice = scheduler.as({ id: "alice" });
    const made = await alice.after(noop, "1s", { n: 1 });
    await clock.advance("10s");
    const bob = scheduler.as({ id: "bob" });
    expect(await bob.stop(made.id)).toBe(false);
    await expect(bob.info(made.id)).rejects.toEqual(refusal("permission_denied", /./));
    expect(await made.info()).toMatchObject({
      retired: true,
      retireReason: "completed",
      runCount: 1,
      nextRun: null,
      input: { n: 1 },
    });
    await expect(made.update({ after: "1h" })).rejects.toEqual(refusal("conflict", /retired \(completed\)/));
    expect(await made.stop()).toBe(false);
    const gone = refusal(
      "not_found",
      /none of this id; what has retired is kept for its retention, 60 s unless set, and what was stopped is not$/,
    );
    await expect(made.info()).rejects.toEqual(gone);
    await expect(made.explain()).rejects.toEqual(gone);
    await expect(made.update({ after: "1h" })).rejects.toEqual(refusal("not_found", /./));
    await expect(made.runs()).rejects.toEqual(gone);
  });

  it("I2 refuses arguments of the wrong type", async () => {
    const { scheduler } = bench(store, [noop]);
    const wrong: readonly [() => Promise<unknown>, RegExp][] = [
      [() => scheduler.stop(undefined as never), /^id: undefined/],
      [() => scheduler.valid(7 as never), /^id: 7/],
      [() => scheduler.info(null as never), /^id: null/],
      [() => scheduler.update({} as never, {}), /^id: an object/],
      [() => scheduler.abortRun(7 as never), /^runId: 7/],
      [() => scheduler.stop("x".repeat(26), { abortRunning: 1 } as never), /^stop\.abortRunning: 1/],
      [() => scheduler.stop("x".repeat(26), true as never), /^stop: true/],
      [() => scheduler.listFor(7 as never), /^target: 7/],
      [() => scheduler.stopFor("" as never), /^target: ""/],
      [() => scheduler.stopFor("x", { abortRunning: 1 } as never), /^stopFor\.abortRunning: 1/],
      [() => scheduler.list({ limit: 0 }).page(), /^list\.limit: 0/],
      [() => scheduler.list({ limit: 1_001 }).page(), /^list\.limit: 1001/],
      [() => scheduler.list("x" as never).page(), /^list: "x"/],
      [() => scheduler.list({ target: "" }).page(), /^list\.target: ""/],
    ];
    for (const [call, message] of wrong) await expect(call()).rejects.toEqual(refusal("invalid_option", message));
    await expect(scheduler.list({ tags: "x" } as never).page()).rejects.toEqual(
      refusal("unknown_option", /list\.tags.*"tag"/),
    );
    await expect(scheduler.stop("x".repeat(26), { abort: true } as never)).rejects.toEqual(
      refusal("unknown_option", /stop\.abort/),
    );
    await expect(scheduler.stopFor("x", { ifRevision: "y" } as never)).rejects.toEqual(
      refusal("unknown_option", /stopFor\.ifRevision/),
    );
  });

  it("X2 after close every call but close throws closed", async () => {
    const { scheduler } = bench(store, [noop]);
    const alice = scheduler.as({ id: "alice" });
    const made = await alice.every(noop, "1h");
    await scheduler.close();
    const calls: readonly ((client: ScheduleClient) => unknown)[] = [
      ...naming.map(([, call]) => (client: ScheduleClient) => call(client, "noop")),
      (client) => client.valid(made.id),
      (client) => client.stop(made.id),
      (client) => client.stop("nope"),
      (client) => client.info(made.id),
      (client) => client.runs(made.id),
      (client) => client.pause(made.id),
      (client) => client.update(made.id, { every: "2h" }),
      (client) => client.list().page(),
      (client) => client.listFor("x"),
      (client) => client.stopFor("x"),
      (client) => client.running(),
      (client) => client.abortRun("x"),
      (client) => client.within({}).at("noop", START),
      () => made.info(),
    ];
    for (const client of [scheduler, alice]) {
      for (const call of calls) await expect(call(client)).rejects.toEqual(refusal("closed", /closed/));
      expect(() => client.nextRuns({ every: "1h" }, 1)).toThrow(refusal("closed", /closed/) as Error);
    }
    await scheduler.close();
  });
});

describe.each(STORES)("update on %s", (_, store) => {
  it("L5 update keeps id, counters and what it does not name", async () => {
    const { clock, scheduler } = bench(store, [noop]);
    await scheduler.start();
    const options = {
      target: "x",
      tags: ["t"],
      overlap: "queue",
      jitter: "1s",
      state: 1,
      group: "g",
      history: 3,
    } as const;
    const made = await scheduler.every(noop, "1h", { a: 1 }, options);
    await clock.advance("90m");
    const updated = await made.update({ every: "2h", input: { b: 2 }, jitter: 0 });
    expect(updated.id).toBe(made.id);
    expect(updated.nextRun).toEqual(new Date(START + 90 * MINUTE + 2 * HOUR));
    expect(await updated.info()).toMatchObject({
      runCount: 1,
      input: { b: 2 },
      ...options,
      jitter: 0,
      createdAt: new Date(START),
    });
    const again = await updated.update({
      tags: [],
      overlap: "skip",
      timeout: "5s",
      retention: "1h",
      maxLost: 5,
      onLost: "fault",
      target: "y",
    });
    expect(again.nextRun).toEqual(updated.nextRun);
    expect(await again.info()).toMatchObject({
      tags: [],
      overlap: "skip",
      timeout: 5_000,
      retention: HOUR,
      maxLost: 5,
      onLost: "fault",
      target: "y",
    });
    expect(await (await again.update({ timeout: 0, onLost: "rerun", maxLost: 3 })).info()).toMatchObject({
      timeout: undefined,
      onLost: "rerun",
      maxLost: 3,
    });
  });

  it("L5 update changes one part of a time and leaves the others", async () => {
    const { scheduler } = bench(store, [noop]);
    const made = await scheduler.cron("c", "0 2 * * *", noop, undefined, {
      timezone: "Europe/Berlin",
      dst: { gap: "skip" },
    });
    expect((await (await made.update({ cron: "0 4 * * *" })).info()).spec).toEqual({
      kind: "cron",
      cron: "0 4 * * *",
      timezone: "Europe/Berlin",
      dst: { gap: "skip" },
    });
    expect((await made.update({ timezone: "UTC" })).nextRun).toEqual(new Date(START + 4 * HOUR));
    expect((await (await made.update({ dst: { gap: "fire" }, maxRuns: 3 })).info()).spec).toEqual({
      kind: "cron",
      cron: "0 4 * * *",
      timezone: "UTC",
      maxRuns: 3,
    });
    const at = await made.update({ after: "1h" });
    expect(at).toMatchObject({ id: made.id, kind: "at", nextRun: new Date(START + HOUR) });
    expect(await at.info()).toMatchObject({ adaptive: true, name: "c", timezone: undefined });
  });

  it("L5 an update that changes nothing writes nothing", async () => {
    const { scheduler } = bench(store, [noop]);
    let updates = 0;
    scheduler.on("updated", () => updates++);
    const made = await scheduler.every(noop, "1h", { a: 1 }, { startAt: START + 5 });
    expect((await made.update({ every: "60m", input: { a: 1 }, startAt: START + 5 })).nextRun).toEqual(made.nextRun);
    expect((await made.update({})).nextRun).toEqual(made.nextRun);
    expect(updates).toBe(0);
    await made.update({ every: "2h" });
    expect(updates).toBe(1);
  });

  it("T9 an update whose end lies before the next deadline ends the schedule", async () => {
    const { scheduler } = bench(store, [noop]);
    const made = await scheduler.every(noop, "1h");
    expect((await made.update({ endAt: START + MINUTE })).nextRun).toBeNull();
    expect(await made.info()).toMatchObject({ retired: true, retireReason: "ended" });
  });

  it("I2 update refuses what cannot change and what creation refuses, and changes nothing then", async () => {
    const typed = defineTask("typed", { input: z.object({ n: z.number() }), run: () => {} });
    const { scheduler } = bench(store, [typed]);
    const made: Schedule = await scheduler.every(typed, "1h", { n: 1 });
    const before = await made.info();
    const wrong: readonly [object, string, RegExp][] = [
      [{ name: "x" }, "invalid_option", /^name: "x".*cannot change later/],
      [{ key: "x" }, "invalid_option", /^key/],
      [{ owner: "x" }, "invalid_option", /^owner/],
      [{ persist: false }, "invalid_option", /^persist/],
      [{ task: "x" }, "invalid_option", /^task/],
      [{ evry: "2h" }, "unknown_option", /^evry.*"every"/],
      // Each that may be given here, once.
      [{ zzzzzz: 1 }, "unknown_option", /^zzzzzz: (?!.*\b(\w+), .*\b\1\b)(?!.*\b(name|key|owner|persist|task)\b)/],
      [{ every: 0 }, "invalid_duration", /^every: 0/],
      [{ every: "1h", at: START }, "invalid_option", /^at: given together with every/],
      [{ cron: "0 0 30 2 *" }, "invalid_cron", /./],
      [{ timezone: "Mars" }, "invalid_timezone", /Mars/],
      [{ dst: { gap: "skip" } }, "invalid_option", /^dst/],
      [{ input: { n: "x" } }, "invalid_input", /^input\.n/],
      [{ input: { n: new Date(0) } }, "invalid_input", /^input\.n/],
      [{ overlap: { policy: "x" } }, "invalid_option", /^overlap\.policy/],
    ];
    for (const [request, code, message] of wrong) {
      await expect(made.update(request)).rejects.toEqual(refusal(code as never, message));
    }
    await expect(made.update(7 as never)).rejects.toEqual(refusal("invalid_option", /^update: 7/));
    await expect(scheduler.update("01KDTW9M000000000000000000", {})).rejects.toEqual(refusal("not_found", /./));
    await expect(scheduler.update("nope", {})).rejects.toEqual(refusal("not_found", /"?nope/));
    expect(await made.info()).toEqual(before);
  });
});
