import { MAX_ZONE_FORMATTERS } from "../limits.ts";
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

/** Reads a zone's offsets (local time minus UTC, in milliseconds) at instants of whole seconds from the year 1 on. */
export function offsetReader(timezone: string): (instant: number) => number {
  const formatter = formatterOf(timezone);
  return (instant) => {
    const [month, day, year, hour, minute, second] = numbers(formatter.format(instant));
    return daysFromCivil(year!, month!, day!) * DAY_MS + ((hour! * 60 + minute!) * 60 + second!) * 1_000 - instant;
  };
}

/** The numbers in a text such as `3/29/2026, 03:00:00`, without the pieces of text that a pattern would leave behind. */
function numbers(text: string): number[] {
  const found: number[] = [];
  let wasDigit = false;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    const isDigit = digit >= 0 && digit <= 9;
    if (isDigit) found.push(wasDigit ? found.pop()! * 10 + digit : digit);
    wasDigit = isDigit;
  }
  return found;
}
