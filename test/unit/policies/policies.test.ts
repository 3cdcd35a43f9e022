import { describe, expect, it } from "vitest";
import type { AnyPlugin, Json, JsonObject, OverlapQuestion, SettledQuestion } from "../../../src/contract/mod.ts";
import {
  catchup,
  faultLimit,
  jitter,
  overlap,
  retry,
  spreadOffset,
  standardPolicies,
} from "../../../plugins/policies/mod.ts";

const ID = "01KBB6Z5T3M6C3E6N1F0Q8XW2Y";

/** Reads an option as creation does: what a policy is handed afterwards. */
function options(plugin: AnyPlugin, value: unknown): JsonObject {
  const [[key, parser]] = Object.entries(plugin.options!) as [
    [string, { parse(v: unknown, p: object): Json | undefined }],
  ];
  const stored = parser.parse(value, { where: key, kind: "every", tickMs: 10 });
  return stored === undefined ? {} : { [key]: stored };
}

const question = (given: JsonObject) => ({ id: ID, kind: "every" as const, options: given, now: 0 });

describe("catchup", () => {
  const missed = (value: unknown) =>
    catchup().policy!.missed!({ ...question(options(catchup(), value)), count: 7, oldest: 1, newest: 7 });

  it("C2 once: one run stands for the newest, and that is the default", () => {
    expect(missed("once")).toEqual({ run: "newest" });
    expect(catchup().policy!.missed!({ ...question({}), count: 1, oldest: 1, newest: 1 })).toEqual({ run: "newest" });
    expect(options(catchup(), "once")).toEqual({});
  });

  it("C3 skip: no missed point runs", () => {
    expect(missed("skip")).toEqual({ run: "none" });
  });

  it("C4 all: each runs, the newest 100 unless a limit and a window say otherwise", () => {
    expect(missed("all")).toEqual({ run: "each", limit: 100 });
    expect(missed({ policy: "all", limit: 10, window: "2d" })).toEqual({
      run: "each",
      limit: 10,
      windowMs: 172_800_000,
    });
  });

  it("C1 grace: the option's own, or none, which leaves it to the machine", () => {
    expect(catchup().policy!.grace!(question(options(catchup(), { policy: "skip", grace: "5m" })))).toBe(300_000);
    expect(catchup().policy!.grace!(question(options(catchup(), "skip")))).toBeUndefined();
  });

  it("V1 keeps what was given, with durations in milliseconds and defaults left out", () => {
    expect(options(catchup(), "all")).toEqual({ catchup: "all" });
    expect(options(catchup(), { policy: "all", limit: 100 })).toEqual({ catchup: "all" });
    expect(options(catchup(), { policy: "once", grace: "1m" })).toEqual({ catchup: { policy: "once", grace: 60_000 } });
  });

  it.each([
    ["latest", "invalid_option", /catchup: "latest".*"once" or "skip" or "all"/],
    [{ policy: "all", limit: 0 }, "invalid_option", /catchup\.limit: 0/],
    [{ policy: "all", limit: 1.5 }, "invalid_option", /catchup\.limit: 1.5/],
    [{ policy: "skip", limit: 5 }, "invalid_option", /catchup\.limit: 5.*policy "all" only/],
    [{ policy: "all", window: "2 days" }, "invalid_duration", /catchup\.window: "2 days"/],
    [{ policy: "all", windw: "2d" }, "unknown_option", /catchup\.windw.*did you mean "window"/],
    [{ limit: 5 }, "invalid_option", /catchup\.policy: undefined/],
    [7, "invalid_option", /catchup: 7/],
    [null, "invalid_option", /catchup: null/],
  ])("I2 refuses catchup %j with %s", (value, code, message) => {
    expect(() => options(catchup(), value)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });
});

describe("overlap", () => {
  const answer = (value: unknown, running: number, queued = 0) => {
    const asked: OverlapQuestion = { ...question(options(overlap(), value)), running, queued };
    return overlap().policy!.overlap!(asked);
  };

  it("O1 skip: the default, drops the point", () => {
    expect(answer("skip", 1)).toBe("drop");
    expect(overlap().policy!.overlap!({ ...question({}), running: 1, queued: 0 })).toBe("drop");
  });

  it("O2 queue: one point waits, or as many as the limit says", () => {
    expect([answer("queue", 1, 0), answer("queue", 1, 1)]).toEqual(["queue", "drop"]);
    expect([answer({ policy: "queue", limit: 3 }, 1, 2), answer({ policy: "queue", limit: 3 }, 1, 3)]).toEqual([
      "queue",
      "drop",
    ]);
  });

  it("O3 concurrent: starts beside those running, up to the limit", () => {
    expect([answer("concurrent", 99), answer("concurrent", 100)]).toEqual(["start", "drop"]);
    expect([answer({ policy: "concurrent", limit: 2 }, 1), answer({ policy: "concurrent", limit: 2 }, 2)]).toEqual([
      "start",
      "drop",
    ]);
  });

  it("O4 replace: the running one makes way", () => {
    expect(answer("replace", 1)).toBe("replace");
  });

  it("V1 keeps what was given, with defaults left out", () => {
    expect(options(overlap(), "skip")).toEqual({});
    expect(options(overlap(), { policy: "queue", limit: 1 })).toEqual({ overlap: "queue" });
    expect(options(overlap(), { policy: "queue", limit: 2 })).toEqual({ overlap: { policy: "queue", limit: 2 } });
  });

  it.each([
    ["parallel", "invalid_option", /overlap: "parallel".*"skip" or "queue" or "concurrent" or "replace"/],
    [{ policy: "skip", limit: 2 }, "invalid_option", /overlap\.limit: 2.*not with "skip"/],
    [{ policy: "queue", limit: 101 }, "invalid_option", /overlap\.limit: 101.*from 1 to 100/],
    [{ policy: "concurrent", limit: Infinity }, "invalid_option", /overlap\.limit: Infinity/],
    [{ policy: "queue", max: 2 }, "unknown_option", /overlap\.max/],
    [true, "invalid_option", /overlap: true/],
  ])("I2 refuses overlap %j with %s", (value, code, message) => {
    expect(() => options(overlap(), value)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });
});

describe("jitter", () => {
  const shifted = (value: unknown, random: number, id = ID) =>
    jitter().policy!.shift!({
      ...question(options(jitter(), value)),
      id,
      deadline: 1_000_000,
      point: 1_000_000,
      random,
    });

  it("J1 moves a deadline uniformly within [-d, +d], in whole milliseconds, both ends included", () => {
    expect(shifted("5s", 0)).toBe(995_000);
    expect(shifted("5s", 1 - Number.EPSILON)).toBe(1_005_000);
    const counts = new Map<number, number>();
    for (let i = 0; i < 7_000; i++) {
      const moved = shifted(3, (i + 0.5) / 7_000)! - 1_000_000;
      counts.set(moved, (counts.get(moved) ?? 0) + 1);
    }
    expect([...counts].sort(([a], [b]) => a - b)).toEqual([-3, -2, -1, 0, 1, 2, 3].map((moved) => [moved, 1_000]));
  });

  it("B076 J1 moves nothing at jitter 0, which is the default and not stored", () => {
    expect(options(jitter(), 0)).toEqual({});
    expect(options(jitter(), { spread: "0s" })).toEqual({});
    expect(jitter().policy!.shift!({ ...question({}), deadline: 5, point: 5, random: 0.9 })).toBe(5);
  });

  it("J2 tells how far it may move a deadline to later", () => {
    expect(jitter().policy!.span!(question(options(jitter(), "5s")))).toBe(5_000);
    const spread = jitter().policy!.span!(question(options(jitter(), { spread: "1m" })))!;
    expect(1_000_000 + spread).toBe(shifted({ spread: "1m" }, 0));
    expect(jitter().policy!.span!(question({}))).toBe(0);
  });

  it("J3 spread gives one schedule the same offset at every deadline, whatever is drawn", () => {
    const first = shifted({ spread: "1m" }, 0.1)!;
    expect(shifted({ spread: "1m" }, 0.9)).toBe(first);
    expect(first).toBeGreaterThanOrEqual(1_000_000);
    expect(first).toBeLessThanOrEqual(1_060_000);
  });

  it("J3 spread reaches both ends of [0, d]", () => {
    const offsets = new Set(Array.from({ length: 1_000 }, (_, i) => spreadOffset(`schedule ${i}`, 2)));
    expect(offsets).toEqual(new Set([0, 1, 2]));
  });

  it("B079 J3 spreads 1000 schedules over 60 s with at most 40 in any second, the same at a second computation", () => {
    // Ids as one process makes them in one millisecond: they share their first ten characters.
    const ids = Array.from(
      { length: 1_000 },
      (_, i) => `01KBB6Z5T3${(i * 7_919 + 123_456_789).toString(32).toUpperCase().padStart(16, "0")}`,
    );
    const seconds = () => {
      const counts = new Array<number>(61).fill(0);
      for (const id of ids) counts[Math.floor(spreadOffset(id, 60_000) / 1_000)]!++;
      return counts;
    };
    expect(Math.max(...seconds())).toBeLessThanOrEqual(40);
    expect(seconds()).toEqual(seconds());
  });

  it.each([
    ["5 parsecs", "invalid_duration", /jitter: "5 parsecs"/],
    [-1, "invalid_duration", /jitter: -1/],
    [NaN, "invalid_duration", /jitter: NaN/],
    [{ spread: "x" }, "invalid_duration", /jitter\.spread: "x"/],
    [{}, "invalid_duration", /jitter\.spread: undefined/],
    [{ spred: "5s" }, "unknown_option", /jitter\.spred.*did you mean "spread"/],
    [[5], "invalid_duration", /jitter: an array/],
  ])("I2 refuses jitter %j with %s", (value, code, message) => {
    expect(() => options(jitter(), value)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });
});

describe("retry", () => {
  const settled = (value: unknown, attempt: number, outcome: SettledQuestion["outcome"] = "faulted") =>
    retry().policy!.settled!({ ...question(options(retry(), value)), outcome, attempt, consecutiveFaults: 1 });

  it("F4 tries again after growing delays up to the longest, and then no more", () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => settled({ limit: 4, delay: "10s", maxDelay: "1m" }, attempt));
    expect(delays).toEqual(
      [10_000, 20_000, 40_000, 60_000].map((retryAfterMs) => ({ retryAfterMs })).concat([undefined as never]),
    );
  });

  it("F4 waits 1 s, 2 s, 4 s unless told otherwise, and never longer than an hour", () => {
    expect([1, 2, 3].map((attempt) => settled({ limit: 1_000 }, attempt))).toEqual(
      [1_000, 2_000, 4_000].map((retryAfterMs) => ({ retryAfterMs })),
    );
    expect(settled({ limit: 1_000 }, 1_000)).toEqual({ retryAfterMs: 3_600_000 });
  });

  it("F4 keeps a delay of zero at zero, and a backoff of 1 even", () => {
    expect(settled({ limit: 1_000, delay: 0 }, 1_000)).toEqual({ retryAfterMs: 0 });
    expect(settled({ limit: 9, delay: "5s", backoff: 1 }, 9)).toEqual({ retryAfterMs: 5_000 });
  });

  it("F4 leaves successes and lost runs alone, and does nothing unless asked", () => {
    expect(settled({ limit: 3 }, 1, "succeeded")).toBeUndefined();
    expect(settled({ limit: 3 }, 1, "lost")).toBeUndefined();
    expect(settled({ limit: 0 }, 1)).toBeUndefined();
    expect(options(retry(), { limit: 0, delay: "5s" })).toEqual({});
  });

  it.each([
    [3, "invalid_option", /retry: 3.*an object of limit, delay, backoff, maxDelay/],
    [{}, "invalid_option", /retry\.limit: undefined/],
    [{ limit: -1 }, "invalid_option", /retry\.limit: -1/],
    [{ limit: 1, backoff: 0.5 }, "invalid_option", /retry\.backoff: 0.5/],
    [{ limit: 1, backoff: NaN }, "invalid_option", /retry\.backoff: NaN/],
    [{ limit: 1, delay: "soon" }, "invalid_duration", /retry\.delay: "soon"/],
    [{ limit: 1, maxdelay: 1 }, "unknown_option", /retry\.maxdelay.*did you mean "maxDelay"/],
  ])("I2 refuses retry %j with %s", (value, code, message) => {
    expect(() => options(retry(), value)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });
});

describe("faultLimit", () => {
  const settled = (value: unknown, consecutiveFaults: number, more: Partial<SettledQuestion> = {}) =>
    faultLimit().policy!.settled!({
      ...question(options(faultLimit(), value)),
      outcome: "faulted",
      attempt: 1,
      consecutiveFaults,
      ...more,
    });

  it("F2 retires a recurring schedule at 50 faults in a row, or as many as it says", () => {
    expect([settled(50, 49), settled(50, 50)]).toEqual([undefined, { retire: "max_faults" }]);
    expect([settled(3, 2), settled(3, 3)]).toEqual([undefined, { retire: "max_faults" }]);
    expect(options(faultLimit(), 50)).toEqual({});
  });

  it("F2 0 means no limit; a success and a one-shot are not its business", () => {
    expect(settled(0, 1_000_000)).toBeUndefined();
    expect(settled(3, 3, { outcome: "succeeded" })).toBeUndefined();
    expect(settled(3, 3, { kind: "at" })).toBeUndefined();
    expect(settled(3, 3, { outcome: "lost" })).toEqual({ retire: "max_faults" });
  });

  it.each([[-1], [1.5], ["3"], [NaN]])("I2 refuses maxFaults %j", (value) => {
    expect(() => options(faultLimit(), value)).toThrow(expect.objectContaining({ code: "invalid_option" }));
  });
});

describe("standardPolicies", () => {
  it("F4 asks retry before the fault limit, so that only an exhausted deadline counts", () => {
    const names = standardPolicies().map(({ name }) => name);
    expect(names).toEqual(["catchup", "overlap", "jitter", "retry", "fault-limit"]);
  });
});
