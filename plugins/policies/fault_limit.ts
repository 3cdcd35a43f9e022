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

/** Owns the option `maxFaults` (F2): so many faults in a row retire a recurring schedule with `max_faults`. */
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
