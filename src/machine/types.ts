import type {
  AbortCause,
  Fault,
  LiveRun,
  Policy,
  RunOutcome,
  ScheduleDefinition,
  ScheduleDocument,
} from "../contract/mod.ts";

/** What the machine needs to know of the instance that asks it. */
export interface MachineEnv {
  /** Policies in the order of their plugins. */
  readonly policies: readonly Policy[];
  /** Option keys that some plugin of this instance owns. */
  readonly optionKeys: ReadonlySet<string>;
  /** The resolution, in milliseconds. */
  readonly tickMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The right to start runs, held by an instance that has the schedule's task. */
export interface Claim {
  readonly instance: string;
  readonly leaseMs: number;
  /** Fences of this document's runs that the instance itself is still executing, whatever their lease says (T8). */
  holds(document: ScheduleDocument, fence: number): boolean;
  /** How much the clock has lately jumped ahead: leases of others are believed that much longer (T8). */
  readonly patienceMs: number;
}

/** How a run ended, as its instance tells it. */
export interface Settlement {
  readonly fence: number;
  readonly outcome: Exclude<RunOutcome, "lost" | "released">;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly fault?: Fault;
  /** Milliseconds that the handler asked for with `again`; used where the schedule is adaptive. */
  readonly againMs?: number;
  /** The reason to retire with: what a run that succeeded gave to `ctx.retire`, or why a faulted one cannot go on. */
  readonly retire?: string;
  /** What a faulted run said of further attempts at its deadline: none, or none before so many milliseconds (F4). */
  readonly retry?: false | number;
}

/** What happens to a schedule. */
export type MachineEvent =
  | { readonly type: "due"; readonly claim: Claim }
  | { readonly type: "settled"; readonly settlement: Settlement; readonly claim?: Claim }
  | {
    readonly type: "renewed";
    readonly fences: readonly number[];
    readonly instance: string;
    readonly leaseMs: number;
  }
  | { readonly type: "released"; readonly fence: number; readonly instance: string; readonly started: boolean }
  | { readonly type: "stopped"; readonly abortRunning: boolean }
  | { readonly type: "paused" }
  | { readonly type: "resumed" }
  | { readonly type: "triggered" }
  | { readonly type: "updated"; readonly definition: ScheduleDefinition }
  | { readonly type: "aborted"; readonly fence: number };

/** What the world has to do once a step is committed. */
export type Effect =
  | { readonly type: "start"; readonly run: LiveRun; readonly lateMs: number }
  | { readonly type: "abort"; readonly fence: number; readonly instance: string; readonly cause: AbortCause }
  | { readonly type: "created" }
  | { readonly type: "updated" }
  | { readonly type: "stopped" }
  | { readonly type: "retired"; readonly reason: string }
  | { readonly type: "settled"; readonly run: LiveRun; readonly settlement: Settlement; readonly retryAt?: number }
  | { readonly type: "lost"; readonly run: LiveRun; readonly rerun: boolean }
  | { readonly type: "missed"; readonly count: number; readonly oldest: number; readonly newest: number }
  | { readonly type: "overlapped"; readonly count: number; readonly point: number }
  | { readonly type: "unknownPolicy"; readonly option: string }
  | { readonly type: "parked"; readonly error: string };

/** What a step decided. */
export interface StepResult {
  /** The document as it is now to be; `null` when it is gone; the very same object when nothing changed. */
  readonly document: ScheduleDocument | null;
  readonly effects: readonly Effect[];
  /**
   * What the caller of the event is told: for `stopped`, `paused`, `resumed`, `triggered`, `aborted`, `updated`,
   * `released`: whether it did something; for `settled`: whether the fence held; for `renewed`: whether all held.
   */
  readonly answer: boolean;
}

/** What a committed operation did, and to which document. */
export interface Done {
  /** The document before; `undefined` for a new one, or where there was none. */
  readonly before: ScheduleDocument | undefined;
  readonly result: StepResult;
}
