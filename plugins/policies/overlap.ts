import {
  CONTRACT,
  DEFAULT_QUEUE_LIMIT,
  invalidOption,
  type Json,
  type JsonObject,
  MAX_CONCURRENT_RUNS,
  MAX_WAITING,
  oneOf,
  type OptionPlace,
  type OverlapAnswer,
  type OverlapOption,
  type OverlapPolicy,
  type OverlapQuestion,
  plainOptions,
  type Plugin,
  wholeNumber,
} from "../../src/contract/mod.ts";

const POLICIES: readonly OverlapPolicy[] = ["skip", "queue", "concurrent", "replace"];
const DEFAULT_LIMIT = { queue: DEFAULT_QUEUE_LIMIT, concurrent: MAX_CONCURRENT_RUNS };
const LARGEST_LIMIT = { queue: MAX_WAITING, concurrent: MAX_CONCURRENT_RUNS };

/** The option that {@linkcode overlap} owns. */
export interface OverlapOptions {
  /** What becomes of a point that arrives during a run. Default `"skip"`. */
  readonly overlap?: OverlapOption;
}

/** What is stored; a policy at its default limit is stored as its bare name. */
interface StoredOverlap {
  readonly policy: OverlapPolicy;
  readonly limit?: number;
}

/**
 * Owns the option `overlap` (O): `"skip"` drops a point that arrives during a run, `"queue"` lets `limit` (1) of them
 * wait, `"concurrent"` runs up to `limit` (100) together, `"replace"` aborts the run in progress and starts once that
 * has ended. What is dropped or replaced is counted in `overlapCount`. Runs that other instances hold count (O5). Where
 * all slots are taken, by the run in progress if need be, it is replaced when its lease is next renewed, which is three
 * times in a lease's length.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { overlap } from "@ostinato/scheduler/policies";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2030-01-01T00:00:00Z");
 * const slow = defineTask("slow", () => clock.sleep("2500ms"));
 * await using scheduler = createScheduler({ clock, tasks: [slow], policies: [overlap()] });
 * await scheduler.start();
 * const { id } = await scheduler.every(slow, "1s", undefined, { overlap: "skip" });
 * await clock.advance("4s"); // runs at 1 s and 4 s
 * const { runCount, overlapCount } = await scheduler.info(id);
 * console.log(runCount, overlapCount); // 2 2
 * ```
 */
export function overlap(): Plugin<OverlapOptions> {
  return {
    name: "overlap",
    contract: CONTRACT,
    options: { overlap: { parse: parseOverlap, default: "skip" } },
    policy: { overlap: (question) => decide(stored(question.options), question) },
  };
}

function decide({ policy, limit }: StoredOverlap, { running, queued }: OverlapQuestion): OverlapAnswer {
  switch (policy) {
    case "queue":
      return queued < (limit ?? DEFAULT_LIMIT.queue) ? "queue" : "drop";
    case "concurrent":
      return running < (limit ?? DEFAULT_LIMIT.concurrent) ? "start" : "drop";
    case "replace":
      return "replace";
    default:
      return "drop";
  }
}

function stored({ overlap = "skip" }: JsonObject): StoredOverlap {
  return typeof overlap === "string" ? { policy: overlap as OverlapPolicy } : overlap as unknown as StoredOverlap;
}

function parseOverlap(value: OverlapOption, { where }: OptionPlace): Json | undefined {
  const { policy: word, limit: given } = typeof value === "string"
    ? { policy: value, limit: undefined }
    : plainOptions(value, ["policy", "limit"], where);
  const policy = oneOf(word, POLICIES, typeof value === "string" ? where : `${where}.policy`);
  const bare = policy === "skip" ? undefined : policy;
  if (given === undefined) return bare;
  if (policy !== "queue" && policy !== "concurrent") {
    throw invalidOption(`${where}.limit`, given, `it with policy "queue" or "concurrent" only, not with "${policy}"`);
  }
  const limit = wholeNumber(given, 1, LARGEST_LIMIT[policy], `${where}.limit`);
  return limit === DEFAULT_LIMIT[policy] ? bare : { policy, limit };
}
