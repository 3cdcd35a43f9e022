import {
  CONTRACT,
  invalidOption,
  type Json,
  type JsonObject,
  MAX_RETRIES,
  type OptionPlace,
  parseDuration,
  plainOptions,
  type Plugin,
  type RetryOption,
  type SettledAnswer,
  type SettledQuestion,
  wholeNumber,
} from "../../src/contract/mod.ts";

const DEFAULT_DELAY_MS = 1_000;
const DEFAULT_BACKOFF = 2;
const DEFAULT_MAX_DELAY_MS = 3_600_000;

/** The option that {@linkcode retry} owns. */
export interface RetryOptions {
  /** Attempts at the same deadline after a fault. Default none. */
  readonly retry?: RetryOption;
}

/** What is stored; durations in milliseconds, defaults left out. */
interface StoredRetry {
  readonly limit: number;
  readonly delay?: number;
  readonly backoff?: number;
  readonly maxDelay?: number;
}

/**
 * Owns the option `retry` (F4): up to `limit` further attempts after a fault, the first after `delay` (1 s), each
 * `backoff` (2) times as long after the one before, never longer than `maxDelay` (1 h): attempt n + 1 follows
 * `min(maxDelay, delay * backoff ** (n - 1))` after the fault of attempt n. However many of them fail, the deadline
 * counts as one fault for `maxFaults`. A run that was lost or aborted is not its business. Retries survive restarts.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { retry } from "@ostinato/scheduler/policies";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2030-01-01T00:00:00Z");
 * const call = defineTask("call", (_input, ctx) => {
 *   console.log(ctx.attempt, new Date(clock.now()).toISOString());
 *   if (ctx.attempt < 3) throw new Error("no answer");
 * });
 * const logger = { ...console, error() {} };
 * await using scheduler = createScheduler({ clock, logger, tasks: [call], policies: [retry()] });
 * await scheduler.start();
 * await scheduler.after(call, 0, undefined, { retry: { limit: 3, delay: "10s" } });
 * await clock.advance("1m");
 * // 1 2030-01-01T00:00:00.000Z
 * // 2 2030-01-01T00:00:10.000Z
 * // 3 2030-01-01T00:00:30.000Z
 * ```
 */
export function retry(): Plugin<RetryOptions> {
  return {
    name: "retry",
    contract: CONTRACT,
    options: { retry: { parse: parseRetry } },
    policy: { settled },
  };
}

function settled({ options, outcome, attempt }: SettledQuestion): SettledAnswer | undefined {
  const retry = (options as JsonObject & { readonly retry?: StoredRetry }).retry;
  if (retry === undefined || outcome !== "faulted" || attempt > retry.limit) return undefined;
  return { retryAfterMs: delayAfter(retry, attempt) };
}

function delayAfter(retry: StoredRetry, attempt: number): number {
  const { delay = DEFAULT_DELAY_MS, backoff = DEFAULT_BACKOFF, maxDelay = DEFAULT_MAX_DELAY_MS } = retry;
  if (delay === 0) return 0; // zero times an infinite factor is no number
  return Math.round(Math.min(maxDelay, delay * backoff ** (attempt - 1)));
}

function parseRetry(value: RetryOption, { where }: OptionPlace): Json | undefined {
  const given = plainOptions(value, ["limit", "delay", "backoff", "maxDelay"], where);
  const limit = wholeNumber(given.limit, 0, MAX_RETRIES, `${where}.limit`);
  const option = {
    limit,
    ...durationOf("delay", given.delay, DEFAULT_DELAY_MS, where),
    ...backoffOf(given.backoff, where),
    ...durationOf("maxDelay", given.maxDelay, DEFAULT_MAX_DELAY_MS, where),
  };
  return limit === 0 ? undefined : option;
}

function durationOf(key: "delay" | "maxDelay", value: unknown, byDefault: number, where: string): object {
  if (value === undefined) return {};
  const ms = Math.round(parseDuration(value as number, `${where}.${key}`));
  return ms === byDefault ? {} : { [key]: ms };
}

function backoffOf(value: unknown, where: string): { readonly backoff?: number } {
  if (value === undefined || value === DEFAULT_BACKOFF) return {};
  if (typeof value === "number" && Number.isFinite(value) && value >= 1) return { backoff: value };
  throw invalidOption(`${where}.backoff`, value, "a number from 1");
}
