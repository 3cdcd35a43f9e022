import { expect, it } from "vitest";
import { nearestName, unknownOption } from "../../../src/contract/option_errors.ts";

const KNOWN = ["name", "key", "at", "every", "cron", "tags", "retry", "timezone", "maxFaults", "from"];

it.each<[string, string | undefined]>([
  ["evrey", "every"],
  ["form", "from"],
  ["Crn", "cron"],
  ["maxfault", "maxFaults"],
  ["timeZone", "timezone"],
  ["tz", "timezone"],
  ["retries", "retry"],
  ["x", undefined],
  ["as", undefined],
  ["qux", undefined],
  ["date", undefined],
  ["", undefined],
])("I2 the nearest name to %j is %s: a hint only where most of it is right", (given, nearest) => {
  expect(nearestName(given, KNOWN)).toBe(nearest);
});

it("I2 what other schedulers call an option is suggested where it is taken only", () => {
  expect(unknownOption("tz", ["name", "timezone"]).message).toBe('tz: unknown option; did you mean "timezone"?');
  expect(unknownOption("tz", ["name", "at"]).message).toBe("tz: unknown option; expected one of at, name");
});
