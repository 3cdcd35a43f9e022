import type { ScheduleDocument, Write } from "../../../src/contract/mod.ts";
import type { Told } from "./write_statements.ts";

/**
 * How far ahead other instances have to be told of a deadline, in milliseconds. All look by themselves at least every
 * {@linkcode LOOK_MS}, so what comes later they see in time.
 */
const TELL_AHEAD_MS = 60_000;

/** The longest time between two looks of an instance whose listener works: for what a lost notification told of. */
export const LOOK_MS = 10_000;

/**
 * Whether other instances have to be told of a write: something of a caller's comes earlier than they know, or a run of
 * theirs is to be aborted. What claims, renewals and settlements move is looked after by whoever holds the run.
 */
export function concernsOthers({ before, after }: Write, now: number): boolean {
  if (after === null) return false;
  if (before !== undefined && asksForAbort(before, after)) return true;
  const wakeAt = after.progress.wakeAt;
  if (wakeAt === null || wakeAt > now + TELL_AHEAD_MS) return false;
  if (before === undefined) return true;
  return (before.progress.wakeAt === null || wakeAt < before.progress.wakeAt) && !isSettled(before, after);
}

/** Whom a commit is told to. */
export function toldOf(
  writes: readonly Write[],
  now: number,
  { channel, sender }: { readonly channel: string; readonly sender: string },
): Told {
  return { channel: writes.some((write) => concernsOthers(write, now)) ? channel : null, sender };
}

function isSettled(before: ScheduleDocument, after: ScheduleDocument): boolean {
  const left = new Set(after.progress.runs.map(({ fence }) => fence));
  return before.progress.runs.some(({ fence }) => !left.has(fence));
}

function asksForAbort(before: ScheduleDocument, after: ScheduleDocument): boolean {
  return after.progress.runs.some(({ fence, abort }) =>
    abort !== undefined && before.progress.runs.some((run) => run.fence === fence && run.abort === undefined)
  );
}
