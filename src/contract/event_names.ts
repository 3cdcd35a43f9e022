import type { SchedulerEventName } from "./events.ts";

const EVENTS: Readonly<Record<SchedulerEventName, true>> = {
  created: true,
  updated: true,
  stopped: true,
  retired: true,
  started: true,
  succeeded: true,
  faulted: true,
  lost: true,
  missed: true,
  overlapped: true,
  unclaimed: true,
  leaseLost: true,
  storeError: true,
  parked: true,
  unknownPolicy: true,
  closed: true,
};

/** Every event that can be listened to. */
export const EVENT_NAMES: readonly SchedulerEventName[] = Object.keys(EVENTS) as SchedulerEventName[];
