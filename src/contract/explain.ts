import type { DecisionInfo, RunInfo } from "./info.ts";
import type { WaitingCause } from "./progress.ts";

/** One decision, as {@linkcode DecisionInfo}, in words as well. */
export interface ExplainedDecision extends DecisionInfo {
  /** Such as `"dropped 3 points, the latest 2026-01-01T03:00:00.000Z: a run was in progress"`. */
  readonly text: string;
}

/**
 * Whether the instance that answers can run the schedule: it lacks the task, is not started (or is closing), has no slot
 * free for the task, or can.
 */
export type Ability = "absent" | "stopped" | "full" | "able";

/** What a schedule waits for. `until` is absent where somebody has to do something first. */
export type Wait =
  & {
    /** The same in words. */
    readonly text: string;
  }
  & (
    | {
      /** Its armed deadline. */
      readonly for: "deadline";
      /** When it is due. */
      readonly until: Date;
      /** The cadence point that it stands for, without jitter. */
      readonly point: Date;
    }
    | {
      /** The end of a run in progress. */
      readonly for: "run";
      /** The run. */
      readonly run: RunInfo;
      /** When the run's lease ends unless its instance renews it, as it does while it lives (M3). */
      readonly until: Date;
    }
    | {
      /** Another attempt at a deadline whose run ended in a fault (F4), or was lost before (M3). */
      readonly for: "retry";
      /** When it is made. */
      readonly until: Date;
      /** Its number; the deadline's first run was attempt 1. */
      readonly attempt: number;
    }
    | {
      /**
       * Room beside, or behind, the runs in progress: a start that is owed. Where the clock has been set back since, that
       * time again (T8).
       */
      readonly for: "turn";
      /** What it is owed for. */
      readonly cause: WaitingCause;
      /** The point that it stands for. */
      readonly point: Date;
    }
    | {
      /** A started instance that has the task, and a free slot for it (M2). */
      readonly for: "instance";
      /** The task's name. */
      readonly task: string;
      /** Since when a start is due. */
      readonly since: Date;
      /** Whether the instance that answers could be the one. */
      readonly here: Ability;
    }
    | {
      /** An instance with a plugin that owns one of its options. */
      readonly for: "plugin";
      /** The option's key. */
      readonly option: string;
      /** Since when a start is due. */
      readonly since: Date;
    }
    | {
      /** `resume` (L5). */
      readonly for: "resume";
      /** Since when it is paused. */
      readonly since: Date;
    }
    | {
      /** `update` or `stop`: its stored document is damaged, or a policy failed on it. */
      readonly for: "repair";
      /** What is wrong. */
      readonly error: string;
    }
    | {
      /** The end of its retention: it has retired, and only the record is left (L3). */
      readonly for: "removal";
      /** When the record goes. */
      readonly until: Date;
      /** Why it retired (L4). */
      readonly reason: string;
    }
  );

/** The answer to "why did it not fire?". */
export interface Explanation {
  /** The schedule's id. */
  readonly id: string;
  /** Its name, if it has one. */
  readonly name: string | undefined;
  /** When this was answered, by the time that decides what is due. */
  readonly at: Date;
  /** What it is waiting for now: first what holds it up, then what is to come. */
  readonly waits: readonly Wait[];
  /** The latest decisions, the newest last, at most 12; they survive restarts. */
  readonly decisions: readonly ExplainedDecision[];
  /** The latest run that is over, if its history has one. */
  readonly lastRun: RunInfo | undefined;
  /** All of it in words, in lines. */
  readonly text: string;
}
