import {
  ABORT_GRACE_MS,
  type AbortCause,
  type Clock,
  type LiveRun,
  longTimer,
  type RunSignal,
  type ScheduleDocument,
  SchedulerError,
} from "../contract/mod.ts";
import { runId } from "../machine/mod.ts";
import type { ScheduledContext } from "./context.ts";
import { containListeners, type SignalCalls } from "./run_signal.ts";

/** Why a run was told to end. */
export type EndCause = AbortCause | "timeout" | "lease_lost" | "closed";

const REASONS: Readonly<Record<EndCause, string>> = {
  replaced: "the run was replaced by a later one (overlap: replace)",
  aborted: "the run was aborted by abortRun",
  stopped: "the schedule was stopped with abortRunning",
  timeout: "the run took longer than its timeout",
  lease_lost: "the run's lease was lost to another instance",
  closed: "the scheduler is closing and its drain time is over",
};

/** Who calls the handlers of runs. */
export interface Starter {
  begin(execution: Execution): void;
  /** Ends a run without its handler. */
  expire(execution: Execution): void;
  /** How the listeners of a run's signal are called. */
  signalCalls(execution: Execution): SignalCalls;
}

/**
 * One run that this instance holds: claimed, then started, then over. It has no functions of its own: V8 puts a closure
 * that is assigned to a property into its old generation, where it would keep the run and its document for long.
 */
export class Execution {
  readonly id: string;
  readonly document: ScheduleDocument;
  readonly run: LiveRun;
  readonly lateMs: number;
  /** Monotonic time of the start; `undefined` while it waits for a slot. */
  startedMono: number | undefined;
  /** Store time of the start. */
  startedAt = 0;
  /** Why it was told to end, if it was. */
  cause: EndCause | undefined;
  /** Its outcome is known, or nobody waits for it any more. */
  over = false;
  /** Its outcome is on its way into the store. */
  settling = false;
  leaseUntil: number;
  /** What its handler is told; set once it has started. */
  context: ScheduledContext | undefined;
  readonly #starter: Starter;
  #controller: AbortController | undefined;
  #cancelTimer: (() => void) | undefined;
  /** The grace has begun. */
  #isEnding = false;

  constructor(document: ScheduleDocument, run: LiveRun, lateMs: number, starter: Starter) {
    this.#starter = starter;
    this.id = runId(document.id, run.fence);
    this.document = document;
    this.run = run;
    this.lateMs = lateMs;
    this.leaseUntil = run.leaseUntil;
  }

  /** Starts it; called once, when it has a slot. */
  begin(): void {
    this.#starter.begin(this);
  }

  /** Drops what its handler changed, and refuses further changes. */
  discard(): void {
    this.context?.unit?.discard();
  }

  /** The run's signal; made when somebody asks for it. */
  get signal(): RunSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      containListeners(this.#controller.signal, this.#starter.signalCalls(this));
    }
    if (this.cause !== undefined && !this.#controller.signal.aborted) this.#controller.abort(reasonOf(this.cause));
    return this.#controller.signal;
  }

  /** Tells the handler to end; the first cause stays. One that waits for a slot still gets it, with its signal aborted. */
  abort(cause: EndCause): void {
    if (this.over || this.cause !== undefined) return;
    this.cause = cause;
    this.#controller?.abort(reasonOf(cause));
  }

  /** Tells it to end after a time (F5). */
  limit(clock: Clock, timeoutMs: number): void {
    this.#cancelTimer = longTimer(clock, () => this.abortWithin(clock, "timeout"), timeoutMs);
  }

  /**
   * Tells it to end, and is done with it after the grace, whether its handler has ended or not. Told again, as it is by
   * each renewal of its lease, it gets no further grace.
   */
  abortWithin(clock: Clock, cause: EndCause): void {
    this.abort(cause);
    if (this.over || this.#isEnding) return;
    this.#isEnding = true;
    this.#cancelTimer?.();
    this.#cancelTimer = clock.setTimer(() => {
      if (this.context !== undefined) this.#starter.expire(this);
    }, ABORT_GRACE_MS);
  }

  /** Ends it; answers false if it was over already. */
  finish(): boolean {
    if (this.over) return false;
    this.over = true;
    this.#cancelTimer?.();
    return true;
  }
}

function reasonOf(cause: EndCause): Error {
  if (cause === "lease_lost") return new SchedulerError("lease_lost", REASONS.lease_lost);
  if (cause === "closed") return new SchedulerError("closed", REASONS.closed);
  return new DOMException(REASONS[cause], cause === "timeout" ? "TimeoutError" : "AbortError");
}
