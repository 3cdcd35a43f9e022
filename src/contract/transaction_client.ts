import type { ScheduleInfo } from "./info.ts";
import type { AtOptions, CronOptions, EveryOptions, ScheduleRequest, UpdateRequest } from "./options.ts";
import type { ChangeOptions, Schedule, StopOptions } from "./schedule.ts";
import type { Task } from "./task.ts";
import type { Duration, Instant } from "./time.ts";

/** A task by definition or by name, with the type of its input. */
// deno-lint-ignore no-explicit-any
export type TaskRef<Input = unknown> = Task<Input, any> | string;

/** The arguments after the time: the input, which may be left out where the task takes none, and the options. */
export type InputAndOptions<Input, Options> = undefined extends Input ? [input?: Input, options?: Options]
  : [input: Input, options?: Options];

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
   * Errors: those of creations, which {@linkcode TransactionClient} lists.
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
   * Errors: those of creations, which {@linkcode TransactionClient} lists.
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
   * Errors: those of creations, which {@linkcode TransactionClient} lists.
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
   * Errors: those of creations, which {@linkcode TransactionClient} lists.
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
   * `createMany[3].input`. Each name and each key may stand once in it: `invalid_option` otherwise.
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
  stop(id: string, options?: StopOptions & ChangeOptions): Promise<boolean>;
  /**
   * Changes a live schedule, keeping id and counters (L5): when it fires, its input, and options; what is not given
   * stays. A changed time is armed anew from now, an equal one stays in phase. What the old time still owed does not run,
   * and is counted; a run in progress goes on, but sets no time any more with `again`, and of a one-shot is not tried
   * again. `task`, `name`, `key`, `owner` and
   * `persist` cannot change. With `ifRevision` it happens only if nobody has changed the schedule since its info told that
   * revision. What a run changes of its own schedule besides the time, such as its `state`, comes to nothing where that run
   * is the last. Errors: `not_found`, `permission_denied`; `conflict` for a retired one, or another revision; as creation.
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
  update(id: string, request: UpdateRequest<Extra>, options?: ChangeOptions): Promise<Schedule<Extra>>;
  /**
   * Holds deadlines; true unless it was paused or is over. Points that pass while it is paused are neither run nor
   * missed; what was due before, a retry too, waits for `resume` (L5). Runs in progress go on, and `trigger` works. It
   * stays paused across restarts, but not past its `endAt`: then it has ended (T9). Errors: `permission_denied`.
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
  pause(id: string, options?: ChangeOptions): Promise<boolean>;
  /**
   * Goes on after `pause`, in phase with the cadence; a one-shot that came due meanwhile runs at once (L5). False if it
   * was not paused or is over. Errors: `permission_denied`.
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
   * await scheduler.pause(id);
   * await clock.advance("150m"); // two points pass, and neither runs nor counts as missed
   * console.log(await scheduler.resume(id)); // true
   * await clock.advance("30m"); // prints 2030-01-01T03:00:00.000Z
   * ```
   */
  resume(id: string, options?: ChangeOptions): Promise<boolean>;
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
  trigger(id: string, options?: ChangeOptions): Promise<boolean>;
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
