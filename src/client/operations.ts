import {
  type Change,
  isSchedulerError,
  type Operation,
  type Principal,
  type ScheduleDocument,
  type SchedulerError,
} from "../contract/mod.ts";
import { changed, type MachineEvent, step, STOPPED, untouched } from "../machine/mod.ts";
import type { ClientHost, Done } from "./host.ts";
import { mayManage, notYours } from "./principal.ts";

/** Refuses the whole group. */
export function refused(current: ScheduleDocument | undefined, reject: SchedulerError): Change<Done> {
  return { ...untouched(current), reject };
}

/** A decision whose errors refuse its own group, and not the others that share its commit. */
export function guarded(
  decide: (current: ScheduleDocument | undefined, now: number) => Change<Done>,
): Operation<Done>["decide"] {
  return (current, now) => {
    try {
      return decide(current, now);
    } catch (error) {
      if (isSchedulerError(error)) return refused(current, error);
      throw error;
    }
  };
}

/** Whether a document is as good as removed: stopped, and kept only until its last run has ended. */
export function isGone(document: ScheduleDocument): boolean {
  return document.progress.retired?.reason === STOPPED;
}

/** Whether a document is a live schedule. */
export function isLive(document: ScheduleDocument): boolean {
  return document.progress.retired === undefined;
}

/** The events that concern a live schedule and are answered by whether they did something. */
export type ClientEvent = Extract<
  MachineEvent,
  { readonly type: "stopped" | "paused" | "resumed" | "triggered" | "aborted" }
>;

/** What may still be done to a retired schedule: remove its record, abort a run that goes on. */
const REACHES_RETIRED: readonly ClientEvent["type"][] = ["stopped", "aborted"];

/**
 * What decides an event for a schedule: nothing happens to one that is over, except that its owner's `stop` removes the
 * record (L1, L3); a live one of somebody else refuses.
 */
export function eventOperation(
  host: ClientHost,
  principal: Principal,
  id: string,
  event: ClientEvent,
): Operation<Done> {
  return {
    select: { id },
    decide: guarded((current, now) => {
      if (current === undefined) return untouched(current);
      const isMine = mayManage(principal, current);
      if (isLive(current) && !isMine) return refused(current, notYours(id));
      if (!isMine || (!isLive(current) && !REACHES_RETIRED.includes(event.type))) return untouched(current);
      return changed(current, step(current, event, now, host.env));
    }),
  };
}
