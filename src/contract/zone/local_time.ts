import { civilFromDays, DAY_MS, daysFromCivil, weekday } from "./date.ts";
import { checkTimezone } from "./timezone.ts";
import { zoneOf } from "./zone.ts";

/** What the clocks and calendars of a time zone show at an instant. */
export interface LocalTime {
  /** In the proleptic Gregorian calendar. */
  readonly year: number;
  /** From 1. */
  readonly month: number;
  /** Of the month, from 1. */
  readonly day: number;
  /** From 0, Sunday, to 6. */
  readonly weekday: number;
  /** Milliseconds that a clock shows as passed since 00:00. */
  readonly timeOfDay: number;
}

/** A local time to look for: a date, and milliseconds since 00:00, 0 when absent. */
export type LocalTimeRequest = Pick<LocalTime, "year" | "month" | "day"> & Partial<Pick<LocalTime, "timeOfDay">>;

/** No zone's clock is further from UTC, nor is set back further at once. */
const MAX_AHEAD_MS = 2 * DAY_MS;

/**
 * What the clocks of a zone show at an instant.
 *
 * @param instant Milliseconds since the Unix epoch, from the year 1 on.
 * @param timezone An IANA name such as `"Europe/Berlin"`.
 * @throws {SchedulerError} `invalid_timezone`.
 * @example
 * ```ts
 * import { localTime } from "@ostinato/scheduler/contract";
 *
 * const { day, timeOfDay } = localTime(Date.parse("2030-07-01T22:30:00Z"), "Europe/Berlin");
 * console.log(day, timeOfDay / 60_000); // 2 30
 * ```
 */
export function localTime(instant: number, timezone: string): LocalTime {
  const local = instant + zoneOf(checkTimezone(timezone)).at(instant).offset;
  const days = Math.floor(local / DAY_MS);
  return { ...civilFromDays(days), weekday: weekday(days), timeOfDay: local - days * DAY_MS };
}

/**
 * The first instant at which the clocks of a zone show a local time or, where a change of the clocks skips it, have
 * passed it; one that comes twice answers its first pass. The same rule as that of cron schedules (K4).
 *
 * @param local A day past the end of its month counts on into the next one; so does a time past the end of its day.
 * @param timezone An IANA name such as `"Europe/Berlin"`.
 * @returns Milliseconds since the Unix epoch.
 * @throws {SchedulerError} `invalid_timezone`.
 * @example
 * ```ts
 * import { instantOf } from "@ostinato/scheduler/contract";
 *
 * const opening = instantOf({ year: 2030, month: 7, day: 1, timeOfDay: 9 * 3_600_000 }, "Europe/Berlin");
 * console.log(new Date(opening).toISOString()); // 2030-07-01T07:00:00.000Z
 * ```
 */
export function instantOf({ year, month, day, timeOfDay = 0 }: LocalTimeRequest, timezone: string): number {
  const zone = zoneOf(checkTimezone(timezone));
  const local = (daysFromCivil(year, month, 1) + day - 1) * DAY_MS + timeOfDay;
  for (let from = local - MAX_AHEAD_MS;;) {
    const { start, end, offset } = zone.at(from);
    const shown = Math.max(local - offset, start);
    if (shown < end) return shown;
    from = end;
  }
}
