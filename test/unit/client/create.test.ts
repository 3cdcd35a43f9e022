import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createScheduler } from "../../../mod.ts";
import { createClient, SYSTEM_PRINCIPAL } from "../../../src/client/mod.ts";
import type { AnyTask, InputSchema, ScheduleClient } from "../../../src/contract/mod.ts";
import { type MemoryHost, memoryHost, refusal, START, task } from "./memory_host.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;

async function setUp(more: Parameters<typeof memoryHost>[1] = {}, tasks: readonly AnyTask[] = []) {
  const host = await memoryHost([task("t"), task("other"), ...tasks], more);
  return { host, client: createClient(host, SYSTEM_PRINCIPAL) };
}

/** What a creation says when it is refused, and that nothing came of it. */
async function refuses(
  host: MemoryHost,
  client: ScheduleClient,
  call: () => Promise<unknown>,
  code: string,
  message: RegExp,
) {
  await expect(call()).rejects.toEqual(refusal(code as never, message));
  expect((await client.list().page()).schedules).toEqual([]);
  expect(host.told).toEqual([]);
}

describe("creation", () => {
  it("I1 answers a schedule with its id, kind, name, task and next deadline", async () => {
    const { client } = await setUp();
    const at = await client.at("t", START + HOUR, { a: 1 });
    expect(at).toMatchObject({ kind: "at", task: "t", name: undefined, nextRun: new Date(START + HOUR) });
    expect(at.id).toMatch(/^[0-9A-Z]{26}$/);
    expect(await client.after("t", "10m")).toMatchObject({ kind: "at", nextRun: new Date(START + 10 * MINUTE) });
    expect(await client.every("t", "1m")).toMatchObject({ kind: "every", nextRun: new Date(START + MINUTE) });
    expect(await client.cron("night", "0 2 * * *", "t")).toMatchObject({
      kind: "cron",
      name: "night",
      nextRun: new Date(START + 2 * HOUR),
    });
  });

  it("T1 takes a deadline already past", async () => {
    const { client } = await setUp();
    expect((await client.at("t", START - HOUR)).nextRun).toEqual(new Date(START - HOUR));
  });

  it("T4 a first firing is one interval after creation, or at startAt, whose past sets the phase", async () => {
    const { client } = await setUp();
    expect((await client.every("t", "1h", undefined, { startAt: START + 90 * MINUTE })).nextRun).toEqual(
      new Date(START + 90 * MINUTE),
    );
    expect((await client.every("t", "1h", undefined, { startAt: START })).nextRun).toEqual(new Date(START));
    expect((await client.every("t", "1h", undefined, { startAt: START - 20 * MINUTE })).nextRun).toEqual(
      new Date(START + 40 * MINUTE),
    );
  });

  it("T5 an interval below one tick is raised to it", async () => {
    const { client } = await setUp();
    const info = await (await client.every("t", 3)).info();
    expect(info).toMatchObject({ intervalClamped: true, spec: { every: 10 } });
    expect(await (await client.every("t", 10.4)).info()).toMatchObject({ intervalClamped: false, spec: { every: 10 } });
  });

  it("V1 info tells every option in force, with the scheduler's and the task's defaults", async () => {
    const retrying = task("retrying", { retry: { limit: 3, delay: "10s" }, timeout: "1m" });
    const { client } = await setUp({ defaults: { jitter: "5s", catchup: "skip", timezone: "Europe/Berlin" } }, [
      retrying,
    ]);
    expect(await (await client.cron("c", "0 2 * * *", "retrying")).info()).toMatchObject({
      name: "c",
      kind: "cron",
      task: "retrying",
      timezone: "Europe/Berlin",
      spec: { kind: "cron", cron: "0 2 * * *", timezone: "Europe/Berlin" },
      adaptive: false,
      persist: true,
      timeout: MINUTE,
      retention: MINUTE,
      history: 20,
      onLost: "rerun",
      maxLost: 3,
      owner: "system",
      authority: { id: "system", admin: true },
      runAs: "system",
      catchup: "skip",
      overlap: "skip",
      jitter: 5_000,
      maxFaults: 50,
      retry: { limit: 3, delay: 10_000 },
      options: { catchup: "skip", overlap: "skip", jitter: 5_000, maxFaults: 50, retry: { limit: 3, delay: 10_000 } },
      createdAt: new Date(START),
      paused: false,
      retired: false,
      running: [],
    });
  });

  it("V1 a schedule's own options win over defaults, also where they are the built-in default", async () => {
    const retrying = task("retrying", { retry: { limit: 3 }, timeout: "1m" });
    const { client } = await setUp({ defaults: { jitter: "5s", catchup: "skip" } }, [retrying]);
    const options = {
      jitter: 0,
      catchup: "once",
      retry: { limit: 0 },
      timeout: 0,
      adaptive: false,
      history: 5,
      retention: "1h",
    } as const;
    const made = await client.at("retrying", START, undefined, {
      ...options,
      onLost: "fault",
      maxLost: 1,
      tags: ["a", "a", "b"],
    });
    expect(await made.info()).toMatchObject({
      jitter: 0,
      catchup: "once",
      retry: undefined,
      timeout: undefined,
      adaptive: false,
      history: 5,
      retention: HOUR,
      onLost: "fault",
      maxLost: 1,
      tags: ["a", "b"],
    });
  });

  it("B030 K3 the zone is UTC, and stored, unless something says otherwise", async () => {
    const { client } = await setUp();
    expect((await (await client.cron("c", "0 1 * * *", "t")).info()).spec).toMatchObject({ timezone: "UTC" });
  });

  it("I4 persist false keeps a schedule out of the store", async () => {
    const { host, client } = await setUp();
    const made = await client.every("t", "1m", undefined, { persist: false });
    expect(await host.get("stored", made.id)).toBeUndefined();
    expect(await client.valid(made.id)).toBe(true);
    expect(await made.info()).toMatchObject({ persist: false });
    expect([await made.pause(), await made.resume(), await made.trigger(), await made.stop()]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(await client.valid(made.id)).toBe(false);
  });

  it("S4 stores what was given, and hands the schema's own reading to nobody but the run", async () => {
    const schema = z.object({ n: z.coerce.number() });
    const { client } = await setUp({}, [task("typed", { input: schema as unknown as InputSchema })]);
    expect((await (await client.at("typed", START, { n: "7" })).info()).input).toEqual({ n: "7" });
  });

  it("S4 waits for a schema that answers a promise", async () => {
    const slow: InputSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async (value) =>
          await Promise.resolve(value === 1 ? { value } : { issues: [{ message: "not one" }] }),
      },
    };
    const { client } = await setUp({}, [task("slow", { input: slow })]);
    expect((await client.at("slow", START, 1)).task).toBe("slow");
    await expect(client.at("slow", START, 2)).rejects.toEqual(refusal("invalid_input", /^input: not one$/));
  });

  it("I2 is checked within the call once the store is open, so that thousands cost no turns of the event loop", async () => {
    let asked = 0;
    const counted = task("counted", { authorize: () => ++asked > 0 });
    const scheduler = createScheduler({ tasks: [counted] });
    await scheduler.at(counted, START);
    const made = scheduler.at(counted, START);
    expect(asked).toBe(2);
    await made;
    await scheduler.close();
  });

  it("S4 waits for a schema that answers another library's promise", async () => {
    const own = (value: unknown): InputSchema => ({
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ then: (done: (of: unknown) => void) => done(value) }),
      },
    } as never);
    const tasks = [
      task("refused", { input: own({ issues: [{ message: "never" }] }) }),
      task("taken", { input: own({ value: 1 }) }),
    ];
    const { client } = await setUp({}, tasks);
    expect((await client.at("taken", START, 1)).task).toBe("taken");
    await expect(client.at("refused", START, 1)).rejects.toEqual(refusal("invalid_input", /^input: never$/));
  });

  it("I5 a key answers the live schedule that has it, and onConflict says otherwise", async () => {
    const { host, client } = await setUp();
    const first = await client.after("t", "10s", 1, { key: "k" });
    host.time += 5_000;
    expect(await client.after("t", "10s", 2, { key: "k" })).toMatchObject({ id: first.id, nextRun: first.nextRun });
    expect((await first.info()).input).toBe(1);
    const pushed = await client.after("t", "10s", 3, { key: "k", onConflict: "replace" });
    expect(pushed).toMatchObject({ id: first.id, nextRun: new Date(START + 15_000) });
    expect((await first.info()).input).toBe(3);
    await expect(client.after("t", "10s", 4, { key: "k", onConflict: "error" })).rejects.toEqual(
      refusal("conflict", /key: "k"/),
    );
    await first.stop();
    expect((await client.after("t", "10s", 5, { key: "k" })).id).not.toBe(first.id);
  });

  it("I5 keys and names of different owners have nothing to do with one another", async () => {
    const { host, client } = await setUp();
    const alice = createClient(host, { id: "alice" });
    expect((await alice.at("t", START, 1, { key: "k" })).id).not.toBe(
      (await client.at("t", START, 1, { key: "k" })).id,
    );
    expect((await alice.cron("n", "@daily", "t")).id).not.toBe((await client.cron("n", "@daily", "t")).id);
  });
});

describe("refusals", () => {
  const cases: readonly [string, (client: ScheduleClient) => Promise<unknown>, string, RegExp][] = [
    ["an unknown task", (c) => c.at("nope", START), "unknown_task", /^task: "nope" is no task/],
    ["a task that is nearly known", (c) => c.at("othr", START), "unknown_task", /did you mean "other"\?/],
    ["a task of a prototype's name", (c) => c.at("__proto__", START), "unknown_task", /"__proto__"/],
    ["the task constructor", (c) => c.at("constructor", START), "unknown_task", /"constructor"/],
    ["an empty task name", (c) => c.at("", START), "unknown_task", /""/],
    ["no task", (c) => c.at(undefined as never, START), "unknown_task", /undefined/],
    [
      "a function in place of a task",
      (c) => c.at((() => {}) as never, START),
      "unknown_task",
      /^task: a function; expected a task of defineTask or its name$/,
    ],
    [
      "a function of a task's name",
      (c) => c.at(function t() {} as never, START),
      "unknown_task",
      /^task: a function; /,
    ],
    [
      "a cron without a name",
      (c) => c.cron("0 2 * * *", { name: "t" } as never, undefined as never),
      "invalid_cron",
      /^cron: an object is no cron expression; expected cron\(name, expression, task, input, options\)$/,
    ],
    [
      "an input that JSON changes",
      (c) => c.at("t", START, { d: new Date(0) }),
      "invalid_input",
      /^input\.d: an instance of Date/,
    ],
    ["an input of 33 KiB", (c) => c.at("t", START, "x".repeat(33 * 1024)), "input_too_large", /^input:/],
    [
      "an input that the schema refuses",
      (c) => c.at("typed", START, { n: "x" } as never),
      "invalid_input",
      /^input\.n: /,
    ],
    ["no input where the schema wants one", (c) => c.at("typed", START), "invalid_input", /^input: /],
    ["a schema that throws", (c) => c.at("throwing", START, 1), "invalid_input", /schema threw/],
    ["a state of 5 KiB", (c) => c.at("t", START, 1, { state: "x".repeat(5 * 1024) }), "state_too_large", /^state:/],
    [
      "a state that JSON changes",
      (c) => c.at("t", START, 1, { state: { x: NaN } as never }),
      "invalid_option",
      /^state\.x: NaN/,
    ],
    [
      "an unknown option",
      (c) => c.at("t", START, 1, { jiter: 5 } as never),
      "unknown_option",
      /^jiter: unknown option; did you mean "jitter"\?/,
    ],
    [
      "an unknown option like none",
      (c) => c.at("t", START, 1, { zzzzzz: 5 } as never),
      "unknown_option",
      /^zzzzzz: .*expected one of /,
    ],
    [
      "an option of recurring schedules with a delay, which is named as it was given",
      (c) => c.after("t", "1h", 1, { maxRuns: 5 } as never),
      "invalid_option",
      /^maxRuns: 5 .*every or cron only, not with after$/,
    ],
    [
      "an option of recurring schedules with an instant",
      (c) => c.createMany([{ task: "t", at: START, endAt: START }]),
      "invalid_option",
      /^createMany\[0\]\.endAt: .*every or cron only, not with at$/,
    ],
    [
      "an option of recurring schedules with a delay in a flat request",
      (c) => c.createMany([{ task: "t", after: "1h", startAt: START }]),
      "invalid_option",
      /^createMany\[0\]\.startAt: .*every or cron only, not with after$/,
    ],
    [
      "an option named __proto__",
      (c) => c.at("t", START, 1, JSON.parse('{"__proto__":{"a":1}}')),
      "unknown_option",
      /__proto__/,
    ],
    [
      "an unknown option inside a policy",
      (c) => c.every("t", "1m", 1, { catchup: { policy: "all", limt: 1 } as never }),
      "unknown_option",
      /^catchup\.limt.*"limit"/,
    ],
    [
      "a policy's wrong value",
      (c) => c.every("t", "1m", 1, { overlap: "both" as never }),
      "invalid_option",
      /^overlap: "both"/,
    ],
    ["options that are no object", (c) => c.at("t", START, 1, "fast" as never), "invalid_option", /^options: "fast"/],
    ["options that are an array", (c) => c.at("t", START, 1, [] as never), "invalid_option", /^options: an array/],
    ["a time without an offset", (c) => c.at("t", "2027-01-01T00:00:00"), "invalid_time", /^at: "2027/],
    ["an invalid Date", (c) => c.at("t", new Date(NaN)), "invalid_time", /^at: an invalid Date/],
    ["no time", (c) => c.at("t", undefined as never), "invalid_time", /^at: undefined/],
    ["a delay that is none", (c) => c.after("t", "10 minutes"), "invalid_duration", /^after: "10 minutes"/],
    ["a negative delay", (c) => c.after("t", -1), "invalid_duration", /^after: -1/],
    ["an interval of 0", (c) => c.every("t", 0), "invalid_duration", /^every: 0 is no interval/],
    ["an interval of 0s", (c) => c.every("t", "0s"), "invalid_duration", /^every: "0s"/],
    ["an interval of NaN", (c) => c.every("t", NaN), "invalid_duration", /^every: NaN/],
    ["an endless interval", (c) => c.every("t", Infinity), "invalid_duration", /^every: Infinity/],
    ["T6 an instant after the year 9999", (c) => c.at("t", new Date(8.64e15)), "deadline_out_of_range", /^at: /],
    ["T6 a delay past the year 9999", (c) => c.after("t", "9000000w"), "deadline_out_of_range", /^after: "9000000w"/],
    ["T6 an interval past the year 9999", (c) => c.every("t", 1e300), "deadline_out_of_range", /first deadline/],
    ["a malformed expression", (c) => c.cron("n", "0 25 * * *", "t"), "invalid_cron", /25/],
    ["K1 a date that never comes", (c) => c.cron("n", "0 0 30 2 *", "t"), "invalid_cron", /./],
    ["an expression that is no text", (c) => c.cron("n", 5 as never, "t"), "invalid_cron", /^cron: 5/],
    [
      "an unknown zone",
      (c) => c.cron("n", "@daily", "t", 1, { timezone: "Mars/Base" }),
      "invalid_timezone",
      /^timezone: "Mars\/Base"/,
    ],
    [
      "a zone on a one-shot",
      (c) => c.at("t", START, 1, { timezone: "UTC" } as never),
      "invalid_option",
      /^timezone: .*every or cron only/,
    ],
    [
      "dst on an interval",
      (c) => c.every("t", "1m", 1, { dst: { gap: "skip" } } as never),
      "invalid_option",
      /^dst: .*cron only/,
    ],
    [
      "a wrong dst",
      (c) => c.cron("n", "@daily", "t", 1, { dst: { gap: "both" } as never }),
      "invalid_option",
      /^dst\.gap: "both"/,
    ],
    ["startAt on a one-shot", (c) => c.at("t", START, 1, { startAt: START } as never), "invalid_option", /^startAt/],
    [
      "endAt before startAt",
      (c) => c.every("t", "1m", 1, { startAt: START + 2, endAt: START + 1 }),
      "invalid_option",
      /^endAt: /,
    ],
    [
      "bounds that leave no deadline",
      (c) => c.every("t", "1h", 1, { endAt: START + 60_000 }),
      "invalid_option",
      /^endAt: /,
    ],
    ["maxRuns of 0", (c) => c.every("t", "1h", 1, { maxRuns: 0 }), "invalid_option", /^maxRuns: 0/],
    ["a name and a key", (c) => c.at("t", START, 1, { name: "n", key: "k" }), "invalid_option", /^key: "k".*not both/],
    ["onConflict without a key", (c) => c.at("t", START, 1, { onConflict: "error" }), "invalid_option", /^onConflict/],
    ["a second name", (c) => c.cron("n", "@daily", "t", 1, { name: "m" } as never), "invalid_option", /^name: "m"/],
    ["an empty name", (c) => c.cron("", "@daily", "t"), "invalid_option", /^name: ""/],
    ["B141 U+0000 in a name", (c) => c.cron("x\0y", "@daily", "t"), "invalid_option", /^name: "x/],
    ["B141 U+0000 in a key", (c) => c.at("t", START, 1, { key: "x\0" }), "invalid_option", /^key: /],
    ["B141 U+0000 in a tag", (c) => c.at("t", START, 1, { tags: ["a", "x\0"] }), "invalid_option", /^tags\[1\]: /],
    ["a lone surrogate in a target", (c) => c.at("t", START, 1, { target: "\ud800" }), "invalid_option", /^target: /],
    [
      "a name of 201 characters",
      (c) => c.cron("x".repeat(201), "@daily", "t"),
      "invalid_option",
      /1 to 200 characters/,
    ],
    ["tags that are no array", (c) => c.at("t", START, 1, { tags: "a" as never }), "invalid_option", /^tags: "a"/],
    [
      "21 tags",
      (c) => c.at("t", START, 1, { tags: Array.from({ length: 21 }, String) }),
      "invalid_option",
      /^tags: an array of 21/,
    ],
    [
      "a runAs that is no principal",
      (c) => c.at("t", START, 1, { runAs: "bob" as never }),
      "invalid_option",
      /^runAs: "bob"/,
    ],
    [
      "persist that is no boolean",
      (c) => c.at("t", START, 1, { persist: 0 as never }),
      "invalid_option",
      /^persist: 0/,
    ],
    [
      "an endless history",
      (c) => c.at("t", START, 1, { history: Infinity }),
      "invalid_option",
      /^history: Infinity.*0 to 100/,
    ],
    ["a null option", (c) => c.at("t", START, 1, { target: null as never }), "invalid_option", /^target: null/],
    [
      "a request without a time",
      (c) => c.createMany([{ task: "t" } as never]),
      "invalid_option",
      /^createMany\[0\]: it does not say when/,
    ],
    [
      "a request whose time is mistyped",
      (c) => c.createMany([{ task: "t", name: "n", corn: "@daily" } as never]),
      "unknown_option",
      /^createMany\[0\]\.corn: unknown option; did you mean "cron"\?$/,
    ],
    [
      "a request whose time is named as elsewhere",
      (c) => c.sync([{ task: "t", name: "n", pattern: "@daily" } as never], { group: "g" }),
      "unknown_option",
      /^sync\[0\]\.pattern: unknown option; did you mean "cron"\?$/,
    ],
    [
      "a request with two times",
      (c) => c.createMany([{ task: "t", at: START, every: "1m" } as never]),
      "invalid_option",
      /^createMany\[0\]\.at: .*every/,
    ],
    ["requests that are no array", (c) => c.createMany({} as never), "invalid_option", /^createMany: an object/],
    [
      "one bad request of three",
      (c) =>
        c.createMany([
          { task: "t", at: START },
          { task: "t", every: "1m" },
          { task: "t", at: START, targt: "x" } as never,
        ]),
      "unknown_option",
      /^createMany\[2\]\.targt.*"target"/,
    ],
    [
      "one bad request of three, known to the store only",
      (c) => c.createMany([{ task: "t", at: START }, { task: "t", every: "1m" }, { task: "t", cron: "0 0 30 2 *" }]),
      "invalid_cron",
      /./,
    ],
  ];
  it.each(cases)("I2 refuses %s and stores nothing", async (_, call, code, message) => {
    const throwing: InputSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => {
          throw new Error("no");
        },
      },
    };
    const typed = task("typed", { input: z.object({ n: z.number() }) as unknown as InputSchema });
    const { host, client } = await setUp({}, [typed, task("throwing", { input: throwing })]);
    await refuses(host, client, () => call(client), code, message);
  });

  it("I2 takes an option whose value is undefined as left out, but not an unknown key", async () => {
    const { client } = await setUp();
    expect((await client.at("t", START, 1, { key: undefined, jitter: undefined } as never)).nextRun).toEqual(
      new Date(START),
    );
    await expect(client.at("t", START, 1, { kee: undefined } as never)).rejects.toEqual(
      refusal("unknown_option", /"key"/),
    );
  });

  it.each(["stop", "pause", "resume", "trigger"] as const)(
    "I2 refuses an unknown option of %s, whatever the id",
    async (call) => {
      const { client } = await setUp();
      const { id } = await client.at("t", START + 1);
      for (const each of [id, "01JGFJJZ00QWERTYQWERTYQWER", "no id at all"]) {
        await expect(client[call](each, { ifRevison: "x" } as never)).rejects.toEqual(
          refusal("unknown_option", /ifRevision/),
        );
      }
      expect(await client.valid(id)).toBe(true);
    },
  );

  it("B025 takes a zone on an interval, and it has no effect", async () => {
    const { client } = await setUp();
    const options = { startAt: "2026-03-08T05:00:00Z", timezone: "America/New_York" };
    const runs = client.nextRuns({ every: "2h", ...options }, 3, { from: "2026-03-08T05:00:00Z" });
    expect(runs.map((run) => run.toISOString())).toEqual([
      "2026-03-08T05:00:00.000Z",
      "2026-03-08T07:00:00.000Z",
      "2026-03-08T09:00:00.000Z",
    ]);
    expect((await client.every("t", "2h", 1, options as never)).kind).toBe("every");
  });
});

describe("createMany", () => {
  it("I3 creates all in one commit and answers in order", async () => {
    const { host, client } = await setUp();
    const made = await client.createMany([
      { task: "t", at: START + 1, input: 1 },
      { task: { name: "other" }, every: "1m", target: "room:1" },
      { task: "t", cron: "@daily", name: "n" },
      { task: "t", after: "5s", persist: false },
    ]);
    expect(made.map(({ kind, task }) => `${kind} ${task}`)).toEqual(["at t", "every other", "cron t", "at t"]);
    expect(await made[3]!.info()).toMatchObject({ persist: false });
    expect((await client.list().page()).schedules.map(({ id }) => id)).toEqual(made.map(({ id }) => id).sort());
    expect(host.told).toEqual(["created", "created", "created", "created"]);
  });

  it.each<readonly [string, Parameters<ScheduleClient["createMany"]>[0], string]>([
    ["name", [{ task: "t", at: START, name: "n" }, { task: "t", every: "1m", name: "n" }], "createMany[1].name"],
    ["key", [
      { task: "t", at: START },
      { task: "t", at: START, key: "k" },
      { task: "t", at: START, key: "k" },
    ], "createMany[2].key"],
  ])("I3 N1 refuses a %s that stands twice in one list, and creates none", async (by, requests, where) => {
    const { host, client } = await setUp();
    const twice = { code: "invalid_option", details: { where, expected: `each ${by} once in a list` } };
    await expect(client.createMany(requests)).rejects.toMatchObject(twice);
    await expect(client.transaction((tx) => tx.createMany(requests))).rejects.toMatchObject(twice);
    expect(host.told).toEqual([]);
    expect((await client.list().page()).schedules).toEqual([]);
  });

  it("I3 N1 takes one name for several owners and stores, and again in a later list of the unit", async () => {
    const { client } = await setUp();
    const made = await client.createMany([
      { task: "t", at: START, name: "n" },
      { task: "t", at: START, name: "n", owner: "bob" },
      { task: "t", at: START, name: "n", persist: false },
      { task: "t", at: START, key: "n" },
    ]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(4);
    await client.transaction(async (tx) => {
      await tx.createMany([{ task: "t", at: START + 1, name: "n" }]);
      await tx.createMany([{ task: "t", at: START + 2, name: "n" }]);
    });
    expect((await client.info(made[0]!.id)).nextRun).toEqual(new Date(START + 2));
  });

  it("I3 creates none when one of another store is refused", async () => {
    const { host, client } = await setUp();
    await client.at("t", START, 1, { key: "k", persist: false });
    host.told.length = 0;
    const conflict = client.createMany([
      { task: "t", at: START },
      { task: "t", at: START, key: "k", onConflict: "error", persist: false },
    ]);
    await expect(conflict).rejects.toEqual(refusal("conflict", /"k"/));
    expect(host.told).toEqual([]);
    expect((await client.list().page()).schedules).toHaveLength(1);
  });
});
