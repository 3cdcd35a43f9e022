import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScheduler, defineTask } from "../../../mod.ts";
import { infoToWire, MAX_JSON_DEPTH, toWire } from "../../../src/contract/mod.ts";

class Money {
  readonly amount = 1;
  get hidden(): number {
    return 2;
  }
}

/** What {@linkcode toWire} has to come to. */
const byText = (value: unknown) => JSON.parse(JSON.stringify({ value })).value;

const holes = [1, 2, 3];
delete holes[1];
const bare = Object.assign(Object.create(null), { a: 1 });
const deep = Array.from({ length: 2 * MAX_JSON_DEPTH }).reduce<unknown>((inner) => ({ inner: [inner] }), new Date(7));

describe("toWire", () => {
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an instant", new Date(1)],
    ["an instant that is none", [new Date(NaN)]],
    ["numbers that JSON has not", [NaN, Infinity, -Infinity, -0, 1e400, 2 ** 53]],
    ["members that are undefined", { a: undefined, b: [undefined, null] }],
    ["functions and symbols", { f() {}, s: Symbol("x"), list: [() => {}, Symbol("y")] }],
    ["an array with holes", holes],
    ["an object without a prototype", bare],
    ["an own key __proto__", JSON.parse('{ "__proto__": { "a": 1 }, "b": 2 }')],
    ["keys that are numbers", { b: 1, 10: 2, 9: 3 }],
    ["an instance", { money: new Money() }],
    ["boxed values", [Object(1), Object("x"), Object(false)]],
    ["a Map and a Set", [new Map([[1, 2]]), new Set([1])]],
    ["bytes", new Uint8Array([1, 2])],
    ["a toJSON of its own", { a: { toJSON: () => ({ at: new Date(5) }) }, url: new URL("http://localhost/") }],
    ["an object of another realm", runInNewContext("({ at: new Date(3), list: [1] })")],
    ["what is deep", deep],
    ["half a character", "\ud800"],
  ])("comes to what the text of %s comes to", (_, value) => {
    expect(toWire(value)).toStrictEqual(byText(value));
  });

  it("comes to what the text comes to, whatever the value", () => {
    const values = fc.anything({
      withDate: true,
      withNullPrototype: true,
      withMap: true,
      withSet: true,
      withBoxedValues: true,
      withSparseArray: true,
      withObjectString: true,
    });
    fc.assert(fc.property(values, (value) => void expect(toWire(value)).toStrictEqual(byText(value))), {
      numRuns: 2_000,
    });
  });

  it("throws what JSON throws", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["list"] = [cyclic];
    expect(() => toWire(cyclic)).toThrow(TypeError);
    expect(() => toWire({ n: [1n] })).toThrow(TypeError);
  });

  it("answers a copy", () => {
    const value = { list: [{ a: 1 }] };
    const copy = toWire(value);
    expect(copy.list).not.toBe(value.list);
    expect(copy.list[0]).not.toBe(value.list[0]);
  });
});

describe("infoToWire", () => {
  it("V1 leaves out nothing of a schedule, in any of its states", async () => {
    const task = defineTask("beat", { run: () => Promise.reject(new TypeError("no")), retry: { limit: 1, delay: 0 } });
    const scheduler = createScheduler({ tasks: [task], logger: { error() {}, warn() {}, info() {}, debug() {} } });
    const faulted = new Promise((resolve) => scheduler.on("faulted", resolve));
    await scheduler.start();
    const schedules = [
      await scheduler.every(task, "10ms", { a: [1] }, { name: "n", target: "t", group: "g", tags: ["x"], maxRuns: 3 }),
      await scheduler.at(task, Date.now() + 3_600_000, undefined, { key: "k", state: { s: null }, persist: false }),
      await scheduler.cron("daily", "@daily", task, undefined, {
        startAt: Date.now(),
        timeout: "1m",
        runAs: { id: "u" },
      }),
    ];
    await faulted;
    for (const schedule of schedules) {
      const info = await schedule.info();
      expect(infoToWire(info)).toStrictEqual(byText(info));
    }
    await scheduler.close();
  });
});
