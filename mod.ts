/**
 * Durable schedules for Deno and Node: run a named task later, once or on a cadence.
 *
 * A schedule is data in a store, so it survives restarts and crashes, costs nothing while idle, and any number of
 * instances share the work. This module is the core; stores and transports are imported from their own subpaths.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { memory } from "@ostinato/scheduler/memory";
 *
 * const greet = defineTask("greet", (input: { name: string }) => console.log(`hello ${input.name}`));
 * await using scheduler = createScheduler({ storage: memory(), tasks: [greet] });
 * await scheduler.start();
 * await scheduler.every(greet, "1h", { name: "world" });
 * await scheduler.cron("nightly", "0 2 * * *", greet, { name: "night" }, { timezone: "Europe/Berlin" });
 * ```
 *
 * @module
 */
export { type CronDescriber, describeCron, type DescribeCronOptions } from "./src/calendar/mod.ts";
export { again, ERROR_CODES, FaultError, isSchedulerError, SchedulerError } from "./src/contract/mod.ts";
export type * from "./src/contract/mod.ts";
export {
  type BacklogOptions,
  type CloseOptions,
  createScheduler,
  type Scheduler,
  type TickOptions,
} from "./src/scheduler.ts";
export type { SchedulerConfig, SchedulerDefaults } from "./src/scheduler/config.ts";
export { defineTask } from "./src/scheduler/define_task.ts";
