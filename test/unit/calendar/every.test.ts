import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyCadence, nextPoints } from "../../../src/calendar/mod.ts";
import { MAX_DEADLINE } from "../../../src/contract/mod.ts";

describe("every", () => {
  it("T2 B025: points lie at the anchor and every interval after it, in real elapsed time", () => {
    const anchor = Date.parse("2026-03-08T05:00:00Z");
    expect(nextPoints(everyCadence(anchor, 7_200_000), 3, anchor).map((point) => new Date(point).toISOString()))
      .toEqual(["2026-03-08T07:00:00.000Z", "2026-03-08T09:00:00.000Z", "2026-03-08T11:00:00.000Z"]);
  });

  it("T4 has no point before the anchor", () => {
    const cadence = everyCadence(1_000, 10);
    expect(cadence.next(-Infinity)).toBe(1_000);
    expect(cadence.next(999)).toBe(1_000);
    expect(cadence.next(1_000)).toBe(1_010);
    expect(cadence.previous(999)).toBeNull();
    expect(cadence.previous(1_000)).toBe(1_000);
    expect(cadence.previous(1_009)).toBe(1_000);
    expect(cadence.count(0, 999)).toBe(0);
    expect(cadence.count(0, 1_000)).toBe(1);
    expect(cadence.count(1_000, 1_030)).toBe(3);
    expect(cadence.count(1_030, 1_000)).toBe(0);
  });

  it("T6 has no point after the year 9999", () => {
    const cadence = everyCadence(MAX_DEADLINE - 15, 10);
    expect(cadence.next(MAX_DEADLINE - 15)).toBe(MAX_DEADLINE - 5);
    expect(cadence.next(MAX_DEADLINE - 5)).toBeNull();
    expect(cadence.previous(Infinity)).toBe(MAX_DEADLINE - 5);
    expect(cadence.count(0, Infinity)).toBe(2);
    expect(everyCadence(MAX_DEADLINE + 1, 10).next(0)).toBeNull();
    expect(everyCadence(MAX_DEADLINE + 1, 10).previous(Infinity)).toBeNull();
  });

  it("C7 next, previous and count agree with one another over the whole calendar", () => {
    const instant = fc.integer({ min: -MAX_DEADLINE, max: MAX_DEADLINE });
    fc.assert(
      fc.property(
        instant,
        fc.integer({ min: 1, max: 10 ** 12 }),
        instant,
        fc.nat(10 ** 9),
        (anchor, interval, at, width) => {
          const cadence = everyCadence(anchor, interval);
          const [next, previous] = [cadence.next(at), cadence.previous(at)];
          if (next !== null) {
            expect(next).toBeGreaterThan(at);
            expect((next - anchor) % interval).toBe(0);
            expect(cadence.previous(next)).toBe(next);
            expect(cadence.count(at, next)).toBe(1);
            expect(next === anchor || next - at <= interval).toBe(true);
          }
          if (previous !== null) {
            expect(previous).toBeLessThanOrEqual(at);
            expect(cadence.next(previous - 1)).toBe(previous);
          }
          const last = cadence.previous(at + width);
          const expected = last === null || last <= at || next === null ? 0 : (last - next) / interval + 1;
          expect(cadence.count(at, at + width)).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([[0.5, 10], [NaN, 10], [Infinity, 10]])("T2 refuses the anchor %d", (anchor, interval) => {
    expect(() => everyCadence(anchor, interval)).toThrowError(expect.objectContaining({ code: "invalid_time" }));
  });

  it.each([0, -1, 1.5, NaN, Infinity, "10"])("T2 refuses the interval %s", (interval) => {
    expect(() => everyCadence(0, interval as number)).toThrowError(
      expect.objectContaining({ code: "invalid_duration" }),
    );
  });
});

describe("nextPoints", () => {
  it("K6 gives at most the count, strictly after the start and up to the end, and walks no further", () => {
    const asked: number[] = [];
    const cadence = everyCadence(0, 10);
    const watched = { ...cadence, next: (after: number) => (asked.push(after), cadence.next(after)) };
    expect(nextPoints(watched, 3, 10)).toEqual([20, 30, 40]);
    expect(asked).toEqual([10, 20, 30]);
    expect(nextPoints(cadence, 100, 10, 30)).toEqual([20, 30]);
    expect(nextPoints(cadence, 0, 10)).toEqual([]);
    expect(nextPoints(cadence, 5, MAX_DEADLINE)).toEqual([]);
  });
});
