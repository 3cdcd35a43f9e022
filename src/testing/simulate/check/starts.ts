import type { LiveRun } from "../../../contract/mod.ts";
import type { Books } from "./balance.ts";
import { jitterOf } from "./policies.ts";
import { owedPoints, type Transition } from "./transition.ts";
import type { Report } from "./types.ts";

/** Every run that starts is owed, its time has come, and its point starts once (T1, T8). */
export function checkStarts(transition: Transition, books: Books, report: Report): void {
  const { before, after, started, retimed } = transition;
  if (retimed) {
    books.outdated = after.fence;
    // A one-shot has no points.
    if (transition.oldPoints === undefined) books.superseded = after.fence;
    books.begun.clear();
    books.mark = -Infinity;
  }
  for (const run of started) {
    const wrong = wrongWith(transition, run, books);
    if (wrong !== undefined) report(wrong[0], `run ${run.fence} for ${run.point}, attempt ${run.attempt}: ${wrong[1]}`);
  }
  if (before.retired !== undefined && started.length > 0) report("L3", "a retired schedule started a run");
  const paused = before.pausedAt !== undefined && after.pausedAt !== undefined;
  const untriggered = started.find(({ point }) => !books.triggers.has(point));
  if (paused && untriggered !== undefined) report("L5", `started ${untriggered.point} while it is paused`);
}

type Wrong = readonly [rule: string, what: string];

function wrongWith(transition: Transition, run: LiveRun, books: Books): Wrong | undefined {
  const { entry, before, released, gone, points } = transition;
  const waited = before.waiting.find(({ point, attempt }) => point === run.point && attempt === run.attempt);
  if (waited !== undefined) {
    if (waited.at > entry.now) return ["T1", `started ${waited.at - entry.now} ms before its time`];
    if (waited.cause === "retry" || waited.cause === "rerun") return undefined;
    return begins(run, books);
  }
  if (gone.some(({ point, attempt }) => point === run.point && attempt < run.attempt)) return undefined;
  if (released.some(({ point }) => point === run.point)) return undefined;
  if (run.attempt > 1) return ["F4", "no run of that point has ended"];
  const isArmed = before.next?.point === run.point;
  if (isArmed && before.next!.at > entry.now) {
    return ["T1", `started ${before.next!.at - entry.now} ms before its deadline`];
  }
  const early = run.point - jitterOf(transition.definition).earlier - entry.now;
  if (!isArmed && early > 0) return ["T1", `started ${early} ms before its deadline`];
  const isOwed = isArmed || owedPoints(before, points).includes(run.point) || books.triggers.has(run.point) ||
    books.agains.has(run.point) ||
    points?.next(run.point - 1) === run.point;
  return isOwed ? begins(run, books) : ["T2", "no point of its cadence, and nobody asked for it"];
}

function begins({ point }: LiveRun, books: Books): Wrong | undefined {
  // Triggers may fall on one instant, or on a point.
  if (books.begun.has(point) && !books.triggers.has(point) && !books.agains.has(point)) {
    return ["T8", "that point has had its run"];
  }
  books.begun.add(point);
  return undefined;
}
