/**
 * Plays random scenarios and tells of those that break a rule: `npm run simulate -- --seeds 100000`, or one of them
 * again: `npm run simulate -- --seed 17 --instances 2 --schedules 3 --hours 1 --faults kills,jumps`.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { simulate } from "../../src/testing/mod.ts";
import { readFaults, replay, type Scenario, scenarioOf } from "./scenarios.ts";
import { shrink, tryScenario } from "./search.ts";
import { makeStore, STORE_NAMES, type StoreName } from "./stores.ts";

const { values } = parseArgs({
  options: {
    /** How many seeds are searched. */
    seeds: { type: "string", default: "500" },
    /** The first of them. */
    from: { type: "string", default: "0" },
    /** Worker processes; as many as there are cores unless told otherwise. */
    workers: { type: "string" },
    store: { type: "string", default: "memory" },
    /** Ends the search at the first seed that breaks a rule. */
    first: { type: "boolean", default: false },
    /** One scenario, played again. */
    seed: { type: "string" },
    instances: { type: "string" },
    schedules: { type: "string" },
    hours: { type: "string" },
    faults: { type: "string", default: "all" },
    /** Prints everything that happened to it. */
    trace: { type: "boolean", default: false },
    /** Set by a search for its workers: which seeds are theirs, of how many. */
    part: { type: "string" },
  },
});

const store = values.store as StoreName;
if (!STORE_NAMES.includes(store)) throw new Error(`--store: one of ${STORE_NAMES.join(", ")}`);

/** What a worker says of a seed that breaks a rule, and before the first one of those that break none. */
interface Found {
  readonly seed: number;
  readonly rules: readonly string[];
  readonly what: string;
  readonly replay: string;
}

if (values.part !== undefined) await work(values.part);
else if (values.seed !== undefined) await playOne(scenarioGiven(Number(values.seed)));
else await search(Number(values.seeds), Number(values.from));
if (store === "postgres") await (await import("./postgres_store.ts")).stopPostgres();

function scenarioGiven(seed: number): Scenario {
  const number = (text: string | undefined, byDefault: number) => text === undefined ? byDefault : Number(text);
  return {
    seed,
    instances: number(values.instances, 3),
    schedules: number(values.schedules, 8),
    hours: number(values.hours, 2),
    faults: readFaults(values.faults),
  };
}

/** Plays one scenario and tells what came of it. */
async function playOne(scenario: Scenario): Promise<void> {
  const { handle, dispose } = await makeStore(store);
  const { violations, trace, stats } = await simulate({ ...scenario, handle });
  await dispose();
  if (values.trace) { for (const entry of trace) console.log(JSON.stringify(entry)); }
  for (const { rule, at, schedule, message } of violations) {
    console.log(`${rule} at ${new Date(at).toISOString()}${schedule === undefined ? "" : `, ${schedule}`}: ${message}`);
  }
  console.log(JSON.stringify(stats));
  console.log(violations.length === 0 ? "every rule held" : `${violations.length} violations`);
  if (violations.length > 0) process.exitCode = 1;
}

/** Searches seeds with a worker process for each core. */
async function search(seeds: number, from: number): Promise<void> {
  const workers = Math.min(seeds, Number(values.workers ?? availableParallelism()));
  const began = performance.now();
  const found: Found[] = [];
  await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      worker([from + index, workers, from + seeds].join("/"), (one) => {
        found.push(one);
        console.log(`seed ${one.seed} breaks ${one.rules.join(", ")}: ${one.what}\n  ${one.replay}`);
      })),
  );
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.log(`${seeds} seeds from ${from} on ${store}: ${found.length} broke a rule (${seconds} s)`);
  if (found.length > 0) process.exitCode = 1;
}

function worker(part: string, tell: (found: Found) => void): Promise<void> {
  const script = [
    fileURLToPath(import.meta.url),
    "--part",
    part,
    "--store",
    store,
    ...(values.first ? ["--first"] : []),
  ];
  const flags = "Deno" in globalThis ? ["run", "-A", "--quiet"] : ["--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, ...script], { stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const one = JSON.parse(line) as Found;
    if (one.rules.length > 0) tell(one);
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) => code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`)));
  });
}

/** A worker: plays its share of the seeds, and makes what breaks a rule smaller. */
async function work(part: string): Promise<void> {
  const [from, stride, end] = part.split("/").map(Number) as [number, number, number];
  for (let seed = from; seed < end; seed += stride) {
    const scenario = scenarioOf(seed);
    const violations = await tryScenario(scenario, store);
    const [first] = violations;
    if (first === undefined) {
      if (values.first) console.log(JSON.stringify({ seed, rules: [] }));
      continue;
    }
    const smaller = values.first ? scenario : await shrink(scenario, first.rule, store);
    const onStore = store === "memory" ? "" : ` --store ${store}`;
    const rules = [...new Set(violations.map(({ rule }) => rule))];
    const found: Found = { seed, rules, what: first.message, replay: replay(smaller) + onStore };
    console.log(JSON.stringify(found));
    if (values.first) return;
  }
}
