import {
  DEFAULT_BUSY_TIMEOUT_MS,
  MAX_KV_LIST_BATCH,
  MAX_KV_READ_KEYS,
  StorageError,
} from "../../../src/contract/mod.ts";
import { decodeDocument, partsOf, type Stored } from "./codec.ts";
import { isLocked, storageError } from "./errors.ts";
import type { KvEntryLike, KvKey, KvLike, KvSelectorLike } from "./handle.ts";
import { fromKeyText, type Keys, NEXT } from "./keys.ts";
import { readWake, type WakeEntry } from "./shared_wake.ts";

/** Pauses between attempts at a locked file, in milliseconds; the last is repeated. */
const PAUSES = [1, 2, 4, 8, 15, 30, 60];

/** Documents that are listed rather than read one by one, at least; so many are listed first, to see if it is worth it. */
const LEAST_LISTED = 50;

/** Documents of one listing: the store goes on with the next while one is taken in. */
const LISTED_AT_ONCE = 250;

/** Documents that are listed for each one that was asked for, at most. */
const MOST_LISTED = 2;

/** Entries of when documents wake that are listed first: of as many documents each as may share one, that is enough. */
const FIRST_WAKES = 20;

/** What is read where nothing is. */
const ABSENT: KvEntryLike = { key: [], value: null, versionstamp: null };

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
    return this.retry("listing", () => this.#listed(selector, limit));
  }

  /** Reads the first entries of when documents wake, until they lead to so many. */
  wakes(prefix: KvKey, end: KvKey, documents: number): Promise<readonly WakeEntry[]> {
    return this.retry("listing", async () => {
      const wakes: WakeEntry[] = [];
      let [count, limit] = [0, Math.min(documents, FIRST_WAKES)];
      let selector: KvSelectorLike = { prefix, end };
      for (;;) {
        const entries = await this.#listed(selector, limit);
        for (const entry of entries) {
          const wake = readWake(entry);
          wakes.push(wake);
          if ((count += wake.size) >= documents) return wakes;
        }
        if (entries.length < limit) return wakes;
        selector = { start: [...entries.at(-1)!.key as KvKey, NEXT], end };
        // As many as it takes if the others are shared by as many.
        limit = Math.min(MAX_KV_LIST_BATCH, Math.ceil((documents - count) * wakes.length / Math.max(count, 1)));
      }
    });
  }

  async #listed(selector: KvSelectorLike, limit: number): Promise<readonly KvEntryLike[]> {
    const entries: KvEntryLike[] = [];
    const batchSize = Math.min(limit, MAX_KV_LIST_BATCH);
    for await (const entry of this.handle.list(selector, { limit, batchSize })) entries.push(entry);
    return entries;
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
    const entries = await this.#entries(ids);
    const reads = entries.map((entry, i) => this.#document(ids[i]!, entry, known));
    // Those of one value are there already, and a promise for each of thousands costs more than the question.
    return reads.some((read) => read instanceof Promise) ? await Promise.all(reads) : reads as (Read | undefined)[];
  }

  /**
   * What is stored of documents. Where many are asked for that stand close together, as those do that were created together,
   * ranges are listed: that takes a quarter of the time.
   */
  async #entries(ids: readonly string[]): Promise<readonly KvEntryLike[]> {
    const found = new Map<string, KvEntryLike>();
    const sorted = ids.length >= LEAST_LISTED && ids.every(isPlain) ? ids.toSorted() : [];
    let missed: readonly string[] = sorted.length === 0 ? ids : await this.#range(sorted.slice(0, LEAST_LISTED), found);
    if (missed.length === 0) {
      const ranges: Promise<readonly string[]>[] = [];
      for (let i = LEAST_LISTED; i < sorted.length; i += LISTED_AT_ONCE) {
        ranges.push(this.#range(sorted.slice(i, i + LISTED_AT_ONCE), found));
      }
      missed = (await Promise.all(ranges)).flat();
    } else missed = ids.filter((id) => !found.has(id));
    const read = await this.getMany(missed.map((id) => this.#keys.schedule(id)));
    missed.forEach((id, i) => found.set(id, read[i]!));
    return ids.map((id) => found.get(id) ?? ABSENT);
  }

  /** Lists the range of ids in their order; answers those that it does not reach since too many others stand between. */
  async #range(sorted: readonly string[], found: Map<string, KvEntryLike>): Promise<readonly string[]> {
    const [start, last] = [this.#keys.schedule(sorted[0]!), this.#keys.schedule(sorted.at(-1)!)];
    const limit = MOST_LISTED * sorted.length;
    const listed = await this.list({ start, end: [...last, NEXT] }, limit);
    for (const entry of listed) found.set(fromKeyText(entry.key.at(-1)), entry);
    const reached = listed.length < limit ? undefined : fromKeyText(listed.at(-1)!.key.at(-1));
    return reached === undefined ? [] : sorted.filter((id) => id > reached);
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

/** Whether an id stands in the order of keys where it stands in the order of texts. */
function isPlain(id: string): boolean {
  return /^[ -~]+$/.test(id);
}
