import type { Done, Place } from "../client/mod.ts";
import { type Backlog, type Enlisted, SchedulerError, type Storage } from "../contract/mod.ts";
import type { Engine } from "../engine/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { mergeBacklog } from "./backlog.ts";

/** The engines of one scheduler: of its store, and of what stays in this process (I4). */
export class Engines implements Readonly<Record<Place, Engine>> {
  readonly stored: Engine;
  readonly local: Engine;

  /** @param make Makes the engine of a store. */
  constructor(storage: Storage, make: (storage: Storage, place: Place) => Engine) {
    this.stored = make(storage, "stored");
    this.local = make(memory(), "local");
  }

  async open(): Promise<void> {
    await Promise.all([this.stored.open(), this.local.open()]);
  }

  /** Begins to run what is due. */
  start(): void {
    this.local.start();
    this.stored.start();
  }

  /** Runs what is due now; answers when something is due next. */
  async tick(budgetMs: number): Promise<number | null> {
    const both = [this.stored, this.local];
    await Promise.all(both.map((engine) => engine.tick(budgetMs)));
    // Asked once both have ended: the runs of either may have made something in the other.
    const wakes = await Promise.all(both.map((engine) => engine.nextWake()));
    const instants = wakes.filter((wake) => wake !== null);
    return instants.length === 0 ? null : Math.min(...instants);
  }

  /** Ends the runs. Both before either store is closed: what drains in one place may write to the other. */
  async drain(drainMs: number): Promise<void> {
    await Promise.all([this.local.drain(drainMs), this.stored.drain(drainMs)]);
  }

  /** Closes the stores. */
  async close(): Promise<void> {
    await Promise.all([this.local.close(), this.stored.close()]);
  }

  /** A run is over: the engines share the slots. */
  slotFreed(): void {
    this.stored.slotFreed();
    this.local.slotFreed();
  }

  /** A task has come to be known: something of it may be due. */
  taskLearnt(): void {
    this.stored.taskLearnt();
    this.local.taskLearnt();
  }

  /** What is due and waits, in both places. */
  async backlog(limit: number, isRegistered: (task: string) => boolean): Promise<Backlog> {
    const parts = await Promise.all([this.stored, this.local].map(async (engine) => {
      const now = engine.now();
      return { now, lanes: await engine.parts.storage.backlog(now, limit) };
    }));
    return { at: new Date(this.stored.now()), tasks: mergeBacklog(parts, limit, isRegistered) };
  }

  /** Writes within the application's own transaction (U4). */
  enlist(transaction: unknown): Enlisted {
    const { storage } = this.stored.parts;
    if (storage.enlist === undefined) {
      throw new SchedulerError(
        "config_invalid",
        `within: the store ${storage.name} has no transactions of the application to write in`,
      );
    }
    return this.#told(storage.enlist(transaction));
  }

  /** Observers of the application's transaction are told at once: whether it commits is not the scheduler's to see. */
  #told(enlisted: Enlisted): Enlisted {
    return {
      get: (id) => enlisted.get(id),
      apply: async (groups, now) => {
        const results = await enlisted.apply(groups, now);
        for (const result of results) {
          if (result.committed) this.stored.tellAll(result.values as unknown as readonly Done[]);
        }
        return results;
      },
    };
  }
}
