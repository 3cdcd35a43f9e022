import { describe, expect, it } from "vitest";
import { MAX_WAITING } from "../../../src/contract/mod.ts";
import { cron, every, LEASE, Played, starts, T0 } from "./played.ts";

const S = 1_000;
const at = (seconds: number) => T0 + seconds * S;

describe("catchup", () => {
  /** Points 1 to 4 s pass with nothing running; it is looked at after 4.4 s, within the grace of the last, or 4.6 s. */
  it.each([
    [
      "C1 once, newest within half a gap: it is ordinary, the others are missed and folded into it",
      "once",
      4.5,
      [4],
      3,
      3,
    ],
    ["C1 once, newest beyond half a gap: it stands for all", "once", 4.501, [4], 3, 3],
    ["C1 skip, newest within half a gap: it is ordinary and runs", "skip", 4.5, [4], 3, 0],
    ["C1 skip, newest beyond half a gap: none runs", "skip", 4.501, [], 4, 0],
    ["C1 all, newest within half a gap: all run", "all", 4.5, [1, 2, 3, 4], 0, 0],
    ["C1 all, newest beyond half a gap: all run", "all", 4.501, [1, 2, 3, 4], 0, 0],
    [
      "C4 all keeps the newest two missed ones, besides the one within the grace",
      { policy: "all", limit: 2 },
      4.5,
      [2, 3, 4],
      1,
      0,
    ],
    ["C4 all keeps the newest two missed ones", { policy: "all", limit: 2 }, 4.501, [3, 4], 2, 0],
    ["C4 all drops what is older than its window", { policy: "all", window: 2_000 }, 4.501, [3, 4], 2, 0],
    ["C4 all keeps what is exactly as old as its window", { policy: "all", window: 2_501 }, 4.501, [2, 3, 4], 1, 0],
    ["C4 all with a window shorter than the newest is late runs none", { policy: "all", window: 500 }, 4.501, [], 4, 0],
    ["C4 all with window and limit takes the narrower", { policy: "all", window: 3_000, limit: 1 }, 4.501, [4], 3, 0],
    [
      "C1 a grace longer than the gap lets each point within it run, one after another",
      { policy: "once", grace: 2_400 },
      4.4,
      [2, 3, 4],
      1,
      1,
    ],
    ["C1 so it does under skip", { policy: "skip", grace: 2_400 }, 4.4, [2, 3, 4], 1, 0],
    [
      "C1 and so under all, where those before it are owed too",
      { policy: "all", grace: 2_400, limit: 1 },
      4.4,
      [1, 2, 3, 4],
      0,
      0,
    ],
    [
      "C1 a grace longer than the delay leaves nothing missed",
      { policy: "skip", grace: 10_000 },
      4.4,
      [1, 2, 3, 4],
      0,
      0,
    ],
    ["C1 a point exactly as late as its grace is ordinary", { policy: "skip", grace: 400 }, 4.4, [4], 3, 0],
    ["C1 a point one millisecond later is missed", { policy: "skip", grace: 399 }, 4.4, [], 4, 0],
    ["C1 a grace of 0 takes nothing late", { policy: "skip", grace: 0 }, 4.001, [], 4, 0],
    ["C1 a grace of 0 takes what is on time", { policy: "skip", grace: 0 }, 4, [4], 3, 0],
  ])("%s", (_title, catchup, looked, ran, missed, folded) => {
    const played = new Played({ options: { catchup } });
    played.due(at(looked));
    if (ran.length > 0) expect(starts(played.effects)[0]!.missed).toBe(folded);
    // One after another: nothing starts beside another.
    for (const _ of ran) {
      expect(played.progress.runs).toHaveLength(1);
      played.settle(at(looked));
    }
    expect(played.started()).toEqual(ran);
    expect(played.progress.missedCount).toBe(missed);
    expect(played.told("missed")).toBe(missed);
    expect(played.progress.overlapCount).toBe(0);
    expect(played.progress.runs).toEqual([]);
    expect(played.progress.next).toEqual({ point: at(5), at: at(5) });
    expect(played.progress.firings).toBe(ran.length);
  });

  it("C1 the default grace is half the gap to the next point, never more than 60 s", () => {
    const hourly = { spec: every(3_600_000), options: { catchup: "skip" } };
    expect(new Played(hourly).due(at(3_660))).toEqual([at(3_600)]);
    expect(new Played(hourly).due(at(3_660) + 1)).toEqual([]);
    // Two points a minute apart, then a day: half a minute for the one, a minute for the other.
    const uneven = { spec: cron("0,1 1 * * *"), options: { catchup: "skip" } };
    expect(new Played(uneven).due(at(3_630))).toEqual([at(3_600)]);
    expect(new Played(uneven).due(at(3_630) + 1)).toEqual([]);
    const second = new Played(uneven);
    expect(second.due(at(3_720))).toEqual([at(3_660)]);
    expect(second.progress.missedCount).toBe(1);
  });

  it("C1 the last point before an endAt is missed as soon as any other: the bound leaves the gap as it is", () => {
    const bounded = { spec: every(1_000, { endAt: at(3) }), options: { catchup: "skip" } };
    expect(new Played(bounded).due(at(3.5))).toEqual([at(3)]);
    expect(new Played(bounded).due(at(3.5) + 1)).toEqual([]);
    const daily = { spec: cron("0,1 1 * * *", { endAt: at(3_600) }), options: { catchup: "skip" } };
    expect(new Played(daily).due(at(3_630))).toEqual([at(3_600)]);
    expect(new Played(daily).due(at(3_630) + 1)).toEqual([]);
  });

  it("C1 T6 the last point before the end of the calendar has no gap after it, so its grace is 60 s", () => {
    const startAt = Date.UTC(9999, 11, 31, 23, 58);
    const last = { spec: every(1_000, { startAt, endAt: startAt }), options: { catchup: "skip" } };
    expect(new Played(last, startAt).due(startAt + 501)).toEqual([]);
    const final = { spec: every(110_000, { startAt }), options: { catchup: "skip" } };
    expect(new Played(final, startAt).due(startAt + 110_000)).toEqual([startAt + 110_000]);
    expect(new Played(final, startAt + 1).due(startAt + 119_999)).toEqual([startAt + 110_000]);
  });

  it("C4 points that pass while the line is held up by a close follow it, oldest first", () => {
    const played = new Played({ options: { catchup: "all" } });
    expect(played.due(at(3.9))).toEqual([at(1)]);
    played.settle(at(3.95), { closing: true });
    expect(played.progress.runs).toEqual([]);
    // Back within the grace of the fourth point.
    expect(played.due(at(4.2))).toEqual([at(2)]);
    expect(played.settle(at(4.2))).toEqual([at(3)]);
    expect(played.settle(at(4.2))).toEqual([at(4)]);
    expect(played.settle(at(4.2))).toEqual([]);
  });

  it("C4 what is lined up goes on beside concurrent runs, still one after another", () => {
    const played = new Played({ options: { catchup: "all", overlap: "concurrent" } });
    expect(played.due(at(3.9))).toEqual([at(1)]);
    const lined = played.progress.runs[0]!.fence;
    // A point that is on time starts beside it; the line waits for its own run only.
    expect(played.due(at(4))).toEqual([at(4)]);
    expect(played.settle(at(4.1), { fence: lined })).toEqual([at(2)]);
    expect(played.progress.runs.map(({ point }) => point)).toEqual([at(4), at(2)]);
  });

  it("C4 the run that stands first in the line keeps maxRuns and endAt", () => {
    const played = new Played({ spec: every(1_000, { maxRuns: 2 }), options: { catchup: "all" } });
    played.due(at(4.6));
    played.settle(at(4.6));
    played.settle(at(4.7));
    expect(played.started()).toEqual([1, 2]);
    expect(played.progress.retired?.reason).toBe("ended");
  });

  it("C5 T9 down over the end of a cadence: one run stands for its last point, then it has ended", () => {
    const played = new Played({ spec: every(1_000, { endAt: at(3) }) });
    expect(played.due(at(86_400))).toEqual([at(3)]);
    expect(starts(played.effects)[0]!.missed).toBe(2);
    played.settle(at(86_400));
    expect(played.progress.retired?.reason).toBe("ended");
  });

  it("C3 T9 under skip nothing is left to run, so it ends in the same step", () => {
    const played = new Played({ spec: every(1_000, { endAt: at(3) }), options: { catchup: "skip" } });
    expect(played.due(at(86_400))).toEqual([]);
    expect(played.progress.missedCount).toBe(3);
    expect(played.progress.retired?.reason).toBe("ended");
  });
});

describe("jitter and catchup", () => {
  it("J3 C2 a stable offset is no reason to run points that are overdue one by one", () => {
    const played = new Played({ options: { jitter: { spread: 600_000 } } });
    const offset = played.progress.next!.at - at(1);
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThan(600_000);
    const now = at(86_400) + offset + 700;
    expect(played.due(now)).toEqual([at(86_400)]);
    expect(played.progress.missedCount).toBe(86_399);
    played.settle(now);
    expect(played.progress.next).toEqual({ point: at(86_401), at: at(86_401) + offset });
  });

  it("J2 a point whose latest deadline is within the grace is ordinary, also under skip", () => {
    const spec = every(3_600_000);
    const settings = { spec, options: { catchup: "skip", jitter: 300_000 } };
    // The second point's deadline is 7,500 s at the latest; half a minute later it is late, not missed.
    expect(new Played(settings).due(at(7_500 + 60))).toEqual([at(7_200)]);
    expect(new Played(settings).due(at(7_500 + 60) + 1)).toEqual([]);
  });

  it("J2 a jitter longer than the interval skips nothing and fires nothing twice", () => {
    const random = [0.9, 0.1, 0.99, 0.4, 0, 0.7];
    const played = new Played({ options: { jitter: 3_500 }, random });
    while (played.progress.next!.point <= at(50)) {
      played.due(played.progress.wakeAt!);
      played.settle();
    }
    expect(played.started()).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(played.progress).toMatchObject({ missedCount: 0, overlapCount: 0 });
  });
});

describe("overlap", () => {
  it("O1 skip: every 1 s, running 2.5 s: the points at 1 and 2 s are dropped, the next run is at 3 s", () => {
    const played = new Played({ spec: every(1_000, { startAt: T0 }) });
    expect(played.due(T0)).toEqual([T0]);
    expect(played.due(at(1))).toEqual([]);
    expect(played.due(at(2))).toEqual([]);
    expect(played.settle(at(2.5))).toEqual([]);
    expect(played.progress.overlapCount).toBe(2);
    expect(played.due(at(3))).toEqual([at(3)]);
  });

  it("O1 points that nobody looked at while the run lasted are overlapped when it ends", () => {
    const played = new Played({ spec: every(1_000, { startAt: T0 }) });
    played.due(T0);
    expect(played.settle(at(2.5))).toEqual([]);
    expect(played.progress).toMatchObject({ overlapCount: 2, missedCount: 0 });
  });

  it("O1 a run that ends at the instant of a point leaves that point alone", () => {
    const played = new Played({ spec: every(1_000, { startAt: T0 }) });
    played.due(T0);
    expect(played.settle(at(1))).toEqual([at(1)]);
    expect(played.progress.overlapCount).toBe(0);
  });

  it("C6 what passed between a run's end and its late settlement is catchup's", () => {
    const played = new Played({ spec: every(1_000, { startAt: T0 }) });
    played.due(T0);
    expect(played.settle(at(6.7), { endedAt: at(2.5) })).toEqual([at(6)]);
    expect(played.progress).toMatchObject({ overlapCount: 2, missedCount: 3 });
  });

  it("O2 queue with a limit keeps the oldest and counts the rest", () => {
    const played = new Played({ options: { overlap: { policy: "queue", limit: 3 } } });
    played.due(at(1));
    for (let second = 2; second <= 8; second++) expect(played.due(at(second))).toEqual([]);
    expect(played.progress.waiting.map(({ point }) => point)).toEqual([at(2), at(3), at(4)]);
    expect(played.progress.overlapCount).toBe(4);
    for (const _ of [0, 1, 2, 3]) played.settle(at(8.5));
    expect(played.started()).toEqual([1, 2, 3, 4]);
  });

  it("O2 queue: a point that comes as the run ends takes the place of the one that starts", () => {
    const played = new Played({ options: { overlap: "queue" } });
    played.due(at(1));
    played.due(at(2));
    expect(played.settle(at(3))).toEqual([at(2)]);
    expect(played.progress.waiting.map(({ point }) => point)).toEqual([at(3)]);
    expect(played.due(at(4))).toEqual([]);
    expect(played.progress.waiting.map(({ point }) => point)).toEqual([at(3)]);
    expect(played.progress.overlapCount).toBe(1);
  });

  it("O3 concurrent: the third of two counts as overlapped", () => {
    const played = new Played({ options: { overlap: { policy: "concurrent", limit: 2 } } });
    for (let second = 1; second <= 4; second++) played.due(at(second));
    expect(played.started()).toEqual([1, 2]);
    expect(played.progress.overlapCount).toBe(2);
    played.settle(at(4.5));
    expect(played.due(at(5))).toEqual([at(5)]);
  });

  it("O4 replace: the newest of many waits for the run to end, whatever their number", () => {
    const played = new Played({ options: { overlap: "replace" } });
    played.due(at(1));
    played.held.add(1);
    const late = at(1 + MAX_WAITING * 2);
    expect(played.due(late)).toEqual([]);
    expect(played.effects.filter(({ type }) => type === "abort")).toHaveLength(1);
    expect(played.progress.waiting.map(({ point }) => point)).toEqual([late]);
    // The run itself, and every point but the first and the newest.
    expect(played.progress.overlapCount).toBe(1 + MAX_WAITING * 2 - 1);
    expect(played.settle(late + 10, { outcome: "replaced" })).toEqual([late]);
    expect(played.progress).toMatchObject({ faultCount: 0, consecutiveFaults: 0 });
  });

  it("O4 replace: each further point takes the place of the one that waits, and counts it", () => {
    const played = new Played({ options: { overlap: "replace" } });
    for (let second = 1; second <= 4; second++) played.due(at(second));
    expect(played.progress.waiting.map(({ point }) => point)).toEqual([at(4)]);
    // The run of 1 s, and the points of 2 and 3 s that never ran.
    expect(played.progress.overlapCount).toBe(3);
    expect(played.told("overlapped")).toBe(3);
    expect(played.settle(at(4.5), { outcome: "replaced" })).toEqual([at(4)]);
  });

  it.each(
    [
      ["O1 skip", "skip", 4, 5],
      ["O2 queue", "queue", 3, 5],
      ["O3 concurrent", { policy: "concurrent", limit: 1 }, 4, 5],
      ["O4 replace", "replace", 3, 4],
    ] as const,
  )("V1 %s: of many points that a run has kept from starting the newest that was dropped is told", (...given) => {
    const [_title, overlap, count, newest] = given;
    const played = new Played({ options: { overlap } });
    played.due(at(1));
    played.held.add(1);
    // Nobody looks before 5 s: the process stood still.
    played.due(at(5));
    const told = played.progress.decisions.findLast(([what]) => what === "overlapped");
    expect(told).toEqual(["overlapped", at(5), count, at(newest)]);
    const event = played.effects.findLast(({ type }) => type === "overlapped");
    expect(event).toMatchObject({ count, point: at(newest) });
  });

  it("V1 O4 replace: the point that gave way while it waited is told before the newer ones that never came to wait", () => {
    const played = new Played({ options: { overlap: "replace" } });
    played.due(at(1));
    played.held.add(1);
    played.due(at(2));
    played.due(at(5));
    expect(played.progress.waiting.map(({ point }) => point)).toEqual([at(5)]);
    expect(played.progress.decisions.at(-1)).toEqual(["overlapped", at(5), 3, at(4)]);
  });

  it("O5 a run held by a live lease counts as executing, and until its lease ended also once it is lost", () => {
    const played = new Played();
    played.due(at(1), "b");
    expect(played.due(at(2), "a")).toEqual([]);
    expect(played.progress.overlapCount).toBe(1);
    // The lease ends at 31 s; nobody looks before 33.7 s. 3 to 30 s overlapped, 31 to 33 s missed.
    expect(played.due(at(33.7), "a")).toEqual([at(1)]);
    expect(played.settle(at(33.7))).toEqual([at(33)]);
    expect(played.progress).toMatchObject({ overlapCount: 29, missedCount: 2, faultCount: 1 });
    expect(LEASE).toBe(30_000);
  });

  it("T1 a one-shot's deadline that comes during a triggered run waits for its end", () => {
    const played = new Played({ spec: { kind: "at", at: at(10) } });
    played.step({ type: "triggered" }, at(9));
    expect(played.due(at(9))).toEqual([at(9)]);
    expect(played.due(at(10))).toEqual([]);
    expect(played.settle(at(12))).toEqual([at(10)]);
    played.settle(at(13));
    expect(played.progress.retired?.reason).toBe("completed");
    expect(played.progress.overlapCount).toBe(0);
  });
});
