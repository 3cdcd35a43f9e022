import { turn } from "../turn.ts";

interface Happening {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** So much within a minute is no coincidence: clusters of a thousand schedules stay far below it. */
const STORM = 50_000;
const MINUTE_MS = 60_000;

/** Things happen without end, and time hardly passes. */
export class Storm extends Error {
  override readonly name = "Storm";
}

/**
 * Virtual time: what happens, in order. Between two happenings every promise gets its turn, so that nothing depends on
 * how fast the machine is.
 */
export class World {
  /** True time, in milliseconds since the Unix epoch. No clock in the simulation need agree with it. */
  now: number;
  /** How much has happened. */
  happenings = 0;
  /** Calls of a real store that are under way: virtual time waits for them. */
  readonly #outside = new Set<Promise<unknown>>();
  #order = 0;
  /** A binary heap, the earliest first. */
  readonly #heap: Happening[] = [];

  constructor(start: number) {
    this.now = start;
  }

  /** Lets something happen at an instant, or now if that has passed; answers a function that cancels it. */
  post(at: number, run: () => void): () => void {
    const happening: Happening = { at: Math.max(at, this.now), order: this.#order++, run, cancelled: false };
    this.#push(happening);
    return () => {
      happening.cancelled = true;
    };
  }

  /** Lets virtual time stand still until something real is over. */
  outside<T>(work: Promise<T>): Promise<T> {
    const over = work.then(() => {}, () => {});
    this.#outside.add(over);
    void over.then(() => this.#outside.delete(over));
    return work;
  }

  /** Lets time pass. */
  async runUntil(end: number): Promise<void> {
    await this.#settle();
    let [minute, together] = [this.now, 0];
    for (let next = this.#take(end); next !== undefined; next = this.#take(end)) {
      if (next.at >= minute + MINUTE_MS) [minute, together] = [next.at, 0];
      if (++together > STORM) throw new Storm(`more than ${STORM} things happen in the minute from ${minute}`);
      this.now = next.at;
      this.happenings++;
      next.run();
      await this.#settle();
    }
    this.now = end;
  }

  /** Every promise gets its turn, and what it began in the world outside comes to its end. */
  async #settle(): Promise<void> {
    await turn();
    while (this.#outside.size > 0) {
      await Promise.all(this.#outside);
      await turn();
    }
  }

  #take(end: number): Happening | undefined {
    while (this.#heap.length > 0 && this.#heap[0]!.at <= end) {
      const first = this.#pop();
      if (!first.cancelled) return first;
    }
    return undefined;
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let index = heap.push(happening) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (isBefore(heap[parent]!, happening)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = happening;
  }

  #pop(): Happening {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
