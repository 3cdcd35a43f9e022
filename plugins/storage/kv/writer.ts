import { type Clock, type Group, type GroupResult, MAX_KV_OPERATIONS } from "../../../src/contract/mod.ts";
import type { Desk } from "./desk.ts";
import { tooMuch } from "./errors.ts";
import type { KvKey } from "./handle.ts";
import { Knowledge } from "./knowledge.ts";
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
      for (let attempt = 0; pendings.length > 0;) {
        const left = await this.#commit(pendings, alone, attempt > 0);
        if (left === undefined) {
          await this.#desk.pause(attempt++);
          await this.#desk.ledger.sync();
          alone = false;
        } else {
          pendings = left;
          attempt = 0;
        }
      }
    } catch (error) {
      for (const { job } of pendings) job.fail(error);
    }
  }

  /**
   * Commits the first of them, as many as fit; answers the others, or undefined where somebody else was faster.
   *
   * @param afresh Whether what is remembered proved to be wrong.
   */
  async #commit(
    pendings: readonly Pending[],
    alone: boolean,
    afresh: boolean,
  ): Promise<readonly Pending[] | undefined> {
    const { maxChecks } = this.#desk;
    const known = new Knowledge();
    let guard = alone ? "everything" as const : "each" as const;
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
      if (accepted.length === 0 && candidates.some(({ job }) => !job.failed)) {
        guard = "everything";
        await this.#desk.learn(known, known.guessed, []);
      } else {
        if (!await this.#desk.commit(plan, guard)) return undefined;
        for (const [{ job, index }, result] of accepted) {
          job.settle(index, result);
        }
        const done = new Set(accepted.map(([pending]) => pending));
        return pendings.filter((pending) => !done.has(pending) && !pending.job.failed);
      }
    }
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
        else if ("name" in select) {
          pointers.push(keys.unique("name", select.owner, select.name));
        } else pointers.push(keys.unique("key", select.owner, select.key));
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
