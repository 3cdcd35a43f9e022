import { advanceCases } from "./storage/advance_cases.ts";
import { findCases } from "./storage/find_cases.ts";
import { groupCases } from "./storage/group_cases.ts";
import { lifeCases } from "./storage/life_cases.ts";
import { nameCases } from "./storage/name_cases.ts";
import { textCases } from "./storage/text_cases.ts";
import type { StorageCase } from "./storage/types.ts";

export type { StorageCase, StorageHarness } from "./storage/types.ts";

/**
 * Every promise of the storage contract as a case that any test runner can loop over: what proves a driver.
 *
 * @example
 * ```ts
 * import { storageCases } from "@ostinato/scheduler/testing";
 * import { memory } from "@ostinato/scheduler/memory";
 *
 * const context = { logger: console, clock: {
 *   now: Date.now, monotonic: () => performance.now(), defer: (callback: () => void) => void setTimeout(callback, 0),
 *   setTimer: (callback: () => void, ms: number) => { const t = setTimeout(callback, ms); return () => clearTimeout(t); },
 * } };
 * for (const { name, needs = [], damages, run } of storageCases()) {
 *   const store = memory();
 *   if (damages || needs.some((key) => !store.supports[key])) continue;
 *   await run({ async open() { const handle = store.handle(); await handle.open(context); return handle; } });
 *   console.log("kept:", name);
 * }
 * ```
 */
export function storageCases(): readonly StorageCase[] {
  return [...groupCases, ...nameCases, ...advanceCases, ...findCases, ...textCases, ...lifeCases];
}
