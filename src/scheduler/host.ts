import { type ClientHost, createUnit, type Done, type Place } from "../client/mod.ts";
import {
  type Ability,
  type AnyTask,
  type Backlog,
  type Clock,
  type DocumentQuery,
  type Enlisted,
  type Group,
  type GroupResult,
  type Logger,
  type OptionParser,
  type Principal,
  type ScheduleDocument,
  SchedulerError,
  type Storage,
  SYSTEM_ID,
} from "../contract/mod.ts";
import { Emitter, Engine, type EngineParts, Slots } from "../engine/mod.ts";
import type { MachineEnv } from "../machine/mod.ts";
import { newId, random, systemClock } from "../system.ts";
import { Calls, closed } from "./calls.ts";
import type { CheckedConfig } from "./config.ts";
import { Engines } from "./engines.ts";
import { HandlerCalls } from "./handler_calls.ts";
import { KnownTasks } from "./known_tasks.ts";
import { prepare } from "./prepare.ts";
import { commitChanges, localUnit, storedUnit } from "./run_units.ts";

/** Where a scheduler takes from what must not repeat itself; a simulation draws both from its seed. */
export interface Chance {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** A new id, a ULID. */
  readonly newId: () => string;
}

/** What the clients of one scheduler share: its stores with their engines, its tasks, its life. */
export class Host implements ClientHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly emitter: Emitter;
  readonly env: MachineEnv;
  readonly tasks: ReadonlyMap<string, AnyTask>;
  readonly parsers: ReadonlyMap<string, OptionParser>;
  readonly defaults: ClientHost["defaults"];
  readonly retentionMs: number;
  readonly canRunAs: ClientHost["canRunAs"];
  readonly newId: () => string;
  readonly #config: CheckedConfig;
  readonly #known: KnownTasks;
  readonly #slots: Slots;
  readonly #engines: Engines;
  readonly #calls = new Calls();
  readonly #handlers: HandlerCalls;
  #opening: Promise<void> | undefined;
  #opened = false;
  #started = false;
  #unsubscribe: (() => void) | undefined;
  #ticking: Promise<number | null> | undefined;
  #closing: Promise<void> | undefined;
  #closed = false;

  constructor(config: CheckedConfig, { random: draw, newId: makeId }: Chance = { random, newId }) {
    this.#config = config;
    this.newId = makeId;
    this.clock = config.clock ?? systemClock();
    this.logger = config.logger;
    this.#handlers = new HandlerCalls(config.logger);
    this.emitter = new Emitter(config.logger, this.#handlers.leave);
    this.env = {
      policies: config.policies,
      optionKeys: new Set(config.parsers.keys()),
      tickMs: config.tickMs,
      random: draw,
    };
    this.#known = new KnownTasks({
      fixed: config.tasks,
      sources: config.plugins.flatMap(({ tasks }) => tasks === undefined ? [] : [tasks]),
      storage: config.storage,
      clock: this.clock,
      logger: config.logger,
      learnt: (task) => this.#learnt(task),
    });
    this.tasks = this.#known.all;
    this.parsers = config.parsers;
    this.defaults = config.defaults;
    this.retentionMs = config.retentionMs;
    this.canRunAs = config.canRunAs;
    this.#slots = new Slots(config.concurrency, this.tasks.values());
    const instance = makeId();
    const units = { stored: storedUnit, local: localUnit };
    this.#engines = new Engines(
      config.storage,
      (storage, place) => {
        const openUnit: EngineParts["openUnit"] = (document) => units[place](this, document);
        return new Engine({ ...this.#parts(instance), storage, openUnit }, () => this.#engines.slotFreed());
      },
    );
    if (this.#known.hasSources) this.#watchRecords();
  }

  /** A change of this instance's own is no hint of the store's; and a deadline that nobody takes may tell of a lost one. */
  #watchRecords(): void {
    for (const event of ["created", "updated", "stopped"] as const) {
      this.emitter.on(event, ({ schedule: { task } }) => {
        if (this.#known.isRecords(task)) this.#known.hinted();
      });
    }
    this.emitter.on("unclaimed", () => this.#known.hinted());
  }

  #learnt(task: AnyTask): void {
    this.#slots.add(task);
    this.#engines.taskLearnt();
  }

  learn(task: unknown, principal: Principal): Promise<void> | undefined {
    const name = typeof task === "string" ? task : (task as { readonly name?: unknown } | null | undefined)?.name;
    return typeof name === "string" ? this.#known.learn(name, principal.id === SYSTEM_ID) : undefined;
  }

  learnAll(): Promise<void> {
    return this.#known.refresh();
  }

  #parts(instance: string): Omit<EngineParts, "storage" | "openUnit"> {
    const { clock, logger, emitter, env, tasks } = this;
    const middleware = this.#config.plugins.flatMap(({ wrapRun }) => wrapRun === undefined ? [] : [wrapRun]);
    return {
      clock,
      logger,
      emitter,
      env,
      tasks,
      slots: this.#slots,
      middleware,
      instance,
      leaseMs: this.#config.leaseMs,
      unref: this.#config.unref,
      prepare,
      enter: this.#handlers.enter,
      applyLocal: (changes) =>
        void this.apply("local", [changes]).catch((error) =>
          logger.error("a run's changes in this process failed", error)
        ),
    };
  }

  now(): number {
    return this.#engines.stored.now();
  }

  ability(task: string): Ability {
    if (!this.tasks.has(task)) return "absent";
    if (!this.#started || this.#closing !== undefined) return "stopped";
    return this.#slots.isFull(task) ? "full" : "able";
  }

  assertOpen(draining = false): void {
    if (this.#closed || (this.#closing !== undefined && !draining)) throw closed();
  }

  ready(draining = false): Promise<void> | undefined {
    this.assertOpen(draining);
    return this.#opened ? undefined : this.#opening ??= this.#open();
  }

  async #open(): Promise<void> {
    try {
      await this.#engines.open();
      this.#opened = true;
    } catch (error) {
      // The next call tries again.
      this.#opening = undefined;
      throw error;
    }
  }

  /** Begins to run what is due. */
  async start(): Promise<void> {
    await this.ready();
    if (this.#started) return;
    await this.#known.refresh();
    if (this.#started || this.#closing !== undefined) return this.assertOpen();
    this.#started = true;
    if (this.#known.hasSources) this.#unsubscribe = this.#config.storage.subscribe?.(() => this.#known.hinted());
    this.#engines.start();
  }

  /** Runs what is due now; two calls at once are one. Answers when something is due next. */
  async tick(budgetMs: number): Promise<number | null> {
    if (this.#handlers.isInside()) {
      throw new SchedulerError("conflict", "tick: called by a run of this scheduler, which it would wait for");
    }
    await this.ready();
    this.#ticking ??= this.#tick(budgetMs).finally(() => this.#ticking = undefined);
    return await this.#ticking;
  }

  async #tick(budgetMs: number): Promise<number | null> {
    await this.#known.refresh();
    this.assertOpen();
    const wake = await this.#engines.tick(budgetMs);
    this.assertOpen();
    return wake;
  }

  /** Ends everything in order; once. */
  close(drainMs: number): Promise<void> {
    this.#closing ??= this.#close(drainMs);
    if (!this.#handlers.isInside()) return this.#closing;
    this.#closing.catch((error) => this.logger.error("closing, as a run has asked for, failed", error));
    return Promise.resolve();
  }

  async #close(drainMs: number): Promise<void> {
    await this.#opening?.catch(() => {});
    this.#unsubscribe?.();
    this.#known.stop();
    try {
      await Promise.all([this.#calls.drain(this.clock, drainMs), this.#engines.drain(drainMs)]);
      this.#closed = true;
      await this.#engines.close();
    } finally {
      this.#handlers.end();
      this.emitter.emit("closed", {});
    }
  }

  /** What is due and waits, in both stores. */
  async backlog(limit: number): Promise<Backlog> {
    await this.ready();
    return await this.#engines.backlog(limit, (task) => this.tasks.has(task));
  }

  apply(place: Place, groups: readonly Group<Done>[]): Promise<readonly GroupResult<Done>[]> {
    // A unit of work may outlast the scheduler that it was begun on.
    return this.#closed ? Promise.reject(closed()) : this.#engines[place].apply(groups);
  }

  enlist(transaction: unknown): Enlisted {
    return this.#engines.enlist(transaction);
  }

  get(place: Place, id: string): Promise<ScheduleDocument | undefined> {
    return this.#asked(place, (storage) => storage.get(id));
  }

  find(place: Place, query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    return this.#asked(place, (storage) => storage.find(query));
  }

  /** A list that is read page by page may outlast the scheduler. */
  #asked<T>(place: Place, ask: (storage: Storage) => Promise<T>): Promise<T> {
    return this.#closed ? Promise.reject(closed()) : this.#awaited(ask(this.#engines[place].parts.storage));
  }

  /** A clock that a test moves stands still meanwhile, also where a handler asks. */
  #awaited<T>(answer: Promise<T>): Promise<T> {
    const done = this.clock.busy?.();
    return done === undefined ? answer : answer.finally(done);
  }

  invoke(task: AnyTask, input: unknown, caller: Principal): Promise<unknown> {
    // The task may have been asked for long whether the caller may use it.
    this.assertOpen();
    const { clock, logger } = this;
    return this.#calls.invoke({
      task,
      input,
      caller,
      clock,
      logger,
      id: this.newId(),
      middleware: this.#engines.stored.parts.middleware,
      unit: createUnit(this, caller, { draining: true }),
      enter: this.#handlers.enter,
      commit: (changes) => commitChanges(this, changes),
    });
  }
}
