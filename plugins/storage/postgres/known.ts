import type { ScheduleDocument } from "../../../src/contract/mod.ts";

/** Stored text, in characters, whose documents are kept: some ten thousand schedules. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** What a row carries, and where it lies, for as long as nobody writes it again. */
export interface RowState {
  readonly version: string;
  readonly place: string;
}

/** A document, and how its row is. */
export interface KnownDocument extends RowState {
  readonly document: ScheduleDocument;
  /** Characters of its texts. */
  readonly size: number;
}

/**
 * Documents with a run in progress as this handle last wrote them, so that settling what was claimed a moment ago need
 * neither read nor lock it first: the write itself finds out whether anybody else has written since.
 */
export class KnownDocuments {
  readonly #documents = new Map<string, KnownDocument>();
  #size = 0;

  /** The document of an id as it was last written here. */
  get(id: string): KnownDocument | undefined {
    return this.#documents.get(id);
  }

  /** Keeps what was written, if it is worth it: a document without a run is asked for by nobody in particular. */
  wrote(id: string, after: ScheduleDocument | null, row: RowState | undefined, characters?: number): void {
    const size = characters ?? this.#documents.get(id)?.size;
    this.forget(id);
    if (after === null || row === undefined || size === undefined || after.progress.runs.length === 0) return;
    if (this.#size + size > MAX_CHARACTERS) this.clear();
    this.#documents.set(id, { document: after, ...row, size });
    this.#size += size;
  }

  /** Somebody else has written it, or may have. */
  forget(id: string): void {
    this.#size -= this.#documents.get(id)?.size ?? 0;
    this.#documents.delete(id);
  }

  /** Forgets all. */
  clear(): void {
    this.#documents.clear();
    this.#size = 0;
  }
}
