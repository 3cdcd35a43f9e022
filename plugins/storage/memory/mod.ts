/**
 * Schedules kept in this process's memory: the default store, and the one for tests. They are gone when the process is.
 *
 * @module
 */
import {
  type AdvanceRequest,
  type AdvanceResult,
  type Change,
  type DocumentQuery,
  evaluateGroup,
  type Group,
  type GroupResult,
  type LaneBacklog,
  MAX_ADVANCE,
  MAX_PAGE,
  type ScheduleDocument,
  type SchedulerError,
  type Storage,
  type StorageContext,
  StorageError,
  type StorageSupports,
  type Write,
} from "../../../src/contract/mod.ts";
import { Table } from "./table.ts";

/** A store in memory, and how to get further handles on the same one. */
export interface MemoryStorage extends Storage {
  /**
   * Another handle on the same documents, as a second process would have on a shared store: for several schedulers in
   * one process, and for tests of clusters.
   */
  handle(): MemoryStorage;
}

/**
 * A store in this process's memory: what a scheduler has by default. It may be opened again after it was closed, and
 * still holds its documents then; they are gone with the process. Several schedulers of one process share it through
 * handles.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { memory } from "@ostinato/scheduler/memory";
 *
 * const beat = defineTask("beat", () => {});
 * const storage = memory();
 * await using one = createScheduler({ storage, tasks: [beat] });
 * await using other = createScheduler({ storage: storage.handle(), tasks: [beat] }); // the same schedules
 * const { id } = await one.every(beat, "1m");
 * console.log(await other.valid(id)); // true
 * ```
 */
export function memory(): MemoryStorage {
  return new MemoryHandle({ table: new Table(), handles: new Set() });
}

interface Shared {
  readonly table: Table;
  readonly handles: Set<MemoryHandle>;
}

class MemoryHandle implements MemoryStorage {
  readonly name: string = "memory";
  readonly supports: StorageSupports = { clock: false, enlist: false, push: true, processes: false, durable: false };
  readonly #shared: Shared;
  readonly #listeners = new Set<() => void>();
  #context: StorageContext | undefined;
  #told = false;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  handle(): MemoryStorage {
    return new MemoryHandle(this.#shared);
  }

  // Every method is async although nothing waits, so that a refusal is a rejection as with any other driver.
  // deno-lint-ignore require-await
  async open(context: StorageContext): Promise<void> {
    if (this.#context !== undefined) {
      throw new StorageError("memory: this handle is open already; give each scheduler its own with handle()", {
        retryable: false,
      });
    }
    this.#context = context;
    this.#shared.handles.add(this);
  }

  // deno-lint-ignore require-await
  async close(): Promise<void> {
    this.#context = undefined;
    this.#shared.handles.delete(this);
    this.#listeners.clear();
  }

  // deno-lint-ignore require-await
  async now(fallback: number): Promise<number> {
    return fallback;
  }

  // deno-lint-ignore require-await
  async advance<T>(
    { lanes, limit, now }: AdvanceRequest,
    step: (document: ScheduleDocument, now: number) => Change<T>,
  ): Promise<AdvanceResult<T>> {
    const table = this.#table();
    const values: T[] = [];
    const writes: Write[] = [];
    for (const id of table.due(lanes, now, Math.min(limit, MAX_ADVANCE))) {
      const before = table.read({ id })!;
      const { document, value, reject } = step(before, now);
      values.push(value);
      if (reject === undefined && document !== undefined) writes.push({ before, after: document });
    }
    const refusal = this.#write(writes);
    if (refusal !== undefined) throw refusal;
    const nextWake = table.nextWake(lanes);
    return { values, more: nextWake !== null && nextWake <= now, nextWake, now, damaged: [] };
  }

  // deno-lint-ignore require-await
  async apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    const table = this.#table();
    return groups.map((group) => {
      const evaluation = evaluateGroup(group, (select) => table.read(select), now);
      if (!evaluation.committed) return evaluation;
      const reason = this.#write(evaluation.writes);
      return reason === undefined ? { committed: true, values: evaluation.values } : { committed: false, reason };
    });
  }

  // deno-lint-ignore require-await
  async get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#table().read({ id });
  }

  // deno-lint-ignore require-await
  async find(query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    return this.#table().find({ ...query, limit: Math.min(query.limit, MAX_PAGE) });
  }

  // deno-lint-ignore require-await
  async nextWake(lanes: readonly string[]): Promise<number | null> {
    return this.#table().nextWake(lanes);
  }

  // deno-lint-ignore require-await
  async backlog(before: number, limit: number): Promise<readonly LaneBacklog[]> {
    return this.#table().backlog(before, limit);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #table(): Table {
    if (this.#context === undefined) throw new StorageError("memory: the store is not open", { retryable: false });
    return this.#shared.table;
  }

  #write(writes: readonly Write[]): SchedulerError | undefined {
    const refusal = this.#shared.table.write(writes);
    if (refusal === undefined && writes.length > 0) {
      for (const handle of this.#shared.handles) if (handle !== this) handle.#tell();
    }
    return refusal;
  }

  /** Tells the listeners once for all that another handle does in one turn. */
  #tell(): void {
    if (this.#told || this.#listeners.size === 0) return;
    this.#told = true;
    this.#context?.clock.defer(() => {
      this.#told = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
