import { MAX_CACHED_CHARACTERS } from "../../../src/contract/mod.ts";
import { DocumentCache } from "./document_cache.ts";
import type { KvAtomicLike, KvKey } from "./handle.ts";
import type { Keys } from "./keys.ts";
import { nameOf } from "./keys.ts";
import type { Read, Reader } from "./reader.ts";
import { readWake, type SharedEntry } from "./shared_wake.ts";
import { WakeCache } from "./wake_cache.ts";
import { NO_VALUE } from "./writes.ts";

/** What stands at a key that tells an id. */
export interface Pointer {
  readonly id: string | undefined;
  readonly versionstamp: string | null;
}

/** How a commit is guarded against what others write meanwhile. */
export type Guard =
  /** Nobody at all may have written since {@linkcode Ledger.sync}: one check, however much is written. */
  | "everything"
  /** What was read may not have changed: a check for each. */
  | "each";

/**
 * What a handle knows of the store, and how it may rely on that. Every commit of every handle rewrites the key `last`.
 * As long as its versionstamp is the one of this handle's own last commit, nobody else has written, and all that is
 * known still holds.
 */
export class Ledger {
  readonly cache = new DocumentCache(MAX_CACHED_CHARACTERS);
  readonly wakes = new WakeCache();
  readonly #keys: Keys;
  readonly #reader: Reader;
  /** The version of `last` as of which the trusted documents are exact; undefined before the first look. */
  #mark: string | null | undefined;
  /** The versionstamp of this handle's own last commit. */
  #own: string | undefined;

  constructor(keys: Keys, reader: Reader) {
    this.#keys = keys;
    this.#reader = reader;
  }

  /** Looks whether others have written since this handle's last commit; answers whether it seems to be alone. */
  async sync(): Promise<boolean> {
    const [entry] = await this.#reader.getMany([this.#keys.last]);
    const { versionstamp } = entry!;
    if (versionstamp !== this.#mark) {
      this.doubt();
      this.#mark = versionstamp;
    }
    return versionstamp === null || versionstamp === this.#own;
  }

  /** Trusts nothing that is known any more. */
  doubt(): void {
    this.cache.doubt();
    this.wakes.doubt();
  }

  /** Adds the guard against others' writes to a commit, and the notice to others of this one. */
  guard(commit: KvAtomicLike, guard: Guard): void {
    if (guard === "everything") {
      commit.check({ key: this.#keys.last, versionstamp: this.#mark ?? null });
    }
    commit.set(this.#keys.last, NO_VALUE);
  }

  /** A guarded commit went through. */
  committed(versionstamp: string, guard: Guard): void {
    this.#own = versionstamp;
    if (guard === "everything") this.#mark = versionstamp;
  }

  /** Documents as they are now. */
  async documents(ids: readonly string[]): Promise<Map<string, Read | undefined>> {
    const found = new Map<string, Read | undefined>();
    const unknown: string[] = [];
    for (const id of new Set(ids)) {
      const read = this.cache.trusted(id);
      if (read === undefined) unknown.push(id);
      else found.set(id, read);
    }
    const known = (id: string, versionstamp: string) => this.cache.at(id, versionstamp)?.stored;
    const reads = await this.#reader.documents(unknown, known);
    reads.forEach((read, i) => {
      found.set(unknown[i]!, read);
      if (read === undefined) this.cache.delete(unknown[i]!);
      else this.cache.set(unknown[i]!, read);
    });
    return found;
  }

  /** Shared entries of when documents wake, as they are now. */
  async sharedWakes(places: ReadonlyMap<string, KvKey>): Promise<Map<string, SharedEntry | undefined>> {
    const entries = await this.#reader.getMany([...places.values()]);
    const found = new Map<string, SharedEntry | undefined>();
    [...places.keys()].forEach((name, i) => {
      const entry = entries[i]!.versionstamp === null ? undefined : readWake(entries[i]!).shared;
      if (entry !== undefined) this.wakes.set(entry);
      found.set(name, entry);
    });
    return found;
  }

  /** What stands at keys that tell ids, by the keys as text. */
  async pointers(keys: readonly KvKey[]): Promise<Map<string, Pointer>> {
    const entries = await this.#reader.getMany(keys);
    return new Map(
      entries.map((
        { value, versionstamp },
        i,
      ) => [nameOf(keys[i]!), { id: typeof value === "string" ? value : undefined, versionstamp }]),
    );
  }
}
