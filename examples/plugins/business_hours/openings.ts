import { instantOf, type LocalTime, localTime } from "../../../src/contract/mod.ts";
import type { Calendar } from "./calendar_option.ts";

const DAY_MS = 86_400_000;

/**
 * The first instant at or after another at which the calendar is open; `undefined` where it never is again, because
 * every date left is excepted.
 */
export function nextOpening(calendar: Calendar, instant: number): number | undefined {
  const today = localTime(instant, calendar.timezone);
  // The dates that are excepted can close no more than so many weeks in a row.
  const days = 7 * (calendar.except.length + 1) + 1;
  for (let ahead = 0; ahead < days; ahead++) {
    const opening = openingOn(calendar, dayAfter(today, ahead), instant);
    if (opening !== undefined) return opening;
  }
  return undefined;
}

/** The first instant at or after another that is open on a date. */
function openingOn(calendar: Calendar, date: LocalTime, instant: number): number | undefined {
  const { timezone, days, hours, except } = calendar;
  if (!days.includes(date.weekday) || except.includes(nameOf(date))) return undefined;
  for (const [from, to] of hours) {
    // What the clocks of the zone skip or show twice is the zone's business: an opening is between two instants.
    const closes = instantOf({ ...date, timeOfDay: to }, timezone);
    const opens = instantOf({ ...date, timeOfDay: from }, timezone);
    if (opens < closes && instant < closes) return Math.max(opens, instant);
  }
  return undefined;
}

/** The date so many days later. In UTC every day has 24 hours, so counting is safe there. */
function dayAfter({ year, month, day }: LocalTime, days: number): LocalTime {
  const later = instantOf({ year, month, day }, "UTC") + days * DAY_MS;
  return localTime(later, "UTC");
}

/** Such as `"2026-12-25"`. */
export function nameOf({ year, month, day }: LocalTime): string {
  return [String(year).padStart(4, "0"), String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");
}
