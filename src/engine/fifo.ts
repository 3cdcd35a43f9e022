const FIRST_PLACES = 16;

/**
 * First in, first out, in a ring that grows as it has to and empties each place that is left.
 *
 * For what comes and goes with every run, an array that is given up when it is empty will not do: it was made while
 * nothing ran, so V8 has moved it to its old generation by the time it is filled, and whatever lies in it when it is given
 * up survives every collection of the young generation with it.
 */
export class Fifo<Item> {
  #places: (Item | undefined)[] = new Array(FIRST_PLACES).fill(undefined);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    if (this.#length === this.#places.length) this.#grow();
    this.#places[(this.#head + this.#length++) % this.#places.length] = item;
  }

  /** Takes out the oldest. */
  shift(): Item | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#places[this.#head];
    this.#places[this.#head] = undefined;
    this.#head = (this.#head + 1) % this.#places.length;
    this.#length--;
    return item;
  }

  /** Takes out the oldest, so many at most. */
  take(limit: number): Item[] {
    return Array.from({ length: Math.min(limit, this.#length) }, () => this.shift()!);
  }

  #grow(): void {
    const length = this.#length;
    const places = this.take(length);
    this.#places = [...places, ...new Array<undefined>(length).fill(undefined)];
    this.#head = 0;
    this.#length = length;
  }
}
