import { FAULT_KINDS, type FaultKind, type SimulateOptions } from "../../src/testing/mod.ts";

/** A scenario with everything said. */
export type Scenario = Required<Omit<SimulateOptions, "handle">>;

/** What a search plays for a seed: clusters of every size, most of them with every fault, some with a few or none. */
export function scenarioOf(seed: number): Scenario {
  const draw = (salt: number, choices: number) => (Math.imul(seed + 1, 0x9e3779b1 + 2 * salt) >>> 12) % choices;
  const few = FAULT_KINDS.filter((_, index) => draw(10 + index, 3) === 0);
  const faults = [..."aaaaaffn"][seed % 8]!;
  return {
    seed,
    instances: 1 + seed % 4,
    schedules: 4 + draw(1, 8),
    hours: [1, 1, 2, 3][draw(2, 4)]!,
    faults: faults === "a" ? "all" : faults === "n" ? "none" : few,
  };
}

/** The command line that plays a scenario again. */
export function replay({ seed, instances, schedules, hours, faults }: Scenario): string {
  const named = typeof faults === "string" ? faults : faults.join(",") || "none";
  return `npm run simulate -- --seed ${seed} --instances ${instances} --schedules ${schedules} --hours ${hours} --faults ${named}`;
}

/** Reads what `--faults` was given. */
export function readFaults(text: string): "all" | "none" | readonly FaultKind[] {
  return text === "all" || text === "none" ? text : text.split(",") as FaultKind[];
}
