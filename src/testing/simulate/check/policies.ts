import type { JsonObject, ScheduleDefinition } from "../../../contract/mod.ts";
import type { Points } from "./points.ts";

/** The resolution of the schedulers in a simulation. */
export const TICK_MS = 10;

const MAX_DEFAULT_GRACE_MS = 60_000;
const DEFAULT_CATCHUP_LIMIT = 100;
const MAX_CONCURRENT = 100;

interface Option {
  readonly policy: string;
  readonly limit?: number;
  readonly grace?: number;
  readonly window?: number;
}

function optionOf(options: JsonObject, key: string, byDefault: string): Option {
  const value = options[key] ?? byDefault;
  return typeof value === "string" ? { policy: value } : value as unknown as Option;
}

/** How many runs of a schedule may execute together, and how many points may wait for them. */
export function overlapOf({ options }: ScheduleDefinition): { policy: string; together: number; waiting: number } {
  const { policy, limit } = optionOf(options, "overlap", "skip");
  return {
    policy,
    together: policy === "concurrent" ? limit ?? MAX_CONCURRENT : 1,
    waiting: policy === "queue" ? limit ?? 1 : 0,
  };
}

/** How far a deadline may lie from its point: earlier, and later. */
export function jitterOf({ options }: ScheduleDefinition): { earlier: number; later: number; stable: boolean } {
  const jitter = options.jitter ?? 0;
  if (typeof jitter === "number") return { earlier: jitter, later: jitter, stable: jitter === 0 };
  return { earlier: 0, later: (jitter as { readonly spread: number }).spread, stable: true };
}

/** What catchup has to make of points that have come with nothing running (C1 to C4). */
export function caughtUp(
  { options }: ScheduleDefinition,
  points: Points,
  arrived: readonly number[],
  now: number,
): { readonly run: readonly number[]; readonly missed: number } {
  const { policy, grace, limit = DEFAULT_CATCHUP_LIMIT, window } = optionOf(options, "catchup", "once");
  const graceOf = (point: number) => grace ?? Math.min(MAX_DEFAULT_GRACE_MS, points.gapAfter(point) / 2);
  const late = arrived.filter((point) => now - point > graceOf(point));
  const ordinary = arrived.slice(late.length);
  if (policy === "skip") return { run: ordinary, missed: late.length };
  if (policy === "once") {
    // The newest stands for all; where a point is no more than late, that is the newest.
    const run = ordinary.length > 0 ? ordinary : late.slice(-1);
    return { run, missed: arrived.length - run.length };
  }
  const kept = late.filter((point) => window === undefined || point >= now - window).slice(-limit);
  return { run: [...kept, ...ordinary], missed: late.length - kept.length };
}
