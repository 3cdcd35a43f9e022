import { MAX_CRON_CACHE, MAX_CRON_SEARCH_MS, MAX_DEADLINE, SchedulerError, show } from "../contract/mod.ts";
import type { Cadence } from "./cadence.ts";
import { DAY_MS, daysFromCivil } from "../contract/zone/date.ts";
import { parseCron } from "./expression.ts";
import { Pattern } from "./pattern.ts";
import { TimeTable } from "./time_table.ts";
import { checkTimezone } from "../contract/zone/timezone.ts";
import { type Segment, type Zone, zoneOf } from "../contract/zone/zone.ts";

/** What to do with local times that a clock change skips or repeats (K4, K5). It concerns fixed-time jobs only. */
export interface DstPolicy {
  /** A skipped time fires once, at the first instant after the change (`"fire"`, the default), or not at all. */
  readonly gap?: "fire" | "skip";
  /** A repeated time fires at its first pass only (`"first"`, the default), or on both. */
  readonly fold?: "first" | "both";
}

/** How a cron expression is read. */
export interface CronOptions {
  /** An IANA zone name. Default `"UTC"`; never the machine's own zone. */
  readonly timezone?: string;
  /** Local times that a clock change skips or repeats. */
  readonly dst?: DstPolicy;
  /** The name that `H` is derived from. Default `""`: all schedules without a name share one value. */
  readonly seed?: string;
  /** Names the place in an error's message. Default `"cron"`. */
  readonly where?: string;
}

/** The earliest point: a day into the year 1, so that no zone's local time lies before that year. */
const MIN_INSTANT = daysFromCivil(1, 1, 2) * DAY_MS;
/** Longer than any two changes of a zone follow on one another by accident, longer than two offsets differ. */
const SETTLED_MS = 4 * DAY_MS;
/** More than any local time and its instant are apart. */
const MARGIN_MS = 2 * DAY_MS;

const cache = new Map<string, Cadence>();

/**
 * The cadence of a cron expression in a time zone (K1 to K5).
 *
 * Five fields (minute, hour, day of month, month, day of week) or six with seconds first, or a nickname (`@hourly`).
 * A field is a list of values, ranges and steps; `2/5` means from 2 to the end of the field. Months and weekdays have
 * names of three letters, 0 and 7 are both Sunday, and `sat-sun` is Saturday and Sunday. `L` is the last day of the
 * month, `5L` its last Friday, `5#2` its second; `?` is `*` in a field of days. `H`, `H/15` and `H(0-29)` are values
 * derived from `seed`; a bare `H` for the day of the month stays within 1 to 28. If neither field of days contains
 * `*`, a day that matches one of them counts; otherwise it has to match both.
 *
 * A job whose minute or hour field contains `*` follows real elapsed time: it fires whenever the zone's clock shows a
 * matching time. Any other job is fixed-time: it fires at the first instant at which the clock shows the matching time
 * or, where a change skips it, has passed it. All matching times in one gap make one point, whatever the gap's length
 * (half an hour on Lord Howe Island, a day in Samoa in 2011). The seconds field does not decide which of the two a job
 * is, and `H` is no star.
 *
 * Equal arguments answer the same object from a bounded cache.
 *
 * @throws {SchedulerError} `invalid_cron` (with `details.field`), `invalid_timezone`, or `invalid_option` for a `dst`
 * that is neither of its values.
 *
 * @example
 * ```ts ignore
 * const nightly = cronCadence("30 2 * * *", { timezone: "Europe/Berlin" });
 * new Date(nightly.next(Date.parse("2026-03-28T12:00:00Z"))!); // 2026-03-29T01:00:00Z: 02:30 does not exist that day
 * ```
 */
export function cronCadence(expression: string, options: CronOptions = {}): Cadence {
  const { timezone = "UTC", seed = "", where = "cron" } = options;
  const zone = checkTimezone(timezone, where);
  const dst = checkDst(options.dst ?? {}, where);
  if (typeof expression !== "string") parseCron(expression, seed, where);
  const salt = /h/i.test(expression) ? seed : "";
  const key = `${zone} ${dst.gap} ${dst.fold} ${salt.length} ${salt} ${expression}`;
  let cadence = cache.get(key);
  if (cadence === undefined) {
    const { days, hours, minutes, seconds, isFixedTime } = parseCron(expression, seed, where);
    const pattern = new Pattern(days, new TimeTable(hours, minutes, seconds));
    cadence = new CronCadence(pattern, zoneOf(zone), isFixedTime, dst);
    if (cache.size >= MAX_CRON_CACHE) cache.clear();
    cache.set(key, cadence);
  }
  return cadence;
}

function checkDst(dst: DstPolicy, where: string): Required<DstPolicy> {
  const { gap = "fire", fold = "first" } = dst;
  if ((gap === "fire" || gap === "skip") && (fold === "first" || fold === "both")) return { gap, fold };
  throw new SchedulerError(
    "invalid_option",
    `${where}: dst is { gap: ${show(gap)}, fold: ${
      show(fold)
    } }; expected gap "fire" or "skip" and fold "first" or "both"`,
    { details: { where, given: { gap: show(gap), fold: show(fold) } } },
  );
}

/**
 * Walks the segments of a zone. In a segment, local time is the instant plus a constant, so a search there is a search
 * in the pattern; only what happens at a segment's start needs care.
 */
class CronCadence implements Cadence {
  readonly #pattern: Pattern;
  readonly #zone: Zone;
  /** Times skipped by a change make a point at the change. */
  readonly #firesGaps: boolean;
  /** Times repeated by a change are no points again. */
  readonly #skipsFolds: boolean;

  constructor(pattern: Pattern, zone: Zone, isFixedTime: boolean, dst: Required<DstPolicy>) {
    this.#pattern = pattern;
    this.#zone = zone;
    this.#firesGaps = isFixedTime && dst.gap === "fire";
    this.#skipsFolds = isFixedTime && dst.fold === "first";
  }

  next(after: number): number | null {
    let from = Math.max(Math.floor(after / 1_000) * 1_000 + 1_000, MIN_INSTANT);
    const limit = Math.min(MAX_DEADLINE, from + MAX_CRON_SEARCH_MS);
    while (from <= limit) {
      const segment = this.#zone.at(from);
      if (from === segment.start && this.#hasGapPoint(segment)) return from;
      const local = this.#pattern.next(Math.max(from + segment.offset, this.#firstLocal(segment)));
      if (local < segment.end + segment.offset) return local - segment.offset <= limit ? local - segment.offset : null;
      from = segment.end - from < SETTLED_MS ? segment.end : Math.max(segment.end, local - MARGIN_MS);
    }
    return null;
  }

  previous(atOrBefore: number): number | null {
    let from = Math.floor(Math.min(atOrBefore, MAX_DEADLINE) / 1_000) * 1_000;
    const limit = Math.max(MIN_INSTANT, from - MAX_CRON_SEARCH_MS);
    while (from >= limit) {
      const segment = this.#zone.at(from);
      const local = this.#pattern.previous(from + segment.offset);
      if (local >= this.#firstLocal(segment)) return local - segment.offset >= limit ? local - segment.offset : null;
      if (this.#hasGapPoint(segment)) return segment.start;
      const before = segment.start - 1_000;
      from = from - segment.start < SETTLED_MS ? before : Math.min(before, local + MARGIN_MS);
    }
    return null;
  }

  count(after: number, upTo: number): number {
    let from = Math.max(Math.floor(after / 1_000) * 1_000 + 1_000, MIN_INSTANT);
    const until = Math.floor(Math.min(upTo, MAX_DEADLINE) / 1_000) * 1_000 + 1_000;
    let total = 0;
    while (from < until) {
      const segment = this.#zone.at(from);
      const first = Math.max(from + segment.offset, this.#firstLocal(segment));
      if (from === segment.start && this.#hasGapPoint(segment)) total += this.#pattern.next(first) === first ? 0 : 1;
      total += this.#pattern.count(first, Math.min(until, segment.end) + segment.offset);
      from = segment.end;
    }
    return total;
  }

  /** The first local time of a segment that may be a point. */
  #firstLocal({ start, offset, fresh }: Segment): number {
    return this.#skipsFolds ? Math.max(start + offset, fresh) : start + offset;
  }

  /** Whether the change at a segment's start skipped a matching time. */
  #hasGapPoint({ start, offset, fresh }: Segment): boolean {
    return this.#firesGaps && fresh < start + offset && this.#pattern.next(fresh) < start + offset;
  }
}
