import { compared } from "./transport/compare.ts";
import { refusedScripts } from "./transport/refused_scripts.ts";
import { scripts } from "./transport/scripts.ts";
import type { TransportCase } from "./transport/types.ts";

export type { TransportCase, TransportHarness, TransportWorld } from "./transport/types.ts";

/**
 * Every promise of a transport as a case that any test runner can loop over: each makes the same calls through a
 * scheduler itself and through the transport, and holds answers and errors against one another.
 *
 * @example
 * ```ts
 * import { createScheduler } from "@ostinato/scheduler";
 * import { connect } from "@ostinato/scheduler/in-process";
 * import { transportCases } from "@ostinato/scheduler/testing";
 *
 * for (const { name, run } of transportCases()) {
 *   await run({
 *     async open(setup) {
 *       const scheduler = createScheduler({ ...setup, logger: { ...console, error() {} } });
 *       await scheduler.start();
 *       return {
 *         direct: (principal) => scheduler.as(principal),
 *         remote: (principal) => connect(scheduler, principal),
 *         close: () => scheduler.close(),
 *       };
 *     },
 *   });
 *   console.log("kept:", name);
 * }
 * ```
 */
export function transportCases(): readonly TransportCase[] {
  return [...scripts, ...refusedScripts].map(compared);
}
