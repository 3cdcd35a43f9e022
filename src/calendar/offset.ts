import { MAX_ZONE_FORMATTERS } from "../contract/mod.ts";
import { DAY_MS, daysFromCivil } from "./date.ts";

const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * The formatter that reads a zone's clock. It takes much memory and is seldom asked once the years in use are read, so
 * only a few are kept.
 *
 * @throws {RangeError} When Intl knows no such zone.
 */
export function formatterOf(timezone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timezone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23", // `hour12: false` shows midnight as 24 on some engines
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    if (formatters.size >= MAX_ZONE_FORMATTERS) formatters.clear();
    formatters.set(timezone, formatter);
  }
  return formatter;
}

/** How the formatter writes: month, day, year, hour, minute, second. */
const WALL = /^(\d+)\D+(\d+)\D+(\d+)\D+(\d+)\D+(\d+)\D+(\d+)$/;

/** Reads a zone's offsets (local time minus UTC, in milliseconds) at instants of whole seconds from the year 1 on. */
export function offsetReader(timezone: string): (instant: number) => number {
  const formatter = formatterOf(timezone);
  return (instant) => {
    const [, month, day, year, hour, minute, second] = WALL.exec(formatter.format(instant))!;
    const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
    return daysFromCivil(Number(year), Number(month), Number(day)) * DAY_MS + seconds * 1_000 - instant;
  };
}
