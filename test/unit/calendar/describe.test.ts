import cronstrue from "cronstrue";
import { describe, expect, it } from "vitest";
import { describeCron } from "../../../src/calendar/mod.ts";

describe("describeCron", () => {
  it.each([
    ["0 2 * * *", "Europe/Berlin", "at 02:00 every day, Europe/Berlin"],
    ["@daily", "UTC", "at 00:00 every day, UTC"],
    ["0 9 * * 1-5", "america/new_york", "at 09:00, Monday through Friday, America/New_York"],
    ["*/5 * * * *", "UTC", "every 5 minutes, UTC"],
    ["0 0 13 * 5", "UTC", "at 00:00, on day 13 of the month, and on Friday, UTC"],
    ["0 0 */2 * 1", "UTC", "at 00:00, every 2 days in a month, only on Monday, UTC"],
    ["0 0 L * *", "UTC", "at 00:00, on the last day of the month, UTC"],
    ["0 0 * * 5L", "UTC", "at 00:00, on the last Friday of the month, UTC"],
    ["0 0 * * sat-sun", "UTC", "at 00:00, Saturday through Sunday, UTC"],
    ["0 0 * * 1/2", "UTC", "at 00:00, every 2 days of the week, Monday through Sunday, UTC"],
    ["15 30 6 * * *", "UTC", "at 06:30:15 every day, UTC"],
    ["H(7-7) H(3-3) * * *", "UTC", "at 03:07 every day, UTC"],
  ])("K1 %s in %s is %s", (expression, timezone, text) => {
    expect(describeCron(expression, { timezone }, cronstrue)).toBe(text);
  });

  it("K1 says the values that H stands for under a name", () => {
    expect(describeCron("H/20 H * * *", { seed: "nightly-prune" }, cronstrue))
      .toBe("at 11, 31, and 51 minutes past the hour, at 21:00 every day, UTC");
  });

  it("K1 K3 refuses what creation refuses", () => {
    expect(() => describeCron("61 * * * *", {}, cronstrue)).toThrowError(
      expect.objectContaining({ code: "invalid_cron" }),
    );
    expect(() => describeCron("0 0 * * *", { timezone: "Mars/Base" }, cronstrue))
      .toThrowError(expect.objectContaining({ code: "invalid_timezone" }));
  });
});
