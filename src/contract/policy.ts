import type { ScheduleKind } from "./definition.ts";
import type { Json, JsonObject } from "./json.ts";

/** What every question to a policy carries. */
export interface PolicyQuestion {
  /** The schedule's id. */
  readonly id: string;
  /** Once, at an interval, or by the calendar. */
  readonly kind: ScheduleKind;
  /** The schedule's options as their parsers returned them; a key at its default is absent. */
  readonly options: JsonObject;
  /** The instant of the decision, in milliseconds since the Unix epoch, as all instants here. */
  readonly now: number;
}

/** Points have passed with nothing running to account for them (C). */
export interface MissedQuestion extends PolicyQuestion {
  /** How many. */
  readonly count: number;
  /** The first of them. */
  readonly oldest: number;
  /** The last of them. */
  readonly newest: number;
}

/**
 * What becomes of missed points: none runs, one run stands for the newest, or each has its own run, the oldest first.
 */
export type MissedAnswer =
  | { readonly run: "none" }
  | { readonly run: "newest" }
  | {
    readonly run: "each";
    /** The newest so many; the rest is counted as missed. */
    readonly limit: number;
    /** Points older than so many milliseconds are counted as missed. */
    readonly windowMs?: number;
  };

/** A point arrives while the previous run of the schedule is executing (O). */
export interface OverlapQuestion extends PolicyQuestion {
  /** Runs executing, at least one; those that other instances hold count. */
  readonly running: number;
  /** Points already waiting. */
  readonly queued: number;
}

/**
 * What becomes of a point that arrives during a run: it is dropped and counted, waits for the run's end, starts beside
 * it, or has it aborted and takes its place.
 */
export type OverlapAnswer = "drop" | "queue" | "start" | "replace";

/** A point is about to be armed. */
export interface ShiftQuestion extends PolicyQuestion {
  /** The deadline so far: the cadence point, moved by the policies of the plugins after this one. */
  readonly deadline: number;
  /** The cadence point itself. */
  readonly point: number;
  /** A uniformly random number in [0, 1), the same at each call for one question. */
  readonly random: number;
}

/** A cadence point is about to be armed: may it fire at all? Not asked of one-shots, nor of what `again` asks for. */
export interface AdmitQuestion extends PolicyQuestion {
  /** The cadence point. */
  readonly point: number;
}

/**
 * Whether a point may fire; a skipped one is dropped with the reason, as are all before `until`, and none is missed.
 */
export type AdmitAnswer = "run" | { readonly skip: string; readonly until?: number };

/** A run has succeeded, which only retirement may follow, has ended in a fault, or was lost; of one that was replaced nothing is asked. */
export interface SettledQuestion extends PolicyQuestion {
  /** How it ended; a timeout and an abort are `"faulted"` here. */
  readonly outcome: "succeeded" | "faulted" | "lost";
  /**
   * 1 for the first run of the deadline, losses not counted; `Infinity` when no attempt may follow, only retirement.
   */
  readonly attempt: number;
  /** Faults in a row, this one included; 0 after a success. */
  readonly consecutiveFaults: number;
}

/** What follows a run: another attempt at the same deadline, retirement, or (no answer) nothing special. */
export type SettledAnswer = { readonly retryAfterMs: number } | { readonly retire: string };

/**
 * Pure decision points inside the state machine. Each is synchronous, deterministic in its question and free of side
 * effects: it may be called again for the same event. With several plugins the first that answers decides, in the
 * order of the plugins; `shift` is a chain in which the first has the last word, and of `span` the largest counts. One that throws when a schedule is
 * due, or a run of it settled, parks that schedule alone. See {@linkcode Plugin} for an example.
 */
export interface Policy {
  /**
   * How late a point may be and still be an ordinary, late run, in milliseconds (C1). Without any answer: half the gap
   * to the next point, 60 s at most.
   */
  grace?(question: PolicyQuestion): number | undefined;
  /** See {@linkcode MissedQuestion}. Without any answer one run stands for the newest. */
  missed?(question: MissedQuestion): MissedAnswer | undefined;
  /** See {@linkcode OverlapQuestion}. Without any answer the point is dropped. */
  overlap?(question: OverlapQuestion): OverlapAnswer | undefined;
  /** Moves a deadline. The machine keeps it from being earlier than one tick from now. */
  shift?(question: ShiftQuestion): number | undefined;
  /**
   * How far `shift` may move a deadline to later, in milliseconds; a point is not missed before that has passed too
   * (J2).
   */
  span?(question: PolicyQuestion): number | undefined;
  /** See {@linkcode AdmitQuestion}. Without any answer the point may fire. */
  admit?(question: AdmitQuestion): AdmitAnswer | undefined;
  /**
   * See {@linkcode SettledQuestion}. Without any answer the deadline ends in the fault, and a one-shot retires with it.
   */
  settled?(question: SettledQuestion): SettledAnswer | undefined;
}

/** Where an option stands, for its parser. */
export interface OptionPlace {
  /** The key's path, for error messages, such as `"jitter"`. */
  readonly where: string;
  /** The schedule's kind, for options that fit some kinds only. */
  readonly kind: ScheduleKind;
  /** The scheduler's resolution, in milliseconds. */
  readonly tickMs: number;
}

/** How one option key is read. */
export interface OptionParser<Value = unknown> {
  /**
   * Validates what the user gave and returns what is stored, as JSON; `undefined` when it is the default, which is not
   * stored. Throws a `SchedulerError` `invalid_option` or `invalid_duration` that says what was given and expected.
   */
  parse(value: Value, place: OptionPlace): Json | undefined;
  /** What is in force when nothing is stored; shown by `info`. */
  readonly default?: Json;
}
