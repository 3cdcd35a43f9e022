import type { AdvanceResult, Group, GroupResult, LiveRun, ScheduleDocument } from "../contract/mod.ts";
import { type Claim, type Done, runId, type StepResult } from "../machine/mod.ts";
import { closeRuns, within } from "./close.ts";
import { Execution } from "./execution.ts";
import type { EngineParts } from "./parts.ts";
import { Pump } from "./pump.ts";
import { Renewer } from "./renewer.ts";
import { type Outcome, Runner } from "./runner.ts";
import { Settler } from "./settler.ts";
import { StoreTrouble } from "./store_trouble.ts";
import { tell, tellLeaseLost, tellStarted } from "./teller.ts";
import { TransientMap } from "./transient_map.ts";
import { Unclaimed } from "./unclaimed.ts";

/**
 * The loop around the state machine, for one store: sleeps until the earliest instant at which anything has to happen,
 * lets the store apply the step to what is due, starts what that says, and hands outcomes back.
 */
export class Engine {
  readonly parts: EngineParts;
  /** Runs that this instance holds, until they are settled. */
  readonly runs = new TransientMap<Execution>();
  readonly #pump: Pump;
  readonly #runner: Runner;
  readonly #settler: Settler;
  readonly #renewer: Renewer;
  readonly #unclaimed: Unclaimed;
  readonly #trouble: StoreTrouble;
  readonly #onSlot: () => void;
  #opened = false;
  #closing = false;
  #unsubscribe: (() => void) | undefined;
  #drained: (() => void)[] = [];
  #started = false;
  #quiet: (() => void)[] = [];

  /** @param onSlot Told when a run is over, so that every store of the scheduler may use its slot. */
  constructor(parts: EngineParts, onSlot: () => void) {
    this.parts = parts;
    this.#trouble = new StoreTrouble(parts.logger);
    this.#onSlot = onSlot;
    const now = () => this.now();
    const failed = (operation: string) => (error: unknown) => this.#storeFailed(operation, error);
    this.#pump = new Pump(parts, {
      claim: (patienceMs) => this.#claim(patienceMs),
      moved: (values) => this.#moved(values),
      advanced: (result) => this.#advanced(result),
      failed: failed("advance"),
      rested: () => {
        this.#settler.flush();
        this.#checkQuiet();
      },
    });
    this.#runner = new Runner(parts, {
      started: (execution) => tellStarted(parts.emitter, execution),
      ended: (execution, outcome) => this.#ended(execution, outcome),
    }, () => this.#pump.offset);
    this.#settler = new Settler(parts, {
      now,
      claim: () => this.#pump.isActive ? this.#claim(0) : undefined,
      isClaiming: () => this.#pump.goesOn,
      settled: (execution, done, outcome) => this.#settled(execution, done, outcome),
      refused: (execution, gone) => this.#refused(execution, gone),
      failed: failed("settle"),
    });
    this.#renewer = new Renewer(parts, {
      now,
      held: () => this.runs.values(),
      lost: (execution) => this.#lost(execution),
      renewed: (execution, { before, result }) => {
        this.#tell(result.document ?? before, result);
        this.#heed(execution, result);
      },
      failed: failed("renew"),
    });
    this.#unclaimed = new Unclaimed(parts, now, failed("backlog"));
  }

  /** The store's time, as well as it is known here. */
  now(): number {
    return Math.round(this.parts.clock.now() + this.#pump.offset);
  }

  /** Opens the store; may be tried again. */
  async open(): Promise<void> {
    const { storage, clock, logger } = this.parts;
    if (!this.#opened) await storage.open({ clock, logger });
    this.#opened = true;
    const now = clock.now();
    this.#pump.offset = await storage.now(now) - now;
  }

  /** Begins to run what is due. */
  start(): void {
    const { storage } = this.parts;
    this.#started = true;
    this.#unsubscribe = storage.subscribe?.(() => this.#hinted());
    this.#unclaimed.look();
    this.#pump.start();
  }

  /** Runs what is due until nothing is, or until the time is over. An engine that was not started starts nothing more then. */
  async tick(budgetMs: number): Promise<void> {
    if (this.#started) this.#pump.pump();
    else this.#pump.start();
    const quiet = new Promise<void>((resolve) => {
      this.#quiet.push(resolve);
      this.#checkQuiet();
    });
    await within(this.parts.clock, budgetMs, quiet);
    if (!this.#started) await this.#pump.stop();
  }

  /** When it has to be looked at next; `null` for never, and while it closes. */
  async nextWake(): Promise<number | null> {
    const { storage, tasks } = this.parts;
    return this.#closing ? null : await storage.nextWake([...tasks.keys(), ""]);
  }

  #checkQuiet(): void {
    if (this.#quiet.length === 0 || this.runs.size > 0 || !this.#pump.isResting) return;
    for (const resolve of this.#quiet.splice(0)) resolve();
  }

  /** Applies groups; once committed, observers are told, runs are aborted and the engine wakes as the effects say. */
  async apply(groups: readonly Group<Done>[]): Promise<readonly GroupResult<Done>[]> {
    const { storage, clock } = this.parts;
    const done = clock.busy?.();
    try {
      const results = await storage.apply(groups, this.now());
      for (const result of results) if (result.committed) this.tellAll(result.values);
      return results;
    } catch (error) {
      // It may be stored all the same, and nobody else tells this instance what is due then (M6).
      this.#pump.pump();
      throw error;
    } finally {
      done?.();
    }
  }

  /** Does what committed changes ask of the world. */
  tellAll(values: readonly Done[]): void {
    for (const { before, result } of values) {
      this.#tell(result.document ?? before, result);
      if (result.document !== null && result.document !== before) this.#wakeFor(result.document);
    }
  }

  /** A slot is free: claims more where more may be due. */
  slotFreed(): void {
    this.#pump.slotFreed();
  }

  /** A task has come to be known: something of it may be due. */
  taskLearnt(): void {
    this.#pump.pump();
  }

  /** Stops claiming and ends the runs; the store stays open for what others still have to write. */
  async drain(drainMs: number): Promise<void> {
    this.#closing = true;
    const claimed = this.#pump.stop();
    this.#unclaimed.stop();
    this.#unsubscribe?.();
    await closeRuns(this, drainMs, claimed);
    this.#renewer.stop();
    this.#settler.stop();
  }

  /** Closes the store; nothing is asked of it any more. */
  async close(): Promise<void> {
    if (this.#opened) await this.parts.storage.close();
    for (const resolve of this.#quiet.splice(0)) resolve();
  }

  /** Resolves when every run that has started is over and written down, except those that closing has cut off. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.#checkDrained();
    });
  }

  #checkDrained(): void {
    this.#checkQuiet();
    if (this.#drained.length === 0) return;
    if (this.runs.some(({ startedMono, over, settling }) => startedMono !== undefined && (!over || settling))) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #claim(patienceMs: number): Claim {
    const { instance, leaseMs } = this.parts;
    // A run whose outcome waits for a store that fails is still ours: it must not start a second time for that (M6).
    return { instance, leaseMs, patienceMs, holds: ({ id }, fence) => this.runs.has(runId(id, fence)) };
  }

  #advanced(result: AdvanceResult<Done>): void {
    const { emitter, logger } = this.parts;
    this.#trouble.answered();
    this.#moved(result.values);
    for (const { id, task, error } of result.damaged) {
      logger.error(`schedule ${id} (${task}) cannot be read and is parked: ${error}`);
      emitter.emit("parked", { id, task, error });
    }
  }

  /** Starts what was claimed, as far as there is room. */
  #moved(values: readonly Done[]): void {
    for (const { before, result } of values) this.#tell(result.document ?? before, result);
    this.parts.slots.start();
  }

  /** Does what a committed step asks of the world. */
  #tell(document: ScheduleDocument | undefined, result: StepResult): void {
    if (document === undefined) return;
    for (const effect of result.effects) {
      if (effect.type === "start") this.#hold(document, effect.run, effect.lateMs);
      else if (effect.type === "abort") this.#abort(document.id, effect.fence, effect.cause);
      else tell(this.parts, document, effect);
    }
  }

  #hold(document: ScheduleDocument, run: LiveRun, lateMs: number): void {
    const execution = new Execution(document, run, lateMs, this.#runner);
    this.runs.set(execution.id, execution);
    this.parts.slots.push(execution);
    this.#renewer.watch();
  }

  #ended(execution: Execution, outcome: Outcome | undefined): void {
    this.parts.slots.free(execution);
    if (outcome !== undefined) {
      this.#pump.runEnded(outcome.settlement.durationMs);
      this.#settler.push(execution, outcome);
      // What closing has cut off stays held until it is released for others (X1).
    } else if (execution.cause !== "closed") this.runs.delete(execution.id);
    this.#checkDrained();
    this.parts.slots.start();
    this.#onSlot();
  }

  #settled(execution: Execution, done: readonly Done[], outcome: Outcome): void {
    this.runs.delete(execution.id);
    this.tellAll(done);
    this.parts.slots.start();
    const local = outcome.changes?.local ?? [];
    if (local.length > 0) this.parts.applyLocal(local);
    this.#checkDrained();
  }

  #refused(execution: Execution, gone: boolean): void {
    this.runs.delete(execution.id);
    if (!gone) tellLeaseLost(this.parts.emitter, execution);
    // A settlement whose reply was lost is refused when it is tried again: what it armed is not known here (M6).
    this.#pump.pump();
    this.#checkDrained();
  }

  #lost(execution: Execution): void {
    this.runs.delete(execution.id);
    execution.abort("lease_lost");
    tellLeaseLost(this.parts.emitter, execution);
    this.#checkDrained();
  }

  /** Aborts a run of this instance that its document wants aborted. */
  #heed(execution: Execution, { document }: StepResult): void {
    const live = document?.progress.runs.find(({ fence }) => fence === execution.run.fence);
    if (live?.abort !== undefined) this.#abort(execution.document.id, live.fence, live.abort);
  }

  #abort(id: string, fence: number, cause: NonNullable<LiveRun["abort"]>): void {
    const execution = this.runs.get(runId(id, fence));
    if (execution === undefined) return;
    // The one that takes a replaced run's place starts once that has really ended (O4).
    if (cause === "replaced") execution.abort(cause);
    else execution.abortWithin(this.parts.clock, cause);
  }

  #wakeFor({ definition, progress }: ScheduleDocument): void {
    if (progress.wakeAt === null) return;
    if (!this.parts.tasks.has(definition.task) && progress.retired === undefined) return;
    this.#pump.wakeAt(progress.wakeAt, this.now());
  }

  /** Another handle may have changed something: new deadlines, or runs of ours that are to be aborted. */
  #hinted(): void {
    if (this.#closing) return;
    this.#pump.pump();
    if (this.runs.size > 0) this.#renewer.hinted();
    this.#unclaimed.hinted();
  }

  #storeFailed(operation: string, error: unknown): void {
    this.#trouble.failed(operation, error);
    this.parts.emitter.emit("storeError", { operation, error });
  }
}
