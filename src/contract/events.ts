import type { Fault, RunOutcome, ScheduleKind } from "./document.ts";

/** The schedule that an event is about. */
export interface EventSchedule {
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: ScheduleKind;
  readonly task: string;
  readonly owner: string;
  readonly target: string | undefined;
  readonly nextRun: Date | null;
}

/** The run that an event is about. */
export interface EventRun {
  readonly id: string;
  readonly scheduledAt: Date;
  readonly attempt: number;
  /** Missed points folded into it. */
  readonly missed: number;
  readonly instance: string;
  readonly startedAt: Date;
  readonly endedAt?: Date;
  readonly durationMs?: number;
  readonly outcome?: RunOutcome;
  /** With `started`: milliseconds from when the run was due (a retry or a rerun from its own time) to its start. */
  readonly latenessMs?: number;
}

/** What can be listened to, and with what (V5). Events are told on the instance where they happen. */
export interface SchedulerEvents {
  readonly created: { readonly schedule: EventSchedule };
  readonly updated: { readonly schedule: EventSchedule };
  readonly stopped: { readonly schedule: EventSchedule };
  readonly retired: { readonly schedule: EventSchedule; readonly reason: string };
  readonly started: { readonly schedule: EventSchedule; readonly run: EventRun };
  readonly succeeded: { readonly schedule: EventSchedule; readonly run: EventRun };
  readonly faulted: {
    readonly schedule: EventSchedule;
    readonly run: EventRun;
    readonly fault: Fault;
    /** When the deadline is tried again, if it is. */
    readonly retryAt?: Date;
  };
  /** A run whose instance was lost. */
  readonly lost: { readonly schedule: EventSchedule; readonly run: EventRun; readonly rerun: boolean };
  readonly missed: {
    readonly schedule: EventSchedule;
    readonly count: number;
    readonly oldest: Date;
    readonly newest: Date;
  };
  readonly overlapped: { readonly schedule: EventSchedule; readonly count: number; readonly point: Date };
  /** Deadlines of a task that no instance with it has taken (M2). */
  readonly unclaimed: { readonly task: string; readonly due: number; readonly oldest: Date };
  /** This instance lost a run's lease; its settlement will be refused. */
  readonly leaseLost: { readonly schedule: EventSchedule; readonly run: EventRun };
  /** A call to the store failed and is tried again. */
  readonly storeError: { readonly operation: string; readonly error: unknown };
  /** A document is damaged and waits for its owner. */
  readonly parked: { readonly id: string; readonly task: string; readonly error: string };
  /** A schedule waits for an instance that knows an option of it. */
  readonly unknownPolicy: { readonly schedule: EventSchedule; readonly option: string };
}

/** The name of an event. */
export type SchedulerEventName = keyof SchedulerEvents;

/** What listens to an event. */
export type SchedulerListener<Name extends SchedulerEventName> = (event: SchedulerEvents[Name]) => unknown;
