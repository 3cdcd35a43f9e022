import {
  DEFAULT_BUSY_TIMEOUT_MS,
  MAX_KV_LIST_BATCH,
  MAX_KV_READ_KEYS,
  StorageError,
} from "../../../src/contract/mod.ts";
import { decodeDocument, partsOf, type Stored } from "./codec.ts";
import { isLocked, storageError } from "./errors.ts";
import type { KvEntryLike, KvKey, KvLike, KvSelectorLike } from "./handle.ts";
import type { Keys } from "./keys.ts";

/** Pauses between attempts at a locked file, in milliseconds; the last is repeated. */
const PAUSES = [1, 2, 4, 8, 15, 30, 60];

/** A document with the version at which it was read. */
export interface Read {
  readonly versionstamp: string;
  readonly stored: Stored;
}

/** Makes calls to a KV handle: those that read, in pieces of the size that KV takes, and again while it is locked. */
export class Reader {
  readonly handle: KvLike;
  readonly #keys: Keys;

  constructor(handle: KvLike, keys: Keys) {
    this.handle = handle;
    this.#keys = keys;
  }

  /** Reads keys, in one snapshot for each ten. */
  async getMany(keys: readonly KvKey[]): Promise<readonly KvEntryLike[]> {
    const pieces: Promise<KvEntryLike[]>[] = [];
    for (let i = 0; i < keys.length; i += MAX_KV_READ_KEYS) {
      const piece = keys.slice(i, i + MAX_KV_READ_KEYS);
      pieces.push(this.retry("reading", () => this.handle.getMany(piece)));
    }
    return (await Promise.all(pieces)).flat();
  }

  /** Reads the first entries of a range. */
  list(selector: KvSelectorLike, limit: number): Promise<readonly KvEntryLike[]> {
    return this.retry("listing", async () => {
      const entries: KvEntryLike[] = [];
      const batchSize = Math.min(limit, MAX_KV_LIST_BATCH);
      for await (const entry of this.handle.list(selector, { limit, batchSize })) entries.push(entry);
      return entries;
    });
  }

  /**
   * Reads documents, in the order of their ids.
   *
   * @param known What is kept of a document at a version, so that it need not be decoded again.
   */
  async documents(
    ids: readonly string[],
    known: (id: string, versionstamp: string) => Stored | undefined,
  ): Promise<readonly (Read | undefined)[]> {
    const entries = await this.getMany(ids.map((id) => this.#keys.schedule(id)));
    return await Promise.all(entries.map((entry, i) => this.#document(ids[i]!, entry, known)));
  }

  #document(
    id: string,
    { value, versionstamp }: KvEntryLike,
    known: (id: string, versionstamp: string) => Stored | undefined,
  ): Read | undefined | Promise<Read | undefined> {
    if (versionstamp === null) return undefined;
    const stored = known(id, versionstamp);
    if (stored !== undefined) return { versionstamp, stored };
    const parts = partsOf(value);
    return parts === 1 ? { versionstamp, stored: decodeDocument(id, [value]) } : this.#large(id, parts);
  }

  /** All parts in one snapshot; again if they have become more meanwhile. */
  async #large(id: string, parts: number): Promise<Read | undefined> {
    const further = Array.from({ length: parts - 1 }, (_, n) => this.#keys.part(id, n + 1));
    const entries = await this.getMany([this.#keys.schedule(id), ...further]);
    const { value, versionstamp } = entries[0]!;
    if (versionstamp === null) return undefined;
    const now = partsOf(value);
    if (now > parts) return await this.#large(id, now);
    return { versionstamp, stored: decodeDocument(id, entries.slice(0, now).map((entry) => entry.value)) };
  }

  /** Makes a call again while the file is locked, which is a matter of milliseconds, and names what failed otherwise. */
  async retry<T>(doing: string, call: () => Promise<T>): Promise<T> {
    for (let attempt = 0, waited = 0;; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!isLocked(error)) throw storageError(doing, error);
        if (waited >= DEFAULT_BUSY_TIMEOUT_MS) {
          throw new StorageError(`kv: ${doing}: the database was locked for ${waited} ms`, { cause: error });
        }
      }
      const pause = PAUSES[Math.min(attempt, PAUSES.length - 1)]!;
      waited += pause;
      await jitter(pause);
    }
  }
}

/**
 * Waits for between half of a time and all of it. Not by the scheduler's clock: whoever is in the way is real, also where
 * time is a test's.
 */
export function jitter(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms / 2 + Math.random() * ms / 2));
}
