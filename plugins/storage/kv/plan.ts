import {
  evaluateGroup,
  type Group,
  type GroupResult,
  MAX_KV_COMMIT_BYTES,
  MAX_KV_MUTATIONS,
  type ScheduleDocument,
  type Write,
} from "../../../src/contract/mod.ts";
import { isNews, tooLarge } from "./changes.ts";
import { tooMuch } from "./errors.ts";
import type { KvAtomicLike, KvKey } from "./handle.ts";
import { type Keys, nameOf } from "./keys.ts";
import type { Knowledge } from "./knowledge.ts";
import { Places } from "./places.ts";
import { PlannedDocuments } from "./planned_documents.ts";
import type { Read } from "./reader.ts";
import { SharedEntries } from "./shared_entries.ts";
import { sharedBytes, type SharedEntry } from "./shared_wake.ts";
import { type DocumentWrite, NO_WRITE, planWrite, type Sharing } from "./writes.ts";

/** What became of a change that was to be added; `full`: it may fit into a further commit. */
export type Added = GroupResult | "full";

/** Mutations and bytes that every commit has beside the documents': two keys that tell others of it. */
const OWN_MUTATIONS = 2;
const OWN_BYTES = 1_024;

/** Room for the key of a check. */
const CHECK_BYTES = 512;

/** One commit in the making: groups, each seeing what those before it did, within what KV takes at once. */
export class Plan {
  /** By id. */
  readonly writes = new Map<string, DocumentWrite>();
  /** Whether other instances should look at something of it soon. */
  news = false;
  readonly #shared = new SharedEntries();
  readonly #sharing: Sharing;
  readonly #keys: Keys;
  readonly #known: Knowledge;
  readonly #maxChecks: number;
  readonly #documents: PlannedDocuments;
  readonly #checkedIds = new Set<string>();
  readonly #checkedNames = new Map<string, KvKey>();
  #mutations = OWN_MUTATIONS;
  #bytes = OWN_BYTES;

  /** @param maxChecks How many keys may be checked; `Infinity` where one check stands for all of them. */
  constructor(keys: Keys, known: Knowledge, maxChecks: number) {
    this.#keys = keys;
    this.#known = known;
    this.#maxChecks = maxChecks;
    this.#documents = new PlannedDocuments(keys, known);
    this.#sharing = { places: new Places(keys), share: this.#shared.share, find: (place) => known.wake(place) };
  }

  /** Whether there is anything to commit. */
  get changes(): boolean {
    return this.writes.size > 0 || this.#shared.hasStrays;
  }

  /**
   * Adds a group whole, or nothing of it. `"guessed"`: it comes to something that no commit checks, by documents that may
   * have changed.
   */
  add(group: Group, now: number): Added | "guessed" {
    this.#documents.forgetLooks();
    const evaluation = evaluateGroup(group, (select) => this.#documents.find(select), now);
    const conflict = evaluation.committed ? this.#documents.conflict(evaluation.writes) : evaluation.reason;
    const isChecked = evaluation.committed && evaluation.writes.length > 0 && conflict === undefined;
    if (!isChecked && this.#documents.sawGuesses()) return "guessed";
    if (!evaluation.committed) return evaluation;
    if (conflict !== undefined) return { committed: false, reason: conflict };
    const refused = this.#accept(evaluation.writes);
    return refused ?? { committed: true, values: evaluation.values };
  }

  /** Adds a change of one document that was read before. */
  change(read: Read, id: string, after: ScheduleDocument | null): Added {
    this.#documents.forgetLooks();
    this.#documents.seenIds.add(id);
    return this.#accept([{ before: read.stored.document, after }]) ??
      { committed: true, values: [] };
  }

  /** Removes a key at which nothing stands that it should lead to. */
  repair(key: KvKey, id: string): boolean {
    if (this.#mutations + 1 > MAX_KV_MUTATIONS || this.#checks() + 1 > this.#maxChecks) return false;
    this.#checkedIds.add(id);
    this.writes.set(`\0${nameOf(key)}`, { ...NO_WRITE, deletes: [key] });
    this.#mutations++;
    return true;
  }

  /** Removes an id from a shared entry in which it does not belong. */
  stray(entry: SharedEntry, id: string): boolean {
    if (!this.#shared.hasLeft(entry)) {
      const [mutations, bytes] = [this.#mutations + 1, this.#bytes + sharedBytes(entry)];
      if (mutations > MAX_KV_MUTATIONS || bytes > MAX_KV_COMMIT_BYTES || this.#checks() >= this.#maxChecks) {
        return false;
      }
      this.#shared.count([], [entry]);
      [this.#mutations, this.#bytes] = [mutations, bytes];
    }
    this.#shared.stray(entry, id);
    return true;
  }

  /** The commit went through: answers the shared entries that it has changed. */
  committed(versionstamp: string): readonly SharedEntry[] {
    return this.#shared.committed(versionstamp);
  }

  /** Writes down what is checked and changed. Removals go first: what one document leaves, another may take. */
  fill(commit: KvAtomicLike, checkEach: boolean): void {
    if (checkEach) {
      for (const id of this.#checkedIds) {
        const versionstamp = this.#known.documents.get(id)?.versionstamp ??
          null;
        commit.check({ key: this.#keys.schedule(id), versionstamp });
      }
      for (const [text, key] of this.#checkedNames) {
        commit.check({ key, versionstamp: this.#known.pointers.get(text)?.versionstamp ?? null });
      }
      this.#shared.check(commit, this.writes);
    }
    const taken = new Set<string>();
    for (const { takes } of this.writes.values()) for (const key of takes) taken.add(nameOf(key));
    for (const { deletes } of this.writes.values()) {
      for (const key of deletes) {
        if (taken.size === 0 || !taken.has(nameOf(key))) commit.delete(key);
      }
    }
    this.#shared.fill(commit, this.writes);
    for (const { sets } of this.writes.values()) {
      for (const [key, value] of sets) {
        commit.set(key, value);
      }
    }
  }

  #accept(writes: readonly Write[]): Added | undefined {
    const { seenIds, seenNames } = this.#documents;
    const planned: (readonly [string, DocumentWrite])[] = [];
    const joined: string[] = [];
    const left: SharedEntry[] = [];
    let [mutations, bytes] = [this.#mutations, this.#bytes];
    for (const { before, after } of writes) {
      const id = (after ?? before)!.id;
      const write = planWrite(this.#keys, id, this.#known.documents.get(id)?.stored, after, this.#sharing);
      const large = after === null ? undefined : tooLarge(before, after, write);
      if (large !== undefined) return { committed: false, reason: large };
      const earlier = this.writes.get(id);
      mutations += mutationsOf(write) - (earlier === undefined ? 0 : mutationsOf(earlier));
      bytes += write.bytes - (earlier?.bytes ?? 0);
      planned.push([id, write]);
      for (const { name } of write.joins) {
        if (!this.#shared.hasJoined(name) && !joined.includes(name)) joined.push(name);
      }
      for (const entry of write.left) {
        if (!this.#shared.hasLeft(entry) && !left.includes(entry)) left.push(entry);
      }
      if (write.isChecked) seenIds.delete(id);
      for (const key of write.takes) if (this.#known.isAskedFor(key)) seenNames.set(nameOf(key), key);
    }
    mutations += joined.length + left.length;
    for (const entry of left) bytes += sharedBytes(entry);
    const over = this.#over(mutations, bytes, left.length);
    if (over !== undefined) return over;
    this.#shared.count(joined, left);
    for (const [id, write] of planned) this.writes.set(id, write);
    this.#mutations = mutations;
    this.#bytes = bytes;
    this.#applied(writes);
    return undefined;
  }

  /** What was looked at for a group that is in the plan is to be checked, and those after it see what it did. */
  #applied(writes: readonly Write[]): void {
    const { seenIds, seenNames } = this.#documents;
    for (const write of writes) {
      this.#documents.apply(write);
      this.news ||= isNews(write.before, write.after);
    }
    for (const id of seenIds) this.#checkedIds.add(id);
    for (const [text, key] of seenNames) this.#checkedNames.set(text, key);
  }

  #checks(): number {
    return this.#checkedIds.size + this.#checkedNames.size + this.#shared.left;
  }

  /** Whether the commit would become too large by the group; a group that is too large for any is refused. */
  #over(mutations: number, bytes: number, further: number): Added | undefined {
    const { seenIds, seenNames } = this.#documents;
    const isEmpty = this.#checks() === 0;
    let checks = this.#checks() + further;
    for (const id of seenIds) if (!this.#checkedIds.has(id)) checks++;
    for (const text of seenNames.keys()) {
      if (!this.#checkedNames.has(text)) checks++;
    }
    // KV counts the keys of checks, too; a commit that has something else in it leaves them room.
    const guarded = isEmpty ? bytes : bytes + checks * CHECK_BYTES;
    const fits = mutations <= MAX_KV_MUTATIONS && guarded <= MAX_KV_COMMIT_BYTES && checks <= this.#maxChecks;
    if (fits) return undefined;
    if (!isEmpty) return "full";
    const [wrote, took] = [mutations - OWN_MUTATIONS, bytes - OWN_BYTES];
    const most = MAX_KV_MUTATIONS - OWN_MUTATIONS;
    if (wrote > most) {
      return { committed: false, reason: tooMuch(wrote, most, "keys to write") };
    }
    const room = MAX_KV_COMMIT_BYTES - OWN_BYTES;
    return took > room ? { committed: false, reason: tooMuch(took, room, "bytes to write") } : "full";
  }
}

function mutationsOf({ sets, deletes }: DocumentWrite): number {
  return sets.length + deletes.length;
}
