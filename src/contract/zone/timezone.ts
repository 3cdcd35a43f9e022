import { SchedulerError, show } from "../errors.ts";
import { formatterOf } from "./offset.ts";

/**
 * The names of the IANA database that have no area before a slash. Intl accepts more single words than these, from
 * an old Java table in which `BST` is Dhaka and `IST` is Kolkata, so they are listed rather than trusted.
 */
const WORDS = new Set(
  ("CET CST6CDT CUBA EET EGYPT EIRE EST EST5EDT GB GB-EIRE GMT GMT+0 GMT-0 GMT0 GREENWICH HONGKONG HST ICELAND IRAN " +
    "ISRAEL JAMAICA JAPAN KWAJALEIN LIBYA MET MST MST7MDT NAVAJO NZ NZ-CHAT POLAND PORTUGAL PRC PST8PDT ROC ROK " +
    "SINGAPORE TURKEY UCT UNIVERSAL UTC W-SU WET ZULU").split(" "),
);
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** Names already checked, as given; no more than there are names in the database, give or take their spelling. */
const known = new Map<string, string>();
const MAX_KNOWN = 2_000;

/**
 * Checks the name of a time zone and answers it in Intl's spelling (`europe/berlin` becomes `Europe/Berlin`). A name
 * that Intl knows under another one is left as given, because runtimes disagree on which is the older
 * (`Asia/Kolkata`, `Asia/Calcutta`), and a stored name must not depend on the runtime.
 *
 * @param timezone An IANA name such as `"Europe/Berlin"` or `"UTC"`. Offsets (`"+02:00"`) and abbreviations that
 * IANA does not have (`"PST"`, `"BST"`) are refused.
 * @param where Names the place in an error's message. Default `"timezone"`.
 * @throws {SchedulerError} `invalid_timezone` when it is not such a name.
 * @example
 * ```ts
 * import { checkTimezone, isSchedulerError } from "@ostinato/scheduler/contract";
 *
 * console.log(checkTimezone("europe/berlin")); // Europe/Berlin
 * try {
 *   checkTimezone("PST");
 * } catch (error) {
 *   console.log(isSchedulerError(error, "invalid_timezone")); // true
 * }
 * ```
 */
export function checkTimezone(timezone: string, where = "timezone"): string {
  const found = known.get(timezone);
  if (found !== undefined) return found;
  const name = canonicalName(timezone);
  if (name === undefined) {
    throw new SchedulerError(
      "invalid_timezone",
      `${where}: ${
        show(timezone)
      } is not a time zone; expected a name of the IANA database such as "Europe/Berlin", "America/New_York" or "UTC" (an offset or an abbreviation does not tell when clocks change)`,
      { details: { where, given: show(timezone) } },
    );
  }
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(timezone, name);
  return name;
}

function canonicalName(timezone: unknown): string | undefined {
  if (typeof timezone !== "string" || !NAME.test(timezone)) return undefined;
  const upper = timezone.toUpperCase();
  if (!timezone.includes("/") && !WORDS.has(upper)) return undefined;
  if (upper.startsWith("SYSTEMV/")) return undefined;
  try {
    const resolved = formatterOf(timezone).resolvedOptions().timeZone;
    return resolved.toUpperCase() === upper ? resolved : timezone;
  } catch {
    return undefined;
  }
}
