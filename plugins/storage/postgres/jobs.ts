import type { Group, GroupResult } from "../../../src/contract/mod.ts";

/** One call of `apply`. */
export class Job {
  readonly pendings: readonly Pending[];
  readonly promise: Promise<readonly GroupResult[]>;
  readonly #results: GroupResult[] = [];
  #open: number;
  #failed = false;
  #resolve!: (results: readonly GroupResult[]) => void;
  #reject!: (error: unknown) => void;

  constructor(groups: readonly Group[]) {
    this.#open = groups.length;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.pendings = groups.map((group, index) => new Pending(this, group, index));
    if (groups.length === 0) this.#resolve([]);
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** What became of one group. */
  settle(index: number, result: GroupResult): void {
    this.#results[index] = result;
    if (--this.#open === 0) this.#resolve(this.#results);
  }

  /** The call as a whole fails. */
  fail(error: unknown): void {
    this.#failed = true;
    this.#reject(error);
  }
}

/** What a group would have stored, when the connection was lost before the database said whether it had. */
export interface Attempt {
  readonly result: GroupResult;
  /** The progress of each document as written; null for one that was removed. */
  readonly texts: ReadonlyMap<string, string | null>;
}

/** One group that waits for its commit. */
export class Pending {
  readonly job: Job;
  readonly group: Group;
  readonly #index: number;
  /** Documents that the last decision changed. */
  ids: readonly string[] = [];
  attempt: Attempt | undefined;

  constructor(job: Job, group: Group, index: number) {
    this.job = job;
    this.group = group;
    this.#index = index;
  }

  settle(result: GroupResult): void {
    this.job.settle(this.#index, result);
  }
}

/** Whether what was attempted is what is stored, so that it did take effect. */
export function tookEffect(
  { texts }: Attempt,
  stored: ReadonlyMap<string, { readonly progress: string }>,
): boolean {
  return texts.size > 0 && [...texts].every(([id, text]) => (stored.get(id)?.progress ?? null) === text);
}
