import { MAX_DEADLINE, SchedulerError, show } from "../contract/mod.ts";

/** A series of cadence points. All instants are whole milliseconds since the Unix epoch. */
export interface Cadence {
  /** The first point strictly after the instant, or `null` if there is none up to `MAX_DEADLINE`. */
  next(after: number): number | null;
  /** The last point at or before the instant, or `null` if there is none. */
  previous(atOrBefore: number): number | null;
  /** How many points lie in `(after, upTo]`: exact, in constant memory, without visiting each point. */
  count(after: number, upTo: number): number;
}

/**
 * The cadence of a fixed interval: `anchor`, `anchor + intervalMs`, `anchor + 2 * intervalMs`, … in real elapsed time.
 * There is no point before the anchor. Every call is constant-time arithmetic.
 *
 * @param anchor The first point, in whole milliseconds since the epoch.
 * @param intervalMs A whole number of milliseconds from 1.
 * @throws {SchedulerError} `invalid_time` or `invalid_duration` when an argument is not a whole number or out of range.
 */
export function everyCadence(anchor: number, intervalMs: number): Cadence {
  if (!Number.isSafeInteger(anchor)) {
    throw new SchedulerError("invalid_time", `every: ${show(anchor)} is not an anchor; expected whole milliseconds`, {
      details: { where: "every", given: show(anchor) },
    });
  }
  if (!Number.isSafeInteger(intervalMs) || intervalMs < 1) {
    throw new SchedulerError(
      "invalid_duration",
      `every: ${show(intervalMs)} is not an interval; expected whole milliseconds from 1`,
      { details: { where: "every", given: show(intervalMs) } },
    );
  }
  const pointsUpTo = (instant: number) => instant < anchor ? 0 : Math.floor((instant - anchor) / intervalMs) + 1;
  return {
    next(after) {
      const point = anchor + pointsUpTo(after) * intervalMs;
      return point <= MAX_DEADLINE ? point : null;
    },
    previous(atOrBefore) {
      const points = pointsUpTo(Math.min(atOrBefore, MAX_DEADLINE));
      return points === 0 ? null : anchor + (points - 1) * intervalMs;
    },
    count(after, upTo) {
      const last = Math.min(upTo, MAX_DEADLINE);
      return last <= after ? 0 : pointsUpTo(last) - pointsUpTo(after);
    },
  };
}

/**
 * The next points of a cadence, in order: at most `count` of them, strictly after `from` and, if `upTo` is given, at
 * or before it. It walks no further than it must.
 */
export function nextPoints(cadence: Cadence, count: number, from: number, upTo: number = MAX_DEADLINE): number[] {
  const points: number[] = [];
  let point = from;
  while (points.length < count) {
    const next = cadence.next(point);
    if (next === null || next > upTo) break;
    points.push(next);
    point = next;
  }
  return points;
}
