import type {
  Ability,
  Clock,
  DocumentQuery,
  Enlisted,
  Group,
  GroupResult,
  Logger,
  OptionParser,
  Principal,
  ScheduleDocument,
  StandardPolicyOptions,
  Task,
} from "../contract/mod.ts";
import type { Done, MachineEnv } from "../machine/mod.ts";

export type { Done } from "../machine/mod.ts";

/** The stores that a schedule may live in: the shared one, or this process only (I4). */
export type Place = "stored" | "local";

/** Option values that creations start from. */
export interface Defaults extends StandardPolicyOptions {
  readonly timezone?: string;
}

/** What clients are built on. Everything a client does to the world goes through here. */
export interface ClientHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: MachineEnv;
  // deno-lint-ignore no-explicit-any
  readonly tasks: ReadonlyMap<string, Task<any, any>>;
  /**
   * Looks in the store for a task of a name that is not among the tasks, and for one that does not exist for the principal
   * too, so that no time tells the two apart (P4). Nothing to wait for where no task is kept in the store.
   */
  learn(task: unknown, principal: Principal): Promise<void> | undefined;
  /** Brings the tasks that are kept in the store up to date. */
  learnAll(): Promise<void>;
  /** Every option key that a plugin owns, with its parser. */
  readonly parsers: ReadonlyMap<string, OptionParser>;
  readonly defaults: Defaults & { readonly [key: string]: unknown };
  /** Milliseconds. */
  readonly retentionMs: number;
  readonly canRunAs: (principal: Principal, runAs: string) => boolean;
  /** Makes a new schedule id. */
  newId(): string;
  /** Refuses calls once the scheduler is closed, for those that answer at once. Errors: `closed`. */
  assertOpen(draining?: boolean): void;
  /** Opens the store if this is the first call, and is nothing to wait for afterwards; errors: `closed`. Runs that drain after `close` may still pass `draining`. */
  ready(draining?: boolean): Promise<void> | undefined;
  /** What this instance can do now for a task of that name. */
  ability(task: string): Ability;
  /** The time that decides what is due, as well as the caller can know it. */
  now(): number;
  /** Applies groups; once committed, tells observers, wakes the engine, aborts runs as the effects say. */
  apply(place: Place, groups: readonly Group<Done>[]): Promise<readonly GroupResult<Done>[]>;
  /** As the application's own transaction; effects are told at once, without waiting for its commit. */
  enlist(transaction: unknown): Enlisted;
  get(place: Place, id: string): Promise<ScheduleDocument | undefined>;
  find(place: Place, query: DocumentQuery): Promise<readonly ScheduleDocument[]>;
  /** Runs a task now, on this instance, for a caller, with what the task's schema made of its input. */
  // deno-lint-ignore no-explicit-any
  invoke(task: Task<any, any>, input: unknown, caller: Principal): Promise<unknown>;
}
