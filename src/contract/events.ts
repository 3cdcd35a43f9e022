import type { ScheduleKind } from "./definition.ts";
import type { Fault, RunOutcome } from "./progress.ts";

/** The schedule that an event is about, as it is after what the event tells. */
export interface EventSchedule {
  /** The schedule's id, a ULID. */
  readonly id: string;
  /** Its name, if it has one. */
  readonly name: string | undefined;
  /** Once, at an interval, or by the calendar. */
  readonly kind: ScheduleKind;
  /** The name of the task that it runs. */
  readonly task: string;
  /** The id of its owner. */
  readonly owner: string;
  /** What it is about. */
  readonly target: string | undefined;
  /** When it is to start a run next: its deadline, or a retry before that; `null` when none is to come. */
  readonly nextRun: Date | null;
}

/** The run that an event is about. */
export interface EventRun {
  /** The run's id, as `ctx.runId` tells it; not a schedule's. */
  readonly id: string;
  /** The cadence point or deadline that it stands for. */
  readonly scheduledAt: Date;
  /** 1 for the first run of a deadline, one more for each retry and each rerun. */
  readonly attempt: number;
  /** Missed points folded into it. */
  readonly missed: number;
  /** The instance that holds it, or held it. */
  readonly instance: string;
  /** When its handler was started; with `lost` and `leaseLost`, when it was claimed. */
  readonly startedAt: Date;
  /** With `succeeded` and `faulted`: when it ended. */
  readonly endedAt?: Date;
  /** With `succeeded` and `faulted`: milliseconds that it took, by a clock that does not jump. */
  readonly durationMs?: number;
  /** With `succeeded` and `faulted`: how it ended. */
  readonly outcome?: RunOutcome;
  /** With `started`: milliseconds from when the run was due (a retry or a rerun from its own time) to its start. */
  readonly latenessMs?: number;
}

/**
 * What can be listened to, and with what (V5). Events are told on the instance where they happen, once what they tell
 * is committed; those of `within` at once, although the application may still roll back. They are not stored: what
 * happened while nobody listened is told by `info` and `runs`.
 */
export interface SchedulerEvents {
  /** A schedule was made. */
  readonly created: { readonly schedule: EventSchedule };
  /** A schedule was changed, by `update` or by registering it again otherwise than it was. */
  readonly updated: { readonly schedule: EventSchedule };
  /** A live schedule was stopped. */
  readonly stopped: { readonly schedule: EventSchedule };
  /** A schedule will not fire again, and why (L4). With no listener an end that nobody wished for goes to the logger. */
  readonly retired: { readonly schedule: EventSchedule; readonly reason: string };
  /** A run has its slot: its input is checked and its handler called next. */
  readonly started: { readonly schedule: EventSchedule; readonly run: EventRun };
  /** A run succeeded, and what it changed through `ctx.schedules` is stored. */
  readonly succeeded: { readonly schedule: EventSchedule; readonly run: EventRun };
  /** A run threw, timed out, was aborted or could not be started. With no listener the fault goes to the logger. */
  readonly faulted: {
    readonly schedule: EventSchedule;
    readonly run: EventRun;
    readonly fault: Fault;
    /** When the deadline is tried again, if it is. */
    readonly retryAt?: Date;
  };
  /** A run whose instance gave no sign of life (M3), told by the instance that noticed; `rerun`: it starts again. */
  readonly lost: { readonly schedule: EventSchedule; readonly run: EventRun; readonly rerun: boolean };
  /** Points that catchup dropped, or folded into a run (C). */
  readonly missed: {
    readonly schedule: EventSchedule;
    /** How many: what `missedCount` grew by. */
    readonly count: number;
    /** The first of them. */
    readonly oldest: Date;
    /** The last of them. */
    readonly newest: Date;
  };
  /** Points that overlap dropped, or a run that it replaced (O): how many, and the newest of them. */
  readonly overlapped: { readonly schedule: EventSchedule; readonly count: number; readonly point: Date };
  /**
   * Schedules of a task that this instance lacks are due (`due`, counted up to 1,000), the `oldest` for 5 s and more
   * (M2). Told again about every minute while they wait.
   */
  readonly unclaimed: { readonly task: string; readonly due: number; readonly oldest: Date };
  /** This instance lost a run's lease: the run's signal aborts, and its outcome and changes are refused (M4). */
  readonly leaseLost: { readonly schedule: EventSchedule; readonly run: EventRun };
  /** A call to the store failed and is tried again (M6); `operation` is `advance`, `settle`, `renew` or `backlog`. */
  readonly storeError: { readonly operation: string; readonly error: unknown };
  /** A stored document is damaged: the schedule waits, untouched, until it is updated or stopped. */
  readonly parked: { readonly id: string; readonly task: string; readonly error: string };
  /** A schedule is due and waits for an instance with a plugin that owns this option of it. */
  readonly unknownPolicy: { readonly schedule: EventSchedule; readonly option: string };
  /** This instance is closed: what it ran is over or given back, and its store is closed. The last event, told once. */
  readonly closed: Readonly<Record<string, never>>;
}

/** The name of an event. */
export type SchedulerEventName = keyof SchedulerEvents;

/** What listens to an event. It is not waited for, and what it throws or rejects with is logged and harms nothing. */
export type SchedulerListener<Name extends SchedulerEventName> = (event: SchedulerEvents[Name]) => unknown;

/** Any event, with its name. */
export type ObservedEvent = {
  readonly [Name in SchedulerEventName]: { readonly name: Name; readonly event: SchedulerEvents[Name] };
}[SchedulerEventName];

/** What is told of every event; as with a {@linkcode SchedulerListener}, nothing it does harms anybody. */
export type SchedulerObserver = (observed: ObservedEvent) => unknown;
