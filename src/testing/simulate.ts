import { invalidOption, isPlainObject, type Storage, unknownOption, wholeNumber } from "../contract/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { check, type Violation } from "./simulate/check.ts";
import { Cluster } from "./simulate/cluster.ts";
import { play } from "./simulate/play.ts";
import { FAULT_KINDS, type FaultKind } from "./simulate/scenario.ts";
import type { TraceEntry } from "./simulate/trace.ts";
import { Storm } from "./simulate/world.ts";

export { FAULT_KINDS, type FaultKind } from "./simulate/scenario.ts";
export type { Violation } from "./simulate/check.ts";
export type * from "./simulate/trace.ts";

/** What {@linkcode simulate} takes. */
export interface SimulateOptions {
  /** What everything is drawn from: a whole number from 0. */
  readonly seed: number;
  /** Instances that share the store, from 1 to 20. Default 3. */
  readonly instances?: number;
  /** Schedules that users create, from 0 to 1,000; handlers, units and upserts make further ones. Default 8. */
  readonly schedules?: number;
  /** Hours of virtual time in which users call and things go wrong, above 0 and at most 1,000. Default 2. */
  readonly hours?: number;
  /** What goes wrong. Default `"all"`. */
  readonly faults?: "all" | "none" | readonly FaultKind[];
  /**
   * Makes a further handle on the store under test, which must answer by promises alone, without waiting for the
   * world outside. Default: one of `memory()`.
   */
  readonly handle?: () => Storage;
}

/** How much happened in a simulation. */
export interface SimulationStats {
  /** Milliseconds of virtual time. */
  readonly virtualMs: number;
  /** Timers that fired, messages that arrived. */
  readonly happenings: number;
  /** Schedules that were made. */
  readonly schedules: number;
  /** Runs whose start was committed. */
  readonly runs: number;
  /** Calls of users. */
  readonly calls: number;
  /** Things that went wrong, by what they were. */
  readonly faults: Readonly<Record<string, number>>;
}

/** What a simulation came to. */
export interface Simulation {
  /** What broke a rule; empty when all of them held. */
  readonly violations: readonly Violation[];
  /** Everything that happened, in order: plain JSON, and the same for the same options on every runtime. */
  readonly trace: readonly TraceEntry[];
  /** How much happened. */
  readonly stats: SimulationStats;
}

/** Options, checked, with defaults filled in. */
interface Checked extends Required<Omit<SimulateOptions, "faults">> {
  readonly faults: ReadonlySet<FaultKind>;
}

const KEYS = ["seed", "instances", "schedules", "hours", "faults", "handle"];

/**
 * Plays the life of a whole cluster in virtual time, drawn from a seed, and checks what came of it against the rules.
 * Several schedulers, with their own clocks that differ and jump, stall, die and come back; their store delays and loses
 * calls and replies; users create, change and stop schedules of every kind and policy; handlers succeed, fail, hang and
 * reschedule. What is checked is read from the trace and from the calendar alone: every point of every cadence
 * accounted for once, no run before its time, twice, or without its lease, changes whole or not at all, nothing left
 * over. Errors: `invalid_option`, `unknown_option`.
 *
 * @example
 * ```ts
 * import { simulate } from "@ostinato/scheduler/testing";
 *
 * const { violations, stats } = await simulate({ seed: 1, instances: 2, schedules: 3, hours: 1, faults: "all" });
 * console.log(violations.length, stats.runs > 0); // 0 true
 * ```
 */
export async function simulate(options: SimulateOptions): Promise<Simulation> {
  const { seed, instances, schedules, hours, faults, handle } = checkOptions(options);
  const cluster = new Cluster({ seed, instances, faults, handle });
  const storms: Violation[] = [];
  await play(cluster, { instances, schedules, hours, faults, handle }).catch((error) => {
    if (!(error instanceof Storm)) throw error;
    storms.push({ rule: "T8", at: cluster.world.now, message: error.message });
  });
  const { trace } = cluster;
  return { violations: [...check(trace, cluster.settings), ...storms], trace, stats: statsOf(cluster) };
}

function checkOptions(options: SimulateOptions): Checked {
  if (!isPlainObject(options as unknown)) throw invalidOption("simulate", options, "an object with a seed");
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key)) throw unknownOption(key, KEYS, "simulate: ");
  }
  const { seed, instances = 3, schedules = 8, hours = 2, faults = "all" } = options;
  if (!(Number.isFinite(hours) && hours > 0 && hours <= 1_000)) {
    throw invalidOption("simulate: hours", hours, "a number above 0, at most 1,000");
  }
  const root = memory();
  return {
    seed: wholeNumber(seed, 0, Number.MAX_SAFE_INTEGER, "simulate: seed"),
    instances: wholeNumber(instances, 1, 20, "simulate: instances"),
    schedules: wholeNumber(schedules, 0, 1_000, "simulate: schedules"),
    hours,
    faults: checkFaults(faults),
    handle: options.handle ?? (() => root.handle()),
  };
}

function checkFaults(faults: NonNullable<SimulateOptions["faults"]>): ReadonlySet<FaultKind> {
  if (faults === "all") return new Set(FAULT_KINDS);
  if (faults === "none") return new Set();
  const isList = Array.isArray(faults) && faults.every((kind) => FAULT_KINDS.includes(kind));
  if (!isList) throw invalidOption("simulate: faults", faults, `"all", "none", or a list of ${FAULT_KINDS.join(", ")}`);
  return new Set(faults);
}

function statsOf({ trace, world }: Cluster): SimulationStats {
  const faults: Record<string, number> = {};
  const count = (what: string) => faults[what] = (faults[what] ?? 0) + 1;
  let [schedules, runs, calls] = [0, 0, 0];
  for (const entry of trace) {
    if (entry.type === "commit") {
      if (entry.before === null) schedules++;
      runs += Math.max(0, (entry.after?.fence ?? 0) - (entry.before?.fence ?? 0));
    } else if (entry.type === "call") calls++;
    else if (entry.type === "failure") count(entry.applied ? "reply lost" : "call failed");
    else if (entry.type === "host" && ["killed", "stalled", "cut off", "clock set"].includes(entry.what)) {
      count(entry.what);
    }
  }
  const begin = trace[0]?.at ?? world.now;
  return { virtualMs: world.now - begin, happenings: world.happenings, schedules, runs, calls, faults };
}
