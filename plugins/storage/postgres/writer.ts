import { type Clock, type Group, type GroupResult, MAX_GROUPS, MAX_OPERATIONS } from "../../../src/contract/mod.ts";
import { Commits, type CommitsOptions } from "./commits.ts";
import type { DatabaseClock } from "./database_clock.ts";
import { Job, type Pending } from "./jobs.ts";
import { QuickCommits } from "./quick.ts";

/**
 * Gathers what is written during one turn of the event loop, and while the last commit is under way, into one commit: a
 * commit costs round trips and a flush of the disk, a write beside others in it nearly nothing.
 */
export class Writer {
  readonly #clock: Clock;
  readonly #quick: QuickCommits;
  readonly #commits: Commits;
  #waiting: Pending[] = [];
  #flushing: Promise<void> | undefined;

  constructor(clock: Clock, time: DatabaseClock, options: CommitsOptions) {
    this.#clock = clock;
    this.#quick = new QuickCommits(time, options);
    this.#commits = new Commits(options);
  }

  /** Applies groups in the next commit. */
  apply<T>(groups: readonly Group<T>[]): Promise<readonly GroupResult<T>[]> {
    const job = new Job(groups);
    for (const pending of job.pendings) this.#waiting.push(pending);
    if (this.#waiting.length > 0) this.#schedule();
    return job.promise as Promise<readonly GroupResult<T>[]>;
  }

  /** Resolves once nothing waits any more. */
  async drain(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
    await this.#commits.drain();
  }

  #schedule(): void {
    this.#flushing ??= new Promise((resolve) => {
      this.#clock.defer(() => {
        this.#flush().finally(() => {
          this.#flushing = undefined;
          if (this.#waiting.length > 0) this.#schedule();
          resolve();
        });
      });
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#take();
    try {
      await this.#commits.commit(await this.#quick.commit(batch));
    } catch (error) {
      for (const { job } of batch) job.fail(error);
    }
  }

  #take(): readonly Pending[] {
    let operations = 0;
    const end = this.#waiting.findIndex(({ group }, index) =>
      (operations += group.length) > MAX_OPERATIONS && index > 0 || index === MAX_GROUPS
    );
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}
