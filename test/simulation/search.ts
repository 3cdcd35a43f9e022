import { FAULT_KINDS, simulate, type SimulateOptions, type Violation } from "../../src/testing/mod.ts";
import type { Scenario } from "./scenarios.ts";
import { makeStore, type SimulatedStore, type StoreName } from "./stores.ts";

/** What a scenario came to: the rules that it broke. */
export async function tryScenario(
  options: SimulateOptions,
  store: StoreName | (() => Promise<SimulatedStore>),
): Promise<readonly Violation[]> {
  const { handle, dispose } = await (typeof store === "string" ? makeStore(store) : store());
  try {
    return (await simulate({ ...options, handle })).violations;
  } catch (error) {
    return [{ rule: "crash", at: 0, message: error instanceof Error ? error.stack ?? error.message : String(error) }];
  } finally {
    await dispose();
  }
}

/** Makes a scenario that breaks a rule smaller, as long as it breaks the same rule. */
export async function shrink(
  options: Scenario,
  rule: string,
  store: Parameters<typeof tryScenario>[1],
): Promise<Scenario> {
  let best = options;
  for (let better: typeof best | undefined = best; better !== undefined;) {
    best = better;
    better = undefined;
    for (const smaller of smallerOnes(best)) {
      const violations = await tryScenario(smaller, store);
      if (!violations.some((violation) => violation.rule === rule)) continue;
      better = smaller;
      break;
    }
  }
  return best;
}

/** Scenarios with a little less, the largest steps first. */
function* smallerOnes(options: Scenario): Generator<Scenario> {
  const { instances, schedules, hours, faults } = options;
  const kinds = faults === "none" ? [] : faults === "all" ? [...FAULT_KINDS] : faults;
  if (kinds.length > 0) yield { ...options, faults: "none" };
  for (const kind of kinds) yield { ...options, faults: kinds.filter((other) => other !== kind) };
  for (const fewer of [1, instances - 1]) if (fewer >= 1 && fewer < instances) yield { ...options, instances: fewer };
  for (const fewer of [schedules >> 1, schedules - 1]) {
    if (fewer >= 0 && fewer < schedules) yield { ...options, schedules: fewer };
  }
  if (hours > 0.25) yield { ...options, hours: hours / 2 };
}
