import type { SchedulerEventName, SchedulerListener } from "./events.ts";
import type { OptionParser, Policy } from "./policy.ts";
import type { RunContext } from "./task.ts";

/** The number of the plugin contract that this version speaks. */
export const CONTRACT = 1;

/** What a run's middleware sees besides the context. */
export interface WrappedRun {
  readonly task: string;
  readonly input: unknown;
  readonly context: RunContext;
}

/**
 * Runs around each handler, in the order of the plugins, the first outermost: awaits `next()` for the handler's
 * outcome, and may throw, or answer something else.
 */
export type RunMiddleware = (run: WrappedRun, next: () => Promise<unknown>) => Promise<unknown>;

/** Listeners by event. */
export type SchedulerListeners = { readonly [Name in SchedulerEventName]?: SchedulerListener<Name> };

/**
 * What extends a scheduler: an option key with its parser, pure policies, listeners, run middleware. `Options` are the
 * keys that it adds to the options of `at`, `every`, `cron`, ….
 */
export interface Plugin<Options extends object = object> {
  /** Unique within a scheduler. */
  readonly name: string;
  /** The contract that it was written for: {@linkcode CONTRACT}. */
  readonly contract: number;
  /** The option keys that it owns. */
  readonly options?: { readonly [Key in keyof Options]-?: OptionParser<Exclude<Options[Key], undefined>> };
  readonly policy?: Policy;
  readonly listeners?: SchedulerListeners;
  readonly wrapRun?: RunMiddleware;
}

/** A plugin, whatever options it adds. */
export interface AnyPlugin extends Omit<Plugin, "options"> {
  readonly options?: object;
}

/** The options that a list of plugins adds. */
export type PluginOptions<Plugins extends readonly AnyPlugin[]> = Plugins extends readonly [
  Plugin<infer First>,
  ...infer Rest extends readonly AnyPlugin[],
] ? First & PluginOptions<Rest>
  : object;
