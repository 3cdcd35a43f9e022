import type { DecisionWhat, Fault, Principal, RunOutcome, ScheduleKind, StoredSpec } from "./document.ts";
import type { Explanation } from "./explain.ts";
import type { Json, JsonObject } from "./json.ts";
import type { AtOptions, CronOptions, EveryOptions, NextRunsSpec, ScheduleRequest, UpdateRequest } from "./options.ts";
import type { Task } from "./task.ts";
import type { Duration, Instant } from "./time.ts";

/** A task by definition or by name, with the type of its input. */
// deno-lint-ignore no-explicit-any
export type TaskRef<Input = unknown> = Task<Input, any> | string;

/** The arguments after the time: the input, which may be left out where the task takes none, and the options. */
export type InputAndOptions<Input, Options> = undefined extends Input ? [input?: Input, options?: Options]
  : [input: Input, options?: Options];

/** A run, finished or in progress, as `runs` and `running` tell it. */
export interface RunInfo {
  /** The run's id; not a schedule's. */
  readonly id: string;
  /** The schedule that it belongs to. */
  readonly scheduleId: string;
  /** The cadence point or deadline that it stands for. */
  readonly scheduledAt: Date;
  /** When its handler was started; while it is in progress, and for a lost one, when it was claimed. */
  readonly startedAt: Date;
  /** When it ended; absent while it is in progress. */
  readonly endedAt?: Date;
  /** 1 for the first run of a deadline, one more for each retry and each rerun of a lost one. */
  readonly attempt: number;
  /** How it ended, or `"running"`. */
  readonly outcome: RunOutcome | "running";
  /** The instance that runs it, or ran it. */
  readonly instance: string;
  /** What went wrong: the error's name and message, at most 300 characters. */
  readonly fault?: string;
}

/** One decision, for whoever asks why a schedule did not fire. */
export interface DecisionInfo {
  /** What was decided. */
  readonly what: DecisionWhat;
  /** When, the last time. */
  readonly at: Date;
  /** How many in a row. */
  readonly count: number;
  /** The point that it was about, the last one of several. */
  readonly point?: Date;
  /** A word more, such as a reason. */
  readonly detail?: string;
}

/** Everything about one schedule (V1). */
export interface ScheduleInfo {
  /** The schedule's id, a ULID. */
  readonly id: string;
  /** Its name, unique among its owner's live schedules. */
  readonly name: string | undefined;
  /** Once, at an interval, or by the calendar. */
  readonly kind: ScheduleKind;
  /** The name of the task that it runs. */
  readonly task: string;
  /** What it is about. */
  readonly target: string | undefined;
  /** The key that it was created under. */
  readonly key: string | undefined;
  /** The declared set that it belongs to. */
  readonly group: string | undefined;
  /** Words to list by. */
  readonly tags: readonly string[];
  /** The task's input, as it was given; a copy. */
  readonly input: Json | undefined;
  /** The value handed to each run; a copy. */
  readonly state: Json | undefined;
  /** The id of its owner. */
  readonly owner: string;
  /** The principal that its runs are made under. */
  readonly authority: Principal;
  /** Whom its runs act for. */
  readonly runAs: string;
  /** When it fires. */
  readonly spec: StoredSpec;
  /** When it was created. */
  readonly createdAt: Date;
  /**
   * The next deadline; `null` while it is paused, once it has retired, and while its last one runs. A retry is none.
   */
  readonly nextRun: Date | null;
  /** When its newest run started; `null` before the first. */
  readonly lastRun: Date | null;
  /** Runs started, retries and reruns included. */
  readonly runCount: number;
  /** Faults in all, losses included. */
  readonly faultCount: number;
  /** Faults in a row, each deadline with its retries counted once, and each loss; a success makes it 0. */
  readonly consecutiveFaults: number;
  /** The latest fault, with its time. */
  readonly lastFault: Fault | undefined;
  /** Points that catchup dropped or folded into another run. */
  readonly missedCount: number;
  /** Points that overlap dropped, and runs that it replaced. */
  readonly overlapCount: number;
  /** Milliseconds that the latest settled run took. */
  readonly lastDurationMs: number | undefined;
  /** Milliseconds that settled runs took on average, over the schedule's lifetime. */
  readonly meanDurationMs: number | undefined;
  /** Milliseconds that 99 of 100 settled runs did not exceed, within 5 %, over the schedule's lifetime (V2). */
  readonly p99DurationMs: number | undefined;
  /** Runs in progress, the oldest first. */
  readonly running: readonly RunInfo[];
  /** Whether the interval was raised to one tick (T5). */
  readonly intervalClamped: boolean;
  /** Whether its deadlines are held. */
  readonly paused: boolean;
  /** Whether it is over and only its record is left. */
  readonly retired: boolean;
  /** Why it retired (L4): such as `"completed"`, `"failed"`, `"max_faults"`, or what `ctx.retire` was given. */
  readonly retireReason: string | undefined;
  /** Why the stored document cannot be used, when it was damaged. */
  readonly parked: string | undefined;
  /** Whether a handler's `again(delay)` sets the next deadline. */
  readonly adaptive: boolean;
  /** Whether it is in the store, and not in this process only. */
  readonly persist: boolean;
  /** Milliseconds after which a run is aborted; none when absent. */
  readonly timeout: number | undefined;
  /** What happens to a run whose instance was lost. */
  readonly onLost: "rerun" | "fault";
  /** With the last of so many losses a deadline is given up (M3). */
  readonly maxLost: number;
  /** Milliseconds for which the record is kept after retirement. */
  readonly retention: number;
  /** Runs kept in the history. */
  readonly history: number;
  /** The zone of a cron schedule. */
  readonly timezone: string | undefined;
  /** No point lies before it. */
  readonly startAt: Date | undefined;
  /** No point lies after it. */
  readonly endAt: Date | undefined;
  /** Deadlines that fire in all; retries and triggered runs do not count. */
  readonly maxRuns: number | undefined;
  /** The options that policies own, each with the value in force. */
  readonly options: JsonObject;
  /** The option `catchup` in force. */
  readonly catchup: Json | undefined;
  /** The option `overlap` in force. */
  readonly overlap: Json | undefined;
  /** The option `jitter` in force; durations in milliseconds. */
  readonly jitter: Json | undefined;
  /** The option `retry` in force, if any; durations in milliseconds. */
  readonly retry: Json | undefined;
  /** The option `maxFaults` in force. */
  readonly maxFaults: Json | undefined;
  /** The latest decisions, the newest last. */
  readonly decisions: readonly DecisionInfo[];
}

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
  /** See {@linkcode ScheduleClient.stop}. */
  stop(options?: StopOptions): Promise<boolean>;
  /** See {@linkcode ScheduleClient.info}. */
  info(): Promise<ScheduleInfo>;
  /** See {@linkcode ScheduleClient.pause}. */
  pause(): Promise<boolean>;
  /** See {@linkcode ScheduleClient.resume}. */
  resume(): Promise<boolean>;
  /** See {@linkcode ScheduleClient.trigger}. */
  trigger(): Promise<boolean>;
  /** See {@linkcode ScheduleClient.update}. */
  update(request: UpdateRequest<Extra>): Promise<Schedule<Extra>>;
  /** See {@linkcode ScheduleClient.runs}. */
  runs(): Promise<readonly RunInfo[]>;
  /** See {@linkcode ScheduleClient.explain}. */
  explain(): Promise<Explanation>;
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
  /** Where a page before this one ended. */
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

/**
 * The calls that create and change schedules; the same alone, in a unit of work, and in the application's transaction.
 *
 * A creation checks everything and stores nothing when it refuses (I2); once it has resolved it is in the store, and
 * survives restarts if the store does (I3). Creating works on any instance, started or not, that has the task; the run
 * is made by any started one that has it. Every call opens the store if it is not open yet, and may fail with `closed`
 * and `store_unavailable`.
 *
 * Errors of creations: `unknown_task`; `invalid_input`, `input_too_large`, `state_too_large`; `unknown_option`,
 * `invalid_option`; `invalid_time`, `invalid_duration`, `invalid_cron`, `invalid_timezone`, `deadline_out_of_range`;
 * `permission_denied` for another's `owner` or `runAs`; `conflict` for a key in use with `onConflict: "error"`.
 */
export interface TransactionClient<Extra extends object = object> {
  /**
   * Runs a task once at an instant; a past one is due at once (T1). Overdue, because nothing ran, it still runs (C5).
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const greet = defineTask("greet", (input: { name: string }) => console.log(`hello ${input.name}`));
   * await using scheduler = createScheduler({ tasks: [greet] });
   * const once = await scheduler.at(greet, "2031-01-01T00:00:00+01:00", { name: "new year" });
   * console.log(once.nextRun?.toISOString()); // 2030-12-31T23:00:00.000Z
   * ```
   */
  at<Input>(
    task: TaskRef<Input>,
    when: Instant,
    ...rest: InputAndOptions<Input, AtOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /**
   * Runs a task once after a delay, counted from now by the store's clock. Under a `key` a further creation answers the
   * schedule that is there, as long as it is live (I5).
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const receipt = defineTask("receipt", (input: { order: string }) => console.log(input.order));
   * await using scheduler = createScheduler({ tasks: [receipt] });
   * const first = await scheduler.after(receipt, "10m", { order: "42" }, { key: "receipt:42" });
   * const again = await scheduler.after(receipt, "10m", { order: "42" }, { key: "receipt:42" });
   * console.log(first.id === again.id); // true
   * ```
   */
  after<Input>(
    task: TaskRef<Input>,
    delay: Duration,
    ...rest: InputAndOptions<Input, AtOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /**
   * Runs a task at a fixed interval: first one interval from now, or at `startAt`, and then in phase, however long runs
   * take (T2, T4). An interval below one tick (10 ms) is raised to it (T5). Give it a `name` where a program creates it
   * at each start: registering it again unchanged changes nothing, and makes no second one (N2, N5).
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const upkeep = defineTask("upkeep", () => {});
   * await using scheduler = createScheduler({ tasks: [upkeep] });
   * const options = { name: "upkeep", overlap: "queue", jitter: "5s" } as const;
   * const beat = await scheduler.every(upkeep, "1m", undefined, options);
   * console.log(beat.name, beat.kind); // upkeep every
   * ```
   */
  every<Input>(
    task: TaskRef<Input>,
    interval: Duration,
    ...rest: InputAndOptions<Input, EveryOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /**
   * Runs a task by the calendar, under a name. A name that the caller has already is updated and keeps its id and
   * counters, so it is safe at every start, on all instances at once: one schedule results (N1). Unchanged, it stays as
   * it is, and what was missed while down is caught up (N2). Five fields, or six with seconds first (K1), in `timezone`
   * (`"UTC"`); at changes of the clock `dst` decides (K4, K5).
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const prune = defineTask("prune", () => {});
   * await using scheduler = createScheduler({ tasks: [prune] });
   * const startAt = "2030-06-01T00:00:00Z";
   * const night = await scheduler.cron("prune", "0 2 * * *", prune, undefined, { timezone: "Europe/Berlin", startAt });
   * console.log(night.nextRun?.toISOString()); // 2030-06-01T00:00:00.000Z: 02:00 in Berlin
   * ```
   */
  cron<Input>(
    name: string,
    expression: string,
    task: TaskRef<Input>,
    ...rest: InputAndOptions<Input, CronOptions<Extra>>
  ): Promise<Schedule<Extra>>;
  /**
   * Creates many, at most 10,000, all or nothing and in one commit; answers in order. An error names the place, such as
   * `createMany[3].input`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const send = defineTask("send", (input: { to: string }) => console.log(input.to));
   * await using scheduler = createScheduler({ tasks: [send] });
   * const schedules = await scheduler.createMany([
   *   { task: send, input: { to: "ann" }, after: "1h" },
   *   { task: "send", input: { to: "bob" }, cron: "0 9 * * mon", name: "weekly" },
   * ]);
   * console.log(schedules.length); // 2
   * ```
   */
  createMany(requests: readonly ScheduleRequest<Extra>[]): Promise<readonly Schedule<Extra>[]>;
  /**
   * Whether the id names a live schedule, of any owner: one that has not retired and was not stopped. A paused one is
   * live.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * const { id } = await scheduler.every(beat, "1m");
   * console.log(await scheduler.valid(id), await scheduler.valid("no such id")); // true false
   * ```
   */
  valid(id: string): Promise<boolean>;
  /**
   * Ends a live schedule and removes it: true if it did, false for anything already over, never an error (L1). A run in
   * progress goes on, and neither its result nor its `ctx.schedules` counts; `abortRunning` aborts it. A one-shot whose
   * run has started is past stopping, so false, but no retry, rerun or `again` follows it (L2). The record of a retired
   * one is removed: false (L3). Errors: `permission_denied` for somebody else's live schedule.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * const { id } = await scheduler.every(beat, "1m");
   * console.log(await scheduler.stop(id), await scheduler.stop(id)); // true false
   * ```
   */
  stop(id: string, options?: StopOptions): Promise<boolean>;
  /**
   * Changes a live schedule, keeping id and counters (L5): when it fires, its input, and options; what is not given
   * stays. A changed time is armed anew from now, an equal one stays in phase. `task`, `name`, `key`, `owner` and
   * `persist` cannot change. Errors: `not_found`, `permission_denied`; `conflict` for a retired one; as creation.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * const { id } = await scheduler.every(beat, "1m");
   * const changed = await scheduler.update(id, { every: "2m", jitter: "5s" });
   * console.log(changed.id === id); // true
   * ```
   */
  update(id: string, request: UpdateRequest<Extra>): Promise<Schedule<Extra>>;
  /**
   * Holds deadlines; true unless it was paused or is over. Points that pass while it is paused are neither run nor
   * missed; what was due before, a retry too, waits for `resume` (L5). Runs in progress go on, and `trigger` works. It
   * stays paused across restarts. Errors: `permission_denied`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * const { id, nextRun } = await scheduler.every(beat, "1m");
   * await scheduler.pause(id);
   * console.log((await scheduler.info(id)).nextRun); // null
   * await scheduler.resume(id);
   * console.log((await scheduler.info(id)).nextRun?.getTime() === nextRun?.getTime()); // true
   * ```
   */
  pause(id: string): Promise<boolean>;
  /**
   * Goes on after `pause`, in phase with the cadence; a one-shot that came due meanwhile runs at once (L5). False if it
   * was not paused or is over. Errors: `permission_denied`.
   */
  resume(id: string): Promise<boolean>;
  /**
   * Asks for one run now, beside the cadence and also while paused (L5). It is made as soon as a started instance that
   * has the task has room; during a run the overlap policy decides. False if that dropped it, if 100 starts wait
   * already, or if it is over. Errors: `permission_denied`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   * import { manualClock } from "@ostinato/scheduler/testing";
   *
   * const clock = manualClock("2030-01-01T00:00:00Z");
   * const beat = defineTask("beat", (_input, ctx) => console.log(ctx.scheduledAt.toISOString()));
   * await using scheduler = createScheduler({ clock, tasks: [beat] });
   * await scheduler.start();
   * const { id } = await scheduler.every(beat, "1h");
   * console.log(await scheduler.trigger(id)); // true
   * await clock.settled(); // prints 2030-01-01T00:00:00.000Z
   * ```
   */
  trigger(id: string): Promise<boolean>;
  /**
   * Everything about one schedule (V1), for its owner or an admin; also for 60 s (`retention`) after it has retired
   * (L3). Errors: `not_found`, `permission_denied`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   * import { manualClock } from "@ostinato/scheduler/testing";
   *
   * const clock = manualClock("2030-01-01T00:00:00Z");
   * const fetchRates = defineTask("fetch-rates", () => {
   *   throw new Error("no network");
   * });
   * await using scheduler = createScheduler({ clock, tasks: [fetchRates], logger: { ...console, error() {} } });
   * await scheduler.start();
   * const { id } = await scheduler.every(fetchRates, "1m");
   * await clock.advance("2m");
   * const { faultCount, lastFault, nextRun } = await scheduler.info(id);
   * console.log(faultCount, lastFault?.message, nextRun?.toISOString()); // 2 no network 2030-01-01T00:03:00.000Z
   * ```
   */
  info(id: string): Promise<ScheduleInfo>;
}

/**
 * What a caller can do, limited to what its principal may (P): a scheduler's own calls are the system's, and
 * `scheduler.as(principal)` gives those of anybody else. Every change takes effect at once, in a commit of its own.
 */
export interface ScheduleClient<Extra extends object = object> extends TransactionClient<Extra> {
  /** Whom this client acts for. */
  readonly principal: Principal;
  /**
   * Registers a declared set, each member by its name as `cron` does, and stops the live members of its group that are
   * no longer declared, in one commit (N4). Safe at every start and on all instances at once; an empty set stops the
   * whole group. At most 10,000 changes. Members are looked for among the caller's own schedules and those of owners in
   * the set. Errors: as creation, naming the place, such as `sync[2].cron`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const tidy = defineTask("tidy", () => {});
   * const report = defineTask("report", () => {});
   * await using scheduler = createScheduler({ tasks: [tidy, report] });
   * const group = "from-config";
   * const hourly = { name: "tidy", task: tidy, every: "1h" };
   * await scheduler.sync([hourly, { name: "report", task: report, cron: "@daily" }], { group });
   * await scheduler.sync([hourly], { group });
   * const { schedules } = await scheduler.list({ group }).page();
   * console.log(schedules.map(({ name }) => name)); // [ "tidy" ]
   * ```
   */
  sync(
    requests: readonly (ScheduleRequest<Extra> & { readonly name: string })[],
    options: SyncOptions,
  ): Promise<readonly Schedule<Extra>[]>;
  /**
   * The runs in progress and then those that are over, each the newest first; of the latter as many as the option
   * `history` keeps, 20 by default (V4). Errors: `not_found`, `permission_denied`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   * import { manualClock } from "@ostinato/scheduler/testing";
   *
   * const clock = manualClock("2030-01-01T00:00:00Z");
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ clock, tasks: [beat] });
   * await scheduler.start();
   * const { id } = await scheduler.every(beat, "1h");
   * await clock.advance("2h");
   * for (const run of await scheduler.runs(id)) console.log(run.scheduledAt.toISOString(), run.outcome);
   * // 2030-01-01T02:00:00.000Z succeeded
   * // 2030-01-01T01:00:00.000Z succeeded
   * ```
   */
  runs(id: string): Promise<readonly RunInfo[]>;
  /**
   * Why a schedule fires or does not: its latest decisions (ran, late, missed, overlapped, paused, lost, …), what it
   * waits for now and until when, as data and in words. Whether this instance could run it is part of the answer; for
   * the others it cannot speak. Errors: `not_found`, `permission_denied`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   * import { manualClock } from "@ostinato/scheduler/testing";
   *
   * const clock = manualClock("2030-01-01T00:00:00Z");
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ clock, tasks: [beat] });
   * const { id } = await scheduler.every(beat, "1h");
   * await clock.advance("90m");
   * const { waits, text } = await scheduler.explain(id);
   * for (const wait of waits) if (wait.for === "instance") console.log(wait.since.toISOString(), wait.here);
   * // 2030-01-01T01:00:00.000Z stopped: start() was never called
   * console.log(text.includes("waits for a started instance")); // true
   * ```
   */
  explain(id: string): Promise<Explanation>;
  /**
   * Runs in progress, on all instances that share the store: an admin sees all, others those of their own schedules
   * (V4). One whose instance has died counts until its lease is over (M3).
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   * import { manualClock } from "@ostinato/scheduler/testing";
   *
   * const clock = manualClock();
   * const crawl = defineTask("crawl", () => clock.sleep("1h"));
   * await using scheduler = createScheduler({ clock, tasks: [crawl] });
   * await scheduler.start();
   * await scheduler.after(crawl, 0);
   * await clock.settled();
   * console.log((await scheduler.running()).length); // 1
   * ```
   */
  running(): Promise<readonly RunInfo[]>;
  /**
   * Aborts a run through its signal, on whichever instance it executes; a fault, and no retry follows it (L6). An
   * instance other than this one learns of it when its lease is renewed at the latest. False if the run is over or
   * there is none of that id. Errors: `permission_denied` for a run of somebody else's live schedule.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   * import { manualClock } from "@ostinato/scheduler/testing";
   *
   * const clock = manualClock();
   * const crawl = defineTask("crawl", (_input, ctx) => clock.sleep("1h", { signal: ctx.signal }));
   * await using scheduler = createScheduler({ clock, tasks: [crawl], logger: { ...console, error() {} } });
   * await scheduler.start();
   * const { id } = await scheduler.every(crawl, "1d", undefined, { startAt: 0 });
   * await clock.settled();
   * const [run] = await scheduler.running();
   * console.log(await scheduler.abortRun(run!.id)); // true
   * await clock.settled();
   * console.log((await scheduler.runs(id))[0]?.outcome); // aborted
   * ```
   */
  abortRun(runId: string): Promise<boolean>;
  /**
   * Live schedules, in order of creation: an admin sees all, others their own (P2). Iterate over all, or ask for one
   * page; pages stay stable while schedules come and go (V3). Errors, when the first page is asked for:
   * `unknown_option`, `invalid_option`, `invalid_time`; `permission_denied` for another's `owner`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * await scheduler.every(beat, "1m", undefined, { target: "room:7", tags: ["rooms"] });
   * await scheduler.every(beat, "1m", undefined, { target: "room:8", tags: ["rooms"] });
   * for await (const schedule of scheduler.list({ tag: "rooms" })) console.log(schedule.task); // beat, twice
   * const { schedules, cursor } = await scheduler.list({ limit: 1 }).page();
   * const next = await scheduler.list({ limit: 1, cursor: cursor! }).page();
   * console.log(schedules.length, next.schedules.length, next.cursor); // 1 1 undefined
   * ```
   */
  list(filter?: ListFilter): ScheduleList<Extra>;
  /**
   * Live schedules about a target, of any owner; open to anyone (I6). What the caller may do with them is asked by each
   * call. Errors: `invalid_option`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * await scheduler.every(beat, "1m", undefined, { target: "room:7" });
   * const found = await scheduler.as({ id: "alice" }).listFor("room:7");
   * console.log(found.length); // 1
   * await found[0]?.stop().catch((error) => console.log(error.code)); // permission_denied
   * ```
   */
  listFor(target: string): Promise<readonly Schedule<Extra>[]>;
  /**
   * Stops the live schedules about a target that the caller may stop, each by itself as `stop` does; answers how many
   * (I6). Errors: `invalid_option`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * await scheduler.every(beat, "1m", undefined, { target: "room:7" });
   * await scheduler.after(beat, "1h", undefined, { target: "room:7" });
   * console.log(await scheduler.stopFor("room:7")); // 2
   * ```
   */
  stopFor(target: string, options?: StopOptions): Promise<number>;
  /**
   * The next deadlines that a schedule made at `from` (now) would have, without jitter, at most 10,000; fewer where
   * `endAt`, `maxRuns` or the year 9999 end it (K6). Nothing is stored, and no store is asked. Throws as creation
   * would.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * await using scheduler = createScheduler();
   * const spec = { cron: "30 2 * * *", timezone: "America/New_York" };
   * const runs = scheduler.nextRuns(spec, 2, { from: "2030-03-09T12:00:00Z" });
   * console.log(runs.map((run) => run.toISOString())); // [ "2030-03-10T07:00:00.000Z", "2030-03-11T06:30:00.000Z" ]
   * ```
   */
  nextRuns(spec: NextRunsSpec, count: number, options?: { readonly from?: Instant }): Date[];
  /**
   * Buffers changes; all take effect in one commit when the function resolves, none if it throws (U1). Inside, `tx`
   * sees what it did, and ids are usable at once (U2). Nothing is locked meanwhile: changes are decided again at the
   * commit, and one that no longer fits refuses all of them, with `conflict` and `retryable` where doing the work again
   * helps. At most 10,000 changes. After the end, and for a transaction inside, `tx` answers `conflict`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const step = defineTask("step", () => {});
   * await using scheduler = createScheduler({ tasks: [step] });
   * const old = await scheduler.after(step, "1h");
   * const made = await scheduler.transaction(async (tx) => {
   *   await tx.stop(old.id);
   *   return await tx.after(step, "2h");
   * });
   * console.log(await scheduler.valid(old.id), await scheduler.valid(made.id)); // false true
   * ```
   */
  transaction<Result>(work: (tx: TransactionClient<Extra>) => Promise<Result> | Result): Promise<Result>;
  /**
   * The same calls inside a transaction of the application on the same database (U4): schedules and the application's
   * rows commit or roll back together. Takes a Kysely transaction where the store is SQLite. The store must be open
   * before the transaction begins: `start`, or any call, opens it. Events are told at once, whether or not it commits.
   * The methods of the schedules that the calls answer belong to the transaction, too: once it is over, use this client
   * with their ids. Errors, at the calls: `config_invalid` for a store without such transactions and a transaction that
   * is not on the store's database; `invalid_option` for `persist: false`.
   *
   * @example
   * ```ts
   * import Database from "better-sqlite3";
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   * import { sqlite } from "@ostinato/scheduler/sqlite";
   * import { Kysely, SqliteDialect } from "kysely";
   *
   * const database = new Database(":memory:");
   * const db = new Kysely<{ orders: { id: string } }>({ dialect: new SqliteDialect({ database }) });
   * await db.schema.createTable("orders").addColumn("id", "text").execute();
   *
   * const receipt = defineTask("receipt", (input: { order: string }) => console.log(input.order));
   * await using scheduler = createScheduler({ storage: sqlite({ database }), tasks: [receipt] });
   * await scheduler.start();
   * const { id } = await db.transaction().execute(async (trx) => {
   *   await trx.insertInto("orders").values({ id: "42" }).execute();
   *   return await scheduler.within(trx).after(receipt, "10m", { order: "42" });
   * });
   * console.log(await scheduler.valid(id)); // true
   * ```
   */
  within(transaction: unknown): TransactionClient<Extra>;
  /**
   * Runs a task now, on this instance, with this client as the caller (S6); answers what its handler returns, and
   * throws what it throws. No schedule stands behind it: nothing is stored, retried, counted against `concurrency` or
   * told as an event. The task's `timeout` applies; what the handler changes through `ctx.schedules` commits when it
   * succeeds. Errors: `unknown_task`, also where `authorize` refuses; `invalid_input`, `input_too_large`; `closed` when
   * a close cuts it off.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const total = defineTask("total", (input: { prices: number[] }, ctx) => {
   *   const sum = input.prices.reduce((a, b) => a + b, 0);
   *   return `${sum} for ${ctx.requireCaller().id}`;
   * });
   * await using scheduler = createScheduler({ tasks: [total] });
   * console.log(await scheduler.as({ id: "alice" }).invoke(total, { prices: [1, 2] })); // 3 for alice
   * ```
   */
  invoke<Input>(
    task: TaskRef<Input>,
    ...rest: undefined extends Input ? [input?: Input] : [input: Input]
  ): Promise<unknown>;
}
