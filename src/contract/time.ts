import { SchedulerError, show } from "./errors.ts";
import { MAX_DEADLINE, MAX_DURATION_MS } from "./limits.ts";

/** A length of time: milliseconds, or a number with a unit: `"250ms"`, `"10s"`, `"5m"`, `"2h"`, `"1d"`, `"1w"`. */
export type Duration = number | string;

/**
 * A point in time: a `Date`, milliseconds since the Unix epoch, an ISO 8601 string with an offset or `Z`, or a
 * `Temporal.Instant` or `Temporal.ZonedDateTime` (anything with a numeric `epochMilliseconds`).
 */
export type Instant = Date | number | string | { readonly epochMilliseconds: number };

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;

/**
 * Reads a duration as milliseconds, not rounded. A day is 24 hours and a week seven days, whatever clocks do. One that
 * is longer than the calendar answers the calendar's length.
 *
 * @param where Names the place in an error's message, such as `"jitter"`.
 * @throws {SchedulerError} `invalid_duration` when it is not a duration, is negative or infinite.
 *
 * @example
 * ```ts
 * import { parseDuration } from "@ostinato/scheduler/contract";
 *
 * console.log(parseDuration("1.5h"), parseDuration(250)); // 5400000 250
 * ```
 */
export function parseDuration(value: Duration, where = "duration"): number {
  const ms = typeof value === "string" ? fromText(value) : value;
  // Whatever is longer than the calendar leaves it from any instant, as the longest duration does (T6).
  if (typeof ms === "number" && Number.isFinite(ms) && ms >= 0) return Math.min(ms, MAX_DURATION_MS);
  throw new SchedulerError(
    "invalid_duration",
    `${where}: ${
      show(value)
    } is not a duration; expected a number of milliseconds from 0, or text such as "250ms", "10s", "5m", "2h", "1d" or "1w"`,
    { details: { where, given: show(value) } },
  );
}

function fromText(text: string): number | undefined {
  const match = DURATION.exec(text);
  return match === null ? undefined : Number(match[1]) * UNIT_MS[match[2]!]!;
}

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))$/;

/**
 * Reads an instant as milliseconds since the Unix epoch.
 *
 * Text must be a full ISO 8601 date and time with an offset: without one it would mean different instants on
 * different machines. Days that do not exist (30 February) are refused, not rolled over.
 *
 * @param where Names the place in an error's message, such as `"at"`.
 * @throws {SchedulerError} `invalid_time` when it is not an instant; `deadline_out_of_range` when it is after the year 9999.
 *
 * @example
 * ```ts
 * import { parseInstant } from "@ostinato/scheduler/contract";
 *
 * console.log(parseInstant("1970-01-01T01:00:01+01:00"), parseInstant(new Date(1_000))); // 1000 1000
 * ```
 */
export function parseInstant(value: Instant, where = "time"): number {
  const ms = instantMs(value);
  if (ms === undefined || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15) {
    throw new SchedulerError(
      "invalid_time",
      `${where}: ${
        show(value)
      } is not an instant; expected a Date, milliseconds since 1970, ISO 8601 text with an offset such as "2027-01-01T00:00:00Z", or a Temporal.Instant`,
      { details: { where, given: show(value) } },
    );
  }
  if (ms > MAX_DEADLINE) {
    throw new SchedulerError(
      "deadline_out_of_range",
      `${where}: ${new Date(ms).toISOString()} is after 9999-12-31T23:59:59.999Z, the latest deadline`,
      { details: { where, given: show(value) } },
    );
  }
  return Math.trunc(ms);
}

function instantMs(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "string") return isoMs(value);
  if (value instanceof Date) return value.getTime();
  if (typeof value !== "object" || value === null) return undefined;
  const epoch = ownTime(value as { readonly epochMilliseconds?: unknown });
  return typeof epoch === "number" ? epoch : undefined;
}

/** A getter or a proxy may throw anything. */
function ownTime(value: { readonly epochMilliseconds?: unknown }): unknown {
  try {
    return value.epochMilliseconds;
  } catch {
    return undefined;
  }
}

function isoMs(text: string): number | undefined {
  const m = ISO.exec(text);
  if (m === null) return undefined;
  const [year, month, day, hour, minute] = [m[1], m[2], m[3], m[4], m[5]].map(Number) as number[];
  const second = Number(m[6] ?? 0);
  const ms = Math.trunc(Number(`0.${m[7] ?? 0}`) * 1000 + 1e-6);
  if (hour! > 23 || minute! > 59 || second > 59) return undefined;
  const utc = new Date(0);
  utc.setUTCFullYear(year!, month! - 1, day!);
  if (utc.getUTCMonth() !== month! - 1 || utc.getUTCDate() !== day!) return undefined;
  utc.setUTCHours(hour!, minute!, second, ms);
  const [offsetHours, offsetMinutes] = [Number(m[10] ?? 0), Number(m[11] ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return utc.getTime() - (m[9] === "-" ? -offset : offset);
}
