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
  /** What tells that each document was written; null for one that was removed. */
  readonly texts: ReadonlyMap<string, AttemptedTexts | null>;
}

/**
 * A document's progress as written, or for a new one its definition: its id is in no other use, and its first run may
 * have begun elsewhere before anybody could ask.
 */
export type AttemptedTexts = { readonly progress: string } | { readonly definition: string };

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

/** What is looked at of a stored row. */
type StoredTexts = { readonly definition: string; readonly progress: string };

/** Whether what was attempted is what is stored, so that it did take effect: as a whole, so one new document tells enough. */
export function tookEffect({ texts }: Attempt, stored: ReadonlyMap<string, StoredTexts>): boolean {
  const attempted = [...texts];
  if (attempted.some(([id, text]) => isCreated(text, stored.get(id)))) return true;
  return texts.size > 0 && attempted.every(([id, text]) => isWritten(text, stored.get(id)));
}

function isCreated(text: AttemptedTexts | null, row: StoredTexts | undefined): boolean {
  return text !== null && "definition" in text && text.definition === row?.definition;
}

function isWritten(text: AttemptedTexts | null, row: StoredTexts | undefined): boolean {
  return text === null ? row === undefined : "progress" in text && text.progress === row?.progress;
}
