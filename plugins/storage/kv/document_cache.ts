import type { Read } from "./reader.ts";

interface Entry extends Read {
  readonly era: number;
}

/**
 * Documents as they were read or written last, so that what settles a run that was claimed a moment ago need not be read
 * again. They are trusted until somebody else has written; afterwards they only save decoding.
 *
 * Two generations, of which the older is dropped whole once the younger has half of the room.
 */
export class DocumentCache {
  readonly #limit: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngSize = 0;
  #era = 0;

  /** @param limit The size, in characters of stored text, that is kept at most. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What is there now, if that is known. */
  trusted(id: string): Read | undefined {
    const entry = this.#entry(id);
    return entry?.era === this.#era ? entry : undefined;
  }

  /** What was there last, as far as that is known. */
  latest(id: string): Read | undefined {
    return this.#entry(id);
  }

  /** What was there at a version. */
  at(id: string, versionstamp: string): Read | undefined {
    const entry = this.#entry(id);
    return entry?.versionstamp === versionstamp ? entry : undefined;
  }

  /** Somebody else has written: any of them may have changed. */
  doubt(): void {
    this.#era++;
  }

  /** Keeps what is there now. */
  set(id: string, { versionstamp, stored }: Read): void {
    this.delete(id);
    if (this.#youngSize + stored.size > this.#limit / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSize = 0;
    }
    this.#young.set(id, { versionstamp, stored, era: this.#era });
    this.#youngSize += stored.size;
  }

  /** Forgets one. */
  delete(id: string): void {
    const young = this.#young.get(id);
    if (young !== undefined) this.#youngSize -= young.stored.size;
    this.#young.delete(id);
    this.#old.delete(id);
  }

  #entry(id: string): Entry | undefined {
    return this.#young.get(id) ?? this.#old.get(id);
  }
}
