import type { Group } from "../../../src/contract/mod.ts";
import { conflictOf } from "../sql/transaction.ts";
import { ATTEMPTS, type Database } from "./database.ts";
import { decideAll, type Decided, remember, settleAll } from "./decisions.ts";
import { lookupOf } from "./desk.ts";
import type { DueFloor } from "./due_floor.ts";
import { isContention, isDisconnect, isLockTimeout, isRefusal, isUnanswered, isUniqueConflict } from "./errors.ts";
import { toldOf } from "./hints.ts";
import type { Pending } from "./jobs.ts";
import type { KnownDocuments, RowState } from "./known.ts";
import { hold } from "./reading.ts";
import type { Statements } from "./statements.ts";
import { planWrites, readied } from "./writes.ts";

/** How long a batch waits for a row that somebody else has locked, in milliseconds, before it goes on without. */
export const BATCH_LOCK_MS = 100;
/** How long one group by itself waits for such a row. */
const LOCK_MS = 5_000;
/** Pauses, in milliseconds, before the database is asked again what became of a commit that it did not answer: 5 s in all. */
const PAUSES = [50, 100, 200, 400, 800, 1_000, 1_200, 1_250];

const DOING = "writing schedules";

/** What {@linkcode Commits} work with. */
export interface CommitsOptions {
  readonly database: Database;
  readonly statements: Statements;
  readonly known: KnownDocuments;
  readonly floor: DueFloor;
  /** Where other instances listen, and who tells them. */
  readonly channel: string;
  readonly sender: string;
}

/**
 * Commits groups, many in one transaction: locks and reads what they are about, decides, writes. Whoever is in the way is
 * found out by halving, so that one group's conflict, lock or failure is not the others'.
 */
export class Commits {
  readonly #options: CommitsOptions;
  readonly #patient = new Set<Promise<void>>();

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  /** Commits groups in order; each is settled, or its call has failed, when this resolves or soon after. */
  async commit(pendings: readonly Pending[]): Promise<void> {
    const live = pendings.filter(({ job }) => !job.failed);
    if (live.length === 0) return;
    try {
      await this.#insist(live, BATCH_LOCK_MS);
    } catch (error) {
      await this.#apart(live, error);
    }
  }

  /** Resolves once no group waits for a lock any more. */
  async drain(): Promise<void> {
    while (this.#patient.size > 0) await Promise.all(this.#patient);
  }

  async #apart(pendings: readonly Pending[], error: unknown): Promise<void> {
    const isOthers = isContention(error) || isUniqueConflict(error);
    if (!isOthers) return await this.#withoutRefused(pendings, error);
    if (pendings.length > 1) {
      const half = Math.ceil(pendings.length / 2);
      await this.commit(pendings.slice(0, half));
      return await this.commit(pendings.slice(half));
    }
    const [alone] = pendings as readonly [Pending];
    if (isUniqueConflict(error)) return alone.settle({ committed: false, reason: conflictOf(alone.ids, error) });
    if (!isLockTimeout(error)) return alone.job.fail(error);
    // The application may keep its lock for long; the others must not wait with this one.
    const waiting = this.#insist([alone], LOCK_MS).catch((reason) =>
      isLockTimeout(reason) ? alone.job.fail(reason) : this.#apart([alone], reason)
    );
    this.#patient.add(waiting);
    void waiting.finally(() => this.#patient.delete(waiting));
  }

  /** What the database refuses is one call's: the others are tried without it, each call still as a whole. */
  async #withoutRefused(pendings: readonly Pending[], error: unknown): Promise<void> {
    const jobs = [...new Set(pendings.map(({ job }) => job))];
    if (jobs.length === 1 || !isRefusal(error)) return jobs.forEach((job) => job.fail(error));
    const first = new Set(jobs.slice(0, Math.ceil(jobs.length / 2)));
    await this.commit(pendings.filter(({ job }) => first.has(job)));
    await this.commit(pendings.filter(({ job }) => !first.has(job)));
  }

  /** Commits; again while others were only in the way, and until it is known what became of a commit. */
  async #insist(pendings: readonly Pending[], lockMs: number): Promise<void> {
    for (let attempts = 1, pauses = 0;; attempts++) {
      try {
        return await this.#transact(pendings.filter(({ job }) => !job.failed), lockMs);
      } catch (error) {
        const unknown = pendings.some(({ attempt }) => attempt !== undefined);
        if (unknown && isDisconnect(error) && pauses < PAUSES.length) {
          // Not the scheduler's clock: the database is real, also where time is a test's.
          await new Promise((resolve) => setTimeout(resolve, PAUSES[pauses++]));
        } else if (attempts >= ATTEMPTS || !mayPass(error, pendings)) throw error;
      }
    }
  }

  async #transact(pendings: readonly Pending[], lockMs: number): Promise<void> {
    const { database, statements, known, floor } = this.#options;
    const attempted = pendings.flatMap(({ attempt }) => attempt === undefined ? [] : [...attempt.texts.keys()]);
    const wanted = lookupOf(pendings.map(({ group }) => group), attempted);
    const wrote = floor.writing();
    const outcome: { decided?: Decided; now?: number; moved?: ReadonlyMap<string, RowState> } = {};
    try {
      await database.transaction(DOING, { lockMs }, async (session) => {
        const held = await hold(session, statements, wanted);
        const decided = decideAll(pendings, held);
        const told = toldOf(decided.writes, held.now, this.#options);
        outcome.moved = await readied(statements, planWrites(decided.writes), held.rows, told)(session);
        outcome.decided = decided;
        outcome.now = held.now;
      });
    } catch (error) {
      if (outcome.decided !== undefined && isUnanswered(error)) remember(outcome.decided);
      throw error;
    } finally {
      // Of one that was not answered, too: it may have taken effect.
      wrote(outcome.decided?.writes ?? [], outcome.now ?? 0);
    }
    for (const { before, after } of outcome.decided!.writes) {
      const { id } = after ?? before!;
      known.wrote(id, after, outcome.moved!.get(id));
    }
    settleAll(outcome.decided!);
  }
}

/** Whether the same work may succeed at once: a deadlock, or a name that was free when it was looked up. */
function mayPass(error: unknown, pendings: readonly Pending[]): boolean {
  if (!isUniqueConflict(error)) return isContention(error) && !isLockTimeout(error);
  return pendings.length === 1 && looksUpNames(pendings[0]!.group);
}

function looksUpNames(group: Group): boolean {
  return group.some(({ select }) => select !== null && !("id" in select));
}
