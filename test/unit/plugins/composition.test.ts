import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type AnyPlugin,
  type CoreOptions,
  createScheduler,
  defineTask,
  type Json,
  type Plugin,
  type SchedulerConfig,
  type UpdateRequest,
} from "../../../mod.ts";
import {
  catchup,
  type CatchupOptions,
  faultLimit,
  jitter,
  overlap,
  retry,
  standardPolicies,
} from "../../../plugins/policies/mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { connect } from "../../../plugins/transports/in_process/mod.ts";
import {
  CONTRACT,
  isSchedulerError,
  type Policy,
  SchedulerError,
  type ShiftQuestion,
} from "../../../src/contract/mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";
import { recorder } from "../support/schedulers.ts";

const parser = { parse: (value: unknown) => value as Json };

function plugin(name: string, more: object = {}): AnyPlugin {
  return { name, contract: CONTRACT, ...more };
}

/** What is wrong with a configuration, one sentence each. */
function problems(config: object): readonly string[] {
  try {
    createScheduler(config);
  } catch (error) {
    if (isSchedulerError(error, "config_invalid")) {
      for (const problem of error.details.problems as string[]) expect(error.message).toContain(problem);
      return error.details.problems as string[];
    }
    throw error;
  }
  return [];
}

describe("a configuration", () => {
  const keys = [
    "storage",
    "tasks",
    "plugins",
    "policies",
    "defaults",
    "concurrency",
    "tick",
    "leaseMs",
    "retention",
    "logger",
    "clock",
    "canRunAs",
    "unref",
  ] as const satisfies readonly (keyof SchedulerConfig)[];

  it.each(keys)("takes %s: undefined as left out, and refuses null, which is a setting that went missing", (key) => {
    expect(problems({ [key]: undefined })).toEqual([]);
    expect(problems({ [key]: null })).toEqual([expect.stringMatching(new RegExp(`^${key}: null `))]);
  });
});

describe("the composition of plugins", () => {
  it("tells everything that does not fit at once", () => {
    const found = problems({
      plugins: [
        plugin("twice"),
        plugin("twice"),
        plugin("mine", { options: { colour: parser } }),
        plugin("yours", { options: { colour: parser, jitter: parser, target: parser, every: parser, mute: {} } }),
        plugin("old", { contract: 0 }),
        plugin("wishful", { needs: ["enlist", "processes", "push"] }),
        plugin("misspelt", { polices: {}, policy: { skip: () => "run", shift: 7 }, listeners: { start: () => {} } }),
        plugin("formless", { options: [], policy: null, listeners: "all", wrapRun: {}, needs: "push" }),
        { contract: CONTRACT },
        jitter,
      ],
      storage: { ...memory(), name: "half" },
      tick: -1,
      typo: true,
    });
    const expected = [
      /^typo: unknown key/,
      /^plugins: two plugins are named "twice"$/,
      /^plugin yours: option "colour" already belongs to plugin mine$/,
      /^plugin yours: option "jitter" already belongs to plugin jitter$/,
      /^plugin yours: option "target" already belongs to the scheduler itself$/,
      /^plugin yours: option "every" already belongs to the scheduler itself$/,
      /^plugin yours: option "mute" has no parser$/,
      /^plugin old: written for contract 0; this version speaks 1$/,
      /^plugin misspelt: polices: unknown key; did you mean "policy"\?$/,
      /^plugin misspelt: policy\.skip: there is none of that name; expected one of .*admit/,
      /^plugin misspelt: policy\.shift: 7 given; expected a function$/,
      /^plugin misspelt: listeners\.start: there is none of that name; did you mean "started"\?$/,
      /^plugin formless: options: an array of 0 given/,
      /^plugin formless: policy: null given; expected an object$/,
      /^plugin formless: listeners: "all" given; expected an object$/,
      /^plugin formless: wrapRun: an object given; expected a function$/,
      /^plugin formless: needs: "push" given; expected an array/,
      /^plugins\[8\]: an object given; expected a plugin with a name$/,
      /^plugins\[9\]: a function; did you forget to call it\?$/,
      /^storage: an object lacks open, close.*; expected what memory\(\), sqlite\(…\), postgres\(…\), kv\(…\)/,
      /^tick: -1/,
    ];
    for (const problem of expected) expect(found).toContainEqual(expect.stringMatching(problem));
  });

  it.each<[keyof Policy, unknown, RegExp]>([
    ["admit", "skip", /^plugin mine: policy\.admit answered "skip"; expected "run" or \{ skip: /],
    ["admit", null, /^plugin mine: policy\.admit answered null; /],
    ["admit", { skip: "rest", until: NaN }, /^plugin mine: policy\.admit answered an object; /],
    ["shift", "5s", /^plugin mine: policy\.shift answered "5s"; expected milliseconds, or nothing$/],
    ["shift", NaN, /^plugin mine: policy\.shift answered NaN; /],
    ["shift", Promise.resolve(1), /^plugin mine: policy\.shift answered a promise; /],
  ])("refuses what %s cannot be answered (%s), and names the plugin", async (decision, answer, message) => {
    const beat = defineTask("beat", () => {});
    const mine = plugin("mine", { policy: { [decision]: () => answer } });
    await using scheduler = createScheduler({ clock: manualClock(), tasks: [beat], plugins: [mine] });
    await expect(scheduler.every(beat, "1h")).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(message),
    });
  });

  it("says which plugin threw, at which decision or over which option, and keeps what was meant for the caller", async () => {
    const beat = defineTask("beat", () => {});
    class Full {
      readonly #reason = "no room"; // which is there for the policy itself alone
      admit(): undefined {
        throw new RangeError(this.#reason);
      }
    }
    const parse = (value: unknown) => {
      if (value === "red") throw new SchedulerError("invalid_option", "colour: not red");
      if (value === "blue") throw new TypeError("blue is out");
      return value === "black" ? { since: new Date(0) } : value;
    };
    const mine = plugin("mine", { policy: new Full(), options: { colour: { parse } } });
    await using scheduler = createScheduler({ clock: manualClock(), tasks: [beat], plugins: [mine] });
    const made = (colour?: string) => scheduler.every(beat, "1h", undefined, { colour } as object);
    await expect(made()).rejects.toMatchObject({
      code: "config_invalid",
      message: "plugin mine: policy.admit threw: no room",
      cause: expect.any(RangeError),
    });
    await expect(made("red")).rejects.toMatchObject({ code: "invalid_option", message: "colour: not red" });
    await expect(made("blue")).rejects.toMatchObject({
      code: "invalid_option",
      message: "colour: plugin mine threw: blue is out",
    });
    await expect(made("black")).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(/^colour, as plugin mine reads it\.since: .*Date/),
    });
  });

  it("tells a plugin that the store cannot do what it needs", () => {
    const needing = plugin("outbox", { needs: ["enlist", "push"] });
    expect(problems({ plugins: [needing] })).toEqual([
      'plugin outbox: needs a store that supports "enlist"; "memory" does not',
    ]);
    expect(problems({ plugins: [plugin("watcher", { needs: ["push"] })] })).toEqual([]);
  });

  it("I2 without the standard policies their options are unknown, and the rest works", async () => {
    const clock = manualClock();
    const beat = defineTask("beat", () => {});
    const scheduler = createScheduler({ clock, tasks: [beat], policies: [] });
    for (
      const [key, value] of Object.entries({ jitter: "5s", catchup: "skip", overlap: "queue", retry: {}, maxFaults: 1 })
    ) {
      await expect(scheduler.every("beat", "1m", undefined, { [key]: value })).rejects.toMatchObject({
        code: "unknown_option",
        details: expect.objectContaining({ key }),
      });
    }
    expect(problems({ policies: [], defaults: { jitter: "5s" } })).toEqual([
      "defaults.jitter: no plugin owns that option; expected one of timezone",
    ]);
    await scheduler.start();
    const made = await scheduler.every(beat, "1m");
    await clock.advance("3m");
    expect(await made.info()).toMatchObject({ runCount: 3, options: {} });
    await scheduler.close();
  });

  it("C2 O1 F3 without any policy the machine has the defaults of the rules", async () => {
    const clock = manualClock();
    let runs = 0;
    const slow = defineTask("slow", async () => {
      runs++;
      await clock.sleep("150s");
    });
    const failing = defineTask("failing", () => Promise.reject(new Error("no")));
    const scheduler = createScheduler({ clock, tasks: [slow, failing], policies: [], logger: recorder([]) });
    const late = await scheduler.every(slow, "1m");
    const once = await scheduler.after(failing, "1s", undefined, { retention: "1h" });
    await clock.advance("10m");
    await scheduler.start();
    await clock.advance("1s");
    expect([runs, (await late.info()).missedCount]).toEqual([1, 9]);
    expect((await once.info()).retireReason).toBe("failed");
    await clock.advance("2m");
    expect((await late.info()).overlapCount).toBe(2);
    await scheduler.close();
  });

  it("the standard policies work as anybody's plugins, in the place of themselves", async () => {
    const clock = manualClock();
    const beat = defineTask("beat", () => {});
    const plugins = [catchup(), overlap(), jitter(), retry(), faultLimit()] as const;
    const scheduler = createScheduler({ clock, tasks: [beat], policies: [], plugins });
    const made = await scheduler.every(beat, "1h", undefined, { jitter: { spread: "5s" }, overlap: "queue" });
    const { options } = await made.info();
    expect(options).toEqual({ catchup: "once", overlap: "queue", jitter: { spread: 5_000 }, maxFaults: 50 });
    expect(standardPolicies().map(({ name }) => name)).toEqual(plugins.map(({ name }) => name));
    await scheduler.close();
  });

  it("asks the plugins in their order, and before the standard policies", async () => {
    const clock = manualClock();
    const asked: string[] = [];
    const answering = (name: string, answer?: "queue") =>
      plugin(name, { policy: { overlap: () => (asked.push(name), answer) } });
    const slow = defineTask("slow", () => clock.sleep("90s"));
    const scheduler = createScheduler({
      clock,
      tasks: [slow],
      plugins: [answering("first"), answering("second", "queue"), answering("third")],
    });
    await scheduler.start();
    const made = await scheduler.every(slow, "1m", undefined, { overlap: "replace" });
    await clock.advance("2m");
    expect(asked.slice(0, 2)).toEqual(["first", "second"]);
    expect(asked).not.toContain("third");
    expect((await made.explain()).decisions.map(({ what }) => what)).toEqual(["ran", "queued"]);
    await scheduler.close();
  });

  it("J1 lets the first plugin have the last word on a deadline, after jitter too", async () => {
    const clock = manualClock("2026-01-01T00:00:00Z");
    const asked: (readonly [string, number])[] = [];
    const shifting = (name: string, by: number) =>
      plugin(name, {
        policy: {
          shift: ({ deadline, point }: ShiftQuestion) => (asked.push([name, deadline - point]), deadline + by),
        },
      });
    const beat = defineTask("beat", () => {});
    const scheduler = createScheduler({
      clock,
      tasks: [beat],
      plugins: [shifting("first", 1), shifting("second", 20)],
    });
    const made = await scheduler.every(beat, "1h", undefined, { jitter: { spread: "1s" } });
    const jittered = asked[0]![1];
    expect(jittered).toBeLessThanOrEqual(1_000);
    expect(asked).toEqual([["second", jittered], ["first", jittered + 20]]);
    expect(made.nextRun!.getTime() - clock.now()).toBe(3_600_000 + jittered + 21);
    await scheduler.close();
  });

  it("wraps handlers in the order of the plugins, who see context and outcome and may change it", async () => {
    const clock = manualClock();
    const told: string[] = [];
    const wrapping = (name: string): AnyPlugin => ({
      ...plugin(name),
      async wrapRun({ task, input, context }, next) {
        told.push(`${name} before ${task} ${JSON.stringify(input)} ${context.attempt}`);
        try {
          const outcome = await next();
          told.push(`${name} after ${outcome}`);
          return `${outcome}!`;
        } catch (error) {
          told.push(`${name} caught ${(error as Error).message}`);
          throw error;
        }
      },
    });
    const work = defineTask("work", (input: { fail: boolean }) => {
      if (input.fail) throw new Error("no");
      return "done";
    });
    const plugins = [wrapping("outer"), wrapping("inner")];
    const scheduler = createScheduler({ clock, tasks: [work], plugins, logger: recorder([]) });
    await scheduler.start();
    expect(await scheduler.invoke(work, { fail: false })).toBe("done!!");
    const made = await scheduler.after(work, "1s", { fail: true });
    await clock.advance("1s");
    expect((await made.info()).lastFault?.message).toBe("no");
    expect(told).toEqual([
      'outer before work {"fail":false} 1',
      'inner before work {"fail":false} 1',
      "inner after done",
      "outer after done!",
      'outer before work {"fail":true} 1',
      'inner before work {"fail":true} 1',
      "inner caught no",
      "outer caught no",
    ]);
    await scheduler.close();
  });
});

it("I2 option keys of plugins are part of the types of every call, and of no other scheduler's", () => {
  interface Colour {
    readonly colour?: "red" | "blue";
  }
  interface Weight {
    readonly weight?: number;
  }
  const colour: Plugin<Colour> = { name: "colour", contract: CONTRACT, options: { colour: parser } };
  const weight: Plugin<Weight> = { name: "weight", contract: CONTRACT, options: { weight: parser } };
  const scheduler = createScheduler({ plugins: [colour, plugin("none"), weight], defaults: { weight: 3 } });
  const plain = createScheduler();
  type Both = Colour & Weight;

  expectTypeOf(scheduler.at).parameter(3).exclude<undefined>().toExtend<Both & CoreOptions>();
  expectTypeOf(scheduler.after).parameter(3).exclude<undefined>().toExtend<Both>();
  expectTypeOf(scheduler.every).parameter(3).exclude<undefined>().toExtend<Both & CatchupOptions>();
  expectTypeOf(scheduler.cron).parameter(4).exclude<undefined>().toExtend<Both>();
  expectTypeOf(scheduler.createMany).parameter(0).items.toExtend<Both>();
  expectTypeOf(scheduler.sync).parameter(0).items.toExtend<Both>();
  expectTypeOf(scheduler.update).parameter(1).toEqualTypeOf<UpdateRequest<Both>>();
  expectTypeOf(scheduler.as({ id: "a" }).every).parameter(3).exclude<undefined>().toExtend<Both>();
  expectTypeOf(connect(scheduler).every).parameter(3).exclude<undefined>().toExtend<Both>();
  expectTypeOf(plain.every).parameter(3).exclude<undefined>().not.toHaveProperty("colour");
  void scheduler.transaction((tx) => expectTypeOf(tx.at).parameter(3).exclude<undefined>().toExtend<Both>());

  const calls: readonly (() => unknown)[] = [
    () => scheduler.every("t", "1h", 0, { colour: "red", weight: 1, jitter: "5s" }),
    () => scheduler.createMany([{ task: "t", every: "1h", colour: "red", weight: 1 }]),
    // @ts-expect-error no such colour
    () => scheduler.createMany([{ task: "t", every: "1h", colour: "green" }]),
    // @ts-expect-error no such colour
    () => scheduler.every("t", "1h", 0, { colour: "green" }),
    // @ts-expect-error no plugin has this option here
    () => plain.every("t", "1h", 0, { colour: "red" }),
    // @ts-expect-error no plugin has this default
    () => createScheduler({ plugins: [colour], defaults: { weight: 1 } }),
    // @ts-expect-error the parser of an option is missing
    (): Plugin<Colour> => ({ name: "colour", contract: CONTRACT, options: {} }),
  ];
  expect(calls).toHaveLength(7);
});
