import { type Cadence, cronCadence, everyCadence } from "../calendar/mod.ts";
import { MAX_CRON_SEARCH_MS, MAX_DEADLINE, SchedulerError, show, type StoredSpec } from "../contract/mod.ts";

/** A spec that has a cadence. */
export type RecurringSpec = Exclude<StoredSpec, { readonly kind: "at" }>;

/** A spec's cadence, and the same without its bounds. */
interface Cadences {
  readonly bounded: Cadence;
  readonly whole: Cadence;
}

const known = new WeakMap<RecurringSpec, Cadences>();

/**
 * The cadence of a spec within its bounds; `null` for a one-shot, which has none.
 *
 * @param seed What `H` in a cron expression is spread by: the schedule's name.
 */
export function cadenceOf(spec: StoredSpec, seed = ""): Cadence | null {
  return spec.kind === "at" ? null : cadencesOf(spec, seed).bounded;
}

/** Milliseconds from a point to the next one, also where `endAt` lies between; `Infinity` at the end of the calendar. */
export function gapAfter(point: number, spec: RecurringSpec, seed = ""): number {
  return (cadencesOf(spec, seed).whole.next(point) ?? Infinity) - point;
}

/**
 * The error for a cron expression that was searched from an instant on and has no point, if that is because the clocks
 * of its zone never show such a time (K1), and not because its bounds or the calendar's end are near.
 */
export function neverComes(spec: StoredSpec, from: number): SchedulerError | undefined {
  if (spec.kind !== "cron" || spec.endAt !== undefined) return undefined;
  const { cron, timezone, startAt = from } = spec;
  if (Math.max(from, startAt) > MAX_DEADLINE - MAX_CRON_SEARCH_MS) return undefined;
  return new SchedulerError(
    "invalid_cron",
    `cron: ${show(cron)} never comes in ${timezone}: the clocks there skip its hour on each of its days; expected a ` +
      'time that they show, or dst without gap "skip" for a fixed one',
    { details: { where: "cron", given: show(cron), field: "hour" } },
  );
}

function cadencesOf(spec: RecurringSpec, seed: string): Cadences {
  const found = known.get(spec);
  if (found !== undefined) return found;
  const made = make(spec, seed);
  known.set(spec, made);
  return made;
}

function make(spec: RecurringSpec, seed: string): Cadences {
  const whole = spec.kind === "every"
    ? everyCadence(spec.anchor, spec.every)
    : cronCadence(spec.cron, { timezone: spec.timezone, seed, ...(spec.dst === undefined ? {} : { dst: spec.dst }) });
  return {
    whole,
    bounded: spec.startAt === undefined && spec.endAt === undefined
      ? whole
      : bounded(whole, spec.startAt ?? -Infinity, spec.endAt ?? Infinity),
  };
}

/** The points of a cadence within [from, to]. */
function bounded(whole: Cadence, from: number, to: number): Cadence {
  return {
    next(after) {
      const point = whole.next(Math.max(after, from - 1));
      return point === null || point > to ? null : point;
    },
    previous(atOrBefore) {
      const point = whole.previous(Math.min(atOrBefore, to));
      return point === null || point < from ? null : point;
    },
    count(after, upTo) {
      const [low, high] = [Math.max(after, from - 1), Math.min(upTo, to)];
      return high <= low ? 0 : whole.count(low, high);
    },
  };
}
