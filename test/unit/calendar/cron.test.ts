import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cronCadence, type DstPolicy, nextPoints } from "../../../src/calendar/mod.ts";

interface Case {
  readonly id: string;
  readonly expr: string;
  readonly tz: string;
  readonly from: string;
  readonly next: readonly string[];
}
const cases: readonly Case[] = JSON.parse(readFileSync(new URL("./cases.json", import.meta.url), "utf8"));

/** The points of an expression from an instant on, shortened where they are whole minutes. */
function runs(expression: string, timezone: string, from: string, count: number, dst: DstPolicy = {}): string[] {
  return nextPoints(cronCadence(expression, { timezone, dst }), count, Date.parse(from))
    .map((point) => new Date(point).toISOString().replace(":00.000Z", "Z").replace(".000Z", "Z"));
}

describe("cases of failures elsewhere", () => {
  it.each(cases)("K1 K2 K4 $id: $expr in $tz after $from", ({ expr, tz, from, next }) => {
    const points = nextPoints(cronCadence(expr, { timezone: tz }), next.length, Date.parse(from));
    expect(points.map((point) => new Date(point).toISOString())).toEqual(next);
  });

  it("K4 B006: every half minute goes on evenly through the repeated hour", () => {
    const cadence = cronCadence("*/30 * * * * *", { timezone: "Europe/Vienna" });
    const [from, to] = [Date.parse("2025-10-26T00:00:00Z"), Date.parse("2025-10-26T02:00:00Z")];
    const points = nextPoints(cadence, Infinity, from, to);
    expect(points).toEqual(Array.from({ length: 240 }, (_, i) => from + (i + 1) * 30_000));
    expect(cadence.count(from, to)).toBe(240);
  });

  it("K4 K5 B004: one date a year that falls into a gap", () => {
    expect(runs("0 1 30 3 *", "Europe/Lisbon", "2024-11-15T00:00Z", 2)).toEqual([
      "2025-03-30T01:00Z",
      "2026-03-30T00:00Z",
    ]);
    expect(runs("0 1 30 3 *", "Europe/Lisbon", "2024-11-15T00:00Z", 1, { gap: "skip" })).toEqual(["2026-03-30T00:00Z"]);
  });

  it("K1 B051: 5L is the last Friday, L the last day of the month", () => {
    expect(runs("0 0 * * 5L", "UTC", "2024-07-11T00:00Z", 2)).toEqual(["2024-07-26T00:00Z", "2024-08-30T00:00Z"]);
    expect(runs("0 0 L 2 *", "UTC", "2026-01-01T00:00Z", 3))
      .toEqual(["2026-02-28T00:00Z", "2027-02-28T00:00Z", "2028-02-29T00:00Z"]);
  });

  it("K1 B054: a sixth field is seconds, in front", () => {
    expect(runs("15 23 * * 1-5 *", "UTC", "2015-05-03T00:00Z", 2)).toEqual([
      "2015-05-03T00:23:15Z",
      "2015-05-03T01:23:15Z",
    ]);
  });
});

describe("clock changes", () => {
  it("K4 several fixed times in one gap make one firing, at the first instant after the change", () => {
    expect(runs("0,15,30,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 3))
      .toEqual(["2026-03-29T01:00Z", "2026-03-30T00:00Z", "2026-03-30T00:15Z"]);
  });

  it("K4 a firing made up for a gap and a point at the same instant are one", () => {
    expect(runs("30 1-3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 3))
      .toEqual(["2026-03-29T00:30Z", "2026-03-29T01:00Z", "2026-03-29T01:30Z"]);
    expect(runs("0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 3))
      .toEqual(["2026-03-29T01:00Z", "2026-03-30T00:00Z", "2026-03-30T01:00Z"]);
    const cadence = cronCadence("0 2,3 * * *", { timezone: "Europe/Berlin" });
    expect(cadence.count(Date.parse("2026-03-28T12:00Z"), Date.parse("2026-03-29T12:00Z"))).toBe(1);
  });

  it("K4 a rhythm is not made up: the hour that does not exist has no points", () => {
    expect(runs("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 1)).toEqual(["2026-03-30T00:00Z"]);
    expect(runs("0 */2 * * *", "America/New_York", "2026-03-08T04:30Z", 3))
      .toEqual(["2026-03-08T05:00Z", "2026-03-08T08:00Z", "2026-03-08T10:00Z"]);
  });

  it("K4 a star in the seconds field alone leaves a job fixed-time", () => {
    expect(runs("*/20 30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 2))
      .toEqual(["2026-03-29T01:00Z", "2026-03-30T00:30Z"]);
    expect(runs("*/20 30 2 * * *", "Europe/Berlin", "2026-10-25T00:00Z", 4))
      .toEqual(["2026-10-25T00:30Z", "2026-10-25T00:30:20Z", "2026-10-25T00:30:40Z", "2026-10-26T01:30Z"]);
  });

  it("K4 a day that a zone left out fires once, as the next day begins: Samoa had no 30 December 2011", () => {
    expect(runs("0 9,18 * * *", "Pacific/Apia", "2011-12-30T00:00Z", 4))
      .toEqual(["2011-12-30T04:00Z", "2011-12-30T10:00Z", "2011-12-30T19:00Z", "2011-12-31T04:00Z"]);
  });

  it("K4 two hours at Troll, half an hour on Lord Howe, winter time that is the saving in Dublin", () => {
    expect(runs("30 1 * * *", "Antarctica/Troll", "2026-03-28T12:00Z", 2)).toEqual([
      "2026-03-29T01:00Z",
      "2026-03-29T23:30Z",
    ]);
    expect(runs("30 2 * * *", "Antarctica/Troll", "2026-10-24T12:00Z", 2)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-26T02:30Z",
    ]);
    expect(runs("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00Z", 2)).toEqual([
      "2026-04-04T14:45Z",
      "2026-04-05T15:15Z",
    ]);
    expect(runs("30 1 * * *", "Europe/Dublin", "2026-10-24T12:00Z", 2)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
    ]);
  });

  it("K4 follows the pause of summer time in Ramadan", () => {
    expect(runs("30 2 * * *", "Africa/Casablanca", "2026-02-14T12:00Z", 2)).toEqual([
      "2026-02-15T01:30Z",
      "2026-02-16T02:30Z",
    ]);
    expect(runs("30 2 * * *", "Africa/Casablanca", "2026-03-21T12:00Z", 2)).toEqual([
      "2026-03-22T02:00Z",
      "2026-03-23T01:30Z",
    ]);
  });

  it("K4 changes at the very instant at which a part of a zone's table begins", () => {
    expect(runs("30 1 * * *", "Africa/Windhoek", "2011-04-02T12:00Z", 2)).toEqual([
      "2011-04-02T23:30Z",
      "2011-04-04T00:30Z",
    ]);
    expect(runs("30 0 * * *", "Africa/Casablanca", "2011-04-02T12:00Z", 2)).toEqual([
      "2011-04-03T00:00Z",
      "2011-04-03T23:30Z",
    ]);
  });

  it("K4 offsets of odd seconds: Monrovia was 44 minutes and 30 seconds behind until 1972", () => {
    expect(runs("0 9 * * *", "Africa/Monrovia", "1972-01-05T12:00Z", 3))
      .toEqual(["1972-01-06T09:44:30Z", "1972-01-07T09:00Z", "1972-01-08T09:00Z"]);
    expect(runs("15 0 * * *", "Africa/Monrovia", "1972-01-06T12:00Z", 2)).toEqual([
      "1972-01-07T00:44:30Z",
      "1972-01-08T00:15Z",
    ]);
  });

  it("K5 gap skip drops skipped times, fold both fires on both passes", () => {
    expect(runs("30 2 * * *", "America/New_York", "2026-03-07T12:00Z", 1, { gap: "skip" })).toEqual([
      "2026-03-09T06:30Z",
    ]);
    expect(runs("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", 3, { fold: "both" }))
      .toEqual(["2026-11-01T05:30Z", "2026-11-01T06:30Z", "2026-11-02T06:30Z"]);
    expect(runs("15,45 1 * * *", "America/New_York", "2026-11-01T05:50Z", 2, { fold: "both" }))
      .toEqual(["2026-11-01T06:15Z", "2026-11-01T06:45Z"]);
  });

  it("K5 says nothing to jobs that follow elapsed time", () => {
    for (const dst of [{ gap: "skip", fold: "first" }, { gap: "fire", fold: "both" }] as const) {
      expect(runs("0 * * * *", "Europe/Berlin", "2026-10-25T00:00Z", 3, dst))
        .toEqual(["2026-10-25T01:00Z", "2026-10-25T02:00Z", "2026-10-25T03:00Z"]);
    }
  });

  it.each(["nope", "", null, 1])("K5 refuses a dst policy of %j", (gap) => {
    expect(() => cronCadence("0 0 * * *", { dst: { gap } as never, where: "cron 'x'" })).toThrowError(
      expect.objectContaining({ code: "invalid_option", message: expect.stringContaining("cron 'x': dst") }),
    );
  });
});

describe("the edges of a cadence", () => {
  it("T6 has no point after the year 9999, and one at its last second", () => {
    const cadence = cronCadence("59 59 23 31 12 *");
    expect(cadence.next(Date.parse("9999-12-30T00:00Z"))).toBe(Date.parse("9999-12-31T23:59:59Z"));
    expect(cadence.next(Date.parse("9999-12-31T23:59:59Z"))).toBeNull();
    expect(cadence.previous(Infinity)).toBe(Date.parse("9999-12-31T23:59:59Z"));
    expect(cadence.count(Date.parse("9998-01-01T00:00Z"), Infinity)).toBe(2);
    expect(cronCadence("59 59 23 31 12 *", { timezone: "America/New_York" }).next(Date.parse("9999-06-01T00:00Z")))
      .toBeNull();
  });

  it.each(["UTC", "Asia/Kathmandu"])("K6 has no point before the year 1 in %s", (timezone) => {
    const cadence = cronCadence("0 0 1 1 *", { timezone });
    expect(cadence.previous(-Infinity)).toBeNull();
    expect(cadence.previous(Date.parse("0000-06-01T00:00Z"))).toBeNull();
    const first = cadence.next(-Infinity)!;
    expect(new Date(first).toISOString()).toMatch(/^000[12]-/);
    expect(cadence.previous(first - 1)).toBeNull();
    expect(cadence.count(-Infinity, first)).toBe(1);
  });

  it("K6 takes milliseconds: a point is after the instant before it and at the instant it is", () => {
    const cadence = cronCadence("* * * * *");
    expect(cadence.next(59_999)).toBe(60_000);
    expect(cadence.next(60_000)).toBe(120_000);
    expect(cadence.previous(119_999)).toBe(60_000);
    expect(cadence.previous(60_000)).toBe(60_000);
    expect(cadence.count(59_999, 60_000)).toBe(1);
    expect(cadence.count(60_000, 60_000)).toBe(0);
    expect(cadence.count(60_000, 59_000)).toBe(0);
  });

  it("K1 answers an hour that the zone always skips with null, not with a search without end", () => {
    // Since 2007 clocks in New York go forward at two on the second Sunday of March.
    const cadence = cronCadence("*/5 2 * 3 0#2", { timezone: "America/New_York" });
    expect(cadence.next(Date.parse("2026-01-01T00:00Z"))).toBeNull();
    expect(cadence.previous(Date.parse("2026-01-01T00:00Z"))).toBe(Date.parse("2006-03-12T07:55Z"));
    expect(cadence.count(Date.parse("2006-01-01T00:00Z"), Date.parse("2500-01-01T00:00Z"))).toBe(12);
  });

  it("C7 counts ten years of seconds as their number, in a zone with clock changes", () => {
    const [from, to] = [Date.parse("2016-03-01T00:00Z"), Date.parse("2026-07-01T00:00Z")];
    expect(cronCadence("* * * * * *", { timezone: "Europe/Berlin" }).count(from, to)).toBe((to - from) / 1_000);
    expect(cronCadence("* * * * *", { timezone: "Australia/Lord_Howe" }).count(from, to)).toBe((to - from) / 60_000);
  });

  it("K1 answers equal arguments with one object", () => {
    const options = { timezone: "Europe/Berlin", dst: { gap: "skip" } } as const;
    expect(cronCadence("1 2 3 4 *", { ...options })).toBe(cronCadence("1 2 3 4 *", { ...options, where: "elsewhere" }));
    expect(cronCadence("1 2 3 4 *")).not.toBe(cronCadence("1 2 3 4 *", options));
    expect(cronCadence("1 2 3 4 *", { seed: "a" })).toBe(cronCadence("1 2 3 4 *", { seed: "b" }));
    expect(cronCadence("H 2 3 4 *", { seed: "a" })).not.toBe(cronCadence("H 2 3 4 *", { seed: "b" }));
    expect(() => cronCadence(["1 2 3 4 *"] as never)).toThrowError(expect.objectContaining({ code: "invalid_cron" }));
  });
});
