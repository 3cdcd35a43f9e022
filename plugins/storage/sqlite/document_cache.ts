import type { ScheduleDocument } from "../../../src/contract/mod.ts";

interface Entry {
  /** `undefined` once it is forgotten: tables that a `Map` has outgrown lead to what was in them for long. */
  document: ScheduleDocument | undefined;
  readonly definitionSize: number;
  size: number;
}

/** What a definition is taken to measure where nobody has seen its text. */
const USUAL_DEFINITION = 512;

/**
 * Decoded documents of the store, so that what settles a run that was claimed a moment ago need not be read and parsed
 * again. Whoever holds it empties it when somebody else has written.
 *
 * Two generations, of which the older is dropped whole once the younger has half of the room: a map that gives up its
 * oldest entry for every new one gets slow, since it must step over the places of all that went before.
 */
export class DocumentCache {
  readonly #limit: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngSize = 0;

  /** @param limit The size, in characters of stored text, that is kept at most. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The document of an id, if it is known. */
  get(id: string): ScheduleDocument | undefined {
    return (this.#young.get(id) ?? this.#old.get(id))?.document;
  }

  /** Keeps a document by the lengths of its texts; its definition's is remembered where it did not change. */
  set(document: ScheduleDocument, progressSize: number, definitionSize?: number): void {
    const { id } = document;
    const young = this.#young.get(id);
    if (young !== undefined) return this.#renew(young, document, progressSize);
    const known = definitionSize ?? this.#old.get(id)?.definitionSize ?? USUAL_DEFINITION;
    const size = known + progressSize;
    if (this.#youngSize + size > this.#limit / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSize = 0;
    }
    this.#old.delete(id);
    this.#young.set(id, { document, definitionSize: known, size });
    this.#youngSize += size;
  }

  #renew(entry: Entry, document: ScheduleDocument, progressSize: number): void {
    this.#youngSize += entry.definitionSize + progressSize - entry.size;
    entry.document = document;
    entry.size = entry.definitionSize + progressSize;
  }

  /** Forgets one. */
  delete(id: string): void {
    const young = this.#young.get(id);
    const entry = young ?? this.#old.get(id);
    if (entry === undefined) return;
    entry.document = undefined;
    if (young === undefined) return void this.#old.delete(id);
    this.#youngSize -= young.size;
    this.#young.delete(id);
  }

  /** Forgets all. */
  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngSize = 0;
  }
}
