import { MAX_KV_ATTEMPTS, StorageError } from "../../../src/contract/mod.ts";
import type { KvKey } from "./handle.ts";
import { type Keys, nameOf } from "./keys.ts";
import type { Guard, Ledger } from "./ledger.ts";
import type { News } from "./news.ts";
import type { Knowledge } from "./knowledge.ts";
import type { Plan } from "./plan.ts";
import { jitter, type Reader } from "./reader.ts";
import { Places } from "./places.ts";

/** Longest pause after a conflict, in milliseconds; the first is the shortest. */
const LONGEST_PAUSE_MS = 100;
const FIRST_PAUSE_MS = 2;

/** What a {@linkcode Desk} works with. */
export interface DeskOptions {
  readonly keys: Keys;
  readonly reader: Reader;
  readonly ledger: Ledger;
  readonly news: News;
  /** How many keys a commit may check. */
  readonly maxChecks: number;
}

/** Where one handle's changes are read, decided and committed, one after another. */
export class Desk {
  readonly keys: Keys;
  readonly reader: Reader;
  readonly ledger: Ledger;
  readonly maxChecks: number;
  readonly #news: News;
  #tail: Promise<unknown> = Promise.resolve();

  constructor({ keys, reader, ledger, news, maxChecks }: DeskOptions) {
    this.keys = keys;
    this.reader = reader;
    this.ledger = ledger;
    this.maxChecks = maxChecks;
    this.#news = news;
  }

  /** Does work when what came before it is through. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => {});
    return turn;
  }

  /** Resolves once nothing is under way any more. */
  async drain(): Promise<void> {
    await this.#tail;
  }

  /** Commits a plan; false where somebody else was faster, and it has to be made anew. */
  async commit(plan: Plan, guard: Guard): Promise<boolean> {
    if (!plan.changes) return true;
    const told = plan.news ? this.#news.claim() : undefined;
    const result = await this.reader.retry("writing schedules", () => {
      const commit = this.reader.handle.atomic();
      this.ledger.guard(commit, guard);
      plan.fill(commit, guard === "each");
      if (told === "now") commit.sum(this.keys.changed, 1n);
      return commit.commit();
    }).catch((error) => {
      // Whether it took effect is not known: nothing that is known of these documents is.
      this.ledger.doubt();
      throw error;
    });
    if (!result.ok) return false;
    const { versionstamp } = result;
    this.ledger.committed(versionstamp, guard);
    for (const entry of plan.committed(versionstamp)) this.ledger.wakes.set(entry);
    if (told === "now") this.#news.told();
    for (const [id, { stored }] of plan.writes) {
      // One that is over is next looked at when its record goes; where many are, it would not be remembered so long.
      if (stored === undefined || !stored.index.live) this.ledger.cache.delete(id);
      else this.ledger.cache.set(id, { versionstamp, stored });
    }
    return true;
  }

  /** Waits after a conflict, a little longer each time, and gives up in the end. */
  async pause(attempt: number): Promise<void> {
    if (attempt >= MAX_KV_ATTEMPTS) {
      throw new StorageError(`kv: writing schedules: others were faster ${attempt} times in a row`);
    }
    await jitter(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)));
  }

  /** Reads what is asked for, and the documents that names and keys lead to. */
  async learn(known: Knowledge, ids: Iterable<string>, pointers: readonly KvKey[]): Promise<void> {
    const [documents, found] = await Promise.all([
      this.ledger.documents([...ids]),
      pointers.length === 0 ? new Map() : this.ledger.pointers(pointers),
    ]);
    for (const [text, pointer] of found) known.pointers.set(text, pointer);
    const led = pointers.map((key) => known.pointers.get(nameOf(key))!.id)
      .filter((id) => id !== undefined && !known.documents.has(id) && !documents.has(id)) as string[];
    const further = led.length === 0 ? [] : await this.ledger.documents(led);
    for (const [id, read] of [...documents, ...further]) {
      known.documents.set(id, read);
      known.guessed.delete(id);
    }
  }

  /** Reads the lists that documents stand in, which they leave when they are over. */
  async learnLists(known: Knowledge): Promise<void> {
    const [lists, places] = [new Places(this.keys), new Map<string, KvKey>()];
    for (const read of known.documents.values()) {
      const place = read && lists.list(read.stored);
      if (place === undefined || known.wakes.has(place.name)) continue;
      const trusted = this.ledger.wakes.trusted(place.name);
      if (trusted === undefined) places.set(place.name, place.key);
      else known.wakes.set(place.name, trusted);
    }
    for (const [name, entry] of await this.ledger.sharedWakes(places)) known.wakes.set(name, entry);
  }

  /** Takes documents to be as they were, where they are remembered; answers the ids of the others. */
  guess(known: Knowledge, ids: readonly string[]): readonly string[] {
    return ids.filter((id) => {
      const read = this.ledger.cache.latest(id);
      if (read === undefined) return true;
      known.documents.set(id, read);
      known.guessed.add(id);
      return false;
    });
  }

  /** Reads what was taken to be absent; answers whether all of it is. */
  async verify(known: Knowledge): Promise<boolean> {
    const [ids, pointers] = [[...known.missingDocuments], [...known.missingPointers.values()]];
    const wakes = new Map(known.missingWakes);
    known.missingDocuments.clear();
    known.missingPointers.clear();
    known.missingWakes.clear();
    if (wakes.size > 0) {
      for (const [name, entry] of await this.ledger.sharedWakes(wakes)) known.wakes.set(name, entry);
    }
    if (ids.length === 0 && pointers.length === 0) return wakes.size === 0;
    await this.learn(known, ids, pointers);
    return wakes.size === 0 && ids.every((id) => known.documents.get(id) === undefined) &&
      pointers.every((key) => known.pointers.get(nameOf(key))!.id === undefined);
  }
}
