/**
 * `/healthz` and `/readyz`: whether the process lives, and whether it can do its work. They answer anybody, so they tell
 * nothing that anybody may not know.
 *
 * @module
 */
import {
  type Duration,
  isSchedulerError,
  MAX_BACKLOG_COUNT,
  MAX_TIMER_MS,
  parseDuration,
  plainOptions,
  wholeNumber,
} from "../../../src/contract/mod.ts";
import { DEFAULT_MAX_DUE, READY_TIMEOUT_MS } from "./limits.ts";
import { LookTimeout, type StoreLook } from "./store_look.ts";

/** When an instance counts as ready. */
export interface ReadyOptions {
  /**
   * More due schedules than this, of tasks that the instance has, and it is not ready: from 1 to 99,999. Default 10,000.
   */
  readonly maxDue?: number;
  /** How long `/readyz` waits for the store before it answers that it is not ready: from 1 ms to 24 days. Default 2 s. */
  readonly timeout?: Duration;
}

/** Checked {@linkcode ReadyOptions}. */
export interface ReadyRules {
  readonly maxDue: number;
  readonly timeoutMs: number;
}

/** @throws {SchedulerError} `unknown_option`, `invalid_option`, `invalid_duration`. */
export function readyRules(options: ReadyOptions = {}): ReadyRules {
  const { maxDue = DEFAULT_MAX_DUE, timeout = READY_TIMEOUT_MS } = plainOptions(
    options,
    ["maxDue", "timeout"],
    "http.ready",
  );
  return {
    maxDue: wholeNumber(maxDue, 1, MAX_BACKLOG_COUNT - 1, "http.ready.maxDue"),
    timeoutMs: readTimeout(timeout),
  };
}

/** A timer that is set for longer than it can hold goes off at once. */
function readTimeout(value: unknown): number {
  const ms = parseDuration(value as Duration, "http.ready.timeout");
  return wholeNumber(Math.ceil(ms), 1, MAX_TIMER_MS, "http.ready.timeout");
}

/** Why an instance is not ready. */
export type UnreadyReason = "store_unavailable" | "timeout" | "backlog" | "closed";

/** Answers `/healthz`: the process runs its event loop. A store that is gone is no reason to restart it. */
export function healthz(): Response {
  return Response.json({ status: "ok" }, HEADERS);
}

/**
 * Answers `/readyz`: 200 while the store answers and what is due stays under the limit, else 503 with a reason.
 *
 * @param look Counts to one more than `maxDue`.
 */
export async function readyz(look: StoreLook, { maxDue, timeoutMs }: ReadyRules): Promise<Response> {
  const reason = await unreadyReason(look, maxDue, timeoutMs);
  if (reason === undefined) return Response.json({ status: "ready" }, HEADERS);
  return Response.json({ status: "unready", reason }, { status: 503, ...HEADERS });
}

async function unreadyReason(look: StoreLook, maxDue: number, timeoutMs: number): Promise<UnreadyReason | undefined> {
  try {
    const { tasks } = await look.within(timeoutMs);
    // What no task here can run is no reason to send requests elsewhere: it waits there just the same.
    const due = tasks.reduce((sum, task) => task.registered ? sum + task.due : sum, 0);
    return due > maxDue ? "backlog" : undefined;
  } catch (error) {
    if (error instanceof LookTimeout) return "timeout";
    return isSchedulerError(error, "closed") ? "closed" : "store_unavailable";
  }
}

const HEADERS = { headers: { "cache-control": "no-store" } } as const;
