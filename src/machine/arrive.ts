import type { Cadence } from "../calendar/mod.ts";
import {
  type CatchupBacklog,
  MAX_DEFAULT_GRACE_MS,
  MAX_WAITING,
  type MissedAnswer,
  type WaitingRun,
} from "../contract/mod.ts";
import { arm, newestAdmitted, refusal } from "./arm.ts";
import {
  armed,
  decided,
  type Draft,
  draftCadence,
  gapTo,
  milliseconds,
  question,
  setBacklog,
  setWaiting,
} from "./draft.ts";
import { overlap, overlapAnswer, overlapped } from "./overlap.ts";

/** The word more of a decision on points that were owed when the schedule was given another time. */
export const RETIMED = "retimed";

/** The longest list of separate stretches that catchup `all` may owe; the oldest is given up beyond it. */
const MAX_STRETCHES = 8;

/**
 * Accounts for every point whose deadline has come by an instant: each becomes a start that is owed, or is counted as
 * missed or overlapped; then the next one is armed. Constant time and memory in the number of points (C7).
 */
export function arrive(draft: Draft, upTo: number): void {
  const { progress } = draft;
  while (progress.next !== null && progress.next.at <= upTo && progress.pausedAt === undefined) {
    const { point, at, again } = progress.next;
    const cadence = draftCadence(draft);
    if (cadence === null || again === true) {
      arriveOne(draft, point, at);
      if (cadence === null) armed(draft, null);
      else arm(draft, at);
    } else arriveAll(draft, cadence, point, at, upTo);
  }
}

/** A deadline outside any cadence: overdue, it fires once, under every policy (C5). */
function arriveOne(draft: Draft, point: number, at: number): void {
  const running = draft.progress.runs.length;
  // A one-shot waits for the run in progress: no later point would make up for a dropped one (T1).
  const waits = draft.definition.spec.kind === "at" && running > 0 && overlapAnswer(draft, running) === "drop";
  if (running === 0 || waits) owe(draft, point, at, 0);
  else overlap(draft, [{ point, at }], 1, point);
}

function arriveAll(draft: Draft, cadence: Cadence, first: number, at: number, upTo: number): void {
  if (refusal(draft, first) !== undefined) return arm(draft, first - 1);
  const { runs } = draft.progress;
  const span = longestSpan(draft);
  const passed = newestPassed(cadence, first, upTo - span);
  const last = newestAdmitted(draft, cadence, first, passed);
  if (last < passed) decided(draft, "skipped", passed, cadence.count(last, passed));
  draft.progress.cursor = passed;
  if (runs.length > 0 && overlapAnswer(draft, runs.length) !== "start") overlapAll(draft, cadence, first, at, last);
  else catchUp(draft, cadence, { first, at, last, upTo, span });
  arm(draft, passed);
}

/** The newest point of a stretch whose deadline has come by an instant, wherever the policies moved it; the first has. */
function newestPassed(cadence: Cadence, first: number, upTo: number): number {
  return Math.max(first, cadence.previous(upTo) ?? first);
}

/** How far the policies may move a deadline to later. */
function longestSpan(draft: Draft): number {
  let longest = 0;
  for (const policy of draft.env.policies) {
    longest = Math.max(longest, milliseconds(policy.span?.(question(draft)) ?? 0, "a span"));
  }
  return longest;
}

function overlapAll(draft: Draft, cadence: Cadence, first: number, at: number, last: number): void {
  const count = cadence.count(first - 1, last);
  if (overlapAnswer(draft, draft.progress.runs.length) === "replace") {
    // Each takes the place of the one before it, so only the newest is left to start (O4).
    overlap(draft, [{ point: last, at: last === first ? at : last }], 1, last);
    if (count > 1) overlapped(draft, count - 1, cadence.previous(last - 1) ?? first);
    return;
  }
  const points = [{ point: first, at }];
  while (points.length < Math.min(count, MAX_WAITING)) {
    const point = cadence.next(points.at(-1)!.point)!;
    points.push({ point, at: point });
  }
  overlap(draft, points, count, last);
}

interface Stretch {
  readonly first: number;
  /** When `first` was due. */
  readonly at: number;
  readonly last: number;
  readonly upTo: number;
  /** How far policies may have moved the deadlines of the other points to later. */
  readonly span: number;
}

/**
 * Points that passed with nothing running: beyond the grace they are missed; those within it are ordinary, and where
 * the grace is longer than the gap between them each has its run, one after another (C1).
 */
function catchUp(draft: Draft, cadence: Cadence, stretch: Stretch): void {
  const { first, at, last } = stretch;
  const ordinary = firstOrdinary(draft, cadence, stretch);
  const newest = ordinary === undefined ? last : cadence.previous(ordinary - 1) ?? first;
  const count = ordinary === first ? 0 : cadence.count(first - 1, newest);
  const answer: MissedAnswer = count === 0 ? { run: "none" } : missedAnswer(draft, count, first, newest);
  if (answer.run === "each") return catchUpEach(draft, cadence, answer, { first, count, newest, last });
  const folds = answer.run === "newest";
  const dropped = folds && ordinary === undefined ? count - 1 : count;
  if (dropped > 0) missed(draft, dropped, first, dropped === count ? newest : cadence.previous(newest - 1) ?? first);
  if (folds && ordinary === undefined) owe(draft, newest, newest === first ? at : newest, dropped);
  if (ordinary === undefined) return;
  owe(draft, ordinary, ordinary === first ? at : ordinary, folds ? dropped : 0);
  lineUp(draft, cadence, cadence.next(ordinary), last);
}

/** The first point that is not more than the grace late. */
function firstOrdinary(draft: Draft, cadence: Cadence, stretch: Stretch): number | undefined {
  const { first, at, last, upTo, span } = stretch;
  const given = graceAnswer(draft);
  // The last point before `endAt` or of `maxRuns` is no later for being the last.
  const grace = (point: number) => given ?? Math.min(MAX_DEFAULT_GRACE_MS, gapTo(draft, point) / 2);
  if (upTo - at <= grace(first)) return first;
  const late = upTo - span;
  if (given !== undefined) {
    const point = cadence.next(Math.max(first, late - given - 1));
    return point !== null && point <= last ? point : undefined;
  }
  return last !== first && late - last <= grace(last) ? last : undefined;
}

function graceAnswer(draft: Draft): number | undefined {
  for (const policy of draft.env.policies) {
    const grace = policy.grace?.(question(draft));
    if (grace !== undefined) return milliseconds(grace, "a grace");
  }
  return undefined;
}

function missedAnswer(draft: Draft, count: number, oldest: number, newest: number): MissedAnswer {
  for (const policy of draft.env.policies) {
    const answer = policy.missed?.({ ...question(draft), count, oldest, newest });
    if (answer !== undefined) return answer;
  }
  return { run: "newest" };
}

/** One run for each missed point, oldest first (C4); what is still within the grace follows in the same line. */
function catchUpEach(
  draft: Draft,
  cadence: Cadence,
  answer: MissedAnswer & { run: "each" },
  { first, count, newest, last }: { first: number; count: number; newest: number; last: number },
): void {
  let owed = count;
  let from = first;
  const windowMs = answer.windowMs === undefined ? Infinity : milliseconds(answer.windowMs, "a window");
  if (first < draft.now - windowMs) {
    from = cadence.next(draft.now - windowMs - 1) ?? newest + 1;
    owed = from > newest ? 0 : cadence.count(from - 1, newest);
  }
  const limit = Math.max(0, Math.trunc(milliseconds(answer.limit, "a limit")));
  if (owed > limit) {
    owed = limit;
    from = newestPoints(cadence, from, newest, owed);
  }
  if (owed < count) missed(draft, count - owed, first, owed === 0 ? newest : cadence.previous(from - 1) ?? first);
  lineUp(draft, cadence, owed === 0 ? cadence.next(newest) : from, last);
}

/** The oldest of the newest `count` points in `[oldest, newest]`, which holds at least so many. */
function newestPoints(cadence: Cadence, oldest: number, newest: number, count: number): number {
  let [low, high] = [oldest, newest];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (cadence.count(middle - 1, newest) >= count) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Lets every point in `[from, last]` have its run, one after another, behind what is lined up already. */
function lineUp(draft: Draft, cadence: Cadence, from: number | null, last: number): void {
  if (from === null || from > last) return;
  const stretches: readonly CatchupBacklog[] = [...draft.progress.backlog ?? [], { next: from, last }];
  for (const lost of stretches.slice(0, -MAX_STRETCHES)) {
    missed(draft, cadence.count(lost.next - 1, lost.last), lost.next, lost.last);
  }
  setBacklog(draft, stretches.slice(-MAX_STRETCHES));
}

/** A start that is owed now. */
function owe(draft: Draft, point: number, at: number, missedPoints: number): void {
  setWaiting(draft, [...draft.progress.waiting, { point, at, attempt: 1, missed: missedPoints, cause: "catchup" }]);
}

/**
 * Counts what has come or is owed of a cadence that gives way to another: it does not run any more, and is not forgotten
 * either (C4, O2). Throws before it counts anything where the old time or its options cannot be read.
 */
export function writeOff(draft: Draft, owed: readonly WaitingRun[]): void {
  const cadence = draftCadence(draft);
  if (cadence === null) return;
  const come = comeUnseen(draft, cadence);
  for (const { cause, point } of owed) {
    if (cause === "catchup") missed(draft, 1, point, point, RETIMED);
    else overlapped(draft, 1, point, RETIMED);
  }
  for (const { next, last } of draft.progress.backlog ?? []) {
    missed(draft, cadence.count(next - 1, last), next, last, RETIMED);
  }
  if (come === undefined) return;
  const count = cadence.count(come.oldest - 1, come.newest);
  if (draft.progress.runs.length > 0) overlapped(draft, count, come.newest, RETIMED);
  else missed(draft, count, come.oldest, come.newest, RETIMED);
}

/** Points that have come and that no step has accounted for; those that pass under a pause are not to be (L5). */
function comeUnseen(draft: Draft, cadence: Cadence): { oldest: number; newest: number } | undefined {
  const { next, pausedAt } = draft.progress;
  if (next === null || next.again === true || next.at > draft.now || pausedAt !== undefined) return undefined;
  return { oldest: next.point, newest: newestPassed(cadence, next.point, draft.now - longestSpan(draft)) };
}

function missed(draft: Draft, count: number, oldest: number, newest: number, detail?: string): void {
  draft.progress.missedCount += count;
  decided(draft, "missed", newest, count, detail);
  draft.effects.push({ type: "missed", count, oldest, newest });
}
