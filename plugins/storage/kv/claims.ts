import {
  type AdvanceRequest,
  type Change,
  type Damaged,
  isDue,
  MAX_ADVANCE,
  MAX_KV_CLAIM_ATTEMPTS,
  MAX_KV_LIST_BATCH,
  type ScheduleDocument,
} from "../../../src/contract/mod.ts";
import type { Desk } from "./desk.ts";
import type { KvKey } from "./handle.ts";
import { Knowledge } from "./knowledge.ts";
import type { Guard } from "./ledger.ts";
import { Plan } from "./plan.ts";
import type { SharedEntry } from "./shared_wake.ts";
import { isMisindexed, type Stored } from "./codec.ts";

/** Commits of one call while others write as well: then each holds only as many documents as it may check. */
const COMMITS_BESIDE_OTHERS = 4;

/** Documents of one commit while nobody else writes: it is worked out while the last one is under way. */
const CLAIMS_AT_ONCE = 250;

/** Claims for which a conflict is remembered, as a sign that others take from the same end. */
const CROWDED_FOR = 16;

/** A pure step. */
export type Step<T> = (document: ScheduleDocument, now: number) => Change<T>;

/** What a claim did. */
export interface Claimed<T> {
  readonly values: readonly T[];
  readonly damaged: readonly Damaged[];
}

/** The same, while it is being claimed. */
interface Won<T> {
  readonly values: T[];
  readonly damaged: Damaged[];
}

/** A document that an entry of a lane says is due. */
interface Candidate {
  readonly id: string;
  readonly lane: string;
  readonly key: KvKey;
  readonly wakeAt: number;
  readonly versionstamp: string;
  /** The entry, where several share it. */
  readonly shared: SharedEntry | undefined;
}

/** What a commit in the making will have done. */
interface Chunk<T> extends Won<T> {
  readonly plan: Plan;
  taken: number;
}

/** Moves documents that are due. */
export class Claims {
  readonly #desk: Desk;
  #crowded = 0;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Applies a step to what is due in lanes that are known to have something due. */
  claim<T>(request: AdvanceRequest, step: Step<T>): Promise<Claimed<T>> {
    return this.#desk.inTurn(async () => {
      const { ledger } = this.#desk;
      // Nobody has written since our own last commit, or each document is checked: so both may be read at once.
      const [alone, lists] = await Promise.all([
        ledger.sync(),
        Promise.all(request.lanes.map((lane) => this.#due(lane, request))),
      ]);
      const candidates = this.#pick(lists.flat(), request.limit, alone);
      const known = new Knowledge(() => undefined);
      for (const { id, versionstamp, shared } of candidates) {
        if (shared !== undefined) known.wakes.set(shared.name, shared);
        // An entry of its own is written whenever the document is; one that is shared is when others leave it, too.
        const read = shared === undefined ? ledger.cache.at(id, versionstamp) : undefined;
        if (read !== undefined) known.documents.set(id, read);
      }
      const unknown = candidates.filter(({ id }) => !known.documents.has(id))
        .map(({ id }) => id);
      await this.#desk.learn(known, unknown, []);
      await this.#desk.learnLists(known);
      const won: Won<T> = { values: [], damaged: [] };
      try {
        await this.#move(candidates, known, alone, request.now, step, won);
      } catch (error) {
        // What is committed is claimed: its caller has to know. What failed will fail the next call.
        if (won.values.length === 0 && won.damaged.length === 0) throw error;
      }
      return won;
    });
  }

  async #due(lane: string, { limit, now }: AdvanceRequest): Promise<readonly Candidate[]> {
    const { keys, reader } = this.#desk;
    const window = Math.max(Math.min(limit, MAX_ADVANCE), MAX_KV_LIST_BATCH);
    const wakes = await reader.wakes(keys.lane(lane), keys.due(lane, now), window);
    const due: Candidate[] = [];
    for (const { ids, shared, entry: { key, versionstamp } } of wakes) {
      const wakeAt = key.at(-2) as number;
      for (const id of ids) due.push({ id, lane, key: key as KvKey, wakeAt, versionstamp: versionstamp!, shared });
    }
    return due;
  }

  /** The longest due, or where others take from that end as well, some further on that may be left to us. */
  #pick(due: readonly Candidate[], limit: number, alone: boolean): readonly Candidate[] {
    const sorted = due.toSorted((a, b) => a.wakeAt - b.wakeAt);
    const take = Math.min(limit, MAX_ADVANCE);
    if (alone) return sorted.slice(0, take);
    const most = COMMITS_BESIDE_OTHERS * this.#desk.maxChecks;
    const spare = sorted.length - Math.min(take, most);
    const apart = spare > 0 && (this.#crowded > 0 || sorted.length >= MAX_KV_LIST_BATCH);
    let start = apart ? Math.floor(Math.random() * (spare + 1)) : 0;
    // Not in the midst of an entry: whoever takes the first half of it would be in the way.
    while (start > 0 && sorted[start - 1]!.key === sorted[start]!.key) start--;
    return checkedBy(sorted.slice(start, start + take), most);
  }

  async #move<T>(
    candidates: readonly Candidate[],
    known: Knowledge,
    alone: boolean,
    now: number,
    step: Step<T>,
    { values, damaged }: Won<T>,
  ): Promise<void> {
    let rest = candidates;
    let guard = alone ? "everything" as const : "each" as const;
    // deno-lint-ignore require-await
    const chunkOf = async (some: readonly Candidate[]) => this.#chunk(some, known, guard, now, step);
    let chunk = await chunkOf(rest);
    for (let conflicts = 0; rest.length > 0;) {
      const committing = this.#desk.commit(chunk.plan, guard);
      const left = rest.slice(chunk.taken);
      // Worked out while the store is busy.
      const next = chunkOf(left);
      next.catch(() => {});
      if (await committing) {
        values.push(...chunk.values);
        damaged.push(...chunk.damaged);
        rest = left;
        this.#crowded = Math.max(0, this.#crowded - 1);
        chunk = await next;
        continue;
      }
      this.#crowded = CROWDED_FOR;
      guard = "each";
      // What is left is found by the next call.
      if (++conflicts >= MAX_KV_CLAIM_ATTEMPTS) break;
      await this.#desk.pause(conflicts);
      rest = await this.#anew(rest, known);
      chunk = await chunkOf(rest);
    }
  }

  /** Reads candidates again; answers those that others have not taken out of entries that are shared. */
  async #anew(candidates: readonly Candidate[], known: Knowledge): Promise<readonly Candidate[]> {
    const { ledger } = this.#desk;
    await ledger.sync();
    const places = new Map<string, KvKey>();
    known.wakes.clear();
    for (const { shared } of candidates) if (shared !== undefined) places.set(shared.name, shared.key);
    for (const [name, entry] of await ledger.sharedWakes(places)) known.wakes.set(name, entry);
    const left = candidates.filter(({ id, shared }) =>
      shared === undefined || known.wakes.get(shared.name)?.ids.has(id) === true
    );
    await this.#desk.learn(known, left.map(({ id }) => id), []);
    await this.#desk.learnLists(known);
    return left;
  }

  /** Steps documents until one does not fit into the commit. */
  #chunk<T>(
    candidates: readonly Candidate[],
    known: Knowledge,
    guard: Guard,
    now: number,
    step: Step<T>,
  ): Chunk<T> {
    const { keys, maxChecks } = this.#desk;
    const plan = new Plan(keys, known, guard === "everything" ? Infinity : maxChecks);
    const chunk: Chunk<T> = { plan, values: [], damaged: [], taken: 0 };
    for (const candidate of candidates) {
      if (chunk.taken === CLAIMS_AT_ONCE || !this.#step(candidate, known, chunk, now, step)) break;
      chunk.taken++;
    }
    return chunk;
  }

  #step<T>(candidate: Candidate, known: Knowledge, chunk: Chunk<T>, now: number, step: Step<T>): boolean {
    const { id, key, shared } = candidate;
    const { plan } = chunk;
    const read = known.documents.get(id);
    if (read === undefined || !isThere(candidate, read.stored)) {
      const isGone = shared === undefined ? plan.repair(key, id) : plan.stray(known.wakes.get(shared.name)!, id);
      if (!isGone || read === undefined || !isLost(candidate, read.stored)) return isGone;
      return this.#place(candidate, chunk, known);
    }
    if (read.stored.damage !== undefined) {
      return this.#park(candidate, chunk, known, read.stored.damage);
    }
    const before = read.stored.document;
    const { document = before, value, reject } = step(before, now);
    // One that is left alone and is not due had its text edited by hand, and is put in its place.
    if (reject === undefined && (document !== before || !isDue(before, now))) {
      const added = plan.change(read, id, document);
      if (added === "full") return false;
      if (!added.committed) {
        return this.#park(candidate, chunk, known, added.reason.message);
      }
    }
    chunk.values.push(value);
    return true;
  }

  /** Puts a document where it says that it belongs, or parks it if nobody can tell. */
  #place<T>(candidate: Candidate, chunk: Chunk<T>, known: Knowledge): boolean {
    const { id } = candidate;
    const read = known.documents.get(id)!;
    const { damage, document } = read.stored;
    if (damage !== undefined) return this.#park(candidate, chunk, known, damage);
    const added = chunk.plan.change(read, id, document);
    if (added === "full") return false;
    return added.committed || this.#park(candidate, chunk, known, added.reason.message);
  }

  #park<T>({ id, lane }: Candidate, chunk: Chunk<T>, known: Knowledge, error: string): boolean {
    const read = known.documents.get(id)!;
    const added = chunk.plan.change(read, id, { ...read.stored.document, parked: error });
    if (added === "full") return false;
    chunk.damaged.push({ id, task: lane === "" ? read.stored.index.task : lane, error });
    return true;
  }
}

/** The first documents, as many as take so many checks: an entry that is shared takes one for all that are in it. */
function checkedBy(candidates: readonly Candidate[], checks: number): readonly Candidate[] {
  let count = 0;
  const end = candidates.findIndex(({ key }, i) => key !== candidates[i - 1]?.key && ++count > checks);
  return end === -1 ? candidates : candidates.slice(0, end);
}

/** Whether nothing else would lead to a document: what it is found by was edited by hand. */
function isLost({ lane, wakeAt }: Candidate, stored: Stored): boolean {
  const isAlike = stored.index.lane === lane && stored.index.wakeAt === wakeAt;
  return isAlike || stored.damage !== undefined || isMisindexed(stored);
}

/** Whether a document is due by the very entry that led to it. */
function isThere(candidate: Candidate, { index, shared }: Stored): boolean {
  return index.lane === candidate.lane && index.wakeAt === candidate.wakeAt && shared === candidate.shared?.name;
}
