interface Box<Value> {
  value: Value | undefined;
}

/**
 * A map of what comes and goes with every run. V8 keeps each table that a `Map` has outgrown linked to the next one, so
 * that what was in them survives every collection of the young generation: what has left is therefore taken out of a
 * box, and no table leads to it any more.
 */
export class TransientMap<Value extends object> {
  readonly #boxes = new Map<string, Box<Value>>();

  get size(): number {
    return this.#boxes.size;
  }

  has(key: string): boolean {
    return this.#boxes.has(key);
  }

  get(key: string): Value | undefined {
    return this.#boxes.get(key)?.value;
  }

  set(key: string, value: Value): void {
    const box = this.#boxes.get(key);
    if (box === undefined) this.#boxes.set(key, { value });
    else box.value = value;
  }

  /** Answers whether it was there. */
  delete(key: string): boolean {
    const box = this.#boxes.get(key);
    if (box === undefined) return false;
    box.value = undefined;
    return this.#boxes.delete(key);
  }

  /** Whether anything that is there is such; looks no further than it has to. */
  some(isSuch: (value: Value) => boolean): boolean {
    for (const { value } of this.#boxes.values()) if (isSuch(value!)) return true;
    return false;
  }

  /** All that is there now. */
  values(): Value[] {
    return Array.from(this.#boxes.values(), ({ value }) => value!);
  }
}
