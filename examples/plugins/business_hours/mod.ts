import { CONTRACT, localTime, type Plugin } from "../../../src/contract/mod.ts";
import { calendarOf, type CalendarOption, parseCalendar } from "./calendar_option.ts";
import { nameOf, nextOpening } from "./openings.ts";

export type { CalendarOption, Weekday } from "./calendar_option.ts";

/** The option that {@linkcode businessHours} owns. */
export interface BusinessHoursOptions {
  /** When the schedule may fire. Default: always. */
  readonly calendar?: CalendarOption;
}

/** Adds the option `calendar`: days, hours and dates outside of which a schedule does not fire. */
export function businessHours(): Plugin<BusinessHoursOptions> {
  return {
    name: "business-hours",
    contract: CONTRACT,
    options: { calendar: { parse: parseCalendar } },
    policy: {
      // A point of a cadence that is outside is dropped, with all that follow it until the next opening.
      admit({ point, options }) {
        const calendar = calendarOf(options);
        if (calendar === undefined || calendar.outside === "move") return undefined;
        const opening = nextOpening(calendar, point);
        if (opening === point) return undefined;
        const skip = `closed on ${nameOf(localTime(point, calendar.timezone))} at that time`;
        return opening === undefined ? { skip } : { skip, until: opening };
      },
      // A deadline that is outside all the same is moved: a one-shot's, one that jitter has moved, or all with "move".
      shift({ deadline, options }) {
        const calendar = calendarOf(options);
        return calendar === undefined ? undefined : nextOpening(calendar, deadline);
      },
      // What was missed is not made up for outside; the next point is inside again.
      missed({ now, options }) {
        const calendar = calendarOf(options);
        return calendar === undefined || nextOpening(calendar, now) === now ? undefined : { run: "none" };
      },
    },
  };
}
