import type { JsonObject, LiveRun } from "../../../contract/mod.ts";
import type { Books } from "./balance.ts";
import { followUp, type Transition } from "./transition.ts";
import type { Report } from "./types.ts";

const DEFAULT_MAX_LOST = 3;
const DEFAULT_DELAY_MS = 1_000;
const DEFAULT_MAX_DELAY_MS = 3_600_000;

/** A run that was lost starts again, and one that failed is tried again, as often and as late as its options say (M3, F4). */
export function checkRetries(transition: Transition, books: Books, report: Report): void {
  const { before, after, gone, lost, settled } = transition;
  // Nothing follows what ends with its schedule.
  if (after.retired !== undefined || before.retired !== undefined || after.stopping === true) return;
  const runOf = (fence: number) => gone.find((run) => run.fence === fence);
  for (const { fence } of lost) {
    const run = runOf(fence);
    if (run !== undefined) checkRerun(transition, run, books, report);
  }
  for (const { fence, outcome } of settled) {
    const run = runOf(fence);
    const mayFollow = (outcome === "faulted" || outcome === "timeout") && fence > books.superseded;
    if (run !== undefined) checkRetry(transition, run, mayFollow, report);
  }
}

function checkRerun(transition: Transition, run: LiveRun, books: Books, report: Report): void {
  const { onLost, maxLost = DEFAULT_MAX_LOST } = transition.definition;
  const losses = (run.losses ?? 0) + 1;
  const isSuperseded = run.fence <= books.superseded;
  const expected = onLost !== "fault" && losses < maxLost && run.abort === undefined && !isSuperseded;
  const found = followUp(transition, run) !== undefined;
  if (found === expected) return;
  const what = found ? "starts again" : "does not start again";
  report("M3", `run ${run.fence} ${what} after ${losses} losses; onLost is ${onLost ?? "rerun"}, maxLost ${maxLost}`);
}

interface Retry {
  readonly limit: number;
  readonly delay?: number;
  readonly backoff?: number;
  readonly maxDelay?: number;
}

function checkRetry(transition: Transition, run: LiveRun, mayFollow: boolean, report: Report): void {
  const { entry, before, after, definition: { options } } = transition;
  const { retry } = options as JsonObject & { readonly retry?: Retry };
  const attempt = run.attempt - (run.losses ?? 0);
  const replaced = run.abort === "replaced";
  const expected = mayFollow && !replaced && retry !== undefined && attempt <= retry.limit;
  const isNew = (point: number, next: number) => point === run.point && next === run.attempt + 1;
  const waiting = after.waiting.find((one) => one.cause === "retry" && isNew(one.point, one.attempt));
  const known = before.waiting.some((one) => one.cause === "retry" && isNew(one.point, one.attempt));
  const started = transition.started.some((one) => isNew(one.point, one.attempt));
  if (known || (waiting !== undefined || started) !== expected) {
    return report("F4", `run ${run.fence}, attempt ${attempt}, ${expected ? "is not tried" : "is tried"} again`);
  }
  if (waiting === undefined || retry === undefined) return;
  const { delay = DEFAULT_DELAY_MS, backoff = 2, maxDelay = DEFAULT_MAX_DELAY_MS } = retry;
  const due = entry.now + Math.round(Math.min(maxDelay, delay * backoff ** (attempt - 1)));
  if (waiting.at !== due) report("F4", `run ${run.fence} is tried again at ${waiting.at}; expected ${due}`);
}
