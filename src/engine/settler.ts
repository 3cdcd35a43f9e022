import {
  type Group,
  type GroupResult,
  MAX_GROUPS,
  MAX_HELD_MS,
  MAX_HELD_SETTLEMENTS,
  SchedulerError,
} from "../contract/mod.ts";
import { changed, type Claim, type Done, step, untouched } from "../machine/mod.ts";
import { Backoff } from "./backoff.ts";
import type { Execution } from "./execution.ts";
import { Fifo } from "./fifo.ts";
import { faultOf } from "./fault.ts";
import type { EngineParts } from "./parts.ts";
import type { Outcome } from "./runner.ts";

interface Pending {
  readonly execution: Execution;
  readonly outcome: Outcome;
}

/** What a settler tells. */
export interface SettlerEvents {
  /** The store's time. */
  now(): number;
  /** The right to start what is owed in the same step; `undefined` where nothing is claimed any more. */
  claim(): Claim | undefined;
  /** Whether more is about to be claimed; `flush` is called when that is over. */
  isClaiming(): boolean;
  /** The settlement is committed, and with it what the run changed. */
  settled(execution: Execution, done: readonly Done[], outcome: Outcome): void;
  /** The fence no longer holds: the run was given to somebody else, or its schedule is gone. */
  refused(execution: Execution, gone: boolean): void;
  failed(error: unknown): void;
}

/**
 * Writes outcomes down, those of one turn in one commit, each together with the changes its run buffered (U3). A store
 * that fails is tried again until it answers: what a run came to is not forgotten while its lease holds (M6).
 */
export class Settler {
  readonly #parts: EngineParts;
  readonly #events: SettlerEvents;
  readonly #backoff: Backoff;
  readonly #pending = new Fifo<Pending>();
  /** How many are written together: fewer after each failure, so that what a store refuses for good keeps no other waiting. */
  #most = MAX_GROUPS;
  #scheduled = false;
  #flushing = false;
  #stopped = false;
  #cancelRetry: (() => void) | undefined;
  /** Ends the waiting of what is held; undefined while nothing is. */
  #cancelHold: (() => void) | undefined;
  /** What is pending has waited long enough. */
  #overdue = false;

  constructor(parts: EngineParts, events: SettlerEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#backoff = new Backoff(parts.clock, parts.env.random);
  }

  push(execution: Execution, outcome: Outcome): void {
    this.#pending.push({ execution, outcome });
    if (this.#scheduled || this.#flushing) return;
    this.#scheduled = true;
    this.#parts.clock.defer(() => this.flush());
  }

  /** Writes down what is pending, unless it had better wait. */
  flush(): void {
    this.#scheduled = false;
    if (!this.#flushing) void this.#run();
  }

  /**
   * While more is being claimed, what is due starts before what is over is written down; for a while, since claiming may
   * never end where it takes longer than the next deadline is away.
   */
  #isHeld(): boolean {
    if (this.#overdue || !this.#events.isClaiming() || this.#pending.length >= MAX_HELD_SETTLEMENTS) return false;
    this.#cancelHold ??= this.#parts.clock.setTimer(
      () => {
        this.#cancelHold = undefined;
        this.#overdue = true;
        this.flush();
      },
      MAX_HELD_MS,
      { unref: this.#parts.unref },
    );
    return true;
  }

  #release(): void {
    this.#cancelHold?.();
    this.#cancelHold = undefined;
    this.#overdue = false;
  }

  /** Gives up what the store has not taken by the end of closing; the leases of those runs will run out. */
  stop(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
    this.#release();
  }

  async #run(): Promise<void> {
    this.#flushing = true;
    while (this.#pending.length > 0 && !this.#stopped && !this.#isHeld()) {
      const batch = this.#pending.take(this.#most);
      this.#release();
      const done = this.#parts.clock.busy?.();
      try {
        this.#tell(batch, await this.#apply(batch));
        this.#backoff.reset();
        this.#most = Math.min(MAX_GROUPS, this.#most * 2);
      } catch (error) {
        // To the end: each is of another run, so their order does not matter.
        for (const pending of batch) this.#pending.push(pending);
        this.#most = Math.ceil(batch.length / 2);
        this.#events.failed(error);
        done?.();
        await new Promise<void>((resolve) => this.#cancelRetry = this.#backoff.next(resolve));
      } finally {
        done?.();
      }
    }
    this.#flushing = false;
  }

  #apply(batch: readonly Pending[]): Promise<readonly GroupResult<Done>[]> {
    const claim = this.#events.claim();
    return this.#parts.storage.apply(batch.map((pending) => this.#group(pending, claim)), this.#events.now());
  }

  #group({ execution, outcome }: Pending, claim: Claim | undefined): Group<Done> {
    const { env, tasks } = this.#parts;
    const { settlement, changes } = outcome;
    const buffered = changes?.stored ?? [];
    const settle = {
      select: { id: execution.document.id },
      decide(before: Done["before"], now: number) {
        if (before === undefined) return refused(execution, undefined, buffered.length > 0);
        // It may have been given to a task that this instance has not: what follows is for others to start (M2).
        const mine = claim !== undefined && tasks.has(before.definition.task) ? { claim } : {};
        const result = step(before, { type: "settled", settlement, ...mine }, now, env);
        if (!result.answer && buffered.length > 0) return refused(execution, before, true);
        return changed(before, result);
      },
    };
    return buffered.length === 0 ? [settle] : [settle, ...buffered];
  }

  #tell(batch: readonly Pending[], results: readonly GroupResult<Done>[]): void {
    results.forEach((result, index) => {
      const { execution, outcome } = batch[index]!;
      if (!result.committed) return this.#notCommitted(execution, outcome, result.reason);
      const done = result.values[0]!;
      if (done.result.answer) this.#events.settled(execution, result.values, outcome);
      else this.#events.refused(execution, isGone(execution, done.before));
    });
  }

  #notCommitted(execution: Execution, outcome: Outcome, reason: SchedulerError): void {
    if (reason.code === "lease_lost") return this.#events.refused(execution, reason.details.gone === true);
    // What the run buffered does not fit the store any more: none of it happens, and that is the run's fault.
    const fault = faultOf(reason, this.#events.now());
    const { fence, startedAt, endedAt, durationMs } = outcome.settlement;
    const settlement = { fence, startedAt, endedAt, durationMs, outcome: "faulted" as const, fault };
    this.#pending.push({ execution, outcome: { settlement, changes: undefined } });
  }
}

/** Whether there is nothing to settle any more although nobody else has the run: its schedule was stopped, or is parked. */
function isGone({ run }: Execution, before: Done["before"]): boolean {
  return before === undefined || before.progress.runs.some(({ fence }) => fence === run.fence);
}

/** Refuses a group whose fence does not hold, so that nothing its run buffered is stored (M4). */
function refused(execution: Execution, before: Done["before"], buffered: boolean) {
  if (!buffered) return untouched(before);
  const reject = new SchedulerError("lease_lost", `run ${execution.id} no longer holds its lease`, {
    details: { gone: isGone(execution, before) },
  });
  return { ...untouched(before), reject };
}
