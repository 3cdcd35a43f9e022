import {
  type AnyPlugin,
  type AnyTask,
  checkTimezone,
  type Clock,
  DEFAULT_TICK_MS,
  type Duration,
  isPlainObject,
  type Logger,
  MAX_CONCURRENCY,
  MAX_LEASE_MS,
  MIN_LEASE_MS,
  type OptionParser,
  parseDuration,
  type Policy,
  type Principal,
  SchedulerError,
  show,
  type StandardPolicyOptions,
  type Storage,
  wholeNumber,
} from "../contract/mod.ts";
import { kept } from "../client/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { checkOptions, checkPlugins, hint } from "./check_plugins.ts";
import { heldPolicy } from "./held_plugins.ts";
import { safeLogger } from "./safe_logger.ts";

/** Option values that every creation starts from. */
export type SchedulerDefaults<Extra extends object = object> = StandardPolicyOptions & Partial<Extra> & {
  /** The zone of cron schedules that name none (K3): an IANA name. Default `"UTC"`. */
  readonly timezone?: string;
};

/** What a scheduler is made of. */
export interface SchedulerConfig<
  Plugins extends readonly AnyPlugin[] = readonly AnyPlugin[],
  Extra extends object = object,
> {
  /** Where schedules are kept. Default: this process's memory. */
  readonly storage?: Storage;
  /**
   * The tasks that this instance can run, and that schedules may be created for. It leaves those of others alone (M2).
   */
  readonly tasks?: readonly AnyTask[];
  /** Plugins of one's own; they are asked before the standard policies. */
  readonly plugins?: Plugins;
  /**
   * The standard policies, if not all of them: what `catchup`, `overlap`, `jitter`, `retry` and `faultLimit` of
   * `./policies` answer.
   */
  readonly policies?: readonly AnyPlugin[];
  /** Option values that every creation starts from. Stored with each schedule, so that every instance decides alike. */
  readonly defaults?: SchedulerDefaults<Extra>;
  /** Runs at once on this instance, from 1 to 10,000; what is due beyond that waits. Default 20. */
  readonly concurrency?: number;
  /**
   * The resolution, in milliseconds, from 1 to 60,000: the shortest interval and delay of `again` (T5, A4). Default 10.
   */
  readonly tick?: number;
  /**
   * How long a run is held by an instance that gives no sign of life, in milliseconds, from 100 to 3,600,000 (M3). A
   * handler that blocks the event loop for longer may be run a second time elsewhere (M5). Default 30,000.
   */
  readonly leaseMs?: number;
  /** How long the record of a retired schedule is kept (L3). Default `"60s"`. */
  readonly retention?: Duration;
  /**
   * Where messages go: faults and bad ends that nobody listens to, and trouble with the store. Default: warnings and
   * errors to the console.
   */
  readonly logger?: Logger;
  /** Where time comes from; `manualClock` of `./testing` in tests. Default: the machine's. */
  readonly clock?: Clock;
  /** Whether a principal may have runs act for somebody else (P3). Default: nobody but an admin. */
  readonly canRunAs?: (principal: Principal, runAs: string) => boolean;
  /** Lets the process end while the scheduler is idle (X3). Default `false`. */
  readonly unref?: boolean;
}

/** A checked configuration. */
export interface CheckedConfig {
  readonly storage: Storage;
  readonly tasks: ReadonlyMap<string, AnyTask>;
  readonly plugins: readonly AnyPlugin[];
  readonly parsers: ReadonlyMap<string, OptionParser>;
  readonly policies: readonly Policy[];
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly concurrency: number;
  readonly tickMs: number;
  readonly leaseMs: number;
  readonly retentionMs: number;
  readonly logger: Logger;
  readonly clock: Clock | undefined;
  readonly canRunAs: (principal: Principal, runAs: string) => boolean;
  readonly unref: boolean;
}

const KEYS = [
  "storage",
  "tasks",
  "plugins",
  "policies",
  "defaults",
  "concurrency",
  "tick",
  "leaseMs",
  "retention",
  "logger",
  "clock",
  "canRunAs",
  "unref",
];

const DEFAULT_CONCURRENCY = 20;
const DEFAULT_LEASE_MS = 30_000;
const DEFAULT_RETENTION = "60s";

/** The longest tick: beyond a minute a schedule's resolution is no longer what anybody would call one. */
const MAX_TICK_MS = 60_000;

const CONSOLE: Logger = {
  error: (message, ...details) => console.error(`[ostinato] ${message}`, ...details),
  warn: (message, ...details) => console.warn(`[ostinato] ${message}`, ...details),
  info: () => {},
  debug: () => {},
};

/** Collects what is wrong, so that all of it is told at once. */
class Problems {
  readonly found: string[] = [];

  /** The value, or the fallback where reading it was refused. */
  read<T>(fallback: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      this.found.push(error instanceof Error ? error.message : String(error));
      return fallback;
    }
  }
}

/**
 * Checks a configuration as a whole.
 *
 * @throws {SchedulerError} `config_invalid`, with every problem found in `details.problems`.
 */
export function checkConfig(config: SchedulerConfig, standard: readonly AnyPlugin[]): CheckedConfig {
  if (!isPlainObject(config as unknown)) throw invalid([`configuration: ${show(config)} given; expected an object`]);
  // Defaults stand for what is left out, not for null: who reads it from a setting that is missing is to be told.
  const { policies = standard, storage: chosen = memory(), tick = DEFAULT_TICK_MS, defaults = {} } = config;
  const { concurrency = DEFAULT_CONCURRENCY, leaseMs = DEFAULT_LEASE_MS, retention = DEFAULT_RETENTION } = config;
  const problems = new Problems();
  for (const key of Object.keys(config)) {
    if (!KEYS.includes(key)) problems.found.push(`${key}: unknown key${hint(key, KEYS)}`);
  }
  const storage = checkStorage(problems, chosen);
  const report = (problem: string) => void problems.found.push(problem);
  const given = checkPlugins(report, {
    plugins: list<AnyPlugin>(problems, config.plugins, "plugins"),
    policies: list<AnyPlugin>(problems, policies, "policies"),
  }, storage);
  const plugins = [...given.plugins, ...given.policies];
  checkParts(problems, config);
  const parsers = checkOptions(report, given, standard);
  const tasks = checkTasks(problems, list<AnyTask>(problems, config.tasks, "tasks"), parsers.get("retry"));
  const tickMs = problems.read(DEFAULT_TICK_MS, () => wholeNumber(tick, 1, MAX_TICK_MS, "tick"));
  const checked: CheckedConfig = {
    storage,
    tasks,
    plugins,
    parsers,
    policies: plugins.flatMap((plugin) => (standard.includes(plugin) ? plugin.policy : heldPolicy(plugin)) ?? []),
    defaults: kept(checkDefaults(problems, defaults as Readonly<Record<string, unknown>>, parsers, tickMs)),
    concurrency: problems.read(1, () => wholeNumber(concurrency, 1, MAX_CONCURRENCY, "concurrency")),
    tickMs,
    leaseMs: problems.read(1, () => wholeNumber(leaseMs, MIN_LEASE_MS, MAX_LEASE_MS, "leaseMs")),
    retentionMs: problems.read(0, () => parseDuration(retention, "retention")),
    logger: safeLogger(config.logger ?? CONSOLE),
    clock: config.clock,
    canRunAs: config.canRunAs ?? (() => false),
    unref: config.unref ?? false,
  };
  if (problems.found.length > 0) throw invalid(problems.found);
  return checked;
}

function invalid(problems: readonly string[]): SchedulerError {
  return new SchedulerError(
    "config_invalid",
    `the scheduler's configuration does not fit together:\n- ${problems.join("\n- ")}`,
    {
      details: { problems },
    },
  );
}

function list<T>(problems: Problems, value: readonly T[] | undefined, where: string): readonly T[] {
  if (value === undefined || Array.isArray(value)) return value ?? [];
  problems.found.push(`${where}: ${show(value)} given; expected an array`);
  return [];
}

/** What the scheduler calls of what it is handed. */
const CLOCK_METHODS = ["now", "monotonic", "setTimer", "defer"] as const;
const LOGGER_METHODS = ["error", "warn", "info", "debug"] as const;

function checkParts(problems: Problems, { clock, logger, canRunAs, unref }: SchedulerConfig): void {
  const lacking = (where: string, value: object | undefined, methods: readonly string[]) => {
    const missing = methods.filter((name) => typeof (value as Record<string, unknown> | null)?.[name] !== "function");
    if (value !== undefined && missing.length > 0) {
      problems.found.push(`${where}: ${show(value)} lacks ${missing.join(", ")}`);
    }
  };
  lacking("clock", clock, CLOCK_METHODS);
  lacking("logger", logger, LOGGER_METHODS);
  if (canRunAs !== undefined && typeof canRunAs !== "function") {
    problems.found.push(`canRunAs: ${show(canRunAs)} given; expected a function`);
  }
  if (unref !== undefined && typeof unref !== "boolean") {
    problems.found.push(`unref: ${show(unref)} given; expected a boolean`);
  }
}

function checkTasks(
  problems: Problems,
  tasks: readonly AnyTask[],
  retry: OptionParser | undefined,
): ReadonlyMap<string, AnyTask> {
  const byName = new Map<string, AnyTask>();
  tasks.forEach((task, index) => {
    if (typeof task?.name !== "string" || typeof task.run !== "function") {
      return problems.found.push(`tasks[${index}]: ${show(task)} given; expected what defineTask answers`);
    }
    if (byName.has(task.name)) problems.found.push(`tasks[${index}]: two tasks are named ${show(task.name)}`);
    if (task.retry !== undefined) {
      const place = { where: `task ${task.name}: retry`, kind: "at", tickMs: DEFAULT_TICK_MS } as const;
      if (retry === undefined) problems.found.push(`${place.where}: no plugin owns that option`);
      else problems.read(undefined, () => retry.parse(task.retry, place));
    }
    return byName.set(task.name, task);
  });
  return byName;
}

function checkStorage(problems: Problems, storage: Storage): Storage {
  const missing = (["open", "close", "now", "advance", "apply", "get", "find", "nextWake", "backlog"] as const)
    .filter((ability) => typeof storage?.[ability] !== "function");
  if (missing.length > 0) {
    const expected = "what memory(), sqlite(…), postgres(…), kv(…) or a store of your own answers";
    problems.found.push(`storage: ${show(storage)} lacks ${missing.join(", ")}; expected ${expected}`);
  } else if (typeof storage.supports !== "object" || storage.supports === null) {
    problems.found.push(`storage: supports: ${show(storage.supports)} given; expected what it can do`);
  } else if (storage.supports.enlist && storage.enlist === undefined) {
    problems.found.push("storage: supports enlist without having it");
  } else if (storage.supports.push && storage.subscribe === undefined) {
    problems.found.push("storage: supports push without having subscribe");
  }
  return storage;
}

function checkDefaults(
  problems: Problems,
  defaults: Readonly<Record<string, unknown>>,
  parsers: ReadonlyMap<string, OptionParser>,
  tickMs: number,
): Readonly<Record<string, unknown>> {
  if (!isPlainObject(defaults as unknown)) {
    problems.found.push(`defaults: ${show(defaults)} given; expected an object`);
    return {};
  }
  for (const [key, value] of Object.entries(defaults)) {
    const parser = parsers.get(key);
    if (value === undefined) continue;
    if (key === "timezone") problems.read("", () => checkTimezone(value as string, "defaults.timezone"));
    else if (parser === undefined) {
      problems.found.push(`defaults.${key}: no plugin owns that option${hint(key, ["timezone", ...parsers.keys()])}`);
    } else problems.read(undefined, () => parser.parse(value, { where: `defaults.${key}`, kind: "every", tickMs }));
  }
  return defaults;
}
