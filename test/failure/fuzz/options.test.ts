import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScheduler, defineTask, type SchedulerConfig } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import {
  checkDocument,
  ERROR_CODES,
  isSchedulerError,
  MAX_HISTORY,
  MAX_LOST,
  MAX_NAME_LENGTH,
  MAX_RETRIES,
  MAX_TAGS,
  readProgress,
  type ScheduleDocument,
  writeProgress,
} from "../../../src/contract/mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";
import { SILENT } from "../crash/life.ts";
import { BEGAN } from "./corpus.ts";
import { answerOf, anything, fuzz, fuzzAsync, isTrap } from "./fuzzing.ts";

const durations = fc.constantFrom<unknown>("1m", "10s", 5_000, "1.5h", "1w", 0, "0s", "9999999w");
const instants = fc.constantFrom<unknown>(
  "2026-02-01T00:00:00Z",
  new Date(BEGAN + 1e9),
  BEGAN + 1e6,
  "2025-01-01T00:00:00+02:00",
  "9999-12-31T23:59:59.999Z",
);
const names = fc.constantFrom<unknown>("n", "\u0000", "\ud800", "x".repeat(200), "__proto__");
const counts = fc.constantFrom<unknown>(0, 1, 2, 10, 100, 101, 1_000, 1_001, 2 ** 53);

/** What people write for each key, right or nearly. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  name: names,
  key: names,
  onConflict: fc.constantFrom("keep", "replace", "error"),
  group: names,
  target: names,
  tags: fc.array(names, { maxLength: 22 }),
  owner: names,
  runAs: fc.record({ id: names }),
  state: fc.jsonValue(),
  persist: fc.boolean(),
  adaptive: fc.boolean(),
  timeout: durations,
  onLost: fc.constantFrom("rerun", "fault"),
  maxLost: counts,
  retention: durations,
  history: counts,
  startAt: instants,
  endAt: instants,
  maxRuns: counts,
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kathmandu", "Mars/Olympus", "local"),
  dst: fc.record({ gap: fc.constantFrom("fire", "skip"), fold: fc.constantFrom("first", "both") }, {
    requiredKeys: [],
  }),
  catchup: fc.oneof(
    fc.constantFrom("once", "skip", "all"),
    fc.record({ policy: fc.constantFrom("once", "skip", "all"), grace: durations, limit: counts, window: durations }, {
      requiredKeys: ["policy"],
    }),
  ),
  overlap: fc.oneof(
    fc.constantFrom("skip", "queue", "concurrent", "replace"),
    fc.record({ policy: fc.constantFrom("skip", "queue", "concurrent", "replace"), limit: counts }),
  ),
  jitter: fc.oneof(durations, fc.record({ spread: durations })),
  retry: fc.record({ limit: counts, delay: durations, backoff: counts, maxDelay: durations }, {
    requiredKeys: ["limit"],
  }),
  maxFaults: counts,
};

/** A key of the options, with what it may hold or with what it may not; or a key that nobody owns. */
const option: fc.Arbitrary<readonly [string, unknown]> = fc.oneof(
  { weight: 8, arbitrary: oneOfValues() },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...Object.keys(VALUES)), anything) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom("jiter", "Name", "", "constructor", "toString", "cron"), anything) },
);

function oneOfValues(): fc.Arbitrary<readonly [string, unknown]> {
  return fc.oneof(...Object.entries(VALUES).map(([key, values]) => values.map((value) => [key, value] as const)));
}

const options: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 20, arbitrary: fc.array(option, { maxLength: 5 }).map(Object.fromEntries) },
  { weight: 1, arbitrary: anything },
);

const isText = (value: unknown) => typeof value === "string" && value.length > 0 && value.length <= MAX_NAME_LENGTH;
const isWhole = (least: number, most: number) => (value: unknown) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
const isOneOf = (...words: unknown[]) => (value: unknown) => words.includes(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasPolicy = (...words: string[]) => (value: unknown) =>
  words.includes((isObject(value) ? value["policy"] : value) as string);
const isDuration = (value: unknown) =>
  typeof value === "number"
    ? value >= 0 && value < Infinity
    : typeof value === "string" && /^[\d.]+[a-z]+$/.test(value);

/** What may be accepted at all, told apart from how the product reads it. A key that is not here takes nothing. */
const ACCEPTABLE: Readonly<Record<string, (value: unknown) => boolean>> = {
  name: isText,
  key: isText,
  onConflict: isOneOf("keep", "replace", "error"),
  group: isText,
  target: isText,
  tags: (value) => Array.isArray(value) && value.length <= MAX_TAGS && value.every(isText),
  owner: isText,
  runAs: (value) => isObject(value) && isText(value["id"]),
  state: isState,
  persist: isOneOf(true, false),
  adaptive: isOneOf(true, false),
  timeout: isDuration,
  onLost: isOneOf("rerun", "fault"),
  maxLost: isWhole(1, MAX_LOST),
  retention: isDuration,
  history: isWhole(0, MAX_HISTORY),
  startAt: isInstant,
  endAt: isInstant,
  maxRuns: isWhole(1, Number.MAX_SAFE_INTEGER),
  timezone: (value) => typeof value === "string" && new Intl.DateTimeFormat("en", { timeZone: value }) !== undefined,
  dst: isObject,
  catchup: hasPolicy("once", "skip", "all"),
  overlap: hasPolicy("skip", "queue", "concurrent", "replace"),
  jitter: (value) => isDuration(isObject(value) ? value["spread"] : value),
  retry: (value) => isObject(value) && isWhole(0, MAX_RETRIES)(value["limit"]),
  maxFaults: isWhole(0, Number.MAX_SAFE_INTEGER),
};

/** A proxy that has no keys is an empty object, though this would have asked it for "toJSON" first. */
function isState(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch (error) {
    return isTrap(error);
  }
}

function isInstant(value: unknown): boolean {
  const ms = value instanceof Date ? value.getTime() : typeof value === "string" ? Date.parse(value) : value;
  return typeof ms === "number" && Math.abs(ms) <= 8.64e15;
}

/** How a schedule may be made; each is given options that may fit another kind only. */
const times: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>("1m", "*/5 * * * *", "2026-03-01T00:00:00Z", 10, 0, "H H * * *") },
  { weight: 1, arbitrary: anything },
);

describe("fuzzing: options", () => {
  it("I2 S4 a creation or an update is refused with a code and leaves nothing, or stores what reads back the same", async () => {
    const storage = memory();
    const clock = manualClock(BEGAN);
    const work = defineTask("work", () => {});
    const scheduler = createScheduler({ storage, clock, tasks: [work], logger: SILENT });
    // deno-lint-ignore no-explicit-any
    const any = scheduler as any;
    const base = await scheduler.every(work, "1d", undefined, { name: "base" });
    const call = fc.constantFrom("every", "cron", "at", "after", "update", "createMany", "sync");
    const cases = fc.record({ call, time: times, input: fc.oneof(fc.constant(undefined), anything), options });
    const all = () => storage.find({ limit: 1_000, retired: true });
    const accepted = await fuzzAsync("calls with options", 2_500, cases, async ({ call, time, input, options }) => {
      const before = await all();
      const one = { task: work, input, every: time, ...(isObject(options) ? spread(options) : {}) };
      const made = await settled(() => {
        switch (call) {
          case "update":
            return base.update(options as object);
          case "createMany":
            return any.createMany([one]);
          case "sync":
            return any.sync([{ name: "declared", ...one }], { group: "g" });
          case "cron":
            return any.cron("night", time, work, input, options);
          default:
            return any[call](work, time, input, options);
        }
      });
      const after = await all();
      if (!made) {
        expect(after).toEqual(before);
        return false;
      }
      for (const document of after) roundTrips(document);
      if (["every", "cron", "at", "after"].includes(call)) expectAcceptable(options);
      for (const { id } of after) if (id !== base.id) await scheduler.stop(id);
      return true;
    });
    expect(accepted).toBeGreaterThan(100);
    await scheduler.close();
  });

  /** Whether a call resolved; a rejection must be the scheduler's own. */
  async function settled(call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      if (isTrap(error)) return false;
      if (isSchedulerError(error) && error.code in ERROR_CODES && error.code !== "store_unavailable") return false;
      throw error;
    }
  }

  function spread(options: object): object {
    try {
      return { ...options };
    } catch {
      return {};
    }
  }

  function roundTrips(document: ScheduleDocument): void {
    const definition = JSON.parse(JSON.stringify(document.definition));
    const again = checkDocument({ ...document, definition, progress: readProgress(writeProgress(document.progress)) });
    expect(JSON.parse(JSON.stringify(again))).toEqual(JSON.parse(JSON.stringify(document)));
  }

  function expectAcceptable(options: unknown): void {
    for (const [key, value] of Object.entries(options ?? {})) {
      if (value !== undefined) expect(ACCEPTABLE[key]?.(value), `${key}: ${fc.stringify(value)}`).toBe(true);
    }
  }

  it("a configuration is refused as a whole, or makes a scheduler", () => {
    const task = defineTask("work", () => {});
    const keys = ["storage", "tasks", "plugins", "policies", "defaults", "logger", "clock", "canRunAs", "unref"];
    const right: fc.Arbitrary<readonly [string, unknown]> = fc.constantFrom(
      ["tasks", [task]],
      ["concurrency", 5],
      ["tick", 50],
      ["leaseMs", 5_000],
      ["retention", "1h"],
      ["defaults", { catchup: "all", timezone: "Asia/Tokyo" }],
      ["unref", true],
      ["storage", memory()],
      ["clock", manualClock()],
      ["plugins", []],
    );
    const wrong = fc.tuple(
      fc.constantFrom(...keys, "concurrency", "tick", "leaseMs", "retention", "stroage"),
      anything,
    );
    const configs = fc.oneof(
      fc.array(fc.oneof(right, right, wrong), { maxLength: 4 }).map(Object.fromEntries),
      anything,
    );
    const accepted = fuzz("configurations", 10_000, configs, (config) => {
      const made = answerOf(() => createScheduler(config as SchedulerConfig), "config_invalid");
      return made !== undefined;
    });
    expect(accepted).toBeGreaterThan(500);
  });

  it("I2 a task's definition is refused, or is one", () => {
    const right: fc.Arbitrary<readonly [string, unknown]> = fc.constantFrom(
      ["run", () => {}],
      ["timeout", "1m"],
      ["retry", { limit: 2 }],
      ["concurrency", 3],
      ["internal", true],
    );
    const wrong = fc.tuple(
      fc.constantFrom("run", "input", "timeout", "retry", "concurrency", "internal", "authorize", "resolveTarget", "x"),
      anything,
    );
    const definitions = fc.oneof(
      fc.array(fc.oneof(right, right, wrong), { maxLength: 4 }).map(Object.fromEntries),
      anything,
    );
    const cases = fc.tuple(fc.oneof({ weight: 9, arbitrary: names }, { weight: 1, arbitrary: anything }), definitions);
    const accepted = fuzz("task definitions", 10_000, cases, ([name, definition]) => {
      const made = answerOf(
        () => defineTask(name as string, definition as () => void),
        "invalid_option",
        "invalid_duration",
        "unknown_option",
      );
      if (made === undefined) return false;
      expect(isText(made.answer.name)).toBe(true);
      expect(typeof made.answer.run).toBe("function");
      answerOf(() => createScheduler({ tasks: [made.answer], logger: SILENT }), "config_invalid");
      return true;
    });
    expect(accepted).toBeGreaterThan(200);
  });
});
