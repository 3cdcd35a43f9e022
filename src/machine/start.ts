import { type LiveRun, MAX_CONCURRENT_RUNS, type WaitingRun } from "../contract/mod.ts";
import { isSpent } from "./arm.ts";
import { armed, decided, type Draft, draftCadence, setBacklog, setWaiting } from "./draft.ts";
import { overlapAnswer } from "./overlap.ts";
import type { Claim } from "./types.ts";

/** Later than this, a start is told as late to whoever asks why. */
const LATE_MS = 1_000;

/** Starts what is owed and may start now. */
export function startReady(draft: Draft, claim: Claim): void {
  for (let started = 0; started < MAX_CONCURRENT_RUNS && mayStart(draft); started++) {
    const owed = takeOwed(draft);
    if (owed === undefined) return;
    start(draft, claim, owed);
  }
}

/** Whether another run may start: none is executing, or the policy starts runs beside one another. */
export function mayStart(draft: Draft): boolean {
  const running = draft.progress.runs.length;
  return running === 0 || (running < MAX_CONCURRENT_RUNS && overlapAnswer(draft, running) === "start");
}

/** When the earliest start that is owed may begin; `undefined` when none is. */
export function owedAt(draft: Draft): number | undefined {
  const { waiting, backlog, runs, pausedAt } = draft.progress;
  const times = waiting.filter((entry) => pausedAt === undefined || entry.cause === "triggered").map(({ at }) => at);
  if (backlog !== undefined && pausedAt === undefined && runs.length === 0) times.push(draft.now);
  return times.length === 0 ? undefined : Math.min(...times);
}

function takeOwed(draft: Draft): WaitingRun | undefined {
  const { waiting, pausedAt } = draft.progress;
  const found = waiting.find(({ at, cause }) => at <= draft.now && (pausedAt === undefined || cause === "triggered"));
  if (found === undefined) return takeBacklog(draft);
  setWaiting(draft, waiting.filter((entry) => entry !== found));
  return found;
}

/** The oldest point that catchup `all` owes; one after another, so only when nothing is executing. */
function takeBacklog(draft: Draft): WaitingRun | undefined {
  const { backlog, pausedAt, runs } = draft.progress;
  if (backlog === undefined || pausedAt !== undefined || runs.length > 0) return undefined;
  const [{ next: point, last }, ...rest] = backlog as readonly [{ next: number; last: number }];
  const following = draftCadence(draft)?.next(point) ?? null;
  setBacklog(draft, following === null || following > last ? rest : [{ next: following, last }, ...rest]);
  return { point, at: point, attempt: 1, missed: 0, cause: "catchup" };
}

function start(draft: Draft, claim: Claim, { point, at, attempt, missed, cause, losses }: WaitingRun): void {
  const { progress, now } = draft;
  const run: LiveRun = {
    fence: ++progress.fence,
    point,
    attempt,
    missed,
    instance: claim.instance,
    leaseUntil: now + claim.leaseMs,
    claimedAt: now,
    ...(progress.lastRun === undefined ? {} : { previousStart: progress.lastRun }),
    ...(losses === undefined ? {} : { losses }),
  };
  progress.runs = [...progress.runs, run];
  progress.runCount++;
  progress.lastRun = now;
  const lateMs = Math.max(0, now - at);
  decided(draft, cause === "triggered" || cause === "retry" ? cause : lateMs > LATE_MS ? "late" : "ran", point);
  draft.effects.push({ type: "start", run, lateMs });
  if (cause !== "queued" && cause !== "catchup" && cause !== "replacing") return;
  progress.firings++;
  if (isSpent(draft)) spend(draft);
}

/** Nothing of the cadence follows the last run (T9). */
function spend(draft: Draft): void {
  armed(draft, null);
  setBacklog(draft, []);
  setWaiting(
    draft,
    draft.progress.waiting.filter(({ cause }) => cause === "retry" || cause === "rerun" || cause === "triggered"),
  );
}
