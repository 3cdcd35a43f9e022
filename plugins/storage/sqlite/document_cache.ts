import type { ScheduleDocument } from "../../../src/contract/mod.ts";

interface Entry {
  readonly document: ScheduleDocument;
  readonly definitionSize: number;
  readonly size: number;
}

/** What a definition is taken to measure where nobody has seen its text. */
const USUAL_DEFINITION = 512;

/**
 * Decoded documents of the store, the longest unused dropped first; so that what settles a run that was claimed a
 * moment ago need not be read and parsed again. Whoever holds it empties it when somebody else has written.
 */
export class DocumentCache {
  readonly #entries = new Map<string, Entry>();
  readonly #limit: number;
  #size = 0;

  /** @param limit The size, in characters of stored text, that is kept at most. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The document of an id, if it is known. */
  get(id: string): ScheduleDocument | undefined {
    return this.#entries.get(id)?.document;
  }

  /** Keeps a document by the lengths of its texts; its definition's is remembered where it did not change. */
  set(document: ScheduleDocument, progressSize: number, definitionSize?: number): void {
    const known = definitionSize ?? this.#entries.get(document.id)?.definitionSize ?? USUAL_DEFINITION;
    this.delete(document.id);
    const size = known + progressSize;
    this.#entries.set(document.id, { document, definitionSize: known, size });
    this.#size += size;
    for (const id of this.#entries.keys()) {
      if (this.#size <= this.#limit) break;
      this.delete(id);
    }
  }

  /** Forgets one. */
  delete(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#size -= entry.size;
    this.#entries.delete(id);
  }

  /** Forgets all. */
  clear(): void {
    this.#entries.clear();
    this.#size = 0;
  }
}
