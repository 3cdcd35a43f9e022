import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path/posix";
import { Cron } from "croner";
import { describe, expect, it } from "vitest";
import { memory } from "../../plugins/storage/memory/mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { FAULT_KINDS, simulate, type SimulateOptions, type TraceEntry } from "../../src/testing/mod.ts";
import { pointsOf } from "../../src/testing/simulate/check/points.ts";
import { importsOf } from "../package/import_rules.ts";
import { FOUND } from "./found.ts";
import { MUTANTS } from "./mutants.ts";
import { readFaults, replay, scenarioOf } from "./scenarios.ts";
import { shrink, tryScenario } from "./search.ts";
import type { StoreName } from "./stores.ts";

const onDeno = process.env["SUITE_RUNTIME"] === "deno";

function hashOf(trace: readonly TraceEntry[]): string {
  return createHash("sha256").update(JSON.stringify(trace)).digest("hex").slice(0, 16);
}

describe("simulate", () => {
  // Whatever changes what a scheduler does changes these: they are then written anew. Both runtimes have the same.
  it.each<[seed: number, hash: string, options: Omit<SimulateOptions, "seed">]>([
    [7, "db53ccf8819c12ac", { instances: 2, schedules: 4, hours: 1, faults: "all" }],
    [8, "648a7c9b2e200eb6", { instances: 4, schedules: 10, hours: 2, faults: "all" }],
    [9, "6370e21f297485e5", { instances: 1, schedules: 6, hours: 3, faults: "none" }],
  ])("gives one trace for seed %i, on Node and on Deno", async (seed, hash, options) => {
    const { trace, violations } = await simulate({ seed, ...options });
    expect(violations).toEqual([]);
    expect(hashOf(trace)).toBe(hash);
  });

  it("answers plain JSON that tells what happened", async () => {
    const { trace, stats } = await simulate({ seed: 8 });
    expect(JSON.parse(JSON.stringify(trace))).toEqual(trace);
    expect(stats.runs).toBeGreaterThan(20);
    expect(stats.schedules).toBeGreaterThan(8);
    expect(Object.keys(stats.faults)).toEqual(expect.arrayContaining(["killed", "stalled", "cut off", "clock set"]));
    expect(new Set(trace.map(({ type }) => type))).toContain("handler");
  });

  it("without faults nothing fails, and every run starts within moments of its deadline", async () => {
    for (const seed of [1, 2]) {
      const { violations, stats, trace } = await simulate({ seed, faults: "none" });
      expect(violations).toEqual([]);
      expect(stats.faults).toEqual({});
      expect(trace.filter(({ type }) => type === "failure")).toEqual([]);
    }
  });

  it.each(FAULT_KINDS)("every rule holds where %s is all that goes wrong", async (kind) => {
    expect((await simulate({ seed: 1, hours: 1, faults: [kind] })).violations).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["no seed", {}, "invalid_option"],
    ["an unknown key", { seed: 1, hour: 2 }, "unknown_option"],
    ["too many instances", { seed: 1, instances: 21 }, "invalid_option"],
    ["no time", { seed: 1, hours: 0 }, "invalid_option"],
    ["an unknown fault", { seed: 1, faults: ["fire"] }, "invalid_option"],
  ])("refuses %s", async (_what, options, code) => {
    await expect(simulate(options as SimulateOptions)).rejects.toMatchObject({ code });
  });
});

describe("a search", () => {
  // The gate searches 500 more, in processes side by side.
  it("finds that every rule holds in other scenarios", async () => {
    const from = onDeno ? 10_008 : 10_000;
    for (let seed = from; seed < from + 8; seed++) {
      const scenario = scenarioOf(seed);
      expect(await tryScenario(scenario, "memory"), replay(scenario)).toEqual([]);
    }
  }, 180_000);

  it.each<[StoreName]>([["sqlite"], ["kv"]])("finds that every rule holds on %s", async (store) => {
    const scenario = { ...scenarioOf(8), instances: 2, schedules: 4, hours: 0.5 };
    expect(await tryScenario(scenario, store), `${replay(scenario)} --store ${store}`).toEqual([]);
  }, 180_000);

  it.each(FOUND)("%s: it stays mended", async (_what, scenario) => {
    expect(await tryScenario(scenario, "memory"), replay(scenario)).toEqual([]);
  });

  it("makes a scenario that breaks a rule smaller, and says how to play it again", async () => {
    const scenario = { seed: 3, instances: 3, schedules: 6, hours: 1, faults: "all" } as const;
    const store = () => {
      const root = memory();
      return Promise.resolve({ handle: () => forgetful(root.handle()), dispose() {} });
    };
    const [violation] = await tryScenario(scenario, store);
    expect(violation).toBeDefined();
    const smaller = await shrink(scenario, violation!.rule, store);
    expect(smaller.instances * smaller.schedules * smaller.hours).toBeLessThan(18);
    expect(smaller.faults).not.toBe("all");
    const line = replay(smaller);
    expect(line).toContain(`--seed 3 --instances ${smaller.instances} --schedules ${smaller.schedules}`);
    expect(readFaults(line.split("--faults ")[1]!)).toEqual(smaller.faults);
  });
});

describe("the checker", () => {
  // That each is caught is for `npm run mutants` to show.
  it.each(MUTANTS)("would be shown a scheduler that $name: the line stands in $file", ({ file, line, becomes }) => {
    expect(readFileSync(file, "utf8").split(line)).toHaveLength(2);
    expect(becomes).not.toBe(line);
  });

  it("works out by itself when a schedule is due: it imports nothing that it checks", () => {
    const folder = "src/testing/simulate/check";
    for (const file of readdirSync(folder)) {
      for (const specifier of importsOf(readFileSync(join(folder, file), "utf8"))) {
        const target = join(folder, specifier);
        const isOwn = target.startsWith(folder) || target === "src/testing/simulate/trace.ts";
        expect(isOwn || target === "src/contract/mod.ts", `${file} imports ${specifier}`).toBe(true);
      }
      // Of the contract only what names things.
      const source = readFileSync(join(folder, file), "utf8");
      expect(source).not.toMatch(/import \{(?! type)[^}]*\} from "[./]*contract/);
    }
  });

  it.each([
    ["*/7 * * * *", "UTC"],
    ["12 * * * *", "Asia/Kolkata"],
    ["3-41/9 */2 * * *", "Asia/Kathmandu"],
    ["5 */20 * * * *", "UTC"],
    ["30 4 * * 3", "Asia/Kolkata"],
    ["*/30 6-20 1 * *", "UTC"],
  ])("finds the points of %s in %s that croner finds", (cron, timezone) => {
    const points = pointsOf({ kind: "cron", cron, timezone })!;
    const start = Date.UTC(2026, 0, 1, 5, 17);
    const expected = new Cron(cron, { timezone }).nextRuns(12, new Date(start)).map((date) => date.getTime());
    expect(points.between(start, expected.at(-1)!)).toEqual(expected);
  });
});

/** A store that says of every fifth change that it was made, and forgets it. */
function forgetful(inner: Storage): Storage {
  let calls = 0;
  return new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      if (key !== "apply") return member.bind(target);
      return (groups: Parameters<Storage["apply"]>[0], now: number) =>
        target.apply(
          groups.map((group) =>
            group.map((operation) => ({
              select: operation.select,
              decide(current: Parameters<typeof operation.decide>[0], at: number) {
                const change = operation.decide(current, at);
                if (++calls % 5 > 0) return change;
                const { document: _forgotten, ...rest } = change;
                return rest;
              },
            }))
          ),
          now,
        );
    },
  });
}
