import { RESTING_PROGRESS, type ScheduleProgress } from "./progress.ts";

/**
 * Progress as the text that a driver stores: JSON without what is at rest. Written out, since it is done for
 * every write.
 */
export function writeProgress(progress: ScheduleProgress): string {
  return JSON.stringify({
    ...progress,
    wakeAt: progress.wakeAt ?? undefined,
    next: progress.next ?? undefined,
    runs: filled(progress.runs),
    waiting: filled(progress.waiting),
    fence: progress.fence || undefined,
    firings: progress.firings || undefined,
    runCount: progress.runCount || undefined,
    faultCount: progress.faultCount || undefined,
    consecutiveFaults: progress.consecutiveFaults || undefined,
    missedCount: progress.missedCount || undefined,
    overlapCount: progress.overlapCount || undefined,
    settledCount: progress.settledCount || undefined,
    durationSum: progress.durationSum || undefined,
    history: progress.history || undefined,
    decisions: filled(progress.decisions),
  });
}

/**
 * What {@linkcode writeProgress} wrote, for `checkDocument` to look at: text that came back from a store may hold
 * anything.
 *
 * @throws {SyntaxError} for text that is no JSON.
 */
export function readProgress(text: string): unknown {
  const fields: unknown = JSON.parse(text);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return fields;
  return { ...RESTING_PROGRESS, ...fields };
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
