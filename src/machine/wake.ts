import { endOfPaused } from "./arm.ts";
import type { Draft } from "./draft.ts";
import { mayStart, owedAt } from "./start.ts";

/** The next instant at which anything has to happen to the schedule; `null` when nothing will. */
export function wakeAt(draft: Draft): number | null {
  const { progress, definition } = draft;
  const leases = progress.runs.map(({ leaseUntil }) => leaseUntil);
  if (progress.retired !== undefined) return Math.min(progress.retired.at + definition.retention, ...leases);
  const times = leases;
  if (progress.next !== null && progress.pausedAt === undefined) times.push(progress.next.at);
  const end = endOfPaused(draft);
  if (end !== undefined) times.push(end);
  const owed = owedAt(draft);
  if (owed !== undefined && mayStart(draft)) times.push(owed);
  return times.length === 0 ? null : Math.min(...times);
}
