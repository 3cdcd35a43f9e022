import type { Json, JsonObject } from "./json.ts";

/** How a schedule recurs: once, at a fixed interval, or by the calendar. */
export type ScheduleKind = "at" | "every" | "cron";

/** Who is asking. The system (code that embeds the scheduler) has the reserved id `"system"` and is an admin. */
export interface Principal {
  /** A stable id, at most 200 characters. */
  readonly id: string;
  /** An admin may see and change every schedule (P2). Default `false`. */
  readonly admin?: boolean;
}

/** The id of the system principal; no other principal may carry it. */
export const SYSTEM_ID = "system";

/** What clock changes do to fixed-time cron jobs (K4, K5). */
export interface StoredDst {
  /** A skipped local time fires once at the first instant after the change, or is dropped. Default `"fire"`. */
  readonly gap?: "fire" | "skip";
  /** A repeated local time fires at its first pass only, or at both. Default `"first"`. */
  readonly fold?: "first" | "both";
}

/** Bounds of a recurring schedule (T9); instants are milliseconds since the Unix epoch. */
export interface SpecBounds {
  /** No point before this instant; for `every` it also sets the phase (T4). */
  readonly startAt?: number;
  /** No point after this instant; one exactly at it still fires. */
  readonly endAt?: number;
  /** How many deadlines fire in all; retries and reruns of one deadline count once, triggered runs not at all. */
  readonly maxRuns?: number;
}

/** When a schedule fires, as stored; instants are milliseconds since the Unix epoch. */
export type StoredSpec =
  | {
    readonly kind: "at";
    /** The deadline; it may be past, and is then due at once (T1). */
    readonly at: number;
  }
  | ({
    readonly kind: "every";
    /** Milliseconds between points, at least one tick. */
    readonly every: number;
    /** A point of the cadence, from which the others are counted: whole intervals after it. */
    readonly anchor: number;
    /** Whether the interval was raised to one tick (T5). */
    readonly clamped?: true;
  } & SpecBounds)
  | ({
    readonly kind: "cron";
    /** The expression as it was given (K1). */
    readonly cron: string;
    /** The IANA zone whose local times it is about (K3). */
    readonly timezone: string;
    /** What differs from the default handling of clock changes. */
    readonly dst?: StoredDst;
  } & SpecBounds);

/** The part of a document that only its owner changes. */
export interface ScheduleDefinition {
  /** The name of the task that runs; instances without it leave the schedule alone (M2). */
  readonly task: string;
  /** The task's input as the caller gave it, before the schema; absent when none was given. */
  readonly input?: Json;
  /** When it fires. */
  readonly spec: StoredSpec;
  /** Options owned by plugins, by key, as their parsers returned them; keys at their default are absent. */
  readonly options: JsonObject;
  /** The id of the principal that it belongs to. */
  readonly owner: string;
  /** The principal that its runs are made under (P3). */
  readonly authority: Principal;
  /** Whom its runs act for, where that is not the owner (P3). */
  readonly runAs?: string;
  /** By which registering it again finds it, among its owner's live schedules (N). */
  readonly name?: string;
  /** By which a further creation finds it, among its owner's live schedules (I5). */
  readonly key?: string;
  /** The declared set that it belongs to (N4). */
  readonly group?: string;
  /** What it is about, such as `"room:42"` (I6). */
  readonly target?: string;
  /** Words to list by, each once; absent when there are none. */
  readonly tags?: readonly string[];
  /** A value that every run is handed unchanged (S3). */
  readonly state?: Json;
  /** Whether a handler's `again(delay)` sets the next deadline (A1). */
  readonly adaptive: boolean;
  /** Milliseconds after which a run is aborted (F5). */
  readonly timeout?: number;
  /** What happens to a run whose instance was lost (M3). Default `"rerun"`. */
  readonly onLost?: "fault";
  /** How many losses of one deadline are one too many: with the last of them it is given up (M3). Default 3. */
  readonly maxLost?: number;
  /** Milliseconds for which the record is kept after retirement (L3). */
  readonly retention: number;
  /** How many runs the history keeps (V4). */
  readonly history: number;
  /** When it was created; updates leave it as it is. */
  readonly createdAt: number;
}
