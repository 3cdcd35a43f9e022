import type { ScheduleDefinition } from "./definition.ts";
import type { ScheduleProgress } from "./progress.ts";

/** Everything about one schedule. Documents are values: they are replaced, never changed. */
export interface ScheduleDocument {
  /** A ULID. */
  readonly id: string;
  /** Kept by identity while unchanged, so that a driver need not write it again. */
  readonly definition: ScheduleDefinition;
  /** Where it stands. */
  readonly progress: ScheduleProgress;
  /**
   * Why the document cannot be used: it was damaged in the store. It waits, untouched, until it is updated or stopped.
   */
  readonly parked?: string;
}

/** What a driver indexes of a document. */
export interface DocumentIndex {
  /** Whose turn it is: the task's name; `""` once retired, so that any instance removes it; `null` when parked. */
  readonly lane: string | null;
  /** When it has to be looked at; what `advance` finds it by, with its lane. `null` when parked, or never. */
  readonly wakeAt: number | null;
  /** What {@linkcode nextRunOf} answers; what `dueBefore` is compared with. */
  readonly nextRun: number | null;
  /** The task's name, also once retired. */
  readonly task: string;
  /** The owner's id. */
  readonly owner: string;
  /** Unique with `owner` among live documents; `null` once retired, so that it is free again. */
  readonly name: string | null;
  /** Unique with `owner` among live documents; `null` once retired, so that it is free again. */
  readonly key: string | null;
  /** The declared set. */
  readonly group: string | null;
  /** What it is about. */
  readonly target: string | null;
  /** Words to list by; empty when it has none. */
  readonly tags: readonly string[];
  /** Whether it has not retired. */
  readonly live: boolean;
  /** Whether an instance holds a run of it. */
  readonly running: boolean;
}

/**
 * The next instant at which a schedule is to start a run: its armed deadline, or a retry before that; `null` when none
 * is, while it is paused, and once it has retired.
 */
export function nextRunOf({ progress }: ScheduleDocument): number | null {
  if (progress.retired !== undefined || progress.pausedAt !== undefined) return null;
  if (progress.waiting.length === 0) return progress.next === null ? null : progress.next.at;
  const times = progress.waiting.filter(({ cause }) => cause === "retry").map(({ at }) => at);
  if (progress.next !== null) times.push(progress.next.at);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Whether anything has to happen to a document by an instant, which to one that is parked nothing has; a driver's index may
 * say so of one whose text was edited by hand.
 */
export function isDue({ progress, parked }: ScheduleDocument, now: number): boolean {
  return parked === undefined && progress.wakeAt !== null && progress.wakeAt <= now;
}

/** Works out what a driver indexes of a document; pure. */
export function documentIndex(document: ScheduleDocument): DocumentIndex {
  const { definition, progress } = document;
  const live = progress.retired === undefined;
  const parked = document.parked !== undefined;
  return {
    lane: parked ? null : live ? definition.task : "",
    wakeAt: parked ? null : progress.wakeAt,
    nextRun: nextRunOf(document),
    task: definition.task,
    owner: definition.owner,
    name: live ? definition.name ?? null : null,
    key: live ? definition.key ?? null : null,
    group: definition.group ?? null,
    target: definition.target ?? null,
    tags: definition.tags ?? [],
    live,
    running: progress.runs.length > 0,
  };
}
