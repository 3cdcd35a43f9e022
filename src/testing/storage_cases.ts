import { advanceCases } from "./storage/advance_cases.ts";
import { findCases } from "./storage/find_cases.ts";
import { groupCases } from "./storage/group_cases.ts";
import { lifeCases } from "./storage/life_cases.ts";
import { nameCases } from "./storage/name_cases.ts";
import { textCases } from "./storage/text_cases.ts";
import type { StorageCase } from "./storage/types.ts";

export type { StorageCase, StorageHarness } from "./storage/types.ts";

/**
 * Every promise of the storage contract as a case that any test runner can loop over: what proves a driver. Each case
 * gets an empty store of its own, through handles as several processes would have. Only a `needs` that the driver does
 * not support excuses it.
 *
 * @example
 * ```ts
 * import { memory } from "@ostinato/scheduler/memory";
 * import { manualClock, storageCases } from "@ostinato/scheduler/testing";
 *
 * let kept = 0;
 * for (const { name, needs = [], damages, run } of storageCases()) {
 *   const store = memory();
 *   if (damages || needs.some((key) => !store.supports[key])) continue;
 *   // In a test runner: it(name, () => run({ … }));
 *   await run({
 *     async open() {
 *       const handle = store.handle();
 *       await handle.open({ clock: manualClock(), logger: console });
 *       return handle;
 *     },
 *   });
 *   kept++;
 * }
 * console.log(kept > 30); // true
 * ```
 */
export function storageCases(): readonly StorageCase[] {
  return [...groupCases, ...nameCases, ...advanceCases, ...findCases, ...textCases, ...lifeCases];
}
