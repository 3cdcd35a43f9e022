import { beforeAll, describe, expect, it } from "vitest";
import { standardPolicies } from "../../../plugins/policies/mod.ts";
import {
  checkDocument,
  isSchedulerError,
  readProgress,
  type ScheduleDocument,
  writeProgress,
} from "../../../src/contract/mod.ts";
import { type MachineEnv, type MachineEvent, step } from "../../../src/machine/mod.ts";
import { BEGAN, corpus, damaged, type Stored, TAKEN } from "./corpus.ts";
import { fuzz, prompt } from "./fuzzing.ts";

let documents: readonly Stored[];
beforeAll(async () => void (documents = await corpus()));

const env: MachineEnv = {
  policies: standardPolicies().flatMap(({ policy }) => policy === undefined ? [] : [policy]),
  optionKeys: new Set(["catchup", "overlap", "jitter", "retry", "maxFaults"]),
  tickMs: 10,
  random: () => 0.25,
};

/** The document of two texts as every driver reads it, or nothing where it is parked. */
function read({ id, definition, progress }: Stored): ScheduleDocument | undefined {
  try {
    return checkDocument({ id, definition: JSON.parse(definition), progress: readProgress(progress) });
  } catch (error) {
    if (isSchedulerError(error, "invalid_option") || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function events({ progress }: ScheduleDocument): readonly MachineEvent[] {
  const claim = { instance: "me", leaseMs: 30_000, patienceMs: 0, holds: () => false };
  const run = progress.runs[0];
  const settled = (outcome: "succeeded" | "faulted"): MachineEvent => ({
    type: "settled",
    claim,
    settlement: {
      fence: run?.fence ?? 1,
      outcome,
      startedAt: TAKEN - 5,
      endedAt: TAKEN,
      durationMs: 5,
      againMs: 5_000,
    },
  });
  return [
    { type: "due", claim },
    settled("succeeded"),
    settled("faulted"),
    { type: "renewed", fences: [run?.fence ?? 1], instance: run?.instance ?? "me", leaseMs: 30_000 },
    { type: "released", fence: run?.fence ?? 1, instance: run?.instance ?? "me", started: true },
    { type: "paused" },
    { type: "resumed" },
    { type: "triggered" },
    { type: "aborted", fence: run?.fence ?? 1 },
    { type: "stopped", abortRunning: true },
  ];
}

const CALLS: readonly MachineEvent["type"][] = ["paused", "resumed", "triggered", "aborted"];

/** What an event leaves. Only what a caller asks for may be refused: nobody would hear of any other refusal. */
function outcome(document: ScheduleDocument, event: MachineEvent, now: number): ScheduleDocument | null {
  try {
    return prompt(() => step(document, event, now, env)).document;
  } catch (error) {
    if (CALLS.includes(event.type) && isSchedulerError(error)) return document;
    throw error;
  }
}

/** What an event makes of a document that was taken for good must be taken for good again, and lose no count. */
function holdsUp(document: ScheduleDocument, event: MachineEvent, now: number): void {
  const after = outcome(document, event, now);
  if (after === null) return;
  const text = { id: after.id, definition: JSON.stringify(after.definition), progress: writeProgress(after.progress) };
  const again = read(text);
  if (again === undefined) {
    checkDocument({ ...text, definition: JSON.parse(text.definition), progress: readProgress(text.progress) });
  }
  for (const key of ["fence", "firings", "faultCount", "missedCount", "overlapCount"] as const) {
    expect(after.progress[key], `${key} after ${event.type}`).toBeGreaterThanOrEqual(document.progress[key]);
  }
}

describe("fuzzing: documents of a damaged store", () => {
  it("B061 one that cannot be used is refused; one that is taken goes through every step, promptly, and stays one", () => {
    let turn = 0;
    const accepted = fuzz("documents", 60_000, damaged(documents), (stored) => {
      const document = prompt(() => read(stored));
      if (document === undefined) return false;
      expect(read({ ...stored, progress: writeProgress(document.progress) })).toBeDefined();
      const all = events(document);
      const now = [TAKEN, BEGAN, TAKEN + 60_000, TAKEN + 4e9, 8e12][turn % 5]!;
      for (const event of turn++ % 10 === 0 ? all : [all[0]!]) holdsUp(document, event, now);
      return true;
    });
    expect(accepted).toBeGreaterThan(5_000);
  });
});
