import type { Clock, Logger } from "./clock.ts";
import type { DocumentIndex, ScheduleDocument } from "./document.ts";
import { SchedulerError, type SchedulerErrorOptions } from "./errors.ts";

/** What a driver can do: the differences that are documented. Only these may skip a conformance case. */
export interface StorageSupports {
  /** The store has a clock of its own, which decides what is due (T8). */
  readonly clock: boolean;
  /** {@linkcode Storage.enlist} works. */
  readonly enlist: boolean;
  /** {@linkcode Storage.subscribe} tells of other instances' changes. */
  readonly push: boolean;
  /** Several processes may share the store. */
  readonly processes: boolean;
  /** What resolved survives the process, and is found by a second handle. */
  readonly durable: boolean;
  /** Largest document, serialised, in bytes, where the store has a limit. */
  readonly maxDocumentBytes?: number;
  /** Most operations of one group, where the store has a limit. */
  readonly maxGroupOperations?: number;
}

/** Something that a store either can or cannot do. */
export type StorageAbility = Exclude<keyof StorageSupports, `max${string}`>;

/** What a driver gets at opening. */
export interface StorageContext {
  /** For timers and for deferring; what is due is decided by the `now` of each call. */
  readonly clock: Clock;
  /** For what a person has to know and no error can tell. */
  readonly logger: Logger;
}

/** What a pure decision asks of the store. `T` is what the caller wants to know once it is committed. */
export interface Change<T = unknown> {
  /** The document to store; `null` removes the current one; absent leaves it as it is. */
  readonly document?: ScheduleDocument | null;
  /** Handed back when the group is committed. */
  readonly value: T;
  /** Refuses: nothing of the group is stored, and its result carries this as the reason. */
  readonly reject?: SchedulerError;
}

/**
 * Which document an operation is about; `null`: a new one, without looking. Names and keys find live documents only.
 */
export type Selector =
  | { readonly id: string }
  | { readonly owner: string; readonly name: string }
  | { readonly owner: string; readonly key: string }
  | null;

/** One document's part of a group. */
export interface Operation<T = unknown> {
  /** Which document it is about. */
  readonly select: Selector;
  /**
   * Pure and synchronous; may be called more than once, the last call counts. The document it puts has the id of the
   * current one, or a new id where there is none.
   */
  decide(current: ScheduleDocument | undefined, now: number): Change<T>;
}

/** Operations that commit together or not at all, each seeing what those before it did. */
export type Group<T = unknown> = readonly Operation<T>[];

/**
 * What became of a group: a value for each operation, or why nothing of it is stored: a refusal, or `conflict` for an
 * id, name or key that is in use.
 */
export type GroupResult<T = unknown> =
  | { readonly committed: true; readonly values: readonly T[] }
  | { readonly committed: false; readonly reason: SchedulerError };

/** What an instance asks to be moved. */
export interface AdvanceRequest {
  /** Lanes to look into: the tasks that the instance can run now, and `""` for retired documents. */
  readonly lanes: readonly string[];
  /** Documents at most; over all lanes, the longest due first as far as that is cheap. */
  readonly limit: number;
  /** The caller's time; a store with a clock of its own ignores it. */
  readonly now: number;
}

/** A document that the store holds and nobody can read. */
export interface Damaged {
  /** The document's id. */
  readonly id: string;
  /** Its task's name, as it is indexed. */
  readonly task: string;
  /** What is wrong with it, for people. */
  readonly error: string;
}

/** What an `advance` did. */
export interface AdvanceResult<T> {
  /** What the step said of each document that it was applied to, but for what was told before. */
  readonly values: readonly T[];
  /** Whether documents that are due may be left. */
  readonly more: boolean;
  /** The earliest `wakeAt` in the lanes asked for, after all this. */
  readonly nextWake: number | null;
  /** The store's time that decided. */
  readonly now: number;
  /** Documents found unreadable, and parked by this call. */
  readonly damaged: readonly Damaged[];
}

/** Which documents to list. All given conditions must hold. */
export interface DocumentQuery {
  /** The owner's id. */
  readonly owner?: string;
  /** The task's name. */
  readonly task?: string;
  /** The schedule's name; found while it is live. */
  readonly name?: string;
  /** What it is about. */
  readonly target?: string;
  /** The declared set. */
  readonly group?: string;
  /** One of its tags. */
  readonly tag?: string;
  /** Next run, as `DocumentIndex.nextRun` has it, strictly before this instant. */
  readonly dueBefore?: number;
  /** Only documents with a run in progress. */
  readonly running?: true;
  /** Retired documents too. Default: live ones only. */
  readonly retired?: true;
  /** At most this many, in order of id, and never more than 1,000. */
  readonly limit: number;
  /** Ids after this one. */
  readonly after?: string;
}

/**
 * Whether a document is one that a query is about, by what is indexed of it: for drivers that look through documents
 * themselves. `limit` and `after` are about the page, and are not looked at.
 */
export function matchesQuery(index: DocumentIndex, query: DocumentQuery): boolean {
  return (query.retired === true || index.live) &&
    (query.owner === undefined || index.owner === query.owner) &&
    (query.task === undefined || index.task === query.task) &&
    (query.name === undefined || index.name === query.name) &&
    (query.target === undefined || index.target === query.target) &&
    (query.group === undefined || index.group === query.group) &&
    (query.tag === undefined || index.tags.includes(query.tag)) &&
    (query.dueBefore === undefined || (index.nextRun !== null && index.nextRun < query.dueBefore)) &&
    (query.running !== true || index.running);
}

/** What is due in one lane. */
export interface LaneBacklog {
  /** The lane: a task's name, or `""` for retired documents. */
  readonly task: string;
  /** Documents whose `wakeAt` is at or before the instant asked for; counting stops at the limit. */
  readonly due: number;
  /** The earliest `wakeAt`, past or to come. */
  readonly earliest: number;
}

/** Writes inside a transaction of the application; commits and rolls back with it. */
export interface Enlisted {
  /** As {@linkcode Storage.apply}, at once, inside the transaction. */
  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]>;
  /** As {@linkcode Storage.get}, seeing what the transaction wrote. */
  get(id: string): Promise<ScheduleDocument | undefined>;
}

/**
 * A place that finds the documents that are due and transforms them atomically. Time is always an argument or the
 * store's own, in milliseconds since the Unix epoch. Expected races are return values; only a broken world throws, as a
 * {@linkcode StorageError}. Whether a driver keeps all of this is shown by `storageCases` of `./testing`.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import type { Storage } from "@ostinato/scheduler/contract";
 * import { memory } from "@ostinato/scheduler/memory";
 *
 * // Any store, with a line for each call that changes something.
 * function traced(inner: Storage): Storage {
 *   return {
 *     name: inner.name,
 *     supports: { ...inner.supports, enlist: false },
 *     open: (context) => inner.open(context),
 *     close: () => inner.close(),
 *     now: (fallback) => inner.now(fallback),
 *     async advance(request, step) {
 *       const result = await inner.advance(request, step);
 *       console.log(`moved ${result.values.length}`);
 *       return result;
 *     },
 *     async apply(groups, now) {
 *       const results = await inner.apply(groups, now);
 *       console.log(`committed ${results.filter(({ committed }) => committed).length} of ${groups.length}`);
 *       return results;
 *     },
 *     get: (id) => inner.get(id),
 *     find: (query) => inner.find(query),
 *     nextWake: (lanes) => inner.nextWake(lanes),
 *     backlog: (before, limit) => inner.backlog(before, limit),
 *     subscribe: (listener) => inner.subscribe?.(listener) ?? (() => {}),
 *   };
 * }
 *
 * const beat = defineTask("beat", () => {});
 * await using scheduler = createScheduler({ storage: traced(memory()), tasks: [beat] });
 * await scheduler.every(beat, "1h"); // committed 1 of 1
 * ```
 */
export interface Storage {
  /** Short name for messages, such as `"sqlite"`. */
  readonly name: string;
  /** What it can do; the same from its making on. */
  readonly supports: StorageSupports;
  /** Opens and migrates, under a lock. Called once. Errors: `store_unavailable`, `store_too_new`. */
  open(context: StorageContext): Promise<void>;
  /** Waits for what is under way and closes what this driver opened itself. May be called twice. */
  close(): Promise<void>;
  /** The time that decides what is due; `fallback`, the caller's time, unless the store has a clock of its own. */
  now(fallback: number): Promise<number>;
  /**
   * Applies a pure step to documents whose `wakeAt` has come, each atomically: two callers never both win one document.
   * A rejected change leaves that document as it is. A driver that writes in pieces may tell what was said of each as soon
   * as it is durable, and the time that decided; it is not in the result then.
   */
  advance<T>(
    request: AdvanceRequest,
    step: (document: ScheduleDocument, now: number) => Change<T>,
    moved?: (values: readonly T[], now: number) => void,
  ): Promise<AdvanceResult<T>>;
  /** All or nothing for each group, in order; concurrent calls may share one commit. Resolves once it is durable. */
  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]>;
  /** The document of an id, retired ones too; one that is damaged says so in `parked`. */
  get(id: string): Promise<ScheduleDocument | undefined>;
  /** One page, in order of id (so of creation), stable while documents come and go. */
  find(query: DocumentQuery): Promise<readonly ScheduleDocument[]>;
  /** The earliest `wakeAt` in the lanes. */
  nextWake(lanes: readonly string[]): Promise<number | null>;
  /** What every lane holds that is due by an instant, counting to a limit. */
  backlog(before: number, limit: number): Promise<readonly LaneBacklog[]>;
  /** Calls back when another handle may have changed something; may be early, doubled or lost. */
  subscribe?(listener: () => void): () => void;
  /** The same writes inside a transaction of the application. Errors: `config_invalid` for one that does not fit. */
  enlist?(transaction: unknown): Enlisted;
}

/** A store that did not do what it was asked: gone, full, locked, refused. */
export class StorageError extends SchedulerError {
  /** Makes an error of code `store_unavailable`, retryable unless said otherwise. */
  constructor(message: string, options: SchedulerErrorOptions = {}) {
    super("store_unavailable", message, { retryable: true, ...options });
  }
}
