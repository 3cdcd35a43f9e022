import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { cronCadence } from "../../../src/calendar/mod.ts";
import { checkTimezone, instantOf, localTime } from "../../../src/contract/mod.ts";
import { zoneOf } from "../../../src/contract/zone/zone.ts";
import { wall } from "./oracle.ts";

describe("checkTimezone", () => {
  it.each([
    ["UTC", "UTC"],
    ["utc", "UTC"],
    ["europe/berlin", "Europe/Berlin"],
    ["AMERICA/NEW_YORK", "America/New_York"],
    ["America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
    ["Asia/Kolkata", "Asia/Kolkata"],
    ["Asia/Calcutta", "Asia/Calcutta"],
    ["US/Pacific", "US/Pacific"],
    ["Etc/UTC", "Etc/UTC"],
    ["Etc/GMT+5", "Etc/GMT+5"],
    ["EST5EDT", "EST5EDT"],
    ["Japan", "Japan"],
  ])("K3 %s is known as %s on every runtime", (given, name) => {
    expect(checkTimezone(given)).toBe(name);
    expect(checkTimezone(given)).toBe(name);
  });

  it("K3 every zone that Intl lists is one", () => {
    for (const zone of Intl.supportedValuesOf("timeZone")) expect(checkTimezone(zone)).toBe(zone);
  });

  it.each([
    "",
    " ",
    "UTC ",
    " Europe/Berlin",
    "+02:00",
    "-0500",
    "+02",
    "Z",
    "PST",
    "BST",
    "IST",
    "CST",
    "local",
    "Mars/Olympus",
    "Europe/",
    "/Berlin",
    "Europe/Berlin\0",
    "SystemV/PST8",
    "__proto__",
    "Europe/Berlin, UTC",
    undefined,
    null,
    2,
    {},
    ["UTC"],
  ])("K3 %j is refused", (given) => {
    expect(() => checkTimezone(given as string, 'cron "nightly"')).toThrowError(
      expect.objectContaining({
        code: "invalid_timezone",
        message: expect.stringMatching(/^cron "nightly": .* is not a time zone; expected a name of the IANA database/),
      }),
    );
  });

  it("K3 a cron expression without a zone is in UTC", () => {
    expect(cronCadence("0 1 * * *").next(Date.UTC(2026, 0, 1))).toBe(Date.UTC(2026, 0, 1, 1));
    expect(() => cronCadence("0 1 * * *", { timezone: "" })).toThrowError(
      expect.objectContaining({ code: "invalid_timezone" }),
    );
  });
});

describe("the table of a zone", () => {
  const LISTED = Intl.supportedValuesOf("timeZone");

  it("K4 shows the offset that Intl shows, at every change and at instants between, from 1800 to 9999", () => {
    for (const name of LISTED.filter((_, i) => i % 40 === 0)) {
      const zone = zoneOf(name);
      let before = zone.at(Date.UTC(1940, 0, 1));
      for (let at = before.end; at < Date.UTC(2040, 0, 1);) {
        const segment = zone.at(at);
        expect(segment.start).toBe(before.end);
        if (segment.offset !== before.offset) {
          expect(wall(segment.start, name) - segment.start).toBe(segment.offset);
          expect(wall(segment.start - 1_000, name) - (segment.start - 1_000)).toBe(before.offset);
        }
        [before, at] = [segment, segment.end];
      }
      for (let year = 1801; year < 9_999; year += 197) {
        const at = Date.UTC(year, year % 12, 15);
        expect([name, year, zone.at(at).offset]).toEqual([name, year, wall(at, name) - at]);
      }
    }
  }, 120_000);

  it("K4 finds changes a week apart, and a year that ends in one", () => {
    const offsets = (name: string, ...dates: string[]) =>
      dates.map((date) => zoneOf(name).at(Date.parse(date)).offset / 3_600_000);
    expect(offsets("America/Recife", "2000-10-07T12:00Z", "2000-10-10T12:00Z", "2000-10-16T12:00Z")).toEqual([
      -3,
      -2,
      -3,
    ]);
    expect(offsets("Africa/Tunis", "1943-04-16T00:00Z", "1943-04-20T00:00Z", "1943-04-26T00:00Z")).toEqual([2, 1, 2]);
    expect(offsets("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-30T10:00:00Z")).toEqual([-10, 14]);
    expect(offsets("Pacific/Kiritimati", "1994-12-31T09:59:59Z", "1994-12-31T10:00:00Z")).toEqual([-10, 14]);
  });
});

describe("the machine's own zone", () => {
  // The answers are printed by a process of its own, because the zone of this one cannot change.
  const script = fileURLToPath(new URL("./print_points.ts", import.meta.url));
  const inZone = (TZ: string) => {
    const args = "Deno" in globalThis ? ["run", "-A", script] : [script];
    return execFileSync(process.execPath, args, { env: { ...process.env, TZ }, encoding: "utf8" });
  };

  it("K3 B008 B030: has no part in any answer", { timeout: 120_000 }, () => {
    const answers = ["UTC", "Australia/Sydney", "America/Sao_Paulo", "Asia/Kathmandu"].map(inZone);
    expect(answers[0]).toContain("2025-10-05T03:00:00.000Z");
    expect(answers.map((answer) => answer.split("\n")[0])).toEqual([
      "zone UTC",
      "zone Australia/Sydney",
      "zone America/Sao_Paulo",
      "zone Asia/Kathmandu",
    ]);
    const points = answers.map((answer) => answer.split("\n").slice(1));
    for (const others of points.slice(1)) expect(others).toEqual(points[0]);
  });
});

describe("local times for plugins", () => {
  const at = (text: string) => Date.parse(text);
  const hours = (hour: number) => hour * 3_600_000;

  it.each([
    ["2026-03-29T00:59:59Z", "Europe/Berlin", { day: 29, weekday: 0, timeOfDay: hours(2) - 1_000 }],
    ["2026-03-29T01:00:00Z", "Europe/Berlin", { day: 29, weekday: 0, timeOfDay: hours(3) }],
    ["2026-01-01T00:00:00Z", "America/New_York", { year: 2025, month: 12, day: 31, weekday: 3, timeOfDay: hours(19) }],
    ["2026-01-01T00:00:00.250Z", "UTC", { year: 2026, month: 1, day: 1, weekday: 4, timeOfDay: 250 }],
    ["1969-12-31T23:59:59.999Z", "UTC", { year: 1969, month: 12, day: 31, weekday: 3, timeOfDay: hours(24) - 1 }],
  ])("K4 at %s the clocks of %s show it", (instant, timezone, shown) => {
    expect(localTime(at(instant), timezone)).toMatchObject(shown);
  });

  it.each(
    [
      ["an ordinary time", "Europe/Berlin", [2026, 7, 1, hours(9)], "2026-07-01T07:00:00.000Z"],
      ["a skipped time, at the change", "Europe/Berlin", [2026, 3, 29, hours(2.5)], "2026-03-29T01:00:00.000Z"],
      ["a repeated time, at its first pass", "Europe/Berlin", [2026, 10, 25, hours(2.5)], "2026-10-25T00:30:00.000Z"],
      ["a midnight that is skipped", "Africa/Cairo", [2026, 4, 24, 0], "2026-04-23T22:00:00.000Z"],
      ["a day that is skipped", "Pacific/Apia", [2011, 12, 30, hours(12)], "2011-12-30T10:00:00.000Z"],
      ["the end of a day", "America/New_York", [2026, 12, 31, hours(24)], "2027-01-01T05:00:00.000Z"],
      ["a day past the end of its month", "UTC", [2026, 2, 31, 0], "2026-03-03T00:00:00.000Z"],
    ] as const,
  )("K4 finds %s", (_, timezone, [year, month, day, timeOfDay], instant) => {
    expect(new Date(instantOf({ year, month, day, timeOfDay }, timezone)).toISOString()).toBe(instant);
  });

  it("K4 goes back and forth through a year of every kind of zone", () => {
    const wrong: string[] = [];
    for (const timezone of ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Havana", "Antarctica/Troll"]) {
      for (let instant = at("2026-01-01T00:00:00Z"); instant < at("2027-01-01T00:00:00Z"); instant += 1_800_000) {
        const found = instantOf(localTime(instant, timezone), timezone);
        // Earlier only where the clocks have shown the same before.
        const same = JSON.stringify(localTime(found, timezone)) === JSON.stringify(localTime(instant, timezone));
        if (found > instant || !same) wrong.push(`${new Date(instant).toISOString()} ${timezone}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("K3 refuses what is no zone", () => {
    expect(() => localTime(0, "Europe/Atlantis")).toThrow(expect.objectContaining({ code: "invalid_timezone" }));
    expect(() => instantOf({ year: 2026, month: 1, day: 1 }, "PST")).toThrow(/PST/);
  });
});
