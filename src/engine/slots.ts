import type { AnyTask } from "../contract/mod.ts";
import type { Execution } from "./execution.ts";
import { Fifo } from "./fifo.ts";

/** Room for runs on this instance: over all tasks and for each, with the runs that are claimed and wait for it. */
export class Slots {
  readonly concurrency: number;
  #running = 0;
  #queued = 0;
  #starting = false;
  #stopped = false;
  readonly #tasks = new Map<string, TaskSlots>();
  /** Tasks with waiting runs, in the order of their turns. */
  readonly #turns: TaskSlots[] = [];

  constructor(concurrency: number, tasks: Iterable<AnyTask>) {
    this.concurrency = concurrency;
    for (const task of tasks) this.add(task);
  }

  /** Makes room for a task's runs; it stays, for runs that are left when the task is gone. */
  add({ name, concurrency: limit = this.concurrency }: AnyTask): void {
    if (!this.#tasks.has(name)) this.#tasks.set(name, { limit, running: 0, queue: new Fifo() });
  }

  get queued(): number {
    return this.#queued;
  }

  get running(): number {
    return this.#running;
  }

  /** Whether the task is limited below the instance, so that a claim must count its runs. */
  isLimited(task: string): boolean {
    const slots = this.#tasks.get(task);
    return slots !== undefined && slots.limit < this.concurrency;
  }

  /** How many more runs of a limited task may be claimed now. */
  room(task: string): number {
    const slots = this.#tasks.get(task);
    return slots === undefined ? 0 : slots.limit - slots.running - slots.queue.length;
  }

  /** Whether a run of the task would have to wait for another one to end. */
  isFull(task: string): boolean {
    const slots = this.#tasks.get(task);
    return this.#running >= this.concurrency || slots === undefined || slots.running >= slots.limit;
  }

  push(execution: Execution): void {
    const slots = this.#tasks.get(execution.document.definition.task)!;
    if (slots.queue.length === 0) this.#turns.push(slots);
    slots.queue.push(execution);
    this.#queued++;
  }

  /** Starts nothing any more (X1). */
  stop(): void {
    this.#stopped = true;
  }

  /** Starts what waits, as far as there is room. A run that ends at once leaves its slot to the next, without recursion. */
  start(): void {
    if (this.#starting) return;
    this.#starting = true;
    for (let next = this.#take(); next !== undefined; next = this.#take()) next.begin();
    this.#starting = false;
  }

  /** The next run that has room, its slot taken; tasks take turns. */
  #take(): Execution | undefined {
    if (this.#stopped || this.#running >= this.concurrency) return undefined;
    for (const [turn, slots] of this.#turns.entries()) {
      if (slots.running >= slots.limit) continue;
      const execution = slots.queue.shift()!;
      this.#turns.splice(turn, 1);
      if (slots.queue.length > 0) this.#turns.push(slots);
      slots.running++;
      this.#running++;
      this.#queued--;
      return execution;
    }
    return undefined;
  }

  /** Gives a slot back. */
  free(execution: Execution): void {
    this.#tasks.get(execution.document.definition.task)!.running--;
    this.#running--;
  }
}

interface TaskSlots {
  readonly limit: number;
  readonly queue: Fifo<Execution>;
  running: number;
}
