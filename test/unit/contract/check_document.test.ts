import { describe, expect, it } from "vitest";
import { checkDocument, isSchedulerError } from "../../../src/contract/mod.ts";

const definition = {
  task: "work",
  spec: { kind: "every", every: 60_000, anchor: 0 },
  options: {},
  owner: "system",
  authority: { id: "system", admin: true },
  adaptive: false,
  retention: 60_000,
  history: 20,
  createdAt: 1_767_225_600_000,
};
const progress = {
  wakeAt: 5,
  next: { point: 5, at: 5 },
  runs: [{ fence: 1, point: 1, attempt: 1, missed: 0, instance: "i", leaseUntil: 9, claimedAt: 1 }],
  waiting: [{ point: 1, at: 1, attempt: 2, missed: 0, cause: "retry" }],
  backlog: [{ next: 1, last: 2 }],
  fence: 1,
  firings: 1,
  runCount: 1,
  faultCount: 1,
  consecutiveFaults: 1,
  missedCount: 0,
  overlapCount: 0,
  lastFault: { name: "Error", message: "m", at: 1 },
  settledCount: 1,
  durationSum: 1.5,
  history: "i,1,1,0,0,1,1,m",
  decisions: [["ran", 1, 1, null]],
};

/** A good document with one field, named by its path, set to something else. */
function withField(path: string, value: unknown): unknown {
  const document = structuredClone({ id: "01J", definition, progress }) as Record<string, unknown>;
  const keys = path.split(".");
  const last = keys.pop()!;
  let place = document;
  for (const key of keys) place = place[key] as Record<string, unknown>;
  place[last] = value;
  return document;
}

describe("checkDocument", () => {
  it("answers the very document when nothing is wrong with it", () => {
    const document = withField("id", "01J");
    expect(checkDocument(document)).toBe(document);
  });

  it("accepts every kind, every optional field, and fields it does not know", () => {
    for (
      const [path, value] of [
        ["definition.spec", { kind: "at", at: -1 }],
        ["definition.spec", { kind: "cron", cron: "* * * * *", timezone: "UTC", dst: { gap: "skip", fold: "both" } }],
        ["definition.spec", { kind: "every", every: 10, anchor: 0, clamped: true, startAt: 0, endAt: 9, maxRuns: 1 }],
        ["definition.tags", ["a", "b"]],
        ["definition.maxLost", 3],
        ["definition.onLost", "fault"],
        ["definition.ofALaterVersion", { any: "thing" }],
        ["progress.next", null],
        ["progress.wakeAt", null],
        ["progress.retired", { at: 1, reason: "custom" }],
        ["parked", "why"],
      ] as const
    ) expect(() => checkDocument(withField(path, value)), path).not.toThrow();
  });

  it.each([
    ["id", ""],
    ["id", 7],
    ["definition", null],
    ["definition", []],
    ["definition.task", ""],
    ["definition.task", "x".repeat(201)],
    ["definition.owner", undefined],
    ["definition.authority", "system"],
    ["definition.authority.id", null],
    ["definition.options", []],
    ["definition.spec.kind", "weekly"],
    ["definition.spec.kind", "__proto__"],
    ["definition.spec.every", 0],
    ["definition.spec.every", -1],
    ["definition.spec.every", 0.4],
    ["definition.spec.every", "1000"],
    ["definition.spec.every", 1e300],
    ["definition.spec.every", null],
    ["definition.spec.anchor", Number.NaN],
    ["definition.spec.maxRuns", 0],
    ["definition.spec.endAt", 253_402_300_800_000],
    ["definition.tags", "red"],
    ["definition.retention", -1],
    ["definition.history", 101],
    ["definition.adaptive", 1],
    ["progress", "{}"],
    ["progress.wakeAt", Infinity],
    ["progress.wakeAt", "5"],
    ["progress.wakeAt", undefined],
    ["progress.next.at", null],
    ["progress.fence", -1],
    ["progress.fence", 1.5],
    ["progress.runCount", 2 ** 53],
    ["progress.runs", {}],
    ["progress.backlog", { next: 1, last: 2 }],
    ["progress.durationSum", -1],
    ["progress.stopping", false],
    ["progress.lastFault.message", 7],
    ["progress.lastFault.stack", {}],
    ["parked", 1],
  ])("B061 refuses %s: %s, naming it", (path, value) => {
    const failing = () => checkDocument(withField(path, value));
    expect(failing).toThrow(new RegExp(`^${path}: .*expected`));
  });

  it("B061 refuses an end so late that the retention would reach beyond every date", () => {
    const late = withField("progress.retired", { at: 8.64e15, reason: "completed" });
    expect(() => checkDocument(late)).toThrow("progress.retired.at: 8640000000000000; expected an instant");
  });

  it("B061 refuses what is wrong inside a list, naming the place", () => {
    const second = { ...progress.runs[0], leaseUntil: "soon" };
    expect(() => checkDocument(withField("progress.runs", [progress.runs[0], second]))).toThrow(
      'progress.runs[1].leaseUntil: "soon"; expected an instant',
    );
    for (const history of ["i,1,2", [[1, 2]], "i,1,1,0,0,1,9"]) {
      expect(() => checkDocument(withField("progress.history", history))).toThrow("progress.history");
    }
    for (const entry of [["ran", 1, 0], ["ran", 1, 1, 1e300], ["ran", 1, 1, "soon"], ["ran", 1, 1, null, {}]]) {
      expect(() => checkDocument(withField("progress.decisions", [entry]))).toThrow("progress.decisions[0]");
    }
    expect(() => checkDocument(withField("definition.tags", ["a", ""]))).toThrow("definition.tags[1]");
  });

  it("B061 refuses lists that grew past their bounds", () => {
    const run = progress.runs[0];
    expect(() => checkDocument(withField("progress.runs", Array(101).fill(run)))).toThrow("progress.runs");
    expect(() => checkDocument(withField("progress.decisions", Array(13).fill(["ran", 1, 1])))).toThrow("decisions");
  });

  it.each([undefined, null, 7, "text", [], () => {}])("refuses %s, which is no document", (value) => {
    let thrown: unknown;
    try {
      checkDocument(value);
    } catch (error) {
      thrown = error;
    }
    expect(isSchedulerError(thrown, "invalid_option")).toBe(true);
  });
});
