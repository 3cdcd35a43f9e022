import { describe, expect, it } from "vitest";
import { judge, type Sample, slope } from "./figures.ts";

const MIB = 1024 * 1024;

/** Forty samples of a steady run, with a noise that repeats, and what a test changes in them. */
function samples(change: (n: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: 40 }, (_, n) => ({
    heapBytes: 20 * MIB + (n * 7_919 % 13) * 50_000,
    handles: 30 + n % 2,
    fileBytes: 4 * MIB + (n * 31 % 5) * 100_000,
    latenessMs: 5 + n * 17 % 11,
    live: 70 + n * 13 % 9,
    runs: 100,
    ...change(n),
  }));
}

const grown = (all: readonly Sample[]) => judge(all).filter(({ grew }) => grew).map(({ name }) => name);

describe("what the soak calls growth", () => {
  it("calls noise none, nor a few samples that are far off", () => {
    expect(grown(samples())).toEqual([]);
    const spikes = (n: number) => n % 9 === 8 ? { heapBytes: 90 * MIB, latenessMs: 4_000, fileBytes: 50 * MIB } : {};
    expect(grown(samples(spikes))).toEqual([]);
  });

  it.each(
    [
      ["heap", (n: number) => ({ heapBytes: 20 * MIB + n * 200_000 })],
      ["handles", (n: number) => ({ handles: 30 + Math.floor(n / 8) })],
      ["file", (n: number) => ({ fileBytes: 4 * MIB + n * 100_000 })],
      ["lateness", (n: number) => ({ latenessMs: 5 + n * 60 })],
      ["live", (n: number) => ({ live: 70 + n * 2 })],
    ] as const,
  )("sees that %s grows", (name, change) => {
    expect(grown(samples(change))).toEqual([name]);
  });

  it("draws its slope through the middle of all pairs", () => {
    expect(slope([1, 2, 3, 4, 5])).toBe(1);
    expect(slope([1, 2, 300, 4, 5])).toBe(1);
    expect(slope([])).toBe(0);
  });
});
