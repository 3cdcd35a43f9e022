import { MAX_WAITING, type OverlapAnswer, type WaitingCause, type WaitingRun } from "../contract/mod.ts";
import { decided, type Draft, question, setRun, setWaiting } from "./draft.ts";

const HOLDING: ReadonlySet<WaitingCause> = new Set(["queued", "catchup", "triggered", "replacing"]);

/** What the policies say of a point that arrives while `running` runs execute and some starts wait. */
export function overlapAnswer(draft: Draft, running: number): OverlapAnswer {
  const queued = draft.progress.waiting.filter(({ cause }) => HOLDING.has(cause)).length;
  for (const policy of draft.env.policies) {
    const answer = policy.overlap?.({ ...question(draft), running, queued });
    if (answer !== undefined) return answer;
  }
  return "drop";
}

/**
 * Points that arrive during a run, oldest first; `points` holds the first of them, `count` says how many there are up
 * to `last`. Answers how many of them will run.
 */
export function overlap(
  draft: Draft,
  points: readonly { readonly point: number; readonly at: number }[],
  count: number,
  last: number,
  cause: WaitingCause = "queued",
): number {
  const detail = triggerDetail(cause);
  let kept = 0;
  let running = Math.max(1, draft.progress.runs.length);
  for (const { point, at } of points) {
    const answer = overlapAnswer(draft, running);
    if (answer === "replace") {
      // What somebody asked for counts as no deadline, and a pause does not hold it, whatever it replaces (L5, T9).
      const replacing = cause === "triggered" ? cause : "replacing";
      replaceBy(draft, { point, at, attempt: 1, missed: 0, cause: replacing });
    } else if (answer === "drop" || draft.progress.waiting.length >= MAX_WAITING) break;
    else setWaiting(draft, [...draft.progress.waiting, { point, at, attempt: 1, missed: 0, cause }]);
    if (answer === "queue") decided(draft, "queued", point, 1, detail);
    if (answer === "start") running++;
    kept++;
  }
  if (kept < count) overlapped(draft, count - kept, last, detail);
  return kept;
}

/** The word more of a decision on a start that somebody asked for, which is no point of the cadence. */
function triggerDetail(cause: WaitingCause): "triggered" | undefined {
  return cause === "triggered" ? cause : undefined;
}

/** The running ones are aborted and counted as overlapped; the new one starts once they have ended (O4). */
function replaceBy(draft: Draft, next: WaitingRun): void {
  const { waiting, runs } = draft.progress;
  const superseded = waiting.find(({ cause }) => cause === "replacing" || cause === "triggered");
  if (superseded !== undefined) overlapped(draft, 1, superseded.point, triggerDetail(superseded.cause));
  setWaiting(draft, [...waiting.filter((entry) => entry !== superseded), next]);
  for (const run of runs) {
    if (run.abort !== undefined) continue;
    setRun(draft, { ...run, abort: "replaced" });
    draft.effects.push({ type: "abort", fence: run.fence, instance: run.instance, cause: "replaced" });
    draft.progress.overlapCount++;
    decided(draft, "replaced", run.point);
    draft.effects.push({ type: "overlapped", count: 1, point: run.point });
  }
}

/** Counts points that were dropped, the newest of which is `point`. */
export function overlapped(draft: Draft, count: number, point: number, detail?: string): void {
  draft.progress.overlapCount += count;
  decided(draft, "overlapped", point, count, detail);
  draft.effects.push({ type: "overlapped", count, point });
}
