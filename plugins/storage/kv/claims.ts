import {
  type AdvanceRequest,
  type Change,
  type Damaged,
  MAX_ADVANCE,
  MAX_KV_CLAIM_ATTEMPTS,
  MAX_KV_LIST_BATCH,
  type ScheduleDocument,
} from "../../../src/contract/mod.ts";
import type { Desk } from "./desk.ts";
import { fromKeyText } from "./keys.ts";
import type { KvEntryLike, KvKey } from "./handle.ts";
import { Knowledge } from "./knowledge.ts";
import { Plan } from "./plan.ts";

/** Commits of one call while others write as well: then each holds only as many documents as it may check. */
const COMMITS_BESIDE_OTHERS = 4;

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

/** An entry of a lane that is due. */
interface Candidate {
  readonly id: string;
  readonly lane: string;
  readonly key: KvKey;
  readonly wakeAt: number;
  readonly versionstamp: string;
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
      const known = new Knowledge();
      for (const { id, versionstamp } of candidates) {
        const read = ledger.cache.at(id, versionstamp);
        if (read !== undefined) known.documents.set(id, read);
      }
      const unknown = candidates.filter(({ id }) => !known.documents.has(id))
        .map(({ id }) => id);
      await this.#desk.learn(known, unknown, []);
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
    const entries = await reader.list({ prefix: keys.lane(lane), end: keys.due(lane, now) }, window);
    return entries.map(({ key, versionstamp }: KvEntryLike) => ({
      id: fromKeyText(key.at(-1)),
      lane,
      key: key as KvKey,
      wakeAt: key.at(-2) as number,
      versionstamp: versionstamp!,
    }));
  }

  /** The longest due, or where others take from that end as well, some further on that may be left to us. */
  #pick(due: readonly Candidate[], limit: number, alone: boolean): readonly Candidate[] {
    const sorted = due.toSorted((a, b) => a.wakeAt - b.wakeAt);
    const most = alone ? limit : Math.min(limit, COMMITS_BESIDE_OTHERS * this.#desk.maxChecks);
    const take = Math.min(most, MAX_ADVANCE);
    const spare = sorted.length - take;
    const apart = !alone && spare > 0 &&
      (this.#crowded > 0 || sorted.length >= MAX_KV_LIST_BATCH);
    const start = apart ? Math.floor(Math.random() * (spare + 1)) : 0;
    return sorted.slice(start, start + take);
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
    for (let conflicts = 0; rest.length > 0;) {
      const chunk = this.#chunk(rest, known, guard === "everything" ? Infinity : this.#desk.maxChecks, now, step);
      if (await this.#desk.commit(chunk.plan, guard)) {
        values.push(...chunk.values);
        damaged.push(...chunk.damaged);
        rest = rest.slice(chunk.taken);
        this.#crowded = Math.max(0, this.#crowded - 1);
        continue;
      }
      this.#crowded = CROWDED_FOR;
      guard = "each";
      // What is left is found by the next call.
      if (++conflicts >= MAX_KV_CLAIM_ATTEMPTS) break;
      await this.#desk.pause(conflicts);
      await this.#desk.ledger.sync();
      await this.#desk.learn(known, rest.map(({ id }) => id), []);
    }
  }

  /** Steps documents until one does not fit into the commit. */
  #chunk<T>(
    candidates: readonly Candidate[],
    known: Knowledge,
    maxChecks: number,
    now: number,
    step: Step<T>,
  ): Chunk<T> {
    const chunk: Chunk<T> = { plan: new Plan(this.#desk.keys, known, maxChecks), values: [], damaged: [], taken: 0 };
    for (const candidate of candidates) {
      if (!this.#step(candidate, known, chunk, now, step)) break;
      chunk.taken++;
    }
    return chunk;
  }

  #step<T>(candidate: Candidate, known: Knowledge, chunk: Chunk<T>, now: number, step: Step<T>): boolean {
    const { id, lane, wakeAt, key } = candidate;
    const read = known.documents.get(id);
    const isThere = read !== undefined && read.stored.index.lane === lane && read.stored.index.wakeAt === wakeAt;
    if (!isThere) return chunk.plan.repair(key, id);
    if (read.stored.damage !== undefined) {
      return this.#park(candidate, chunk, known, read.stored.damage);
    }
    const { document, value, reject } = step(read.stored.document, now);
    if (reject === undefined && document !== undefined) {
      const added = chunk.plan.change(read, id, document);
      if (added === "full") return false;
      if (!added.committed) {
        return this.#park(candidate, chunk, known, added.reason.message);
      }
    }
    chunk.values.push(value);
    return true;
  }

  #park<T>({ id, lane }: Candidate, chunk: Chunk<T>, known: Knowledge, error: string): boolean {
    const read = known.documents.get(id)!;
    const added = chunk.plan.change(read, id, { ...read.stored.document, parked: error });
    if (added === "full") return false;
    chunk.damaged.push({ id, task: lane === "" ? read.stored.index.task : lane, error });
    return true;
  }
}
