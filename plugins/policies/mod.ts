/**
 * The standard policies: what becomes of missed and overlapping points, of deadlines that would fall together, and of
 * faults. They are plugins like any other, and every scheduler has them unless it is told otherwise.
 *
 * @module
 */
import type { AnyPlugin } from "../../src/contract/mod.ts";
import { catchup } from "./catchup.ts";
import { faultLimit } from "./fault_limit.ts";
import { jitter } from "./jitter.ts";
import { overlap } from "./overlap.ts";
import { retry } from "./retry.ts";

export { catchup, type CatchupOptions } from "./catchup.ts";
export { faultLimit, type FaultLimitOptions } from "./fault_limit.ts";
export { jitter, type JitterOptions, spreadOffset } from "./jitter.ts";
export { overlap, type OverlapOptions } from "./overlap.ts";
export { retry, type RetryOptions } from "./retry.ts";

/**
 * All standard policies, in the order in which they are asked: a retry comes before the fault limit (F4). What every
 * scheduler has unless `policies` says otherwise.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { standardPolicies } from "@ostinato/scheduler/policies";
 *
 * const policies = standardPolicies().filter(({ name }) => name !== "jitter");
 * const beat = defineTask("beat", () => {});
 * await using scheduler = createScheduler({ tasks: [beat], policies });
 * await scheduler.every(beat, "1m", undefined, { jitter: "5s" }).catch((error) => console.log(error.code)); // unknown_option
 * ```
 */
export function standardPolicies(): readonly AnyPlugin[] {
  return [catchup(), overlap(), jitter(), retry(), faultLimit()];
}
