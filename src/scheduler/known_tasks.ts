import {
  type AnyTask,
  type Clock,
  type Logger,
  MAX_KEPT_TASKS,
  MAX_NAME_LENGTH,
  MAX_PAGE,
  type ScheduleDocument,
  type Storage,
  SYSTEM_ID,
  TASKS_LOOK_MS,
  type TaskSource,
} from "../contract/mod.ts";

/** What the tasks that are known are made from. */
export interface KnownTasksParts {
  /** Tasks in code; they go before those of the sources. */
  readonly fixed: ReadonlyMap<string, AnyTask>;
  readonly sources: readonly TaskSource[];
  readonly storage: Pick<Storage, "find">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each task that came to be known. */
  readonly learnt: (task: AnyTask) => void;
}

interface Kept {
  readonly task: AnyTask;
  /** Numbers what was learnt, so that an older look at the store does not take it away again. */
  readonly order: number;
}

/** The tasks that this instance knows: those in code, and those that its plugins keep in the store. */
export class KnownTasks {
  readonly #parts: KnownTasksParts;
  readonly #all: Map<string, AnyTask>;
  readonly #kept = new Map<string, Kept>();
  #order = 0;
  #looking: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #lookedMono = -Infinity;
  #stopped = false;

  constructor(parts: KnownTasksParts) {
    this.#parts = parts;
    this.#all = new Map(parts.fixed);
    for (const { records } of parts.sources) if (!this.#all.has(records.name)) this.#all.set(records.name, records);
  }

  /** By name; the same map at all times. */
  get all(): ReadonlyMap<string, AnyTask> {
    return this.#all;
  }

  /** Whether tasks may come and go. */
  get hasSources(): boolean {
    return this.#parts.sources.length > 0;
  }

  /** Whether schedules of a task are records of tasks. */
  isRecords(task: string): boolean {
    return this.#parts.sources.some(({ records }) => records.name === task);
  }

  /**
   * Looks a name up that is not known; nothing to wait for where there is nowhere to look.
   *
   * @param internal Whether whoever asks knows of internal tasks; for others they are looked up like any unknown name.
   */
  learn(name: string, internal: boolean): Promise<void> | undefined {
    if (!this.hasSources || name === "" || name.length > MAX_NAME_LENGTH) return undefined;
    const known = this.#all.get(name);
    return known !== undefined && (internal || known.internal !== true) ? undefined : this.#find(name);
  }

  async #find(name: string): Promise<void> {
    const done = this.#parts.clock.busy?.();
    try {
      for (const source of this.#parts.sources) {
        const record = await this.#record(source, name);
        if (record !== undefined) this.#keep(source, record);
      }
    } finally {
      done?.();
    }
  }

  async #record({ records }: TaskSource, name: string): Promise<ScheduleDocument | undefined> {
    const query = { owner: SYSTEM_ID, task: records.name, tag: name, limit: 1 };
    return (await this.#parts.storage.find(query))[0];
  }

  /** Something in the store has changed, perhaps a record: looks soon, and no more than once in a while. */
  hinted(): void {
    if (!this.hasSources || this.#stopped || this.#cancel !== undefined) return;
    const { clock, logger } = this.#parts;
    const waitMs = Math.max(0, this.#lookedMono + TASKS_LOOK_MS - clock.monotonic());
    this.#cancel = clock.setTimer(
      () => {
        this.#cancel = undefined;
        this.refresh().catch((error) => {
          logger.warn("the tasks that are kept in the store could not be read; they are read again", error);
          this.hinted();
        });
      },
      waitMs,
      { unref: true },
    );
  }

  /** Reads every record. */
  async refresh(): Promise<void> {
    if (!this.hasSources) return;
    // One that is under way may have begun before what the caller knows of.
    await this.#looking?.catch(() => {});
    await (this.#looking ??= this.#look());
  }

  async #look(): Promise<void> {
    const { clock } = this.#parts;
    this.#lookedMono = clock.monotonic();
    const done = clock.busy?.();
    try {
      await this.#readAll();
    } finally {
      this.#looking = undefined;
      done?.();
    }
  }

  async #readAll(): Promise<void> {
    const { sources } = this.#parts;
    const order = this.#order;
    const found = new Set<string>();
    for (const source of sources) {
      for (const record of await this.#records(source)) {
        const name = this.#keep(source, record);
        if (name !== undefined) found.add(name);
      }
    }
    for (const [name, kept] of this.#kept) {
      if (found.has(name) || kept.order > order) continue;
      this.#kept.delete(name);
      this.#all.delete(name);
    }
  }

  async #records({ records }: TaskSource): Promise<readonly ScheduleDocument[]> {
    const found: ScheduleDocument[] = [];
    let page: readonly ScheduleDocument[];
    do {
      const after = found.at(-1)?.id;
      const query = { owner: SYSTEM_ID, task: records.name, limit: MAX_PAGE };
      page = await this.#parts.storage.find(after === undefined ? query : { ...query, after });
      found.push(...page);
    } while (page.length === MAX_PAGE && found.length < MAX_KEPT_TASKS);
    return found;
  }

  /** Knows the task of a record from now on; answers its name. */
  #keep(source: TaskSource, record: ScheduleDocument): string | undefined {
    const name = record.definition.tags?.[0];
    if (name === undefined || (this.#all.has(name) && !this.#kept.has(name))) return undefined;
    const task = this.#taskOf(source, record, name);
    if (task === undefined) return undefined;
    const isNew = !this.#kept.has(name);
    this.#kept.set(name, { task, order: ++this.#order });
    this.#all.set(name, task);
    if (isNew) this.#parts.learnt(task);
    return name;
  }

  #taskOf(source: TaskSource, record: ScheduleDocument, name: string): AnyTask | undefined {
    try {
      const task = source.taskOf(record, () => this.#record(source, name));
      if (task?.name === name) return task;
      this.#parts.logger.warn(`schedule ${record.id} is no record of a task named "${name}"; it is left alone`);
    } catch (error) {
      this.#parts.logger.warn(`schedule ${record.id}: its task "${name}" could not be made`, error);
    }
    return undefined;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }
}
