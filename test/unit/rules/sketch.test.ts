import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addDuration, p99 } from "../../../src/machine/sketch.ts";

/** The value that 99 of 100 do not exceed, by counting: the nearest rank. */
function trueP99(durations: readonly number[]): number {
  return durations.toSorted((a, b) => a - b)[Math.ceil(durations.length * 0.99) - 1]!;
}

function sketched(durations: readonly number[]): string {
  let sketch: string | undefined;
  for (const duration of durations) sketch = addDuration(sketch, duration);
  return sketch!;
}

function holds(durations: readonly number[]): void {
  const sketch = sketched(durations);
  expect(new TextEncoder().encode(sketch).length).toBeLessThanOrEqual(1_024);
  const expected = trueP99(durations);
  expect(Math.abs(p99(sketch)! - expected)).toBeLessThanOrEqual(expected * 0.05);
}

const DAY = 86_400_000;
/** Durations as the engine measures them, from the microsecond to a year, each magnitude as likely as any other. */
const anyDuration = fc.double({ min: Math.log(0.001), max: Math.log(365 * DAY), noNaN: true }).map((power) =>
  Math.round(Math.exp(power) * 1_000) / 1_000
);

describe("the sketch of durations", () => {
  it("V2 is within 5 % of the true p99 for whatever durations, in at most 1 KiB", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(anyDuration, fc.constantFrom(0, 0.001, 1, 1.1, 10, 100, 60_000)), {
          minLength: 1,
          maxLength: 3_000,
          size: "max",
        }),
        holds,
      ),
      { numRuns: 40 },
    );
  });

  const cases: Record<string, readonly number[]> = {
    "one run": [12.5],
    "equal durations": Array(1_000).fill(250),
    "runs that take no time at all": Array(100).fill(0),
    "a handler of microseconds": Array.from({ length: 1_000 }, (_, i) => 0.02 + i / 100_000),
    "a step exactly at the rank": [...Array(99).fill(1), 1_000_000],
    "a step just past the rank": [...Array(98).fill(1), 1_000_000, 1_000_000],
    "two far modes": [...Array(980).fill(3), ...Array(20).fill(30 * DAY)],
    "ever longer runs": Array.from({ length: 5_000 }, (_, i) => 1.004 ** i),
    "ever shorter runs": Array.from({ length: 5_000 }, (_, i) => 1.004 ** (5_000 - i)),
    "a p99 in the lowest of all buckets in use": [
      ...Array(40_000).fill(0.05),
      ...Array.from({ length: 300 }, (_, i) => 0.05 + 0.01 * 1.095 ** i),
    ],
    "every magnitude, many times over": Array.from({ length: 20_000 }, (_, i) => 0.001 * 1.09 ** (i % 330)),
    "a heavy tail": Array.from({ length: 50_000 }, (_, i) => Math.min(300 * DAY, 10 / (1 - (i + 0.5) / 50_000) ** 2)),
    "runs of years, and one as long as the calendar": [...Array(50).fill(4_000 * DAY), 253_402_300_799_999],
    "a tail that came first": [...Array.from({ length: 300 }, (_, i) => 1.09 ** i), ...Array(31_000).fill(2)],
  };
  for (const [name, durations] of Object.entries(cases)) {
    it(`V2 is within 5 % of the true p99 for ${name}`, () => holds(durations));
  }

  it("V2 tells nothing where nothing has run", () => {
    expect(p99(undefined)).toBeUndefined();
    expect(p99("")).toBeUndefined();
  });

  it("V2 stays within 1 KiB however many runs there were, and still tells what most of them took", () => {
    let sketch = sketched(Array.from({ length: 400 }, (_, i) => 0.001 * 1.09 ** i));
    // As if each bucket had been filled for years.
    for (let i = 0; i < 400; i++) {
      for (let n = 0; n < 20; n++) sketch = addDuration(sketch, 0.001 * 1.09 ** i);
    }
    expect(sketch.length).toBeLessThanOrEqual(1_024);
    expect(p99(sketch)).toBeGreaterThan(0);
  });
});
