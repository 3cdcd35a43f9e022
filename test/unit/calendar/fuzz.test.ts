import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cadence, cronCadence, nextPoints } from "../../../src/calendar/mod.ts";
import { isSchedulerError } from "../../../src/contract/mod.ts";
import { expressions, policies, secondExpressions } from "./arbitraries.ts";
import { clockChanges, type Dst, points, walk } from "./oracle.ts";

const DAY = 86_400_000;
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

/** Holds every question that a cadence answers against a list of all points of a stretch of time. */
function holdAgainst(cadence: Cadence, all: readonly number[], from: number, to: number): void {
  const expected = all.filter((point) => point > from && point <= to);
  expect(nextPoints(cadence, Infinity, from, to)).toEqual(expected);
  expect(cadence.count(from, to)).toBe(expected.length);
  const backwards: number[] = [];
  for (let at = cadence.previous(to); at !== null && at > from; at = cadence.previous(at - 1)) backwards.unshift(at);
  expect(backwards).toEqual(expected);
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

describe("cron against a walk through every minute", () => {
  it(
    "K1 K2 K4 K5 gives the points of a minute-by-minute walk around clock changes of all zones",
    { timeout: 600_000 },
    () => {
      const jobs = fc.array(fc.tuple(expressions, policies, fc.integer({ min: -1_440, max: 1_440 })), {
        minLength: PER_WINDOW,
        maxLength: PER_WINDOW,
      });
      fc.assert(
        fc.property(place(1970), jobs, ([zone, year, pick], list) => {
          const change = instantOfInterest(zone, year, pick);
          if (change % 60_000 !== 0) return; // a clock that is off by seconds: see the walk through every second
          const steps = walk(zone, change - 3 * DAY, change + 2 * DAY, 60_000);
          for (const [expression, dst, minutes] of list) {
            const cadence = cadenceOf(expression, zone, dst);
            if (cadence === undefined) expect(points(steps, expression, dst)).toEqual([]);
            else {holdAgainst(
                cadence,
                points(steps, expression, dst),
                change + minutes * 60_000,
                change + 2 * DAY - 60_000,
              );}
          }
        }),
        { numRuns: TRIPLES / PER_WINDOW, ...seed },
      );
    },
  );

  it(
    "K1 K4 gives the points of a second-by-second walk with a seconds field, and with offsets of odd seconds before 1972",
    { timeout: 600_000 },
    () => {
      const jobs = fc.array(fc.tuple(secondExpressions, policies, fc.integer({ min: -3_600, max: 3_600 })), {
        minLength: 5,
        maxLength: 5,
      });
      fc.assert(
        fc.property(place(1900), jobs, ([zone, year, pick], list) => {
          const change = instantOfInterest(zone, year, pick);
          const steps = walk(zone, change - 5 * 3_600_000, change + 4 * 3_600_000, 1_000);
          for (const [expression, dst, seconds] of list) {
            const cadence = cadenceOf(expression, zone, dst);
            if (cadence === undefined) continue;
            holdAgainst(
              cadence,
              points(steps, expression, dst),
              change + seconds * 1_000,
              change + 4 * 3_600_000 - 1_000,
            );
          }
        }),
        { numRuns: TRIPLES / 50, ...seed },
      );
    },
  );
});
