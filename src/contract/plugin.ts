import type { SchedulerEventName, SchedulerListener } from "./events.ts";
import type { OptionParser, Policy } from "./policy.ts";
import type { StorageAbility } from "./storage.ts";
import type { RunContext } from "./task.ts";
import type { TaskSource } from "./task_source.ts";

/** The number of the plugin contract that this version speaks. */
export const CONTRACT = 1;

/** What a run's middleware sees besides the context. */
export interface WrappedRun {
  /** The task's name. */
  readonly task: string;
  /** What the handler gets: what the task's schema made of the input. */
  readonly input: unknown;
  /** The context that the handler gets. */
  readonly context: RunContext;
}

/**
 * Runs around each handler, invoked ones too, in the order of the plugins, the first outermost: awaits `next()` for the
 * handler's outcome, and may throw, or answer something else.
 */
export type RunMiddleware = (run: WrappedRun, next: () => Promise<unknown>) => Promise<unknown>;

/** Listeners by event. */
export type SchedulerListeners = { readonly [Name in SchedulerEventName]?: SchedulerListener<Name> };

/**
 * What extends a scheduler: an option key with its parser, pure policies, listeners, run middleware. `Options` are the
 * keys that it adds to the options of `at`, `every`, `cron`, …. A store is a {@linkcode Storage}, and a transport is
 * whatever makes the calls of `Scheduler.api`; neither needs to be one of these.
 *
 * Plugins are asked before the standard policies. Every instance that shares a store needs those whose options are in
 * use: a schedule with an option that nobody here owns waits for an instance that does, and `unknownPolicy` tells so.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { CONTRACT, invalidOption, type Plugin } from "@ostinato/scheduler/contract";
 *
 * // Adds the option `closedOn`: dates (UTC) on which a recurring schedule does not fire.
 * function closedDays(): Plugin<{ readonly closedOn?: readonly string[] }> {
 *   return {
 *     name: "closed-days",
 *     contract: CONTRACT,
 *     options: {
 *       closedOn: {
 *         parse(dates, { where }) {
 *           if (Array.isArray(dates) && dates.every((date) => /^\d{4}-\d\d-\d\d$/.test(date))) return dates;
 *           throw invalidOption(where, dates, 'dates such as "2026-12-25"');
 *         },
 *       },
 *     },
 *     policy: {
 *       admit({ point, options }) {
 *         const { closedOn = [] } = options as { readonly closedOn?: readonly string[] };
 *         const date = new Date(point).toISOString().slice(0, 10);
 *         return closedOn.includes(date) ? { skip: `closed on ${date}` } : undefined;
 *       },
 *     },
 *   };
 * }
 *
 * const open = defineTask("open", () => {});
 * await using scheduler = createScheduler({ tasks: [open], plugins: [closedDays()] });
 * const startAt = "2030-12-25T08:00:00Z";
 * const daily = await scheduler.every(open, "1d", undefined, { startAt, closedOn: ["2030-12-25"] });
 * console.log(daily.nextRun?.toISOString()); // 2030-12-26T08:00:00.000Z
 * ```
 */
export interface Plugin<Options extends object = object> {
  /** Unique within a scheduler, else `config_invalid`. */
  readonly name: string;
  /** The contract that it was written for: {@linkcode CONTRACT}; another number is `config_invalid`. */
  readonly contract: number;
  /** The option keys that it owns, each with its parser. A key of the core or of another plugin is `config_invalid`. */
  readonly options?: { readonly [Key in keyof Options]-?: OptionParser<Exclude<Options[Key], undefined>> };
  /** What it answers at decision points. */
  readonly policy?: Policy;
  /** What it listens to, from the scheduler's making on. */
  readonly listeners?: SchedulerListeners;
  /** What it does around each handler. */
  readonly wrapRun?: RunMiddleware;
  /** Where tasks come from that are kept in the store rather than in code. */
  readonly tasks?: TaskSource;
  /** What the scheduler's store must support for it to work, such as `["processes"]`, else `config_invalid`. */
  readonly needs?: readonly StorageAbility[];
}

/** A plugin, whatever options it adds. */
export interface AnyPlugin extends Omit<Plugin, "options"> {
  /** As in {@linkcode Plugin}. */
  readonly options?: object;
}

/** The options that a list of plugins adds. */
export type PluginOptions<Plugins extends readonly AnyPlugin[]> = Plugins extends readonly [
  Plugin<infer First>,
  ...infer Rest extends readonly AnyPlugin[],
] ? First & PluginOptions<Rest>
  : object;
