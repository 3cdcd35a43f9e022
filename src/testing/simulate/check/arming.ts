import type { ArmedDeadline, ScheduleDefinition } from "../../../contract/mod.ts";
import type { CommitEntry, DocumentView } from "../trace.ts";
import { type Books, isSpent } from "./balance.ts";
import type { Points } from "./points.ts";
import { jitterOf, TICK_MS } from "./policies.ts";
import type { Transition } from "./transition.ts";
import type { Report } from "./types.ts";

/** A new schedule is armed for its first point (T1, T4). */
export function checkCreation(
  { now }: CommitEntry,
  after: DocumentView,
  definition: ScheduleDefinition,
  points: Points | undefined,
  books: Books,
  report: Report,
): void {
  const { spec } = definition;
  if (spec.kind === "every" && spec.anchor !== (spec.startAt ?? now)) {
    report("T4", `its interval counts from ${spec.anchor}; expected ${spec.startAt ?? now}`);
  }
  checkFirst(after, now, definition, points, report);
  if (after.next !== null) checkDeadline(after.next, now, definition, books, report);
  if (points !== undefined && after.next !== null) books.mark = after.next.point - 1;
}

function checkFirst(
  { next, retired }: DocumentView,
  now: number,
  { spec }: ScheduleDefinition,
  points: Points | undefined,
  report: Report,
): void {
  const first = spec.kind === "at"
    ? spec.at
    : points!.next(spec.startAt !== undefined && spec.startAt >= now ? spec.startAt - 1 : now);
  if (next?.point !== first && retired === undefined) {
    report("T4", `armed for ${next?.point}; its first point after ${now} is ${first}`);
  }
}

/** What is armed is a point of the cadence, where it should be, its deadline where jitter may move it (T2, J1). */
export function checkArming(transition: Transition, books: Books, report: Report): void {
  const { before, after, points, entry, definition, retimed, updated } = transition;
  const { next } = after;
  if (retimed && !isSpent(transition)) checkFirst(after, entry.now, definition, points, report);
  if (next === null) return;
  if (next.again === true) {
    books.agains.add(next.point);
    return checkAgain(transition, next, books, report);
  }
  const same = before.next !== null && before.next.again !== true && before.next.point === next.point;
  if (same && before.next!.at === next.at) return checkOverdue(transition, next, report);
  if (!same && !updated && points !== undefined && points.next(next.point - 1) !== next.point) {
    report("T2", `armed for ${next.point}, which is no point of its cadence`);
  }
  if (same && !updated) report("J1", `the deadline of ${next.point} was drawn again though nothing changed it`);
  checkDeadline(next, entry.now, definition, books, report);
  checkOverdue(transition, next, report);
}

/** Only a run that knows the schedule's time may ask for another one: not one that began before it was changed (L5). */
function checkAgain({ before, settled }: Transition, { at }: ArmedDeadline, books: Books, report: Report): void {
  if (before.next?.again === true && before.next.at === at) return;
  const mayAsk = settled.some(({ outcome, fence }) => outcome === "succeeded" && fence > books.outdated);
  if (!mayAsk) report("L5", `armed for ${at} by no run that began since its time was changed`);
}

/** Whoever may run a schedule accounts for everything that has come by then. */
function checkOverdue({ entry, after }: Transition, next: ArmedDeadline, report: Report): void {
  if (entry.by !== "advance" || after.pausedAt !== undefined || after.retired !== undefined) return;
  if (next.at <= entry.now) report("T3", `still armed for ${next.at} after a step at ${entry.now}`);
}

function checkDeadline(
  { point, at }: ArmedDeadline,
  now: number,
  definition: ScheduleDefinition,
  books: Books,
  report: Report,
): void {
  const { earlier, later, stable } = jitterOf(definition);
  const soonest = now + TICK_MS;
  if (at < point - earlier || at > Math.max(point + later, later === 0 ? point : soonest)) {
    report("J1", `the deadline of ${point} is ${at - point} ms off; jitter allows -${earlier} to ${later}`);
  }
  if (!stable || later === 0 || at === soonest) return;
  const offset = at - point;
  const known = books.spread;
  if (known !== undefined && known.of === later && known.offset !== offset) {
    report("J3", `its offset was ${known.offset} ms and is ${offset} ms now`);
  }
  books.spread = { of: later, offset };
}
