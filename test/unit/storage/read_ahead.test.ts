import { expect, it } from "vitest";
import { ReadAhead } from "../../../plugins/storage/sqlite/read_ahead.ts";
import { manualClock } from "../../../src/testing/mod.ts";

const MANY = 100;
const LANES = ["work"];

function setUp(next: () => number | null) {
  const clock = manualClock(0);
  const reads: { at: number; by: number }[] = [];
  const readAhead = new ReadAhead({
    clock,
    earliest: next,
    read: (lanes, by) => {
      expect(lanes).toEqual(LANES);
      reads.push({ at: clock.now(), by });
    },
  });
  return { clock, reads, readAhead };
}

it("what is next is read shortly before it is due, once, after many were moved or written together", async () => {
  let next = 5_000;
  const { clock, reads, readAhead } = setUp(() => next);
  readAhead.moved(MANY, LANES);
  next = 3_000;
  readAhead.wrote(MANY);
  await clock.advance(10_000);
  expect(reads).toEqual([{ at: 2_900, by: 3_000 }]);
});

it("few are not read ahead, nor what is due at once, nor before anybody has asked for what is due", async () => {
  let next: number | null = 5_000;
  const { clock, reads, readAhead } = setUp(() => next);
  readAhead.wrote(MANY);
  readAhead.moved(MANY - 1, LANES);
  next = 50;
  readAhead.wrote(MANY);
  next = null;
  readAhead.wrote(MANY);
  await clock.advance(10_000);
  expect(reads).toEqual([]);
});

it("X1 nothing is read after closing", async () => {
  const { clock, reads, readAhead } = setUp(() => 5_000);
  readAhead.moved(MANY, LANES);
  readAhead.close();
  readAhead.wrote(MANY);
  await clock.advance(10_000);
  expect(reads).toEqual([]);
});

it("M6 a store that fails when it is read ahead is left to whoever needs it", async () => {
  const clock = manualClock(0);
  let asked = 0;
  const fails = () => {
    asked++;
    throw new Error("the disk is gone");
  };
  const readAhead = new ReadAhead({ clock, earliest: () => 5_000, read: fails });
  readAhead.moved(MANY, LANES);
  await clock.advance(10_000);
  expect(asked).toBe(1);
  const asking = new ReadAhead({ clock, earliest: fails, read: fails });
  asking.moved(MANY, LANES);
  expect(asked).toBe(2);
});
