/// <reference lib="esnext.disposable" preserve="true" />
import { standardPolicies } from "../plugins/policies/mod.ts";
import { checkPrincipal, Client, createApi, createClient, SYSTEM_PRINCIPAL } from "./client/mod.ts";
import {
  type AnyPlugin,
  type Backlog,
  DEFAULT_BACKLOG_COUNT,
  type Duration,
  EVENT_NAMES,
  invalidOption,
  isPlainObject,
  MAX_BACKLOG_COUNT,
  parseDuration,
  plainOptions,
  type PluginOptions,
  type Principal,
  type ScheduleClient,
  type SchedulerApi,
  type SchedulerEventName,
  type SchedulerListener,
  type SchedulerObserver,
  unknownOption,
  wholeNumber,
} from "./contract/mod.ts";
import { checkConfig, type SchedulerConfig } from "./scheduler/config.ts";
import { type Chance, Host } from "./scheduler/host.ts";

/** What `close` takes. */
export interface CloseOptions {
  /** How long running handlers may take to end by themselves, before their signals abort. Default 30 s. */
  readonly drain?: Duration;
}

/** What `tick` takes. */
export interface TickOptions {
  /** How long it may go on taking up runs and waiting for them. Default 30 s. */
  readonly budget?: Duration;
}

/** What `backlog` takes. */
export interface BacklogOptions {
  /** How many due schedules are counted of each task, from 1 to 100,000. Default 1,000. */
  readonly limit?: number;
}

/**
 * A scheduler: the calls of the system principal, and its own life. `Extra` are the options that its plugins add. It is
 * one instance; any number of them, in other processes too, may share a store that supports it (M1).
 */
export interface Scheduler<Extra extends object = object> extends ScheduleClient<Extra>, AsyncDisposable {
  /** The same calls in plain JSON, for transports: each with the principal that makes it. */
  readonly api: SchedulerApi<Extra>;
  /**
   * Opens the store and begins to run what is due, what was missed while nothing ran included (C). Without it the
   * scheduler only creates and inspects. Started twice is once; after an error it may be tried again. Until `close` it
   * keeps the process alive, unless `unref: true` (X3). Errors: `closed`, `store_unavailable`, `store_too_new`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => console.log("beat"));
   * await using scheduler = createScheduler({ tasks: [beat] });
   * const done = new Promise((resolve) => scheduler.on("succeeded", resolve));
   * await scheduler.after(beat, 0); // stored, and waits for an instance that is started
   * await scheduler.start();
   * await done; // prints beat
   * ```
   */
  start(): Promise<void>;
  /**
   * Runs what is due now, waits for it and for what comes of it at once, writes it down, and answers when something is due
   * next (`undefined`: never): for processes that are not always up, which something else wakes by then. It needs no
   * `start`. Once `budget` is over it takes up nothing more and answers; runs that are still going on are not aborted, and
   * if the process ends before they do, their leases run out (M3). Two calls at once are one. Errors: `closed`,
   * `store_unavailable`, `store_too_new`, `invalid_duration`, `unknown_option`, `invalid_option`; `conflict` when a run
   * of this instance calls it, which it would wait for.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => console.log("beat"));
   * await using scheduler = createScheduler({ tasks: [beat] });
   * await scheduler.after(beat, 0);
   * const next = await scheduler.tick({ budget: "20s" }); // beat
   * console.log(next instanceof Date); // true: a minute later its record is removed
   * ```
   */
  tick(options?: TickOptions): Promise<Date | undefined>;
  /**
   * Ends this instance: claims nothing more, waits for running handlers up to `drain`, aborts them, waits 5 s more,
   * gives what is left back to other instances, and closes what it opened (X1). Stored schedules stay. A second call
   * waits for the first. Called by a handler of this instance, which it would wait for, it begins to close and resolves
   * at once. Calls of its clients answer `closed` from then on, except those of handlers that drain, through
   * `ctx.schedules` (X2). Errors: `invalid_duration`, `unknown_option`, `invalid_option`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * const scheduler = createScheduler({ tasks: [beat] });
   * await scheduler.start();
   * await scheduler.every(beat, "1m");
   * await scheduler.close({ drain: "10s" }); // or: await using scheduler = …
   * await scheduler.every(beat, "1m").catch((error) => console.log(error.code)); // closed
   * ```
   */
  close(options?: CloseOptions): Promise<void>;
  /**
   * The same calls, limited to what the principal may do (P): its own schedules, and the tasks that it may use. Who the
   * principal is, is for the application to know. Errors: `invalid_option`, also for the reserved id `"system"`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * const { id } = await scheduler.as({ id: "alice" }).every(beat, "1m");
   * await scheduler.as({ id: "bob" }).stop(id).catch((error) => console.log(error.code)); // permission_denied
   * console.log(await scheduler.as({ id: "carol", admin: true }).stop(id)); // true
   * ```
   */
  as(principal: Principal): ScheduleClient<Extra>;
  /**
   * Listens to an event on this instance (V5); answers a function that ends it. What a listener throws is logged and
   * harms nothing. Errors: `invalid_option`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] });
   * const end = scheduler.on("created", ({ schedule }) => console.log(schedule.task, schedule.kind));
   * await scheduler.every(beat, "1m"); // prints beat every
   * end();
   * ```
   */
  on<Name extends SchedulerEventName>(name: Name, listener: SchedulerListener<Name>): () => void;
  /**
   * Is told of every event on this instance, after those who listen to it; answers a function that ends it. For metrics,
   * streams and logs: unlike a listener, it does not keep a fault that nobody listens to from being logged. Errors:
   * `invalid_option`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * const scheduler = createScheduler({ tasks: [beat] });
   * scheduler.observe(({ name }) => console.log(name));
   * const { id } = await scheduler.every(beat, "1m"); // created
   * await scheduler.stop(id); // stopped
   * await scheduler.close(); // closed
   * ```
   */
  observe(observer: SchedulerObserver): () => void;
  /**
   * What is due and waits in the store, by task, whichever instance is to take it; also shows that the store answers.
   * It costs a look into an index for each task, and as many entries as it counts. Retired records, and what is paused or
   * parked, wait for nobody and are left out. Errors: `closed`, `store_unavailable`, `store_too_new`, `unknown_option`,
   * `invalid_option`.
   *
   * @example
   * ```ts
   * import { createScheduler, defineTask } from "@ostinato/scheduler";
   *
   * const beat = defineTask("beat", () => {});
   * await using scheduler = createScheduler({ tasks: [beat] }); // not started: nothing is taken
   * await scheduler.at(beat, "2026-01-01T00:00:00Z");
   * const { tasks } = await scheduler.backlog();
   * console.log(tasks[0]?.task, tasks[0]?.due, tasks[0]?.oldest?.toISOString()); // beat 1 2026-01-01T00:00:00.000Z
   * ```
   */
  backlog(options?: BacklogOptions): Promise<Backlog>;
}

/**
 * Makes a scheduler from a store, tasks and plugins. It opens nothing and starts nothing by itself: the first call
 * opens the store, {@linkcode Scheduler.start} begins to run. Without `storage` schedules live in this process's memory
 * and are gone with it.
 *
 * @param config Everything is optional; see {@linkcode SchedulerConfig}.
 * @throws {SchedulerError} `config_invalid`, with every problem of the configuration at once.
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 *
 * const hello = defineTask("hello", (input: { name: string }) => console.log(`hello ${input.name}`));
 * await using scheduler = createScheduler({ tasks: [hello], defaults: { timezone: "Europe/Berlin" } });
 * const done = new Promise((resolve) => scheduler.on("succeeded", resolve));
 * await scheduler.start();
 * await scheduler.after(hello, "50ms", { name: "world" });
 * await done; // prints hello world
 * ```
 */
export function createScheduler<const Plugins extends readonly AnyPlugin[] = readonly []>(
  config: SchedulerConfig<Plugins, PluginOptions<Plugins>> = {},
): Scheduler<PluginOptions<Plugins>> {
  return composeScheduler(config as SchedulerConfig) as unknown as Scheduler<PluginOptions<Plugins>>;
}

/**
 * What {@linkcode createScheduler} does, with everything else that would differ from one time to the next.
 *
 * @param chance Randomness and ids. Default: the machine's.
 */
export function composeScheduler(config: SchedulerConfig, chance?: Chance): Scheduler {
  const checked = checkConfig(config, standardPolicies());
  const host = new Host(checked, chance);
  for (const { listeners } of checked.plugins) {
    for (const [name, listener] of Object.entries(listeners ?? {})) {
      host.emitter.on(name as SchedulerEventName, listener as SchedulerListener<SchedulerEventName>);
    }
  }
  return new SystemScheduler(host);
}

class SystemScheduler extends Client implements Scheduler {
  readonly api: SchedulerApi;
  readonly #host: Host;

  constructor(host: Host) {
    super(host, SYSTEM_PRINCIPAL);
    this.#host = host;
    this.api = createApi(host);
  }

  start(): Promise<void> {
    return this.#host.start();
  }

  async tick(options: TickOptions = {}): Promise<Date | undefined> {
    const wake = await this.#host.tick(readDuration("tick", "budget", options));
    return wake === null ? undefined : new Date(wake);
  }

  async close(options: CloseOptions = {}): Promise<void> {
    await this.#host.close(readDuration("close", "drain", options));
  }

  as(principal: Principal): ScheduleClient {
    return createClient(this.#host, checkPrincipal(principal));
  }

  on<Name extends SchedulerEventName>(name: Name, listener: SchedulerListener<Name>): () => void {
    if (!EVENT_NAMES.includes(name)) throw invalidOption("on", name, `one of ${EVENT_NAMES.join(", ")}`);
    if (typeof listener !== "function") throw invalidOption("on", listener, "a function");
    return this.#host.emitter.on(name, listener);
  }

  observe(observer: SchedulerObserver): () => void {
    if (typeof observer !== "function") throw invalidOption("observe", observer, "a function");
    return this.#host.emitter.observe(observer);
  }

  async backlog(options: BacklogOptions = {}): Promise<Backlog> {
    const { limit = DEFAULT_BACKLOG_COUNT } = plainOptions(options, ["limit"], "backlog");
    return await this.#host.backlog(wholeNumber(limit, 1, MAX_BACKLOG_COUNT, "backlog.limit"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Reads the one option, a duration, of a call. */
function readDuration<Key extends string>(call: string, key: Key, options: { readonly [K in Key]?: Duration }): number {
  if (!isPlainObject(options as unknown)) throw invalidOption(call, options, `an object with ${key}`);
  for (const given of Object.keys(options)) if (given !== key) throw unknownOption(given, [key], `${call}.`);
  return parseDuration(options[key] ?? "30s", key);
}
