import type { WaitingCause } from "../../../contract/mod.ts";
import { caughtUp, jitterOf, overlapOf } from "./policies.ts";
import type { Points } from "./points.ts";
import { followUp, owedCount, owedPoints, type Transition } from "./transition.ts";
import type { Report } from "./types.ts";

/** What is written down of a schedule from one commit to the next. */
export interface Books {
  /** Every point up to here is accounted for. */
  mark: number;
  /** Points that have had a run. */
  readonly begun: Set<number>;
  /** Instants at which somebody asked for a run. */
  readonly triggers: Set<number>;
  /** Deadlines that handlers asked for with `again`. */
  readonly agains: Set<number>;
  /** The last run that began before the schedule was given another time. */
  outdated: number;
  /** The same while it was a one-shot: that run's deadline gave way to another. */
  superseded: number;
  /** The stable offset of jitter with a spread. */
  spread?: { readonly of: number; readonly offset: number };
}

/**
 * Every point is accounted for exactly once: what came and what was owed before is what started, what is owed after,
 * and what was counted as missed or overlapped.
 */
export function checkBalance(transition: Transition, books: Books, report: Report): void {
  const { points, updated } = transition;
  if (isTrigger(transition)) books.triggers.add(transition.entry.now);
  if (updated) {
    checkUpdate(transition, report);
    return moveMark(transition, books);
  }
  const arrived = isLenient(transition)
    ? undefined
    : points === undefined
    ? arrivedOnce(transition)
    : arrivedPoints(transition, points, books, report);
  moveMark(transition, books);
  if (arrived === undefined) return;
  balance(transition, arrived, books, report);
  if (Array.isArray(arrived) && arrived.length > 0) checkPolicy(transition, arrived, report);
}

/** An update that leaves the time as it is leaves alone what is owed; a new time forgets the old one's (N2, L5). */
function checkUpdate(transition: Transition, report: Report): void {
  const { before, after, retimed, points } = transition;
  if (retimed) return checkWriteOff(transition, report);
  if (after.retired !== undefined || isSpent(transition)) return;
  if (JSON.stringify(before.waiting) !== JSON.stringify(after.waiting)) report("L5", "an update changed what is owed");
  const { next } = after;
  const stays = before.next === null || before.next.point === next?.point || points === undefined;
  if (!stays && next !== null) report("N2", `an update moved it from ${before.next!.point} to ${next.point}`);
}

/** What a new time forgets of the old one's is counted (C4, O2). */
function checkWriteOff({ entry, before, after, oldPoints, started, gone }: Transition, report: Report): void {
  if (oldPoints === undefined || started.length > 0 || gone.length > 0) return;
  const begun: readonly WaitingCause[] = ["retry", "rerun", "triggered"];
  const owed = { ...before, waiting: before.waiting.filter(({ cause }) => !begun.includes(cause)) };
  const forgotten = owedCount(owed, oldPoints);
  const counted = after.missedCount - before.missedCount + after.overlapCount - before.overlapCount;
  const { next, pausedAt } = before;
  const hasCome = next !== null && next.again !== true && next.at <= entry.now && pausedAt === undefined;
  const came = hasCome ? oldPoints.between(next.point - 1, Math.max(next.point, entry.now)).length : 0;
  // Deadlines that jitter has moved to later have not come yet.
  if (counted >= forgotten + Math.min(1, came) && counted <= forgotten + came) return;
  report("C4", `a new time forgot ${forgotten} starts and ${came} points that had come; counted are ${counted}`);
}

/** Everything up to what is armed is accounted for. */
function moveMark({ after, points }: Transition, books: Books): void {
  if (points === undefined) return;
  books.mark = after.next === null || after.next.again === true
    ? Math.max(books.mark, after.cursor ?? -Infinity)
    : after.next.point - 1;
}

/** Where what ends takes with it what is owed, nothing is left to balance: it retired, or has fired as often as it may. */
function isLenient(transition: Transition): boolean {
  const { before, after } = transition;
  if (after.retired !== undefined || (after.stopping === true && before.stopping !== true)) return true;
  return isSpent(transition);
}

/** Whether it has fired as often as it may (T9). */
export function isSpent({ after, definition: { spec } }: Pick<Transition, "after" | "definition">): boolean {
  return spec.kind !== "at" && spec.maxRuns !== undefined && after.firings >= spec.maxRuns;
}

/** A one-shot's deadline, which is no point of anything; `undefined` where `again` took its place. */
function arrivedOnce({ before, after }: Transition): number | undefined {
  if (after.next?.again === true && before.next !== null && before.next.at !== after.next.at) return undefined;
  return before.next !== null && JSON.stringify(before.next) !== JSON.stringify(after.next) ? 1 : 0;
}

/** The points of the cadence that a commit has to account for; `undefined` where the trace cannot tell. */
function arrivedPoints(
  { before, after, entry, definition }: Transition,
  points: Points,
  books: Books,
  report: Report,
): readonly number[] | undefined {
  const { earlier, later } = jitterOf(definition);
  if (before.next === null && after.next === null) return [];
  if (before.next?.again === true && after.next?.again === true && before.next.at !== after.next.at) return undefined;
  const end = after.next === null
    ? Infinity
    : after.next.again === true
    ? Math.max(books.mark, after.cursor ?? -Infinity)
    : after.next.point - 1;
  if (end === Infinity && (definition.spec as { readonly endAt?: number }).endAt === undefined) return undefined;
  const again = before.next?.again === true && after.next?.again !== true ? before.next.at : -Infinity;
  const arrived = points.between(Math.max(books.mark, again), end);
  const { pausedAt } = before;
  // Going on drops what the pause has held, and so does the end of the cadence.
  if (pausedAt !== undefined && (after.pausedAt === undefined || after.next === null)) {
    const wrong = arrived.find((point) => point < pausedAt - later || point > entry.now + earlier);
    if (wrong !== undefined) report("L5", `the pause from ${pausedAt} to ${entry.now} swallowed ${wrong}`);
    return [];
  }
  const early = arrived.find((point) => point - earlier > entry.now);
  if (early !== undefined) report("T2", `${early} was passed over at ${entry.now}, before it had come`);
  return arrived;
}

/** Whether a commit is somebody's `trigger`: a start at once beside the cadence, or its refusal by overlap. */
function isTrigger({ entry, before, after, started, gone, updated }: Transition): boolean {
  if (entry.by !== "apply" || updated || started.length > 0 || gone.length > 0) return false;
  if (JSON.stringify(before.next) !== JSON.stringify(after.next) || after.pausedAt !== before.pausedAt) return false;
  const added = after.waiting.some(({ point, attempt }) => point === entry.now && attempt === 1) &&
    JSON.stringify(after.waiting) !== JSON.stringify(before.waiting);
  return added || (after.overlapCount > before.overlapCount && after.missedCount === before.missedCount);
}

function balance(transition: Transition, arrived: number | readonly number[], books: Books, report: Report): void {
  const { before, after, points, started, gone, definition } = transition;
  const fromAgain = points !== undefined && before.next?.again === true && before.next.at !== after.next?.at ? 1 : 0;
  const followUps = gone.filter((run) => followUp(transition, run) !== undefined).length;
  const came = (typeof arrived === "number" ? arrived : arrived.length) + fromAgain + followUps +
    (isTrigger(transition) ? 1 : 0);
  const replaced =
    after.runs.filter(({ fence, abort }) =>
      abort === "replaced" && before.runs.find((run) => run.fence === fence)?.abort !== "replaced"
    ).length;
  const missed = after.missedCount - before.missedCount;
  const overlapped = after.overlapCount - before.overlapCount - replaced;
  const due = owedCount(before, points) + came;
  const accounted = started.length + owedCount(after, points) + missed + overlapped;
  // A run that overlap wants replaced may end in the same commit, and is counted all the same.
  const slack = overlapOf(definition).policy === "replace" ? gone.length : 0;
  if (accounted < due || accounted > due + slack) {
    report(
      "C2",
      `${due} were due after ${books.mark} (${came} of them came); accounted for are ${accounted}: ${started.length} ` +
        `started, ${owedCount(after, points)} owed, ${missed} missed, ${overlapped} overlapped`,
    );
  }
}

/** What catchup and overlap make of points that have come, where nothing else is in play. */
function checkPolicy(transition: Transition, arrived: readonly number[], report: Report): void {
  const { entry, before, after, points, definition, started, gone } = transition;
  if (entry.by !== "advance" || jitterOf(definition).later > 0 || gone.length > 0) return;
  if (before.next?.again === true) return;
  const before1 = new Set(owedPoints(before, points));
  const firsts = started.filter(({ attempt }) => attempt === 1).map(({ point }) => point);
  const owed = [...owedPoints(after, points), ...firsts].filter((point) => !before1.has(point)).sort((a, b) => a - b);
  const missed = after.missedCount - before.missedCount;
  if (before.runs.length === 0) {
    const expected = caughtUp(definition, points!, arrived, entry.now);
    if (missed !== expected.missed || JSON.stringify(owed) !== JSON.stringify(expected.run)) {
      report(
        "C1",
        `of ${arrived.join(", ")} at ${entry.now} catchup runs ${owed.join(", ")} and misses ${missed}; expected ` +
          `${expected.run.join(", ")} and ${expected.missed}`,
      );
    }
    return;
  }
  const { policy, waiting } = overlapOf(definition);
  if (policy === "skip" && (owed.length > 0 || missed > 0)) {
    report("O1", `of ${arrived.join(", ")}, come during a run, ${owed.join(", ")} are owed and ${missed} missed`);
  }
  const queued = after.waiting.filter(({ cause }) => cause === "queued").length;
  if (policy === "queue" && queued > Math.max(waiting, before.waiting.length)) {
    report("O2", `${queued} points wait; its limit is ${waiting}`);
  }
}
