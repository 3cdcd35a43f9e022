import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cadence, cronCadence, nextPoints } from "../../../src/calendar/mod.ts";
import { isSchedulerError } from "../../../src/contract/mod.ts";
import { expressions, policies, secondExpressions } from "./arbitraries.ts";
import { clockChanges, type Dst, points, walk } from "./oracle.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const ZONES = Intl.supportedValuesOf("timeZone");
const PER_WINDOW = 20;
/** Triples of expression, zone and instant: raise it to search longer. */
const TRIPLES = Number(process.env.CALENDAR_TRIPLES ?? 2_000);
const seed = process.env.CALENDAR_SEED === undefined ? {} : { seed: Number(process.env.CALENDAR_SEED) };

function cadenceOf(expression: string, timezone: string, dst: Dst): Cadence | undefined {
  try {
    return cronCadence(expression, { timezone, dst });
  } catch (error) {
    if (isSchedulerError(error, "invalid_cron") && error.message.includes("never comes")) return undefined;
    throw error;
  }
}

/** Vitest compares long lists slowly, so it is only asked to show a difference. */
function expectSame(got: readonly number[], expected: readonly number[]): void {
  if (got.length !== expected.length || got.some((point, i) => point !== expected[i])) expect(got).toEqual(expected);
}

/** Holds every question that a cadence answers against a list of all points of a stretch of time. */
function holdAgainst(cadence: Cadence, all: readonly number[], from: number, to: number): void {
  const expected = all.filter((point) => point > from && point <= to);
  expectSame(nextPoints(cadence, Infinity, from, to), expected);
  expect(cadence.count(from, to)).toBe(expected.length);
  const backwards: number[] = [];
  for (let at = cadence.previous(to); at !== null && at > from; at = cadence.previous(at - 1)) backwards.push(at);
  expectSame(backwards.reverse(), expected);
  for (let i = 0; i < expected.length; i += 1 + Math.floor(expected.length / 20)) {
    const [before, point] = [expected[i - 1] ?? from, expected[i]!];
    const between = before + Math.floor((point - before) / 3);
    expect(cadence.next(between)).toBe(point);
    expect(cadence.previous(point + 1)).toBe(point);
    expect(cadence.count(between, point) + cadence.count(point, to)).toBe(expected.length - i);
  }
}

/** A change of a zone's clocks in a year, or just some instant if there is none. */
function instantOfInterest(zone: string, year: number, pick: number): number {
  const changes = clockChanges(zone, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1));
  return changes[pick % (changes.length || 1)] ?? Date.UTC(year, pick % 12, 1 + pick % 28);
}

const place = (firstYear: number) =>
  fc.tuple(fc.constantFrom(...ZONES), fc.integer({ min: firstYear, max: 2099 }), fc.nat(1_000));

function jobs(expression: fc.Arbitrary<string>, reach: number, count: number) {
  const job = fc.tuple(expression, policies, fc.integer({ min: -reach, max: reach }));
  return fc.array(job, { minLength: count, maxLength: count });
}

describe("cron against a walk through every minute", () => {
  it("K1 K2 K4 K5 gives every point around the clock changes of all zones", { timeout: 900_000 }, () => {
    const runs = fc.property(place(1970), jobs(expressions, 1_440, PER_WINDOW), ([zone, year, pick], list) => {
      const change = instantOfInterest(zone, year, pick);
      const steps = walk(zone, change - 3 * DAY, change + 2 * DAY, 60_000);
      // Clocks that are off by seconds (Monrovia until 1972) show no whole minute in it: the next test has them.
      if (change % 60_000 !== 0 || steps.walls[0]! % 60_000 !== 0) return;
      for (const [expression, dst, minutes] of list) {
        const cadence = cadenceOf(expression, zone, dst);
        const all = points(steps, expression, dst);
        if (cadence === undefined) expect(all).toEqual([]);
        else holdAgainst(cadence, all, change + minutes * 60_000, change + 2 * DAY - 60_000);
      }
    });
    fc.assert(runs, { numRuns: TRIPLES / PER_WINDOW, ...seed });
  });

  it(
    "K1 K4 gives every point with a seconds field, and with offsets of odd seconds before 1972",
    { timeout: 900_000 },
    () => {
      const runs = fc.property(place(1900), jobs(secondExpressions, 3_600, 5), ([zone, year, pick], list) => {
        const change = instantOfInterest(zone, year, pick);
        const steps = walk(zone, change - 5 * HOUR, change + 4 * HOUR, 1_000);
        for (const [expression, dst, seconds] of list) {
          const cadence = cadenceOf(expression, zone, dst);
          if (cadence === undefined) continue;
          holdAgainst(cadence, points(steps, expression, dst), change + seconds * 1_000, change + 4 * HOUR - 1_000);
        }
      });
      fc.assert(runs, { numRuns: TRIPLES / 50, ...seed });
    },
  );

  it("K4 with a star for the hour the points are evenly spaced in real time, whatever the clocks do", {
    timeout: 900_000,
  }, () => {
    const runs = fc.property(place(1980), fc.constantFrom(1, 2, 3, 5, 10, 15), ([zone, year, pick], minutes) => {
      const change = instantOfInterest(zone, year, pick);
      const cadence = cronCadence(`*/${minutes} * * * *`, { timezone: zone });
      const all = nextPoints(cadence, Infinity, change - DAY, change + DAY);
      // Every change since 1980 is by whole quarters of an hour, so no local minute divisible by these goes missing.
      expect(new Set(all.slice(1).map((point, i) => point - all[i]!))).toEqual(new Set([minutes * 60_000]));
    });
    fc.assert(runs, { numRuns: TRIPLES / 20, ...seed });
  });
});
