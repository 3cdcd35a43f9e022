import { parseCron, splitFields } from "./expression.ts";
import { FIELD_RULES, type FieldRule, readItem } from "./items.ts";
import { checkTimezone } from "../contract/zone/timezone.ts";

/** What is used of the package `cronstrue`: pass its default export. */
export interface CronDescriber {
  /** Says a cron expression in words. */
  toString(
    expression: string,
    options: { readonly use24HourTimeFormat: boolean; readonly logicalAndDayFields: boolean },
  ): string;
}

/** How {@linkcode describeCron} reads an expression. */
export interface DescribeCronOptions {
  /** An IANA zone name. Default `"UTC"`. */
  readonly timezone?: string;
  /** What `H` is derived from: the schedule's name. Default `""`. */
  readonly seed?: string;
  /** Names the place in an error's message. Default `"cron"`. */
  readonly where?: string;
}

/**
 * Says in words when a cron expression fires, with its zone: `"at 02:00 every day, Europe/Berlin"`.
 *
 * The words are those of `cronstrue`, an optional peer that the caller imports. It is given what the scheduler makes
 * of the expression: `H` as the values it stands for, and whether a day has to match one field of days or both.
 *
 * @throws {SchedulerError} `invalid_cron` or `invalid_timezone`, as `cronCadence` does.
 *
 * @example
 * ```ts
 * import { describeCron } from "@ostinato/scheduler";
 * import cronstrue from "cronstrue";
 *
 * const words = describeCron("0 9 * * 1-5", { timezone: "America/New_York" }, cronstrue);
 * console.log(words); // at 09:00, Monday through Friday, America/New_York
 * ```
 */
export function describeCron(
  expression: string,
  options: DescribeCronOptions,
  describer: CronDescriber,
): string {
  const { timezone = "UTC", seed = "", where = "cron" } = options;
  const zone = checkTimezone(timezone, where);
  const { isFixedTime, matchesEitherDay } = parseCron(expression, seed, where);
  const fields = splitFields(expression, where).map((text, i) => plainText(FIELD_RULES[i]!, text, seed));
  const text = describer.toString((fields[0] === "0" ? fields.slice(1) : fields).join(" "), {
    use24HourTimeFormat: true,
    logicalAndDayFields: !matchesEitherDay,
  });
  const isDaily = isFixedTime && fields.slice(3).every((field) => field === "*" || field === "?");
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}${isDaily ? " every day" : ""}, ${zone}`;
}

/** A field as cronstrue reads it: no `H`, and a weekday's `1/2` with the end it has here. */
function plainText(rule: FieldRule, text: string, seed: string): string {
  return text.split(",").map((item) => {
    if (/^H/i.test(item)) {
      const read = readItem(rule, item, seed, (problem) => {
        throw new TypeError(problem);
      });
      return read.kind === "values" ? read.values.join(",") : item;
    }
    return rule.name === "day-of-week" ? item.replace(/^(\w+)\//, "$1-7/") : item;
  }).join(",");
}
