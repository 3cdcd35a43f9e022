import { describe, expect, it } from "vitest";
import { isHistory, type PastRun, readHistory, rememberRun, writeHistory } from "../../../src/contract/mod.ts";

function run(fence: number, parts: Partial<PastRun> = {}): PastRun {
  const point = 1_767_225_600_000 + fence * 1_000;
  const times = { point, startedAt: point + 3.25, endedAt: point + 4.5 };
  return { fence, ...times, attempt: 1, outcome: "succeeded", instance: "a", ...parts };
}

describe("V4: the history of runs as text", () => {
  const runs = [
    run(1),
    run(2, { outcome: "faulted", fault: "a, b; c%2C" }),
    run(3, { instance: "a,b;c%", outcome: "lost", fault: "" }),
    run(4, { instance: "a,b;c%", outcome: "timeout", attempt: 3, fault: 'ünï"\\\u0001' }),
    run(5, { startedAt: 1_767_225_605_000 - 0.5, outcome: "aborted" }),
    run(6, { outcome: "replaced", instance: "ab" }),
    run(7, { outcome: "released", instance: "ab" }),
    run(8, { instance: "a", endedAt: 0 }),
  ];

  it("answers what it was given, in the order in which it ended", () => {
    expect(readHistory(writeHistory(runs))).toEqual(runs);
    expect(readHistory("")).toEqual([]);
  });

  it.each([0, 1, 2, 7, 8, 9])("keeps the latest %i", (limit) => {
    const history = runs.reduce((text, one) => rememberRun(text, one, limit), "");
    expect(readHistory(history)).toEqual(limit === 0 ? [] : runs.slice(-limit));
    expect(isHistory(history, limit)).toBe(true);
    expect(isHistory(rememberRun(history, run(9), limit + 1), limit)).toBe(limit > runs.length);
  });

  it("T1 keeps a run of the earliest deadline that there is, and of the latest", () => {
    for (const point of [-8.64e15, 8.64e15]) {
      const far = [run(1, { point, startedAt: 0, endedAt: 1 }), run(2)];
      expect(isHistory(writeHistory(far), 2)).toBe(true);
      expect(readHistory(writeHistory(far))).toEqual(far);
    }
  });

  it("names an instance once for the runs that it held one after another", () => {
    const history = writeHistory([1, 2, 3].map((fence) => run(fence, { instance: "instance" })));
    expect(history.match(/instance/g)).toHaveLength(1);
  });

  it.each([
    undefined,
    [],
    "a",
    "a,1,2,3,4,5",
    "a,1,2,3,4,5,7",
    "a,1,2,3,4,x,1",
    "a,1,2,3,4,5,1,fault,more",
    "a,1,1e9,3,4,5,1",
    `a,1,${"9".repeat(17)},3,4,5,1`,
    "a,1,2,3,4,5,1;",
    ";a,1,2,3,4,5,1",
  ])("B061 tells that %j is none", (text) => {
    expect(isHistory(text, 100)).toBe(false);
  });

  it("B061 answers instants that a Date holds, whatever a damaged one says", () => {
    const [past] = readHistory(`a,1,${"9".repeat(16)},${"9".repeat(16)},-1,5,1`);
    for (const time of [past!.point, past!.startedAt, past!.endedAt]) expect(new Date(time).getTime()).toBe(time);
  });
});
