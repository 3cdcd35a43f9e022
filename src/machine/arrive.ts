import type { Cadence } from "../calendar/mod.ts";
import { type CatchupBacklog, MAX_DEFAULT_GRACE_MS, MAX_WAITING, type MissedAnswer } from "../contract/mod.ts";
import { arm } from "./arm.ts";
import { armed, decided, type Draft, draftCadence, question, setBacklog, setWaiting } from "./draft.ts";
import { overlap, overlapAnswer } from "./overlap.ts";

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
  if (draft.progress.runs.length > 0) overlap(draft, [{ point, at }], 1);
  else owe(draft, point, at, 0);
}

function arriveAll(draft: Draft, cadence: Cadence, first: number, at: number, upTo: number): void {
  const span = Math.max(0, ...draft.env.policies.map((policy) => policy.span?.(question(draft)) ?? 0));
  const last = Math.max(first, cadence.previous(upTo - span) ?? first);
  const stretch = { first, at, last, upTo };
  const { runs } = draft.progress;
  if (runs.length > 0 && overlapAnswer(draft, runs.length) !== "start") overlapAll(draft, cadence, first, at, last);
  else catchUp(draft, cadence, stretch);
  arm(draft, last);
}

function overlapAll(draft: Draft, cadence: Cadence, first: number, at: number, last: number): void {
  const count = cadence.count(first - 1, last);
  const points = [{ point: first, at }];
  while (points.length < Math.min(count, MAX_WAITING)) {
    const point = cadence.next(points.at(-1)!.point)!;
    points.push({ point, at: point });
  }
  overlap(draft, points, count);
}

interface Stretch {
  readonly first: number;
  /** When `first` was due. */
  readonly at: number;
  readonly last: number;
  readonly upTo: number;
}

/** Points that passed with nothing running: within the grace they are ordinary, beyond it they are missed (C1). */
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
  const following = cadence.next(ordinary);
  if (following !== null && following <= last) overlapAll(draft, cadence, following, following, last);
}

/** The first point that is not more than the grace late. */
function firstOrdinary(draft: Draft, cadence: Cadence, { first, at, last, upTo }: Stretch): number | undefined {
  const given = graceAnswer(draft);
  const grace = (point: number) =>
    given ?? Math.min(MAX_DEFAULT_GRACE_MS, ((cadence.next(point) ?? Infinity) - point) / 2);
  if (upTo - at <= grace(first)) return first;
  if (given !== undefined) {
    const point = cadence.next(Math.max(first, upTo - given - 1));
    return point !== null && point <= last ? point : undefined;
  }
  return last !== first && upTo - last <= grace(last) ? last : undefined;
}

function graceAnswer(draft: Draft): number | undefined {
  for (const policy of draft.env.policies) {
    const grace = policy.grace?.(question(draft));
    if (grace !== undefined) return grace;
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
  if (answer.windowMs !== undefined && first < draft.now - answer.windowMs) {
    from = cadence.next(draft.now - answer.windowMs - 1) ?? newest + 1;
    owed = from > newest ? 0 : cadence.count(from - 1, newest);
  }
  if (owed > answer.limit) {
    owed = answer.limit;
    from = newestPoints(cadence, newest, owed);
  }
  if (owed < count) missed(draft, count - owed, first, owed === 0 ? newest : cadence.previous(from - 1) ?? first);
  const begin = owed === 0 ? cadence.next(newest) : from;
  if (begin === null || begin > last) return;
  const stretches: readonly CatchupBacklog[] = [...draft.progress.backlog ?? [], { next: begin, last }];
  for (const lost of stretches.slice(0, -MAX_STRETCHES)) {
    missed(draft, cadence.count(lost.next - 1, lost.last), lost.next, lost.last);
  }
  setBacklog(draft, stretches.slice(-MAX_STRETCHES));
}

/** The oldest of the newest `count` points up to and with `newest`; past it when `count` is 0. */
function newestPoints(cadence: Cadence, newest: number, count: number): number {
  let from = newest;
  for (let left = count - 1; left > 0; left--) from = cadence.previous(from - 1) ?? from;
  return from;
}

/** A start that is owed now. */
function owe(draft: Draft, point: number, at: number, missedPoints: number): void {
  setWaiting(draft, [...draft.progress.waiting, { point, at, attempt: 1, missed: missedPoints, cause: "catchup" }]);
}

function missed(draft: Draft, count: number, oldest: number, newest: number): void {
  draft.progress.missedCount += count;
  decided(draft, "missed", newest, count);
  draft.effects.push({ type: "missed", count, oldest, newest });
}
