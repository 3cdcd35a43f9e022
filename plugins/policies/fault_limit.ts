import {
  CONTRACT,
  type Json,
  type OptionPlace,
  type Plugin,
  type SettledAnswer,
  type SettledQuestion,
  wholeNumber,
} from "../../src/contract/mod.ts";

const DEFAULT_MAX_FAULTS = 50;

/** The option that {@linkcode faultLimit} owns. */
export interface FaultLimitOptions {
  /** Consecutive faults after which a recurring schedule retires; 0 means no limit. Default 50. */
  readonly maxFaults?: number;
}

/**
 * Owns the option `maxFaults` (F2): so many faults in a row (50; 0: no limit) retire a recurring schedule with
 * `max_faults`. A deadline with its retries is one fault, each loss is one; a success starts the count anew.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { faultLimit } from "@ostinato/scheduler/policies";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2030-01-01T00:00:00Z");
 * const call = defineTask("call", () => {
 *   throw new Error("no answer");
 * });
 * const logger = { ...console, error() {} };
 * await using scheduler = createScheduler({ clock, logger, tasks: [call], policies: [faultLimit()] });
 * await scheduler.start();
 * const { id } = await scheduler.every(call, "10s", undefined, { maxFaults: 3 });
 * await clock.advance("1m");
 * const { runCount, retireReason } = await scheduler.info(id);
 * console.log(runCount, retireReason); // 3 max_faults
 * ```
 */
export function faultLimit(): Plugin<FaultLimitOptions> {
  return {
    name: "fault-limit",
    contract: CONTRACT,
    options: { maxFaults: { parse: parseMaxFaults, default: DEFAULT_MAX_FAULTS } },
    policy: { settled },
  };
}

function settled({ kind, options, outcome, consecutiveFaults }: SettledQuestion): SettledAnswer | undefined {
  const { maxFaults = DEFAULT_MAX_FAULTS } = options as { readonly maxFaults?: number };
  if (kind === "at" || outcome === "succeeded" || maxFaults === 0 || consecutiveFaults < maxFaults) return undefined;
  return { retire: "max_faults" };
}

function parseMaxFaults(value: number, { where }: OptionPlace): Json | undefined {
  const maxFaults = wholeNumber(value, 0, Number.MAX_SAFE_INTEGER, where);
  return maxFaults === DEFAULT_MAX_FAULTS ? undefined : maxFaults;
}
