import type { LiveRun, ScheduleDefinition, StoredSpec, WaitingRun } from "../../../contract/mod.ts";
import type { CommitEntry, DocumentView, EndedRun } from "../trace.ts";
import type { Points } from "./points.ts";

/** One commit to a document that was there before and is there after, with what follows from the two alone. */
export interface Transition {
  readonly entry: CommitEntry;
  readonly before: DocumentView;
  readonly after: DocumentView;
  /** As it is after. */
  readonly definition: ScheduleDefinition;
  /** As they are after; `undefined` for a one-shot. */
  readonly points: Points | undefined;
  /** Whether its owner changed it, and whether that changed its time. */
  readonly updated: boolean;
  readonly retimed: boolean;
  /** Its points before, where its time was changed. */
  readonly oldPoints: Points | undefined;
  /** Runs that it started. */
  readonly started: readonly LiveRun[];
  /** Runs that were live before and are not after. */
  readonly gone: readonly LiveRun[];
  readonly lost: readonly EndedRun[];
  readonly settled: readonly EndedRun[];
  /** Runs that are gone, and that no history tells of or tells so of: given back by a closing instance. */
  readonly released: readonly LiveRun[];
}

/** Works out what a commit did. */
export function transitionOf(
  entry: CommitEntry,
  [before, after]: readonly [DocumentView, DocumentView],
  [old, definition]: readonly [ScheduleDefinition, ScheduleDefinition],
  [oldPoints, points]: readonly [Points | undefined, Points | undefined],
): Transition {
  const gone = before.runs.filter(({ fence }) => !after.runs.some((run) => run.fence === fence));
  return {
    entry,
    before,
    after,
    definition,
    points,
    updated: entry.definition !== undefined,
    retimed: timing(old.spec) !== timing(definition.spec),
    oldPoints,
    started: after.runs.filter(({ fence }) => fence > before.fence),
    gone,
    lost: entry.ended.filter(({ outcome }) => outcome === "lost"),
    settled: entry.ended.filter(({ outcome }) => outcome !== "lost" && outcome !== "released"),
    released: gone.filter(({ fence }) => !entry.ended.some((run) => run.fence === fence && run.outcome !== "released")),
  };
}

/** What changes when a schedule's time does: bounds that only end it are none of it. */
function timing(spec: StoredSpec): string {
  switch (spec.kind) {
    case "at":
      return `at ${spec.at}`;
    case "every":
      return `every ${spec.every} from ${spec.startAt}`;
    case "cron":
      return `cron ${spec.cron} in ${spec.timezone} from ${spec.startAt}`;
  }
}

/** The points that are owed by name: waiting at their first attempt, or lined up behind others. */
export function owedPoints({ waiting, backlog = [] }: DocumentView, points: Points | undefined): number[] {
  const firsts = waiting.filter(({ cause }) => cause !== "retry" && cause !== "rerun").map(({ point }) => point);
  return [...firsts, ...backlog.flatMap(({ next, last }) => points?.between(next - 1, last) ?? [])];
}

/** How many starts are owed in all. */
export function owedCount(view: DocumentView, points: Points | undefined): number {
  const lined = (view.backlog ?? []).reduce(
    (sum, one) => sum + (points?.between(one.next - 1, one.last).length ?? 0),
    0,
  );
  return view.waiting.length + lined;
}

/** Whether a run that is gone is to run again: a retry, a rerun. */
export function followUp({ before, after, started }: Transition, run: LiveRun): WaitingRun | LiveRun | undefined {
  const follows = (one: WaitingRun | LiveRun) =>
    one.point === run.point && (one.attempt === run.attempt + 1 || one.attempt === run.attempt);
  const known = before.waiting.filter(follows).length;
  const waiting = after.waiting.filter(follows);
  return waiting.length > known ? waiting[0] : started.find(follows);
}
