import {
  type CatchupOption,
  type CatchupPolicy,
  CONTRACT,
  DEFAULT_CATCHUP_LIMIT,
  invalidOption,
  type Json,
  type JsonObject,
  MAX_CATCHUP_LIMIT,
  type MissedAnswer,
  oneOf,
  type OptionPlace,
  parseDuration,
  plainOptions,
  type Plugin,
  wholeNumber,
} from "../../src/contract/mod.ts";

const POLICIES: readonly CatchupPolicy[] = ["once", "skip", "all"];

/** The option that {@linkcode catchup} owns. */
export interface CatchupOptions {
  /** What becomes of points that passed with nothing running. Default `"once"`. */
  readonly catchup?: CatchupOption;
}

/** What is stored; a policy without parameters is stored as its bare name. Durations are milliseconds. */
interface StoredCatchup {
  readonly policy: CatchupPolicy;
  readonly grace?: number;
  readonly limit?: number;
  readonly window?: number;
}

/**
 * Owns the option `catchup` (C): `"once"` makes one run for all that was missed, `"skip"` drops it, `"all"` runs each
 * missed point, the newest `limit` (100) of them and none older than `window`. `grace` says how late a point may be and
 * still be an ordinary run: by default half the gap to the next point, 60 s at most (C1). What does not run is counted
 * in `missedCount`. A one-shot runs under every policy, however late (C5).
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { catchup } from "@ostinato/scheduler/policies";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2030-01-01T00:00:00Z");
 * const beat = defineTask("beat", (_input, ctx) => console.log(ctx.scheduledAt.toISOString(), ctx.missed));
 * await using scheduler = createScheduler({ clock, tasks: [beat], policies: [catchup()] });
 * await scheduler.start();
 * await scheduler.every(beat, "1h", undefined, { catchup: "once" });
 * await clock.set("2030-01-01T05:45:00Z"); // the machine slept
 * await clock.settled(); // prints 2030-01-01T05:00:00.000Z 4
 * ```
 */
export function catchup(): Plugin<CatchupOptions> {
  return {
    name: "catchup",
    contract: CONTRACT,
    options: { catchup: { parse: parseCatchup, default: "once" } },
    policy: {
      grace: ({ options }) => stored(options).grace,
      missed: ({ options }) => missed(stored(options)),
    },
  };
}

function missed({ policy, limit = DEFAULT_CATCHUP_LIMIT, window }: StoredCatchup): MissedAnswer {
  if (policy === "once") return { run: "newest" };
  if (policy === "skip") return { run: "none" };
  return { run: "each", limit, ...(window === undefined ? {} : { windowMs: window }) };
}

function stored({ catchup = "once" }: JsonObject): StoredCatchup {
  return typeof catchup === "string" ? { policy: catchup as CatchupPolicy } : catchup as unknown as StoredCatchup;
}

function parseCatchup(value: CatchupOption, { where }: OptionPlace): Json | undefined {
  if (typeof value === "string") return compact({ policy: oneOf(value, POLICIES, where) });
  const given = plainOptions(value, ["policy", "grace", "limit", "window"], where);
  const policy = oneOf(given.policy, POLICIES, `${where}.policy`);
  for (const key of ["limit", "window"] as const) {
    if (given[key] !== undefined && policy !== "all") {
      throw invalidOption(`${where}.${key}`, given[key], `it with policy "all" only, not with "${policy}"`);
    }
  }
  return compact({
    policy,
    ...duration("grace", given.grace, where),
    ...limitOf(given.limit, where),
    ...duration("window", given.window, where),
  });
}

function duration(key: "grace" | "window", value: unknown, where: string): object {
  return value === undefined ? {} : { [key]: Math.round(parseDuration(value as number, `${where}.${key}`)) };
}

function limitOf(value: unknown, where: string): { readonly limit?: number } {
  if (value === undefined) return {};
  const limit = wholeNumber(value, 1, MAX_CATCHUP_LIMIT, `${where}.limit`);
  return limit === DEFAULT_CATCHUP_LIMIT ? {} : { limit };
}

function compact(option: StoredCatchup): Json | undefined {
  if (Object.keys(option).length > 1) return { ...option };
  return option.policy === "once" ? undefined : option.policy;
}
