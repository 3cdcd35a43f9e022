import type { Fault } from "../contract/mod.ts";
import { isSpent } from "./arm.ts";
import { armed, decided, type Draft, faulted, isOver, setBacklog, setWaiting } from "./draft.ts";

/** The reason kept of a schedule that was stopped while runs of it were to be aborted; it counts as removed. */
export const STOPPED = "stopped";

/** Ends a schedule; its record stays for the retention (L3). */
export function retire(draft: Draft, reason: string): void {
  armed(draft, null);
  setWaiting(draft, []);
  setBacklog(draft, []);
  delete draft.progress.pausedAt;
  draft.progress.retired = { at: draft.now, reason };
  decided(draft, "retired", undefined, 1, reason);
  if (reason !== STOPPED) draft.effects.push({ type: "retired", reason });
}

/** Retires a recurring schedule that has nothing left to run: past its bounds (T9), or past the calendar (T6). */
export function retireIfOver(draft: Draft): void {
  const { spec } = draft.definition;
  if (draft.progress.retired !== undefined || !isOver(draft.progress)) return;
  if (spec.kind === "at") return retire(draft, "completed");
  if (spec.endAt !== undefined || isSpent(draft)) return retire(draft, "ended");
  retireOutOfRange(draft);
}

/** Retires with `deadline_out_of_range`, counted as a fault (T6). */
export function retireOutOfRange(draft: Draft): void {
  const fault: Fault = {
    name: "SchedulerError",
    message: "deadline_out_of_range: the next deadline would be after 9999-12-31T23:59:59.999Z",
    at: draft.now,
  };
  faulted(draft, fault);
  draft.progress.consecutiveFaults++;
  retire(draft, "deadline_out_of_range");
}
