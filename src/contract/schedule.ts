import type { ScheduleKind } from "./definition.ts";
import type { Explanation } from "./explain.ts";
import type { RunInfo, ScheduleInfo } from "./info.ts";
import type { UpdateRequest } from "./options.ts";
import type { Instant } from "./time.ts";

/** A schedule as creations and lists answer it: a snapshot with the calls that concern it. */
export interface Schedule<Extra extends object = object> {
  /** The schedule's id, a ULID. */
  readonly id: string;
  /** Its name, if it has one. */
  readonly name: string | undefined;
  /** Once, at an interval, or by the calendar. */
  readonly kind: ScheduleKind;
  /** The name of the task that it runs. */
  readonly task: string;
  /** The next deadline when this was answered, and after a unit of work as it was committed; `null` as in `info`. */
  readonly nextRun: Date | null;
  /**
   * Ends it and removes it: true if it was live, false if it is over already. Errors: `permission_denied`. See
   * {@linkcode TransactionClient.stop}.
   */
  stop(options?: StopOptions & ChangeOptions): Promise<boolean>;
  /**
   * Everything about it as it is now, counters and options in force included. Errors: `not_found`, `permission_denied`. See
   * {@linkcode TransactionClient.info}.
   */
  info(): Promise<ScheduleInfo>;
  /**
   * Holds its deadlines until `resume`, across restarts too; false if it was paused or is over. See
   * {@linkcode TransactionClient.pause}.
   */
  pause(options?: ChangeOptions): Promise<boolean>;
  /** Goes on in phase; false if it was not paused or is over. See {@linkcode TransactionClient.resume}. */
  resume(options?: ChangeOptions): Promise<boolean>;
  /**
   * Asks for one run now, beside the cadence; false if overlap dropped it or it is over. See
   * {@linkcode TransactionClient.trigger}.
   */
  trigger(options?: ChangeOptions): Promise<boolean>;
  /**
   * Changes when it fires, its input and its options, keeping id and counters; answers it as it is then. Errors:
   * `not_found`, `permission_denied`, `conflict`, and as creation. See {@linkcode TransactionClient.update}.
   */
  update(request: UpdateRequest<Extra>, options?: ChangeOptions): Promise<Schedule<Extra>>;
  /**
   * Its runs in progress, then those that are over, the newest first (20 by default). See {@linkcode ScheduleClient.runs}.
   */
  runs(): Promise<readonly RunInfo[]>;
  /** Why it fires or does not, as data and in words. See {@linkcode ScheduleClient.explain}. */
  explain(): Promise<Explanation>;
}

/** What a change of one schedule takes. */
export interface ChangeOptions {
  /**
   * The `revision` that the schedule's info told: if the definition was changed since, or it was paused or resumed, on
   * whichever instance, nothing happens and the call throws `conflict`, with the revision that it has now in `details`.
   * Default: whatever it is.
   */
  readonly ifRevision?: string;
}

/** What `stop` takes. */
export interface StopOptions {
  /** Abort runs in progress through their signal, on whichever instance. Default `false`: they go on. */
  readonly abortRunning?: boolean;
}

/** What `list` takes; all given conditions must hold. */
export interface ListFilter {
  /** The owner's id. Another than one's own: an admin only. */
  readonly owner?: string;
  /** What the schedule is about. */
  readonly target?: string;
  /** The task's name. */
  readonly task?: string;
  /** The schedule's name. */
  readonly name?: string;
  /** The declared set. */
  readonly group?: string;
  /** One of its tags. */
  readonly tag?: string;
  /** The next deadline, or a retry before that, lies before this instant. */
  readonly dueBefore?: Instant;
  /** Schedules of a page, at most 1,000; iterating goes on over all pages. Default 100. */
  readonly limit?: number;
  /** Where a page before this one ended: what came with it. Anything else: `invalid_option`. */
  readonly cursor?: string;
}

/** One page of a list. */
export interface Page<Extra extends object = object> {
  /** The page's schedules, in order of id. */
  readonly schedules: readonly Schedule<Extra>[];
  /** Give it to the next call; absent on the last page. */
  readonly cursor?: string;
}

/** A list: iterate over all of it, or ask for one page. */
export interface ScheduleList<Extra extends object = object> extends AsyncIterable<Schedule<Extra>> {
  /** One page, from the filter's cursor. */
  page(): Promise<Page<Extra>>;
}

/** What `sync` takes besides the declared set. */
export interface SyncOptions {
  /** The set's name; it becomes the `group` of each member. */
  readonly group: string;
}
