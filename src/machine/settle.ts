import {
  type Fault,
  type LiveRun,
  MAX_DEADLINE,
  MAX_HISTORY_MESSAGE,
  MAX_WAITING,
  type SettledAnswer,
  SPREAD_LEASE,
  SPREAD_LOSSES,
} from "../contract/mod.ts";
import { isSpent } from "./arm.ts";
import { arrive } from "./arrive.ts";
import {
  armed,
  decided,
  type Draft,
  faulted,
  isOver,
  milliseconds,
  question,
  remembered,
  setWaiting,
} from "./draft.ts";
import { retire, retireIfOver, retireOutOfRange } from "./retire.ts";
import { addDuration } from "./sketch.ts";
import { startReady } from "./start.ts";
import type { Claim, Settlement } from "./types.ts";

/** A run has ended on its own instance. The fence is known to hold. */
export function settle(draft: Draft, run: LiveRun, settlement: Settlement, claim: Claim | undefined): void {
  // A point at the very instant of the end finds nothing executing any more.
  arrive(draft, Math.min(settlement.endedAt - 1, draft.now));
  const replaced = run.abort === "replaced" && settlement.outcome !== "succeeded";
  const outcome = replaced ? "replaced" : settlement.outcome;
  ended(draft, run, { ...settlement, outcome });
  if (outcome === "succeeded") succeeded(draft, run, settlement);
  else if (replaced) draft.effects.push({ type: "settled", run, settlement: { ...settlement, outcome } });
  else failed(draft, run, settlement);
  retireIfOver(draft);
  if (draft.progress.retired !== undefined || claim === undefined) return;
  arrive(draft, draft.now);
  startReady(draft, claim);
}

/** Takes the run off the live ones and into the history. */
function ended(draft: Draft, run: LiveRun, settlement: Settlement): void {
  const { progress } = draft;
  const { startedAt, endedAt, durationMs, outcome, fault } = settlement;
  progress.runs = progress.runs.filter((live) => live.fence !== run.fence);
  progress.lastDurationMs = durationMs;
  progress.settledCount++;
  progress.durationSum = Math.round((progress.durationSum + durationMs) * 1_000) / 1_000;
  progress.sketch = addDuration(progress.sketch, durationMs);
  if (progress.lastRun === run.claimedAt) progress.lastRun = Math.max(run.claimedAt, startedAt);
  const { fence, point, attempt, instance } = run;
  const past = { fence, point, startedAt, endedAt, attempt, outcome, instance };
  remembered(draft, fault === undefined ? past : { ...past, fault: shortened(fault) });
}

function succeeded(draft: Draft, run: LiveRun, settlement: Settlement): void {
  const { progress, definition, now } = draft;
  progress.consecutiveFaults = 0;
  draft.effects.push({ type: "settled", run, settlement });
  const last = settlement.retire ?? retirement(settledAnswer(draft, run, "succeeded"));
  if (last !== undefined) return retire(draft, last);
  if (settlement.againMs === undefined || !definition.adaptive || progress.stopping === true || isSpent(draft)) return;
  // What the schedule was given since the run began is newer than what the run makes of it (L5).
  if (run.retimed !== undefined) return;
  const at = now + Math.max(draft.env.tickMs, Math.round(settlement.againMs));
  if (at > MAX_DEADLINE) return retireOutOfRange(draft);
  if (definition.spec.kind !== "at" && at > (definition.spec.endAt ?? Infinity)) return;
  armed(draft, { point: at, at, again: true });
  decided(draft, "again", at);
}

function failed(draft: Draft, run: LiveRun, settlement: Settlement): void {
  const fault = settlement.fault ?? { name: "Error", message: "the run failed", at: draft.now };
  faulted(draft, fault);
  if (settlement.retire !== undefined) {
    draft.progress.consecutiveFaults++;
    draft.effects.push({ type: "settled", run, settlement });
    return retire(draft, settlement.retire);
  }
  const final = settlement.outcome === "aborted" || settlement.retry === false || isSuperseded(run);
  const answer = final ? undefined : settledAnswer(draft, run, "faulted");
  const retries = answer !== undefined && "retryAfterMs" in answer && draft.progress.stopping !== true &&
    draft.progress.waiting.length < MAX_WAITING;
  if (!retries) {
    draft.effects.push({ type: "settled", run, settlement });
    return exhausted(draft, "failed");
  }
  const { retry: said } = settlement;
  const answered = milliseconds(answer.retryAfterMs, "the delay of a retry");
  const delayMs = Math.max(answered, typeof said === "number" ? said : 0);
  const at = Math.min(draft.now + Math.round(delayMs), MAX_DEADLINE);
  const { point, missed, attempt, losses } = run;
  const retry = { point, at, attempt: attempt + 1, missed, cause: "retry" as const };
  setWaiting(draft, [...draft.progress.waiting, losses === undefined ? retry : { ...retry, losses }]);
  draft.effects.push({ type: "settled", run, settlement, retryAt: at });
}

/** A one-shot has but one deadline: that of this run gave way to another while it executed. */
function isSuperseded({ retimed }: LiveRun): boolean {
  return retimed === "at";
}

function retirement(answer: SettledAnswer | undefined): string | undefined {
  return answer !== undefined && "retire" in answer ? answer.retire : undefined;
}

function settledAnswer(draft: Draft, run: LiveRun, outcome: "succeeded" | "faulted"): SettledAnswer | undefined {
  const attempt = run.attempt - (run.losses ?? 0);
  const consecutiveFaults = outcome === "succeeded" ? 0 : draft.progress.consecutiveFaults + 1;
  const asked = { ...question(draft), outcome, attempt, consecutiveFaults };
  for (const policy of draft.env.policies) {
    const answer = policy.settled?.(asked);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** A deadline has ended in a fault: it counts towards the limit (F2), and a one-shot is over (F3). */
function exhausted(draft: Draft, reason: "failed" | "lost"): void {
  const limit = countTowardsLimit(draft, reason === "lost" ? "lost" : "faulted");
  if (limit !== undefined) retire(draft, limit);
  else if (draft.definition.spec.kind === "at" && isOver(draft.progress)) retire(draft, reason);
}

/** One more fault in a row; answers the reason to retire with if the policies say that it was the last (F2). */
function countTowardsLimit(draft: Draft, outcome: "faulted" | "lost"): string | undefined {
  const asked = question(draft);
  const consecutiveFaults = ++draft.progress.consecutiveFaults;
  for (const policy of draft.env.policies) {
    const reason = retirement(policy.settled?.({ ...asked, outcome, attempt: Infinity, consecutiveFaults }));
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** How often a deadline may be lost with its instance unless the schedule says otherwise (M3). */
export const DEFAULT_MAX_LOST = 3;

/** A run's instance is gone: the run starts again elsewhere, or counts as a fault and does not (M3). */
export function lose(draft: Draft, run: LiveRun, leaseMs: number): void {
  const { progress, definition, now } = draft;
  const fault: Fault = { name: "LeaseLost", message: `instance ${run.instance} lost the run's lease`, at: now };
  const losses = (run.losses ?? 0) + 1;
  const { point, attempt, missed } = run;
  faulted(draft, fault);
  takenAway(draft, run, "lost", fault.message);
  const rerun = definition.onLost !== "fault" && losses < (definition.maxLost ?? DEFAULT_MAX_LOST) &&
    run.abort === undefined && !isSuperseded(run) && progress.stopping !== true &&
    progress.waiting.length < MAX_WAITING;
  if (!rerun) {
    draft.effects.push({ type: "lost", run, rerun });
    return exhausted(draft, "lost");
  }
  const limit = countTowardsLimit(draft, "lost");
  draft.effects.push({ type: "lost", run, rerun: limit === undefined });
  if (limit !== undefined) return retire(draft, limit);
  // What was claimed beside a run that takes its process with it was lost as often as that: they have to part.
  const at = losses < SPREAD_LOSSES ? now : now + Math.floor(draft.env.random() * leaseMs * SPREAD_LEASE);
  setWaiting(draft, [{ point, at, attempt: attempt + 1, missed, cause: "rerun", losses }, ...progress.waiting]);
}

/** Takes a run whose end nobody told off the live ones and into the history, and says so. */
function takenAway(draft: Draft, run: LiveRun, outcome: "lost" | "released", fault?: string): void {
  const { fence, point, claimedAt: startedAt, attempt, instance } = run;
  const past = { fence, point, startedAt, endedAt: draft.now, attempt, outcome, instance };
  draft.progress.runs = draft.progress.runs.filter((live) => live.fence !== fence);
  remembered(draft, fault === undefined ? past : { ...past, fault });
  decided(draft, outcome, point);
}

/**
 * A run that its instance gives back at closing; it starts again wherever there is room (X1). It counts neither as a fault
 * nor as a loss. One whose handler was not called was never there.
 */
export function release(draft: Draft, run: LiveRun, started: boolean): void {
  const { progress, now } = draft;
  const { point, attempt, missed, losses } = run;
  if (started) takenAway(draft, run, "released");
  else progress.runs = progress.runs.filter((live) => live.fence !== run.fence);
  if (!started) {
    progress.runCount--;
    forgetStart(draft, run);
  }
  if (run.abort !== undefined || isSuperseded(run) || progress.stopping === true) return retireIfOver(draft);
  const rerun = { point, at: now, attempt: started ? attempt + 1 : attempt, missed, cause: "rerun" as const };
  setWaiting(draft, [losses === undefined ? rerun : { ...rerun, losses }, ...progress.waiting]);
}

/** A start that never was is not the latest one, nor the one before a run that was claimed after it (S1). */
function forgetStart({ progress }: Draft, { claimedAt, previousStart }: LiveRun): void {
  if (progress.lastRun === claimedAt) {
    if (previousStart === undefined) delete progress.lastRun;
    else progress.lastRun = previousStart;
  }
  progress.runs = progress.runs.map((live) => {
    if (live.previousStart !== claimedAt) return live;
    const { previousStart: _, ...rest } = live;
    return previousStart === undefined ? rest : { ...rest, previousStart };
  });
}

function shortened(fault: Fault): string {
  const text = `${fault.name}: ${fault.message}`;
  return text.length <= MAX_HISTORY_MESSAGE ? text : `${text.slice(0, MAX_HISTORY_MESSAGE - 3)}...`;
}
