import {
  type Clock,
  type Group,
  type GroupResult,
  MAX_GROUPS,
  SLOW_COMMIT_MS,
  StorageError,
} from "../../../src/contract/mod.ts";
import type { Connection, Flush } from "./connection.ts";
import type { Documents } from "./documents.ts";
import { isUniqueConflict } from "./errors.ts";
import type { ForeignWrites } from "./foreign_writes.ts";
import type { Statements } from "./statements.ts";

/** A piece of work that waits for the next commit. */
interface Job {
  /** How many groups it counts for. */
  readonly weight: number;
  /** When the disk has to have it; it may ask for more once it is done. */
  readonly flush: Flush;
  /** Does the work and answers what to tell the caller once it is durable. */
  run(savepoints: boolean): Ran;
  fail(error: unknown): void;
}

interface Ran {
  readonly flush: Flush;
  tell(): void;
}

/** What a {@linkcode Writer} works with. */
export interface WriterOptions {
  readonly connection: Connection;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly foreign: ForeignWrites;
  readonly statements: Pick<Statements, "lock">;
}

/**
 * Gathers what is written during one turn of the event loop into one commit: a commit costs a flush of the disk, a
 * write beside others in it nearly nothing.
 */
export class Writer {
  readonly #options: WriterOptions;
  readonly #waiting: Job[] = [];
  #mark = "";
  /** How long the latest commit took. */
  #tookMs = 0;
  #flushing: Promise<void> | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Applies groups in the next commit. */
  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    const { documents } = this.#options;
    return this.run((savepoints) => groups.map((group) => documents.apply(group, now, savepoints)), groups.length);
  }

  /** Does work in the next commit. */
  run<T>(work: (savepoints: boolean) => T, weight = 1): Promise<T> {
    return this.#enqueue((savepoints) => ({ value: work(savepoints), flush: "now" }), "now", weight);
  }

  /** Does work in the next commit, which is flushed to the disk only where the work says so. */
  advance<T>(work: () => { readonly value: T; readonly flush: Flush }): Promise<T> {
    return this.#enqueue(work, "later", 1);
  }

  #enqueue<T>(
    work: (savepoints: boolean) => { readonly value: T; readonly flush: Flush },
    flush: Flush,
    weight: number,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        weight,
        flush,
        run: (savepoints) => {
          const { value, flush } = work(savepoints);
          return { flush, tell: () => resolve(value) };
        },
        fail: reject,
      });
      this.#schedule();
    });
  }

  /** Resolves once nothing waits any more. */
  async drain(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  #schedule(): void {
    if (this.#flushing !== undefined) return;
    const until = this.#options.clock.monotonic() + this.#tookMs;
    this.#flushing = new Promise((resolve) => {
      this.#gather(until, () => {
        this.#flush().finally(() => {
          this.#flushing = undefined;
          if (this.#waiting.length > 0) this.#schedule();
          resolve();
        });
      });
    });
  }

  /**
   * Waits for the end of the turn and, where commits are slow, for further turns as long as they bring more, and no longer
   * than a commit takes: what comes over many connections comes in several turns.
   */
  #gather(until: number, flush: () => void): void {
    const { clock } = this.#options;
    const seen = this.#waiting.length;
    clock.defer(() => {
      const goesOn = this.#tookMs >= SLOW_COMMIT_MS && this.#waiting.length > seen && clock.monotonic() < until;
      if (goesOn) this.#gather(until, flush);
      else flush();
    });
  }

  async #flush(): Promise<void> {
    const jobs = this.#take();
    try {
      await this.#commit(jobs);
    } catch (error) {
      // A store that fails would fail each again; one caller's broken decision must not fail the others.
      if (jobs.length === 1 || error instanceof StorageError) return jobs.forEach((job) => job.fail(error));
      for (const job of jobs) await this.#commit([job]).catch((reason) => job.fail(reason));
    }
  }

  #take(): readonly Job[] {
    let weight = 0;
    const fits = this.#waiting.findIndex((job, i) => (weight += job.weight) > MAX_GROUPS && i > 0);
    return this.#waiting.splice(0, fits === -1 ? this.#waiting.length : fits);
  }

  async #commit(jobs: readonly Job[]): Promise<void> {
    const { connection, foreign, statements, clock } = this.#options;
    const began = clock.monotonic();
    const doing = "writing schedules";
    const flush = flushOf(jobs);
    const work = (savepoints: boolean) => () => this.#work(jobs, savepoints);
    const ran = await connection.write(doing, work(false), flush).catch((error) => {
      this.#options.documents.forget();
      if (!isUniqueConflict(error?.cause)) throw error;
      return connection.write(doing, work(true), flush);
    });
    // Flushes what went before, too. Nobody has been told yet, so nothing has been started.
    if (flush === "later" && flushOf(ran) === "now") {
      await connection.write(doing, () => foreign.own(() => connection.get(statements.lock, {})));
    }
    this.#tookMs = clock.monotonic() - began;
    for (const { tell } of ran) tell();
  }

  #work(jobs: readonly Job[], savepoints: boolean): readonly Ran[] {
    const { documents, foreign } = this.#options;
    const mark = foreign.mark();
    if (mark !== this.#mark) documents.forget();
    this.#mark = mark;
    return foreign.own(() => jobs.map((job) => job.run(savepoints)));
  }
}

function flushOf(work: readonly { readonly flush: Flush }[]): Flush {
  return work.some(({ flush }) => flush === "now") ? "now" : "later";
}
