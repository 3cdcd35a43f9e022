import type { Principal } from "./definition.ts";
import type { Explanation } from "./explain.ts";
import type { RunInfo } from "./info.ts";
import type { NextRunsSpec, ScheduleRequest } from "./options.ts";
import type { ListFilter, Schedule, ScheduleList, StopOptions, SyncOptions } from "./schedule.ts";
import type { Instant } from "./time.ts";
import type { TaskInfo } from "./task_info.ts";
import type { TaskRef, TransactionClient } from "./transaction_client.ts";

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
   * The tasks of this instance that the client may use, in order of name, each with what is known of its input (P4). A
   * task with an `authorize` is asked without an input, `undefined`: where it refuses, or cannot tell, the task is left
   * out, and using it with an input may be allowed all the same. The system is told of all.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * const purge = defineTask("purge", { internal: true, run: () => {} });
   * await using scheduler = createScheduler({ tasks: [beat, purge] });
   * console.log(await scheduler.as({ id: "alice" }).tasks()); // [ { name: "beat" } ]
   * ```
   */
  tasks(): Promise<readonly TaskInfo[]>;
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
   * helps. At most 10,000 changes. A call that `work` does not wait for is waited for, and if it fails, so does the
   * transaction. After the end, and for a transaction inside, `tx` answers `conflict`.
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
   * rows commit or roll back together. Takes a Kysely transaction where the store is SQLite or PostgreSQL. The store must be
   * open before the transaction begins: `start`, or any call, opens it. Events are told at once, whether or not it commits.
   * The methods of the schedules that the calls answer belong to the transaction, too: once it is over, use this client
   * with their ids. Errors, at the calls: `config_invalid` for a store without such transactions and a transaction that
   * is not on the store's database; `store_unavailable` for a store that is not open and cannot be opened within 5 s,
   * since the transaction holds what that takes; `conflict` once the transaction is over; `invalid_option` for
   * `persist: false`.
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
