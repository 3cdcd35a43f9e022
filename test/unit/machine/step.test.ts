import { describe, expect, it } from "vitest";
import { MAX_DEADLINE, type Policy, RESTING_PROGRESS } from "../../../src/contract/mod.ts";
import { cron, every, ID, LEASE, Played, T0 } from "./played.ts";

const S = 1_000;
const at = (seconds: number) => T0 + seconds * S;

describe("arming", () => {
  it("T3 the next point is armed in the very step that starts a run", () => {
    const played = new Played();
    expect(played.progress.next).toEqual({ point: at(1), at: at(1) });
    expect(played.due(at(1))).toEqual([at(1)]);
    expect(played.progress.next).toEqual({ point: at(2), at: at(2) });
    expect(played.progress.wakeAt).toBe(at(2));
  });

  it("T1 nothing starts a millisecond before its deadline, and everything at it", () => {
    const played = new Played();
    expect(played.due(at(1) - 1)).toEqual([]);
    expect(played.result.document).toBe(played.document);
    expect(played.due(at(1))).toEqual([at(1)]);
  });

  it.each([
    ["T6 a cadence that passes the year 9999 retires as a fault", {}, "deadline_out_of_range", 1],
    ["T6 also where maxRuns would have allowed more runs", { maxRuns: 5 }, "deadline_out_of_range", 1],
    ["T9 one whose endAt is the last instant has simply ended", { endAt: MAX_DEADLINE }, "ended", 0],
    ["T9 one whose last run this was has simply ended", { maxRuns: 1 }, "ended", 0],
  ])("%s", (_title, bounds, reason, faults) => {
    const start = MAX_DEADLINE - 1_500;
    const played = new Played({ spec: { ...every(1_000, bounds), anchor: start } as never }, start);
    expect(played.due(start + 1_000)).toEqual([start + 1_000]);
    expect(played.progress.next).toBeNull();
    expect(played.progress.retired).toBeUndefined();
    played.settle(start + 1_100);
    expect(played.progress.retired).toEqual({ at: start + 1_100, reason });
    expect(played.progress.faultCount).toBe(faults);
  });

  it.each([
    ["A3 J2 a point that jitter fired early is not fired again after an again", (played: Played) => {
      expect(played.due(at(57))).toEqual([at(60)]);
      played.settle(at(57.5), { againMs: 1_000 });
      expect(played.due(at(58.5))).toEqual([at(58.5)]);
      expect(played.progress.next!.point).toBe(at(120));
    }],
    [
      "J2 a point that jitter fired early is not fired again when a later endAt lets the cadence go on",
      (played: Played) => {
        played.update({ spec: every(60_000, { endAt: at(60) }) });
        expect(played.due(at(57))).toEqual([at(60)]);
        expect(played.progress.next).toBeNull();
        played.update({ spec: every(60_000, { endAt: at(600) }) }, at(58));
        expect(played.progress.next!.point).toBe(at(120));
      },
    ],
    ["T8 A3 no point is fired again when the clock has stepped back and the run asks for another", (played: Played) => {
      expect(played.due(at(60))).toEqual([at(60)]);
      played.settle(at(-3_600), { againMs: 1_000 });
      expect(played.due(at(-3_599))).toEqual([at(-3_599)]);
      expect(played.progress.next!.point).toBe(at(120));
    }],
    ["T8 L5 no point is fired again when the clock has stepped back under a pause", (played: Played) => {
      expect(played.due(at(60))).toEqual([at(60)]);
      played.settle(at(60));
      played.step({ type: "paused" }, at(121));
      played.step({ type: "resumed" }, at(-3_600));
      expect(played.progress.next!.point).toBeGreaterThan(at(120));
    }],
  ])("%s", (_title, play) => {
    play(new Played({ spec: every(60_000), options: { jitter: 3_000 }, definition: { adaptive: true }, random: [0] }));
  });

  it("J1 a deadline is drawn anew for each point and never lies earlier than a tick from now", () => {
    const played = new Played({ options: { jitter: 400 }, random: [0, 0.999999, 0, 0.25] });
    expect(played.progress.next).toEqual({ point: at(1), at: at(0.6) });
    played.due(at(0.6));
    // In [-400, +400], both included.
    expect(played.progress.next).toEqual({ point: at(2), at: at(2.4) });
    played.settle(at(0.6));
    played.due(at(2.4));
    expect(played.progress.next).toEqual({ point: at(3), at: at(2.8) });

    const late = new Played({ options: { jitter: 5_000 }, random: [0] });
    expect(late.progress.next).toEqual({ point: at(1), at: T0 + 10 });
  });
});

describe("leases", () => {
  it("T8 a run that the instance itself still executes is kept, whatever the clock says of its lease", () => {
    const played = new Played({ spec: every(86_400_000, { startAt: T0 }) });
    played.due(T0);
    played.held.add(1);
    expect(played.due(at(3_600))).toEqual([]);
    expect(played.progress.runs).toMatchObject([{ fence: 1, leaseUntil: at(3_600) + LEASE }]);
    expect(played.progress).toMatchObject({ wakeAt: at(3_600) + LEASE, faultCount: 0 });
  });

  it("T8 M3 a lease that ends without a jump is over at its very end, and not before", () => {
    const played = new Played({ spec: every(86_400_000, { startAt: T0 }) });
    played.due(T0);
    expect(played.due(T0 + LEASE - 1, "b")).toEqual([]);
    expect(played.due(T0 + LEASE, "b")).toEqual([T0]);
    expect(played.progress.runs).toMatchObject([{ fence: 2, attempt: 2, instance: "b", losses: 1 }]);
  });
});

describe("updates", () => {
  it("L5 a one-shot that waits for a retry and is given a new time runs at that time only", () => {
    const played = new Played({ spec: { kind: "at", at: at(1) }, options: { retry: { limit: 3, delay: 60_000 } } });
    played.due(at(1));
    played.settle(at(2), { outcome: "faulted" });
    expect(played.progress.waiting).toHaveLength(1);
    played.update({ spec: { kind: "at", at: at(600) } }, at(3));
    expect(played.progress.waiting).toEqual([]);
    expect(played.due(at(600))).toEqual([at(600)]);
    played.settle(at(601));
    expect(played.progress.retired?.reason).toBe("completed");
  });

  it("L5 a recurring schedule's retry goes on beside a new interval", () => {
    const played = new Played({ spec: every(60_000), options: { retry: { limit: 1, delay: 5_000 } } });
    played.due(at(60));
    played.settle(at(61), { outcome: "faulted" });
    played.update({ spec: every(10_000) }, at(62));
    expect(played.due(at(66))).toEqual([at(60)]);
    expect(played.progress.runs[0]!.attempt).toBe(2);
    expect(played.progress.next!.point).toBe(at(72));
  });

  it("L5 C4 a new interval forgets what catchup still owes of the old one, and counts it as missed", () => {
    const played = new Played({ options: { catchup: "all" } });
    played.due(at(10));
    expect(played.progress.backlog).toEqual([{ next: at(2), last: at(10) }]);
    played.update({ spec: every(60_000) }, at(10));
    expect(played.progress.backlog).toBeUndefined();
    expect(played.progress).toMatchObject({ missedCount: 9, overlapCount: 0 });
    expect(played.told("missed")).toBe(9);
    expect(played.settle(at(11))).toEqual([]);
    expect(played.progress.next).toEqual({ point: at(70), at: at(70) });
  });

  it("L5 O2 a new interval forgets what is queued, and counts it as overlapped", () => {
    const played = new Played({ options: { overlap: { policy: "queue", limit: 3 } } });
    for (let second = 1; second <= 3; second++) played.due(at(second));
    played.step({ type: "triggered" }, at(3.5));
    played.update({ spec: every(60_000) }, at(3.6));
    expect(played.progress).toMatchObject({ missedCount: 0, overlapCount: 2 });
    expect(played.told("overlapped")).toBe(2);
    expect(played.progress.waiting).toMatchObject([{ cause: "triggered" }]);
  });

  it.each([
    ["L5 C3 what has passed unseen with nothing running is missed", 0, { missedCount: 4, overlapCount: 0 }],
    ["L5 C6 what has passed unseen during a run is overlapped", 1, { missedCount: 0, overlapCount: 3 }],
  ])("%s when a new interval is given", (_title, runs, counters) => {
    const played = new Played();
    if (runs > 0) played.due(at(1));
    played.update({ spec: every(60_000) }, at(4.7));
    expect(played.progress).toMatchObject({ ...counters, next: { point: at(64.7) } });
    expect(played.effects.some(({ type }) => type === "abort")).toBe(false);
  });

  it("L5 points that passed under a pause are not missed either when a new interval is given", () => {
    const played = new Played();
    played.step({ type: "paused" }, at(0.5));
    played.update({ spec: every(60_000) }, at(4.7));
    expect(played.progress.missedCount).toBe(0);
  });

  it.each([
    ["zone", { spec: cron("* * * * *", { timezone: "Mars/Base" }) }],
    ["option", { options: { jitter: { spread: "soon" } } }],
  ])("L5 I2 a schedule whose stored %s cannot be read here can be given one that can", (_title, damage) => {
    const played = new Played();
    const { definition } = played.document!;
    played.document = { ...played.document!, definition: { ...definition, ...damage } };
    played.update({ spec: every(60_000), options: {} }, at(4.7));
    expect(played.progress).toMatchObject({ next: { point: at(64.7) }, missedCount: 0 });
  });

  it.each(
    [
      ["one-shot", { kind: "at", at: at(600) }, { kind: "at", at: at(1) }],
      ["interval", every(60_000), every(1_000)],
      ["one-shot that becomes an interval", every(60_000), { kind: "at", at: at(1) }],
    ] as const,
  )("L5 A1 %s: a run does not move what was set for its schedule since it began", (_title, to, from) => {
    const definition = { adaptive: true };
    const played = new Played({ spec: from, definition });
    played.due(at(1));
    played.update({ spec: to, definition }, at(1.5));
    const { next } = played.progress;
    played.settle(at(2), { againMs: 5_000 });
    expect(played.progress).toMatchObject({ next, waiting: [] });
    // The next one knows it, and asks again.
    expect(played.due(next!.at)).toEqual([next!.point]);
    played.settle(next!.at + 1_000, { againMs: 5_000 });
    expect(played.progress.next).toMatchObject({ at: next!.at + 6_000, again: true });
  });

  it("L5 A1 what else is changed during a run leaves it its again", () => {
    const played = new Played({ spec: { kind: "at", at: at(1) } });
    played.due(at(1));
    played.update({ options: { retry: { limit: 1 } } }, at(1.5));
    played.settle(at(2), { againMs: 5_000 });
    expect(played.progress.next).toMatchObject({ at: at(7), again: true });
  });

  it.each<[string, (played: Played) => unknown]>([
    ["F4 fails", (played) => played.settle(at(2), { outcome: "faulted" })],
    ["M3 is lost", (played) => played.due(at(31), "b")],
    ["X1 is given back", (played) => played.step({ type: "released", fence: 1, instance: "a", started: true }, at(2))],
    ["X1 was not begun", (played) => played.step({ type: "released", fence: 1, instance: "a", started: false }, at(2))],
  ])("L5 %s: a one-shot's run that is given a new time while it executes runs at that time only", (_title, ends) => {
    const played = new Played({ spec: { kind: "at", at: at(1) }, options: { retry: { limit: 3, delay: 0 } } });
    played.due(at(1));
    played.update({ spec: { kind: "at", at: at(600) } }, at(1.5));
    ends(played);
    expect(played.progress).toMatchObject({ runs: [], waiting: [], next: { point: at(600) } });
    expect(played.due(at(600))).toEqual([at(600)]);
    // That deadline has its retries.
    played.settle(at(601), { outcome: "faulted" });
    expect(played.progress.runs).toMatchObject([{ point: at(600), attempt: 2 }]);
    played.settle(at(602));
    expect(played.progress.retired?.reason).toBe("completed");
  });

  it("M3 a run that is lost starts again at once, and from its second loss on at an instant drawn from a third of a lease", () => {
    const played = new Played({ spec: { kind: "at", at: at(1) }, definition: { maxLost: 4 }, random: [0.25] });
    played.due(at(1));
    expect(played.due(at(31), "b")).toEqual([at(1)]);
    expect(played.due(at(61), "c")).toEqual([]);
    expect(played.progress).toMatchObject({ runs: [], waiting: [{ cause: "rerun", at: at(63.5) }], wakeAt: at(63.5) });
    expect(played.due(at(63.5), "c")).toEqual([at(1)]);
    expect(played.due(at(93.5), "d")).toEqual([]);
    expect(played.progress.wakeAt).toBe(at(96));
  });

  it("L5 N5 a one-shot that was asked to stop and is given a new time has its retries and links there", () => {
    const played = new Played({ spec: { kind: "at", at: at(1) }, options: { retry: { limit: 1, delay: 0 } } });
    played.due(at(1));
    played.step({ type: "stopped", abortRunning: false }, at(1.2));
    played.update({ spec: { kind: "at", at: at(600) } }, at(1.5));
    played.settle(at(2), { outcome: "faulted" });
    expect(played.progress).toMatchObject({ runs: [], waiting: [] });
    played.due(at(600));
    played.settle(at(601), { outcome: "faulted" });
    expect(played.progress.runs).toMatchObject([{ attempt: 2 }]);
    played.settle(at(602), { againMs: 5_000 });
    expect(played.progress.next).toMatchObject({ at: at(607), again: true });
  });

  it("N2 an equal spec keeps phase, armed point and what is owed", () => {
    const played = new Played({ options: { catchup: "all" } });
    played.due(at(10));
    const { next, backlog } = played.progress;
    played.update({ spec: every(1_000), options: { catchup: "all", maxFaults: 3 } }, at(10.4));
    expect(played.progress).toMatchObject({ next, backlog });
  });

  it("T9 an endAt before the armed point ends the schedule, at once or with its run", () => {
    const idle = new Played();
    idle.update({ spec: every(1_000, { endAt: at(0.5) }) });
    expect(idle.progress.retired?.reason).toBe("ended");
    const busy = new Played();
    busy.due(at(1));
    busy.update({ spec: every(1_000, { endAt: at(1) }) });
    expect(busy.progress.retired).toBeUndefined();
    busy.settle(at(1.2));
    expect(busy.progress.retired?.reason).toBe("ended");
  });

  it("T9 maxRuns lowered to what has run already ends the schedule", () => {
    const played = new Played();
    played.due(at(1));
    played.settle(at(1.1));
    played.update({ spec: every(1_000, { maxRuns: 1 }) });
    expect(played.progress.retired?.reason).toBe("ended");
  });
});

describe("bounds", () => {
  it("T9 L5 a schedule that has fired as often as it may has ended, also where its time is changed", () => {
    const idle = new Played({ spec: every(1_000, { maxRuns: 2 }) });
    idle.due(at(1));
    idle.settle(at(1.1));
    idle.update({ spec: every(5_000, { maxRuns: 1 }) }, at(1.2));
    expect(idle.progress.retired?.reason).toBe("ended");
    const busy = new Played({ spec: every(1_000, { maxRuns: 1 }) });
    busy.due(at(1));
    busy.update({ spec: every(5_000, { maxRuns: 1 }) }, at(1.2));
    expect(busy.progress).toMatchObject({ next: null });
    busy.settle(at(1.3));
    expect(busy.progress.retired?.reason).toBe("ended");
  });

  it("T9 C4 maxRuns lowered to what has run already leaves nothing lined up or queued to run", () => {
    const options = { catchup: "all", overlap: "queue" };
    const played = new Played({ options });
    played.due(at(3));
    played.due(at(4));
    expect(played.progress).toMatchObject({ backlog: [{ next: at(2) }], waiting: [{ point: at(4) }] });
    played.update({ spec: every(1_000, { maxRuns: 1 }), options }, at(4.1));
    expect(played.settle(at(4.2))).toEqual([]);
    expect(played.progress).toMatchObject({ firings: 1, retired: { reason: "ended" } });
  });

  it("T9 L5 a pause holds no schedule past its endAt", () => {
    const played = new Played({ spec: every(1_000, { endAt: at(3.5) }) });
    played.step({ type: "paused" }, at(0.5));
    expect(played.progress.wakeAt).toBe(at(3.5));
    played.due(at(3.5));
    expect(played.progress.retired?.reason).toBe("ended");
    expect(played.progress.missedCount).toBe(0);
  });

  it("L5 A3 what a run asked for and a pause held fires when it goes on, and no point that passed meanwhile", () => {
    const played = new Played({ definition: { adaptive: true } });
    played.due(at(1));
    played.settle(at(1.2), { againMs: 200 });
    played.step({ type: "paused" }, at(1.3));
    played.step({ type: "resumed" }, at(9.8));
    expect(played.due(at(9.8))).toEqual([at(1.4)]);
    expect(played.settle(at(9.9))).toEqual([]);
    expect(played.progress).toMatchObject({ missedCount: 0, overlapCount: 0, next: { point: at(10), at: at(10) } });
  });

  it.each<[string, object, (played: Played) => void]>([
    ["what was due before it", {}, (played) => played.step({ type: "paused" }, at(1))],
    ["a retry", { options: { retry: { limit: 1, delay: 0 } } }, (played) => {
      played.due(at(1));
      played.step({ type: "paused" }, at(1.1));
      played.settle(at(1.2), { outcome: "faulted" });
    }],
    ["what a run asked for", { definition: { adaptive: true } }, (played) => {
      played.due(at(1));
      played.settle(at(1.2), { againMs: 200 });
      played.step({ type: "paused" }, at(1.3));
    }],
  ])("T9 L5 a pause past the endAt still holds %s", (_title, setting, play) => {
    const played = new Played({ spec: every(1_000, { endAt: at(3) }), ...setting });
    play(played);
    played.due(at(60));
    expect(played.progress.retired).toBeUndefined();
    expect(played.progress.runs).toEqual([]);
    played.step({ type: "resumed" }, at(61));
    expect(played.due(at(61))).toHaveLength(1);
    played.settle(at(62));
    expect(played.progress.retired?.reason).toBe("ended");
  });

  it("T9 J1 a deadline that jitter has moved past the endAt is held until it has passed", () => {
    const spec = every(1_000, { endAt: at(1) });
    const settings = { spec, options: { jitter: 500 }, random: [0.999999] };
    const early = new Played(settings);
    early.step({ type: "paused" }, at(0.5));
    expect(early.progress.wakeAt).toBe(at(1.5));
    early.step({ type: "resumed" }, at(1.2));
    expect(early.due(at(1.5))).toEqual([at(1)]);
    const late = new Played(settings);
    late.step({ type: "paused" }, at(0.5));
    late.due(at(1.5));
    expect(late.progress.retired?.reason).toBe("ended");
  });
});

describe("what is given back, and what begins anew", () => {
  it("X1 S1 runs that are given back before they started leave the start before them as the latest, in any order", () => {
    for (const order of [[2, 3], [3, 2]]) {
      const played = new Played({ options: { overlap: "concurrent" } });
      for (const second of [1, 2, 3]) played.due(at(second));
      for (const fence of order) played.step({ type: "released", fence, instance: "a", started: false }, at(3.5));
      expect(played.progress).toMatchObject({ lastRun: at(1), runCount: 1 });
      expect(played.due(at(3.5)).sort()).toEqual([at(2), at(3)]);
      expect(played.progress.runs.map(({ previousStart }) => previousStart)).toEqual([undefined, at(1), at(3.5)]);
    }
  });

  it("M4 I1 a parked schedule that is given a new definition goes on with its fences", () => {
    const policies: Policy[] = [{
      overlap() {
        throw new Error("a mistake");
      },
    }];
    const played = new Played({ policies });
    played.due(at(1));
    played.due(at(2));
    expect(played.document).toMatchObject({ parked: "a mistake", progress: { runs: [{ fence: 1 }] } });
    played.update({ spec: every(2_000) }, at(3));
    expect(played.due(at(5))).toEqual([at(5)]);
    // The run of before has gone on meanwhile, and is not to settle the one of now.
    played.settle(at(6), { fence: 1 });
    expect(played.result.answer).toBe(false);
    expect(played.progress.runs).toMatchObject([{ fence: 2 }]);
  });

  it("M4 I1 one whose fences cannot be read any more begins behind all that it can have given out", () => {
    const played = new Played();
    for (const second of [1, 2, 3]) {
      played.due(at(second));
      played.settle(at(second));
    }
    // As drivers make up a document that they cannot read.
    const { id, definition } = played.document!;
    played.document = { id, definition, progress: RESTING_PROGRESS, parked: "damaged" };
    played.update({}, at(4));
    played.due(at(5));
    expect(played.progress.runs[0]!.fence).toBeGreaterThan(3);
  });
});

describe("determinism", () => {
  it("M4 a settlement whose fence does not hold changes nothing at all", () => {
    const played = new Played();
    played.due(at(1));
    const { document } = played;
    played.settle(at(2), { fence: 99 });
    expect(played.document).toBe(document);
    expect(played.result.answer).toBe(false);
    expect(document!.id).toBe(ID);
  });
});
