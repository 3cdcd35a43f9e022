import { type DocumentIndex, MAX_KV_SHARED_WAKE, MAX_KV_VALUE_BYTES } from "../../../src/contract/mod.ts";
import type { KvAtomicLike } from "./handle.ts";
import { idBytes, mayStandAlone, type SharedEntry, sharedValue, sharesWake } from "./shared_wake.ts";
import type { Place } from "./places.ts";
import type { DocumentWrite } from "./writes.ts";

type Writes = ReadonlyMap<string, DocumentWrite>;

/** What one commit does to entries that documents share. */
export class SharedEntries {
  /** The one that is being filled, by lane, instant and whether its documents run; nameless where one waits alone. */
  readonly #open = new Map<string, { readonly name: string | undefined; size: number }>();
  /** Those that are joined. */
  readonly #joined = new Set<string>();
  /** Those that are left, or may be, with the ids that are in them by mistake. */
  readonly #left = new Map<SharedEntry, Set<string>>();

  /** Which ids leave which entries, and who is to stand in which, as the commit was filled. */
  #leave: ReadonlyMap<SharedEntry, ReadonlySet<string>> = new Map();
  #join: readonly (readonly [Place, Joining])[] = [];

  /** Answers the name of the entry in which a document is to stand together with others, if it is one for that. */
  share = (id: string, index: DocumentIndex): string | undefined => {
    if (!sharesWake(index) || idBytes(id) > MAX_KV_VALUE_BYTES / MAX_KV_SHARED_WAKE) return undefined;
    const text = `${index.running ? 1 : 0}${index.wakeAt} ${index.lane}`;
    let open = this.#open.get(text);
    if (open === undefined && mayStandAlone(index)) {
      this.#open.set(text, { name: undefined, size: 1 });
      return undefined;
    }
    if (open?.name === undefined || open.size === MAX_KV_SHARED_WAKE) {
      this.#open.set(text, open = { name: nameAfter(id), size: 0 });
    }
    open.size++;
    return open.name;
  };

  /** How many entries are left: each takes a check. */
  get left(): number {
    return this.#left.size;
  }

  hasJoined(name: string): boolean {
    return this.#joined.has(name);
  }

  hasLeft(entry: SharedEntry): boolean {
    return this.#left.has(entry);
  }

  /** These are counted in the commit from now on. */
  count(joined: Iterable<string>, left: Iterable<SharedEntry>): void {
    for (const name of joined) this.#joined.add(name);
    for (const entry of left) if (!this.#left.has(entry)) this.#left.set(entry, new Set());
  }

  /** An id stands by mistake in an entry that is counted. */
  stray(entry: SharedEntry, id: string): void {
    this.#left.get(entry)!.add(id);
  }

  /** Whether there is such an id. */
  get hasStrays(): boolean {
    for (const ids of this.#left.values()) if (ids.size > 0) return true;
    return false;
  }

  /** Adds what makes sure that nobody else has changed the entries that are left. */
  check(commit: KvAtomicLike, writes: Writes): void {
    for (const { key, versionstamp } of this.#leaving(writes).keys()) commit.check({ key, versionstamp });
  }

  /** Removes and stores entries. */
  fill(commit: KvAtomicLike, writes: Writes): void {
    this.#leave = this.#leaving(writes);
    this.#join = joining(writes);
    for (const [{ key, running, ids }, gone] of this.#leave) {
      const rest = [...ids].filter((id) => !gone.has(id));
      if (rest.length === 0) commit.delete(key);
      else commit.set(key, sharedValue(running, rest));
    }
    for (const [{ key }, { running, ids }] of this.#join) commit.set(key, sharedValue(running, ids));
  }

  /**
   * The commit that was filled went through: answers the entries that it has changed, as they are now, and those of what it
   * has begun to run.
   */
  committed(versionstamp: string): readonly SharedEntry[] {
    const changed: SharedEntry[] = [];
    for (const [entry, gone] of this.#leave) {
      for (const id of gone) entry.ids.delete(id);
      entry.versionstamp = versionstamp;
      changed.push(entry);
    }
    for (const [{ name, key }, { running, ids }] of this.#join) {
      if (running) changed.push({ name, key, running, ids: new Set(ids), versionstamp });
    }
    return changed;
  }

  /** Which ids go from which entries. */
  #leaving(writes: Writes): ReadonlyMap<SharedEntry, ReadonlySet<string>> {
    const leaving = new Map<SharedEntry, Set<string>>();
    for (const [entry, strays] of this.#left) if (strays.size > 0) leaving.set(entry, new Set(strays));
    for (const [id, { left }] of writes) {
      for (const entry of left) {
        const gone = leaving.get(entry);
        if (gone === undefined) leaving.set(entry, new Set([id]));
        else gone.add(id);
      }
    }
    return leaving;
  }
}

/** A name that is never used again, and by which entries of one instant stand in the order of their first ids. */
function nameAfter(id: string): string {
  return `${id}/${crypto.randomUUID().slice(-12)}`;
}

interface Joining {
  readonly running: boolean;
  readonly ids: string[];
}

/** Who is to stand in which entry. */
function joining(writes: Writes): readonly (readonly [Place, Joining])[] {
  const places = new Map<string, [Place, Joining]>();
  for (const [id, { joins, stored }] of writes) {
    for (const one of joins) {
      const place = places.get(one.name);
      if (place === undefined) places.set(one.name, [one, { running: stored!.index.running, ids: [id] }]);
      else place[1].ids.push(id);
    }
  }
  return [...places.values()];
}
