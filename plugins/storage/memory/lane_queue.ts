/** One document's place in its lane's queue. */
export interface Waiter {
  readonly id: string;
  readonly wakeAt: number;
  /** Its index in the heap; kept by the queue. */
  place: number;
}

/** The documents of one lane by `wakeAt`, then id: a binary heap whose members know their place, so that any can leave. */
export class LaneQueue {
  readonly #heap: Waiter[] = [];

  /** How many wait. */
  get size(): number {
    return this.#heap.length;
  }

  /** The one that is up first. */
  first(): Waiter | undefined {
    return this.#heap[0];
  }

  /** Adds one. */
  add(id: string, wakeAt: number): Waiter {
    const waiter: Waiter = { id, wakeAt, place: this.#heap.length };
    this.#heap.push(waiter);
    this.#rise(waiter);
    return waiter;
  }

  /** Takes one out, wherever it stands. */
  remove(waiter: Waiter): void {
    const last = this.#heap.pop()!;
    if (last === waiter) return;
    last.place = waiter.place;
    this.#heap[last.place] = last;
    this.#rise(last);
    this.#sink(last);
  }

  /** How many are up by an instant, counting to a limit: the heap is walked from its root, so the others are not seen. */
  countUntil(instant: number, limit: number): number {
    const open = [0];
    let count = 0;
    while (open.length > 0 && count < limit) {
      const place = open.pop()!;
      const waiter = this.#heap[place];
      if (waiter === undefined || waiter.wakeAt > instant) continue;
      count++;
      open.push(2 * place + 1, 2 * place + 2);
    }
    return count;
  }

  #rise(waiter: Waiter): void {
    while (waiter.place > 0) {
      const parent = this.#heap[(waiter.place - 1) >> 1]!;
      if (!before(waiter, parent)) return;
      this.#swap(waiter, parent);
    }
  }

  #sink(waiter: Waiter): void {
    for (;;) {
      const left = this.#heap[2 * waiter.place + 1];
      const right = this.#heap[2 * waiter.place + 2];
      const child = left !== undefined && right !== undefined && before(right, left) ? right : left;
      if (child === undefined || !before(child, waiter)) return;
      this.#swap(child, waiter);
    }
  }

  #swap(a: Waiter, b: Waiter): void {
    const place = a.place;
    a.place = b.place;
    b.place = place;
    this.#heap[a.place] = a;
    this.#heap[b.place] = b;
  }
}

function before(a: Waiter, b: Waiter): boolean {
  return a.wakeAt < b.wakeAt || (a.wakeAt === b.wakeAt && a.id < b.id);
}
