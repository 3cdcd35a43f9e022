import { type Duration, parseDuration } from "./time.ts";

/** Marks what an error says of further attempts, across copies of the package. */
export const RETRY: unique symbol = Symbol.for("ostinato.retry") as never;

/** What a {@linkcode FaultError} carries besides its message. */
export interface FaultErrorOptions {
  /**
   * `false`: no further attempt at this deadline, whatever the schedule's `retry` says. A duration: a further attempt
   * comes no earlier than so long after the fault; whether there is one remains for `retry` to say. Default: as `retry`
   * says.
   */
  readonly retry?: false | Duration;
  /** The error underneath, if any. */
  readonly cause?: unknown;
}

/**
 * Thrown by a handler that knows more of its failure than that it failed: that trying again is of no use, or for how long
 * it is not (F4). The run is a fault like any other. What it says holds for this one deadline: a recurring schedule goes on
 * with its next one, and a one-shot that may not be retried retires with `failed` (F3). Recognised by {@linkcode RETRY}, so
 * any error may carry the same. Outside of a run, and in an invoked one, it is an ordinary error.
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask, FaultError } from "@ostinato/scheduler";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2030-01-01T00:00:00Z");
 * const pay = defineTask("pay", {
 *   retry: { limit: 5, delay: "1s" },
 *   run(_input, ctx) {
 *     console.log(ctx.attempt, new Date(clock.now()).toISOString());
 *     if (ctx.attempt === 1) throw new FaultError("busy", { retry: "30s" });
 *     throw new FaultError("the card is blocked", { retry: false });
 *   },
 * });
 * await using scheduler = createScheduler({ clock, tasks: [pay], logger: { ...console, error() {} } });
 * await scheduler.start();
 * const { id } = await scheduler.after(pay, 0);
 * await clock.advance("1m");
 * // 1 2030-01-01T00:00:00.000Z
 * // 2 2030-01-01T00:00:30.000Z
 * console.log((await scheduler.info(id)).retireReason); // failed
 * ```
 */
export class FaultError extends Error {
  /** Always `"FaultError"`, unless a subclass says otherwise. */
  override readonly name: string = "FaultError";
  /** `false`, or milliseconds from the fault before which no attempt follows; absent: as `retry` says. */
  declare readonly [RETRY]?: false | number;

  /**
   * Makes a fault.
   *
   * @throws {SchedulerError} `invalid_duration` when `retry` is neither `false` nor a duration.
   */
  constructor(message: string, { retry, cause }: FaultErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (retry !== undefined) this[RETRY] = retry === false ? false : parseDuration(retry, "FaultError: retry");
  }
}
