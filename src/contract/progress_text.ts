import { RESTING_PROGRESS, type RunOutcome, type ScheduleProgress, type StoredRun } from "./progress.ts";

/** Outcomes by the numbers that stand for them in a packed history. */
const OUTCOMES: readonly RunOutcome[] = ["succeeded", "faulted", "timeout", "aborted", "replaced", "lost"];

/**
 * A history as it is stored, a third of the size that its entries have as JSON: instances are named once, times count
 * from the point, outcomes are numbers.
 */
interface PackedHistory {
  readonly instances: readonly string[];
  readonly runs: readonly PackedRun[];
}

type PackedRun = readonly [
  fence: number,
  point: number,
  startedAfterPoint: number,
  endedAfterStart: number,
  attempt: number,
  outcome: number,
  instance: number,
  fault?: string,
];

/**
 * Progress as the text that a driver stores: JSON without what is at rest, and with the history packed. Written out,
 * since it is done for every write.
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
    history: progress.history.length === 0 ? undefined : packed(progress.history),
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
  const { history } = fields as { readonly history?: unknown };
  const rest = { ...RESTING_PROGRESS, ...fields };
  return history === undefined ? rest : { ...rest, history: isPacked(history) ? unpacked(history) : history };
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function packed(history: readonly StoredRun[]): PackedHistory {
  const instances: string[] = [];
  const runs = history.map(([fence, point, startedAt, endedAt, attempt, outcome, instance, fault]): PackedRun => {
    let index = instances.lastIndexOf(instance);
    if (index === -1) index = instances.push(instance) - 1;
    const run = [
      fence,
      point,
      startedAt - point,
      endedAt - startedAt,
      attempt,
      OUTCOMES.indexOf(outcome),
      index,
    ] as const;
    return fault === undefined ? run : [...run, fault];
  });
  return { instances, runs };
}

function isPacked(history: unknown): history is PackedHistory {
  const { instances, runs } = (history ?? {}) as { readonly instances?: unknown; readonly runs?: unknown };
  return Array.isArray(instances) && Array.isArray(runs) && runs.every(Array.isArray);
}

function unpacked({ instances, runs }: PackedHistory): readonly StoredRun[] {
  return runs.map(([fence, point, started, ended, attempt, outcome, instance, fault]) => {
    const startedAt = point + started;
    const run = [
      fence,
      point,
      startedAt,
      startedAt + ended,
      attempt,
      OUTCOMES[outcome]!,
      instances[instance]!,
    ] as const;
    return fault === undefined ? run : [...run, fault];
  });
}
