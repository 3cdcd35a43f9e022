import type { RunOutcome } from "../../../contract/mod.ts";
import type { Books } from "./balance.ts";
import type { Story } from "./history.ts";
import type { Transition } from "./transition.ts";
import type { Report } from "./types.ts";

const FAULTLESS: readonly RunOutcome[] = ["succeeded", "replaced", "released"];

/** The counters say what the trace says (V1, T9, F2). */
export function checkCounters(transition: Transition, books: Books, story: Story, report: Report): void {
  const { entry, before, after, started, settled, released } = transition;
  const grew = (key: "runCount" | "settledCount" | "faultCount" | "firings") => after[key] - before[key];
  const expect = (key: Parameters<typeof grew>[0], expected: number, rule = "V1") => {
    if (grew(key) !== expected) report(rule, `${key} grew by ${grew(key)}; the trace says ${expected}`);
  };
  const unstarted = released.filter(({ fence }) => story.run(entry.id, fence)?.called !== true).length;
  if (before.retired === undefined) expect("runCount", started.length - unstarted);
  expect("settledCount", settled.length);
  const faults = entry.ended.filter(({ outcome }) => !FAULTLESS.includes(outcome)).length;
  const outOfRange = after.retired?.reason === "deadline_out_of_range" && before.retired === undefined ? 1 : 0;
  expect("faultCount", faults + outOfRange);
  expect("firings", firings(transition, books), "T9");
  for (const key of ["missedCount", "overlapCount"] as const) {
    if (after[key] < before[key]) report("V1", `${key} fell from ${before[key]} to ${after[key]}`);
  }
  checkBounds(transition, report);
  const [only] = entry.ended;
  if (entry.ended.length === 1 && only!.outcome === "succeeded" && after.consecutiveFaults !== 0) {
    report("F2", `${after.consecutiveFaults} faults in a row after a success`);
  }
  if (after.consecutiveFaults > before.consecutiveFaults + faults + outOfRange) {
    report(
      "F2",
      `faults in a row went from ${before.consecutiveFaults} to ${after.consecutiveFaults} by ${faults} faults`,
    );
  }
}

/** Deadlines that fired: starts that are no retry, no rerun, and not asked for by `trigger`. */
function firings({ before, started, released, gone }: Transition, books: Books): number {
  return started.filter((run) => {
    const waited = before.waiting.find(({ point, attempt }) => point === run.point && attempt === run.attempt);
    const again = waited?.cause === "retry" || waited?.cause === "rerun" ||
      [...gone, ...released].some(({ point }) => point === run.point);
    return run.attempt === 1 && !again && !isTriggered(run.point, before, books);
  }).length;
}

function isTriggered(point: number, before: Transition["before"], books: Books): boolean {
  return books.triggers.has(point) && before.next?.point !== point &&
    !before.waiting.some((one) => one.point === point && one.cause === "catchup");
}

function checkBounds({ before, after, definition: { spec } }: Transition, report: Report): void {
  if (spec.kind === "at") return;
  if (spec.maxRuns !== undefined && after.firings > Math.max(before.firings, spec.maxRuns)) {
    report("T9", `fired ${after.firings} times; maxRuns is ${spec.maxRuns}`);
  }
}
