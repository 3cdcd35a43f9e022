import type { Scenario } from "./scenarios.ts";

/** Scenarios that have found a fault of the scheduler, with what it was. They stay, and hold. */
export const FOUND: readonly (readonly [what: string, scenario: Scenario])[] = [
  [
    "T8 an instance whose clock was set back slept on beside a store with a clock of its own",
    { seed: 1, instances: 3, schedules: 8, hours: 2, faults: "all" },
  ],
  [
    "M6 a creation whose reply was lost was not looked for by the instance that had made it",
    { seed: 28, instances: 1, schedules: 8, hours: 1, faults: "all" },
  ],
  [
    "T9 a trigger that replaced a run counted as a deadline",
    { seed: 104, instances: 1, schedules: 10, hours: 2, faults: "all" },
  ],
  [
    "T1 points that a forward jump had lined up started ahead of the clock that was set right",
    { seed: 699, instances: 4, schedules: 8, hours: 1, faults: "all" },
  ],
];
