import { type CatchupBacklog, type LiveRun, MAX_CONCURRENT_RUNS, type WaitingRun } from "../contract/mod.ts";
import { isSpent, refusal } from "./arm.ts";
import { armed, decided, type Draft, draftCadence, setBacklog, setWaiting } from "./draft.ts";
import { overlapAnswer } from "./overlap.ts";
import type { Claim } from "./types.ts";

/** Later than this, a start is told as late to whoever asks why. */
const LATE_MS = 1_000;

/** Points of the line that are refused in one step; the rest is looked at in the next. */
const MAX_TAKEN = 1_000;

/** A start that is owed; `lined` as in {@linkcode LiveRun}. */
type Owed = WaitingRun & Pick<LiveRun, "lined">;

/** Starts what is owed and may start now. */
export function startReady(draft: Draft, claim: Claim): void {
  for (let started = 0; started < MAX_CONCURRENT_RUNS && owesAny(draft) && mayStart(draft); started++) {
    const owed = takeOwed(draft);
    if (owed === undefined) return;
    start(draft, claim, owed);
  }
}

/** Whether any start is owed, now or later; asked first, since it is cheaper than what the policies say. */
function owesAny({ progress }: Draft): boolean {
  return progress.waiting.length > 0 || progress.backlog !== undefined;
}

/** Whether another run may start: none is executing, or the policy starts runs beside one another. */
export function mayStart(draft: Draft): boolean {
  const running = draft.progress.runs.length;
  return running === 0 || (running < MAX_CONCURRENT_RUNS && overlapAnswer(draft, running) === "start");
}

/** When the earliest start that is owed may begin; `undefined` when none is. */
export function owedAt(draft: Draft): number | undefined {
  if (!owesAny(draft)) return undefined;
  const { waiting, pausedAt } = draft.progress;
  const times = waiting.filter((entry) => pausedAt === undefined || entry.cause === "triggered").map(({ at }) => at);
  const [lined] = nextBacklog(draft) ?? [];
  if (lined !== undefined) times.push(Math.max(draft.now, lined.next));
  return times.length === 0 ? undefined : Math.min(...times);
}

function takeOwed(draft: Draft): Owed | undefined {
  const { waiting, pausedAt } = draft.progress;
  const found = waiting.find(({ at, cause }) => at <= draft.now && (pausedAt === undefined || cause === "triggered"));
  if (found === undefined || isPreceded(draft, found)) return takeBacklog(draft);
  setWaiting(draft, waiting.filter((entry) => entry !== found));
  return found;
}

/** Whether an older point of the line goes first (C4); what has begun already, and what somebody asked for, does not wait. */
function isPreceded(draft: Draft, { point, cause }: WaitingRun): boolean {
  return (cause === "queued" || cause === "catchup") && (nextBacklog(draft)?.[0]?.next ?? Infinity) < point;
}

/** What is lined up and may go on: one after another, so not while one of them is executing. */
function nextBacklog(draft: Draft): readonly CatchupBacklog[] | undefined {
  const { backlog, pausedAt, runs } = draft.progress;
  return pausedAt !== undefined || runs.some(({ lined }) => lined === true) ? undefined : backlog;
}

/** Takes the oldest point that is lined up and that no policy refuses. */
function takeBacklog(draft: Draft): Owed | undefined {
  for (let taken = 0; taken < MAX_TAKEN; taken++) {
    const backlog = nextBacklog(draft);
    if (backlog === undefined) return undefined;
    const [{ next: point, last }, ...rest] = backlog as readonly [CatchupBacklog];
    // Its time had come, and the clock was set back since (T1, T8).
    if (point > draft.now) return undefined;
    const following = draftCadence(draft)?.next(point) ?? null;
    setBacklog(draft, following === null || following > last ? rest : [{ next: following, last }, ...rest]);
    const skip = refusal(draft, point);
    if (skip === undefined) return { point, at: point, attempt: 1, missed: 0, cause: "catchup", lined: true };
    decided(draft, "skipped", point, 1, skip.skip);
  }
  return undefined;
}

function start(draft: Draft, claim: Claim, { point, at, attempt, missed, cause, losses, lined }: Owed): void {
  const { progress, now } = draft;
  const run: { -readonly [Key in keyof LiveRun]: LiveRun[Key] } = {
    fence: ++progress.fence,
    point,
    attempt,
    missed,
    instance: claim.instance,
    leaseUntil: now + claim.leaseMs,
    claimedAt: now,
  };
  if (progress.lastRun !== undefined) run.previousStart = progress.lastRun;
  if (losses !== undefined) run.losses = losses;
  if (lined !== undefined) run.lined = lined;
  progress.runs = [...progress.runs, run];
  progress.runCount++;
  progress.lastRun = now;
  const lateMs = Math.max(0, now - at);
  decided(draft, cause === "triggered" || cause === "retry" ? cause : lateMs > LATE_MS ? "late" : "ran", point);
  draft.effects.push({ type: "start", run, lateMs });
  if (cause === "retry" || cause === "rerun" || cause === "triggered") return;
  progress.firings++;
  if (isSpent(draft)) spend(draft);
}

/** Nothing of the cadence follows the last run (T9). */
export function spend(draft: Draft): void {
  armed(draft, null);
  setBacklog(draft, []);
  setWaiting(
    draft,
    draft.progress.waiting.filter(({ cause }) => cause === "retry" || cause === "rerun" || cause === "triggered"),
  );
}
