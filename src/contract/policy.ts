import type { ScheduleKind } from "./document.ts";
import type { Json, JsonObject } from "./json.ts";

/** What every question to a policy carries. */
export interface PolicyQuestion {
  /** The schedule's id. */
  readonly id: string;
  readonly kind: ScheduleKind;
  /** The schedule's options as their parsers returned them; a key at its default is absent. */
  readonly options: JsonObject;
  /** The instant of the decision. */
  readonly now: number;
}

/** Points have passed with nothing running to account for them (C). */
export interface MissedQuestion extends PolicyQuestion {
  /** How many. */
  readonly count: number;
  readonly oldest: number;
  readonly newest: number;
}

/** What becomes of missed points: none runs, one run stands for the newest, or each has its own run. */
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
  /** Runs executing, at least one. */
  readonly running: number;
  /** Points already waiting. */
  readonly queued: number;
}

/** What becomes of a point that arrives during a run. */
export type OverlapAnswer = "drop" | "queue" | "start" | "replace";

/** A point is about to be armed. */
export interface ShiftQuestion extends PolicyQuestion {
  /** The deadline so far: the cadence point, moved by the policies before this one. */
  readonly deadline: number;
  /** The cadence point itself. */
  readonly point: number;
  /** A uniformly random number in [0, 1), the same at each call for one question. */
  readonly random: number;
}

/** A point is about to be armed: may it fire at all? */
export interface AdmitQuestion extends PolicyQuestion {
  readonly point: number;
}

/** Whether a point may fire; a skipped one is dropped with the reason, as are all before `until`. */
export type AdmitAnswer = "run" | { readonly skip: string; readonly until?: number };

/** A run has ended. */
export interface SettledQuestion extends PolicyQuestion {
  readonly outcome: "succeeded" | "faulted" | "lost";
  /** 1 for the first run of the deadline. */
  readonly attempt: number;
  /** Deadlines in a row that ended in a fault, this one included if it ends here. */
  readonly consecutiveFaults: number;
}

/** What follows a run: another attempt at the same deadline, retirement, or (no answer) nothing special. */
export type SettledAnswer = { readonly retryAfterMs: number } | { readonly retire: string };

/**
 * Pure decision points inside the state machine. Each is synchronous, deterministic in its question and free of side
 * effects: it may be called again for the same event. With several plugins the first that answers decides, in the
 * order of the plugins; `shift` is a chain.
 */
export interface Policy {
  /** How late a point may be and still be an ordinary, late run, in milliseconds (C1). */
  grace?(question: PolicyQuestion): number | undefined;
  /** See {@linkcode MissedQuestion}. Without any answer one run stands for the newest. */
  missed?(question: MissedQuestion): MissedAnswer | undefined;
  /** See {@linkcode OverlapQuestion}. Without any answer the point is dropped. */
  overlap?(question: OverlapQuestion): OverlapAnswer | undefined;
  /** Moves a deadline. The machine keeps it from being earlier than one tick from now. */
  shift?(question: ShiftQuestion): number | undefined;
  /** How far `shift` may move a deadline to later, in milliseconds; a point is not missed before that has passed too (J2). */
  span?(question: PolicyQuestion): number | undefined;
  /** See {@linkcode AdmitQuestion}. */
  admit?(question: AdmitQuestion): AdmitAnswer | undefined;
  /** See {@linkcode SettledQuestion}. */
  settled?(question: SettledQuestion): SettledAnswer | undefined;
}

/** Where an option stands, for its parser. */
export interface OptionPlace {
  /** The key's path, for error messages, such as `"jitter"`. */
  readonly where: string;
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
