import {
  type Clock,
  type Group,
  type GroupResult,
  MAX_KV_OPERATIONS,
  type Selector,
} from "../../../src/contract/mod.ts";
import type { Desk } from "./desk.ts";
import { tooMuch } from "./errors.ts";
import type { KvKey } from "./handle.ts";
import { Knowledge } from "./knowledge.ts";
import type { Guard } from "./ledger.ts";
import { Plan } from "./plan.ts";

/** One call of `apply`. */
class Job {
  readonly promise: Promise<readonly GroupResult[]>;
  readonly #results: GroupResult[] = [];
  #open: number;
  failed = false;
  #resolve!: (results: readonly GroupResult[]) => void;
  #reject!: (error: unknown) => void;

  constructor(groups: number) {
    this.#open = groups;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  settle(index: number, result: GroupResult): void {
    this.#results[index] = result;
    if (--this.#open === 0) this.#resolve(this.#results);
  }

  fail(error: unknown): void {
    this.failed = true;
    this.#reject(error);
  }
}

/** One group that waits for its commit. */
interface Pending {
  readonly job: Job;
  readonly index: number;
  readonly group: Group;
  readonly now: number;
}

/** Groups that were added to a plan, with what to answer once it is committed. */
type Accepted = readonly (readonly [Pending, GroupResult])[];

/** A commit that is worked out, with what to answer. */
interface Planned {
  readonly plan: Plan;
  readonly guard: Guard;
  readonly accepted: Accepted;
}

/**
 * Gathers what is written during one turn of the event loop, and while the last commits are under way, into few commits:
 * each costs a flush or a round trip.
 */
export class Writer {
  readonly #desk: Desk;
  readonly #clock: Clock;
  #waiting: Pending[] = [];
  #flushing: Promise<void> | undefined;

  constructor(desk: Desk, clock: Clock) {
    this.#desk = desk;
    this.#clock = clock;
  }

  /** Applies groups in the next commits. */
  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    if (groups.length === 0) return Promise.resolve([]);
    const job = new Job(groups.length);
    groups.forEach((group, index) => {
      if (group.length <= MAX_KV_OPERATIONS) {
        this.#waiting.push({ job, index, group, now });
      } else job.settle(index, { committed: false, reason: tooMuch(group.length, MAX_KV_OPERATIONS, "changes") });
    });
    if (this.#waiting.length > 0) this.#schedule();
    return job.promise as Promise<readonly GroupResult<T>[]>;
  }

  /** Resolves once nothing waits any more. */
  async drain(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  #schedule(): void {
    this.#flushing ??= new Promise((resolve) => {
      this.#clock.defer(() => {
        this.#desk.inTurn(() => this.#flush()).finally(() => {
          this.#flushing = undefined;
          if (this.#waiting.length > 0) this.#schedule();
          resolve();
        });
      });
    });
  }

  async #flush(): Promise<void> {
    let pendings: readonly Pending[] = this.#waiting;
    this.#waiting = [];
    try {
      let alone = await this.#desk.ledger.sync();
      let planned: Planned | undefined;
      for (let attempt = 0; pendings.length > 0;) {
        planned ??= await this.#plan(pendings, alone, attempt > 0);
        const { plan, guard, accepted } = planned;
        const committing = this.#desk.commit(plan, guard);
        const left = unsettled(pendings, accepted);
        // Worked out while the store is busy.
        planned = guard === "everything" ? this.#ahead(left, plan) : undefined;
        if (await committing) {
          for (const [{ job, index }, result] of accepted) job.settle(index, result);
          pendings = left;
          attempt = 0;
        } else {
          planned = undefined;
          await this.#desk.pause(attempt++);
          await this.#desk.ledger.sync();
          alone = false;
        }
      }
    } catch (error) {
      for (const { job } of pendings) job.fail(error);
    }
  }

  /**
   * Plans a commit of the first of them, as many as fit.
   *
   * @param afresh Whether what is remembered proved to be wrong.
   */
  async #plan(pendings: readonly Pending[], alone: boolean, afresh: boolean): Promise<Planned> {
    const { maxChecks } = this.#desk;
    let guard = alone ? "everything" as const : "each" as const;
    const { wakes } = this.#desk.ledger;
    // What the commit checks may be taken to be as it was.
    const known = new Knowledge((name) => guard === "each" && !afresh ? wakes.latest(name) : wakes.trusted(name));
    for (;;) {
      const most = guard === "everything" ? Infinity : maxChecks;
      const plan = new Plan(this.#desk.keys, known, most);
      const candidates = first(pendings.filter(({ job }) => !job.failed), alone ? MAX_FLUSH_OPERATIONS : maxChecks);
      await this.#learnSelected(known, candidates, guard === "each" && !afresh);
      const accepted = this.#fill(plan, known, candidates);
      if (accepted === "guessed") {
        await this.#desk.learn(known, known.guessed, []);
        continue;
      }
      if (accepted === "failed" || !await this.#desk.verify(known)) continue;
      // One that needs more checks than there are is committed only if nobody else writes meanwhile.
      if (accepted.length > 0 || candidates.every(({ job }) => job.failed)) return { plan, guard, accepted };
      guard = "everything";
      known.wakes.clear();
      await this.#desk.learn(known, known.guessed, []);
    }
  }

  /**
   * Plans the commit after one that is under way, if it is only about documents that are known and that one leaves alone.
   * Should that one fail, the plan is made anew.
   */
  #ahead(pendings: readonly Pending[], under: Plan): Planned | undefined {
    const { wakes } = this.#desk.ledger;
    const known = new Knowledge((name) => wakes.trusted(name));
    const plan = new Plan(this.#desk.keys, known, Infinity);
    const accepted: (readonly [Pending, GroupResult])[] = [];
    for (const pending of first(pendings, MAX_FLUSH_OPERATIONS)) {
      const { job, group, now } = pending;
      if (job.failed || !group.every(({ select }) => this.#isAtHand(select, known, under))) return undefined;
      const added = tried(() => plan.add(group, now));
      if (added === undefined || added === "guessed") return undefined;
      if (added === "full") break;
      accepted.push([pending, added]);
    }
    const missing = known.missingDocuments.size + known.missingPointers.size + known.missingWakes.size;
    return missing === 0 && accepted.length > 0 ? { plan, guard: "everything", accepted } : undefined;
  }

  #isAtHand(select: Selector, known: Knowledge, under: Plan): boolean {
    if (select === null || !("id" in select) || under.writes.has(select.id)) return false;
    const read = this.#desk.ledger.cache.trusted(select.id);
    if (read !== undefined) known.documents.set(select.id, read);
    return read !== undefined;
  }

  /** Adds groups in their order until one does not fit, or tells why the plan has to be made anew. */
  #fill(plan: Plan, known: Knowledge, candidates: readonly Pending[]): Accepted | "guessed" | "failed" {
    const accepted: (readonly [Pending, GroupResult])[] = [];
    for (const pending of candidates) {
      if (pending.job.failed) continue;
      try {
        const added = plan.add(pending.group, pending.now);
        if (added === "full") break;
        if (added === "guessed") return added;
        accepted.push([pending, added]);
      } catch (error) {
        if (known.guessed.size > 0) return "guessed";
        // A decision that throws fails its own call; what of it is in this plan is taken out by making that anew.
        pending.job.fail(error);
        if (accepted.some(([{ job }]) => job === pending.job)) return "failed";
      }
    }
    return accepted;
  }

  async #learnSelected(known: Knowledge, pendings: readonly Pending[], guesses: boolean): Promise<void> {
    const { keys } = this.#desk;
    const ids: string[] = [];
    const pointers: KvKey[] = [];
    for (const { group } of pendings) {
      for (const { select } of group) {
        if (select === null) continue;
        if ("id" in select) ids.push(select.id);
        else pointers.push(keys.selected(select));
      }
    }
    const unknown = ids.filter((id) => !known.documents.has(id));
    await this.#desk.learn(
      known,
      guesses ? this.#desk.guess(known, unknown) : unknown,
      pointers.filter((key) => !known.has(key)),
    );
  }
}

/** Operations that one commit is planned for: about as many as its mutations allow. */
const MAX_FLUSH_OPERATIONS = 300;

/** The first groups, with so many operations together, and one at least. */
function first(pendings: readonly Pending[], operations: number): readonly Pending[] {
  let sum = 0;
  const end = pendings.findIndex(({ group }, i) => (sum += group.length) > operations && i > 0);
  return end === -1 ? pendings : pendings.slice(0, end);
}

/** Those that are in no commit yet. */
function unsettled(pendings: readonly Pending[], accepted: Accepted): readonly Pending[] {
  const done = new Set(accepted.map(([pending]) => pending));
  return pendings.filter((pending) => !done.has(pending) && !pending.job.failed);
}

/** What a function answers; undefined where it throws. */
function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
