import { describe, expect, it } from "vitest";
import { cronCadence, nextPoints } from "../../../src/calendar/mod.ts";
import { isSchedulerError, type SchedulerError } from "../../../src/contract/mod.ts";

const FROM = Date.UTC(2026, 0, 1);

function points(expression: string, count = 6, seed?: string): string[] {
  return nextPoints(cronCadence(expression, seed === undefined ? {} : { seed }), count, FROM)
    .map((point) => new Date(point).toISOString().slice(0, 19));
}

function refusal(expression: unknown): SchedulerError {
  const started = performance.now();
  try {
    cronCadence(expression as string, { where: 'cron "nightly"' });
  } catch (error) {
    if (!isSchedulerError(error, "invalid_cron")) throw error;
    expect(performance.now() - started).toBeLessThan(1_000); // it came back at all
    return error;
  }
  throw new Error(`${expression} was accepted`);
}

describe("what is read", () => {
  it.each([
    ["0 0 * * 0,7", "0 0 * * 7"],
    ["0 0 * * 7", "0 0 * * sun"],
    ["0 0 * * sat-sun", "0 0 * * 6,0"],
    ["0 0 * * FRI-Sun", "0 0 * * 0,5,6"],
    ["0 0 * * 5-7", "0 0 * * fri,sat,sun"],
    ["0 0 * * sun-tue", "0 0 * * 0-2"],
    ["0 0 * * sun-sun", "0 0 * * 0"],
    ["0 0 * * mon-sun/2", "0 0 * * 1,3,5,7"],
    ["0 0 * * 1/2", "0 0 * * 1-7/2"],
    ["0 0 * * 2/2", "0 0 * * 2,4,6"],
    ["0 0 * * 3/2", "0 0 * * 0,3,5"],
    ["0 0 * * 2-7/2", "0 0 * * 2,4,6"],
    ["0 0 * * 7/2", "0 0 * * 0"],
    ["2/2 * * * *", "2-59/2 * * * *"],
    ["0 3/6 * * *", "0 3,9,15,21 * * *"],
    ["1-5,3,4-6 * * * *", "1-6 * * * *"],
    ["*/15,7 * * * *", "0,7,15,30,45 * * * *"],
    ["00 09 01 01 *", "0 9 1 1 *"],
    ["00 00 * * 01,05-07", "0 0 * * 1,5-7"],
    ["00 00 * * 00-sun,02#1", "0 0 * * 0,2#1"],
    ["00 00 * * 05-sun/02,03L", "0 0 * * 5,7,3L"],
    ["  0\t0  1 * *  ", "0 0 1 * *"],
    ["0 0 ? * 1", "0 0 * * 1"],
    ["0 0 1 * ?", "0 0 1 * *"],
    ["0 0 1 JAN,Jul *", "0 0 1 1,7 *"],
    ["0 0 L * *", "0 0 l * *"],
    ["0 0 * * friL", "0 0 * * 5L"],
    ["0 0 * * sun#2", "0 0 * * 7#2"],
    ["0 5 * * * *", "5 * * * *"],
    ["@yearly", "0 0 1 1 *"],
    ["@annually", "0 0 1 1 *"],
    ["@monthly", "0 0 1 * *"],
    ["@weekly", "0 0 * * 0"],
    ["@Daily", "0 0 * * *"],
    ["@midnight", "0 0 * * *"],
    ["@hourly", "0 * * * *"],
  ])("K1 %s means %s", (one, other) => {
    expect(points(one, 40)).toEqual(points(other, 40));
  });

  it("K1 lists of L and # items hold beside days and weekdays", () => {
    expect(points("0 0 15,L * *", 4)).toEqual([
      "2026-01-15T00:00:00",
      "2026-01-31T00:00:00",
      "2026-02-15T00:00:00",
      "2026-02-28T00:00:00",
    ]);
    expect(points("0 0 * * 1#1,3#2,5L", 4)).toEqual([
      "2026-01-05T00:00:00",
      "2026-01-14T00:00:00",
      "2026-01-30T00:00:00",
      "2026-02-02T00:00:00",
    ]);
    expect(points("0 0 * * 1,5L", 5)).toEqual([
      "2026-01-05T00:00:00",
      "2026-01-12T00:00:00",
      "2026-01-19T00:00:00",
      "2026-01-26T00:00:00",
      "2026-01-30T00:00:00",
    ]);
  });

  it("K1 finds dates that are decades away", () => {
    expect(points("0 0 29 2 */7", 3)).toEqual(["2032-02-29T00:00:00", "2060-02-29T00:00:00", "2088-02-29T00:00:00"]);
    expect(points("0 0 ? 2 5#5", 2)).toEqual(["2036-02-29T00:00:00", "2064-02-29T00:00:00"]);
  });

  it("K2 a star in either field of days, also with a step, asks for both; without one, either is enough", () => {
    expect(points("0 0 13 * 5", 4)).toEqual([
      "2026-01-02T00:00:00",
      "2026-01-09T00:00:00",
      "2026-01-13T00:00:00",
      "2026-01-16T00:00:00",
    ]);
    expect(points("0 0 13 * */5", 2)).toEqual(["2026-02-13T00:00:00", "2026-03-13T00:00:00"]);
    expect(points("0 0 */10 * 1", 2)).toEqual(["2026-05-11T00:00:00", "2026-06-01T00:00:00"]);
    expect(points("0 0 1-7,*/31 * 1", 2)).toEqual(["2026-01-05T00:00:00", "2026-02-02T00:00:00"]);
  });
});

describe("what is refused", () => {
  it.each([
    ["60 * * * *", "minute", '"60" is out of range; expected 0-59'],
    ["60 * * * * *", "second", '"60"'],
    ["* 24 * * *", "hour", '"24"'],
    ["0 0 0 * *", "day-of-month", '"0"'],
    ["0 0 32 * *", "day-of-month", '"32"'],
    ["0 0 * 13 *", "month", "1-12 or jan-dec"],
    ["0 0 * 0 *", "month", '"0"'],
    ["0 0 * * 8", "day-of-week", '"8"'],
    ["0 8 * * FRI-MON", "day-of-week", "runs backwards"],
    ["0 22-2 * * *", "hour", "write 22-2 as 22-23,0-2"],
    ["0 8 * * 6-0", "day-of-week", "runs backwards"],
    ["*/0 * * * *", "minute", "step outside 1-60"],
    ["1-5/0 * * * *", "minute", "step"],
    ["*/-2 * * * *", "minute", "step"],
    ["*/1.5 * * * *", "minute", "step"],
    ["*/ * * * *", "minute", "step"],
    ["*/2/3 * * * *", "minute", "step"],
    ["*/90 * * * *", "minute", "is an interval"],
    ["0 */25 * * *", "hour", "step outside 1-24"],
    ["0 0 * * */8", "day-of-week", "step outside 1-7"],
    ["5,,6 * * * *", "minute", "empty item"],
    [", * * * *", "minute", "empty item"],
    ["*5 * * * *", "minute", '"*5"'],
    ["*-5 * * * *", "minute", '"*-5"'],
    ["1-2-3 * * * *", "minute", '"1-2-3"'],
    ["-1 * * * *", "minute", '"-1"'],
    ["+1 * * * *", "minute", '"+1"'],
    ["0x1 * * * *", "minute", '"0x1"'],
    ["1e1 * * * *", "minute", '"1e1"'],
    ["000 * * * *", "minute", '"000"'],
    ["٣ * * * *", "minute", "is not valid"],
    ["0 \u00a00 * * *", "hour", "is not valid"],
    ["0 9 * * Mond", "day-of-week", '"Mond"'],
    ["0 9 * * Monday", "day-of-week", '"Monday"'],
    ["0 0 * JANFEB *", "month", '"JANFEB"'],
    ["0 mon * * *", "hour", '"mon"'],
    ["? * * * *", "minute", "only in a field of days"],
    ["0 0 ?/2 * *", "day-of-month", "stands alone"],
    ["0 0 15W * *", "day-of-month", "working day"],
    ["0 0 LW * *", "day-of-month", "working day"],
    ["0 0 L-3 * *", "day-of-month", "counts back"],
    ["0 0 5L * *", "day-of-month", '"5L"'],
    ["0 0 * * L", "day-of-week", "such as 5L"],
    ["0 0 * * 5#6", "day-of-week", "#1 to #5"],
    ["0 0 * * 5#0", "day-of-week", "#1 to #5"],
    ["0 0 * * 1-5#2", "day-of-week", '"1-5#2"'],
    ["0 0 * * 8L", "day-of-week", "out of range"],
    ["L * * * *", "minute", '"L"'],
    ["H(50-70) * * * *", "minute", "not within 0-59"],
    ["H(9-3) * * * *", "minute", "not within"],
    ["H/0 * * * *", "minute", "step"],
    ["H(0-9)/11 * * * *", "minute", "step outside 1-10"],
    ["0 0 30 2 *", "day-of-month", "never comes"],
    ["0 0 31 4 *", "day-of-month", "never comes"],
    ["0 0 31 2,4,6,9,11 *", "day-of-month", "never comes"],
    ["0 0 30 2 */5", "day-of-month", "never comes"],
    ["0 0 1-7 * */7,5L", "day-of-month", "never comes", false],
  ] as [string, string, string, boolean?][])("K1 %s: %s, %s", (expression, field, text, isRefused = true) => {
    if (!isRefused) return void expect(points(expression, 1)).toHaveLength(1);
    const error = refusal(expression);
    expect(error.details).toEqual({ where: 'cron "nightly"', given: JSON.stringify(expression), field });
    expect(error.message).toMatch(/^cron "nightly": ".*" is not a cron expression in its .* field: /);
    expect(error.message).toContain(text);
  });

  it.each([
    ["", "it has 0 fields"],
    ["   ", "it has 0 fields"],
    ["*", "it has 1 fields"],
    ["0 0 1 1", "it has 4 fields"],
    ["* * * * * * *", "it has 7 fields"],
    ["0 0 1 1 * * * *", "it has 8 fields"],
    ["@reboot", "no reboot"],
    ["@REBOOT", "no reboot"],
    ["@fortnightly", "@weekly"],
    ["@daily 5", "no nickname"],
    ["@__proto__", "no nickname"],
    [`${"1,".repeat(600)}1 * * * *`, "too long"],
    [undefined, "not text"],
    [null, "not text"],
    [5, "not text"],
    [["* * * * *"], "not text"],
  ])("K1 %j: %s", (expression, text) => {
    const error = refusal(expression);
    expect(error.message).toContain(text);
    expect(error.message).toContain("expected ");
    expect(error.details).not.toHaveProperty("field");
  });
});

describe("H", () => {
  it("K1 H is one stable value per name and field, the same on every instance", () => {
    expect(points("H H * * *", 1, "nightly-prune")).toEqual(points("H H * * *", 1, "nightly-prune"));
    // Written down once: a change of the hash would move every schedule in production.
    expect(points("H H * * *", 2, "nightly-prune")).toMatchInlineSnapshot(`
      [
        "2026-01-01T21:31:00",
        "2026-01-02T21:31:00",
      ]
    `);
    expect(points("H(10-19) H(1-5) H H *", 1, "nightly-prune")).toMatchInlineSnapshot(`
      [
        "2026-09-16T02:11:00",
      ]
    `);
  });

  it("K1 H spreads names evenly over its range", () => {
    const counts = new Array<number>(60).fill(0);
    for (let i = 0; i < 3_000; i++) {
      counts[new Date(cronCadence("H * * * *", { seed: `job-${i}` }).next(FROM)!).getUTCMinutes()]!++;
    }
    // 50 each on average, with a standard deviation of 7: five of them do not happen by chance.
    expect(Math.min(...counts)).toBeGreaterThan(15);
    expect(Math.max(...counts)).toBeLessThan(85);
  });

  it("K1 H/15 is every quarter of an hour from a start of its own; ranges and fields are independent", () => {
    const starts = new Set<number>();
    for (let i = 0; i < 200; i++) {
      const minutes = nextPoints(cronCadence("H/15 * * * *", { seed: `job-${i}` }), 4, FROM - 1)
        .map((point) => new Date(point).getUTCMinutes());
      expect(minutes.slice(1)).toEqual([15, 30, 45].map((more) => minutes[0]! + more));
      starts.add(minutes[0]!);
      const date = new Date(cronCadence("H(20-29) H(3-4) H * H", { seed: `job-${i}` }).next(FROM)!);
      expect(date.getUTCMinutes()).toBeGreaterThanOrEqual(20);
      expect(date.getUTCMinutes()).toBeLessThan(30);
      expect([3, 4]).toContain(date.getUTCHours());
      expect(date.getUTCDate()).toBeLessThanOrEqual(31);
    }
    expect([...starts].sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => i));
  });

  it("K1 a bare H among the days never picks one that a month lacks", () => {
    for (let i = 0; i < 100; i++) {
      expect(cronCadence("0 0 H * *", { seed: `job-${i}` }).count(Date.UTC(2025, 11, 31), Date.UTC(2026, 11, 31))).toBe(
        12,
      );
    }
  });

  it("K4 H is no star: a job at H o'clock is fixed-time", () => {
    const cadence = cronCadence("H(30-30) H(2-2) * * *", { timezone: "Europe/Berlin" });
    expect(cadence.next(Date.parse("2026-03-28T12:00Z"))).toBe(Date.parse("2026-03-29T01:00Z"));
  });
});
