/** What is due and waits, of one task. */
export interface TaskBacklog {
  /** The task's name. */
  readonly task: string;
  /** Whether this instance can run it. */
  readonly registered: boolean;
  /** Schedules of it that are due: a deadline, a retry, or a lease that ran out. Counting stops at the limit. */
  readonly due: number;
  /** Since when the longest due of them is; `null` while none is. */
  readonly oldest: Date | null;
}

/** What is due and waits in a scheduler's store, whichever instance is to take it. */
export interface Backlog {
  /** The time that decides what is due. */
  readonly at: Date;
  /** Every task that has something to wait for, due or to come, in order of name. */
  readonly tasks: readonly TaskBacklog[];
}
