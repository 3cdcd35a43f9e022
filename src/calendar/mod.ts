/**
 * Cron expressions and intervals: pure functions from an instant to the points around it.
 *
 * @module
 */

export { type Cadence, everyCadence, nextPoints } from "./cadence.ts";
export { cronCadence, type CronOptions, type DstPolicy } from "./cron_cadence.ts";
export { hash32 } from "./hash.ts";
export { type CronDescriber, describeCron, type DescribeCronOptions } from "./describe.ts";
