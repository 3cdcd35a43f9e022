import { type LiveRun, UNKNOWN_POLICY_RECHECK_MS } from "../contract/mod.ts";
import { endOfPaused } from "./arm.ts";
import { arrive } from "./arrive.ts";
import { armed, decided, type Draft, setRun } from "./draft.ts";
import { overlapAnswer } from "./overlap.ts";
import { retireIfOver } from "./retire.ts";
import { lose } from "./settle.ts";
import { startReady } from "./start.ts";
import type { Claim } from "./types.ts";

/** Everything that has to happen to a live schedule by now, on an instance that may run it. */
export function due(draft: Draft, claim: Claim): void {
  keepAlive(draft, claim);
  const lapsed = draft.progress.runs.filter((run) => isLapsed(draft, claim, run));
  if (lapsed.length > 0) {
    // Until its lease ended a lost run counts as executing: what arrived by then is overlap's business (O5).
    if (lapsed.length === draft.progress.runs.length) {
      arrive(
        draft,
        Math.max(...lapsed.map((run) => run.leaseUntil - 1)),
      );
    }
    for (const run of lapsed) if (draft.progress.retired === undefined) lose(draft, run, claim.leaseMs);
  }
  if (draft.progress.retired !== undefined) return;
  arrive(draft, draft.now);
  if ((endOfPaused(draft) ?? Infinity) <= draft.now) armed(draft, null);
  startReady(draft, claim);
  retireIfOver(draft);
}

/**
 * Lets a point that has come replace the runs in progress, where no instance has a slot free to claim it with: the run
 * that is to give way may be what takes the last one (O4).
 */
export function replaceRunning(draft: Draft): void {
  const { next, runs } = draft.progress;
  if (next === null || next.at > draft.now || unknownOption(draft) !== undefined) return;
  if (overlapAnswer(draft, runs.length) === "replace") arrive(draft, draft.now);
}

/**
 * Runs that this very instance still executes are not lost, whatever the clock says of their lease, and a lease of
 * somebody else that only a jump of the clock has ended lasts once more (T8).
 */
function keepAlive(draft: Draft, claim: Claim): void {
  for (const run of draft.progress.runs) {
    if (run.leaseUntil > draft.now || isLapsed(draft, claim, run)) continue;
    setRun(draft, { ...run, leaseUntil: draft.now + claim.leaseMs });
  }
}

function isOwn(draft: Draft, claim: Claim, run: LiveRun): boolean {
  return run.instance === claim.instance && draft.before !== undefined && claim.holds(draft.before, run.fence);
}

function isLapsed(draft: Draft, claim: Claim, run: LiveRun): boolean {
  return run.leaseUntil + claim.patienceMs <= draft.now && !isOwn(draft, claim, run);
}

/** An option key of the schedule that no plugin of this instance owns. */
export function unknownOption(draft: Draft): string | undefined {
  for (const key in draft.definition.options) if (!draft.env.optionKeys.has(key)) return key;
  return undefined;
}

/** Leaves a schedule to instances that know its options; tells so once. */
export function waitForPolicy(draft: Draft, option: string): void {
  const told = draft.progress.decisions.at(-1);
  if (told?.[0] !== "unknown_policy" || told[4] !== option) draft.effects.push({ type: "unknownPolicy", option });
  decided(draft, "unknown_policy", undefined, 1, option);
  draft.progress.wakeAt = draft.now + UNKNOWN_POLICY_RECHECK_MS;
}
