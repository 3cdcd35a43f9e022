import { MAX_TIMER_MS } from "./limits.ts";

/** Where the scheduler takes its time from. The system's clock by default; `manualClock` of `./testing` in tests. */
export interface Clock {
  /** Wall time: milliseconds since the Unix epoch. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never jumps. What durations are measured with. */
  monotonic(): number;
  /** Calls back once after a delay of at most 2^31-1 ms; answers a function that cancels it. */
  setTimer(callback: () => void, delayMs: number, options?: { readonly unref?: boolean }): () => void;
  /** Calls back once the current turn of the event loop is over; how calls of one turn come to share a commit. */
  defer(callback: () => void): void;
  /** Told that work is under way, so that a manual clock can wait for it; answers a function that ends it. */
  busy?(): () => void;
  /**
   * Resolves when a promise does, or after a time: what closing waits by. A manual clock lets the time pass by itself
   * when nobody moves it. Default: a timer.
   */
  pass?(withinMs: number, until: Promise<void>): Promise<void>;
  /**
   * Calls back when the wall time was set. A clock that has this need not be watched; the system's has not, so the
   * scheduler compares it with the monotonic one every second.
   */
  onJump?(callback: () => void): () => void;
}

/**
 * Calls back once after a delay of any length, in steps that a runtime's timer holds (T7).
 *
 * @returns A function that cancels it.
 * @example
 * ```ts
 * import { longTimer } from "@ostinato/scheduler/contract";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2030-01-01T00:00:00Z");
 * longTimer(clock, () => console.log(new Date(clock.now()).toISOString()), 60 * 86_400_000);
 * await clock.advance("60d"); // prints 2030-03-02T00:00:00.000Z
 * ```
 */
export function longTimer(clock: Pick<Clock, "setTimer">, callback: () => void, delayMs: number): () => void {
  const wait = Math.min(delayMs, MAX_TIMER_MS);
  let cancel = clock.setTimer(() => {
    if (wait < delayMs) cancel = longTimer(clock, callback, delayMs - wait);
    else callback();
  }, wait);
  return () => cancel();
}

/** Where messages for people go; `console` fits. */
export interface Logger {
  /** Something a person has to look at. */
  error(message: string, ...details: unknown[]): void;
  /** Something a person may want to look at. */
  warn(message: string, ...details: unknown[]): void;
  /** Something that happened. */
  info(message: string, ...details: unknown[]): void;
  /** Something for whoever looks for a fault. */
  debug(message: string, ...details: unknown[]): void;
}
