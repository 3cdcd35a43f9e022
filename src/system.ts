/**
 * The only file that touches the machine's clocks, timers and randomness.
 *
 * @module
 */
import { ulid } from "@std/ulid";
import type { Clock } from "./contract/mod.ts";

interface Runtime {
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
  setImmediate?: (callback: () => void) => unknown;
  readonly Deno?: { unrefTimer(timer: number): void };
}

const runtime = globalThis as unknown as Runtime;

/** The machine's own clock. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    setTimer(callback, delayMs, options) {
      const timer = runtime.setTimeout(callback, delayMs);
      if (options?.unref === true) unref(timer);
      return () => runtime.clearTimeout(timer);
    },
    defer: (callback) => {
      if (runtime.setImmediate !== undefined) runtime.setImmediate(callback);
      else runtime.setTimeout(callback, 0);
    },
  };
}

/** Lets the process end although the timer is pending. */
function unref(timer: unknown): void {
  if (typeof timer === "number") runtime.Deno?.unrefTimer(timer);
  else (timer as { unref?: () => void }).unref?.();
}

/** Uniform in [0, 1). */
export function random(): number {
  return Math.random();
}

/** A new id: a ULID of the machine's time. Several made in one millisecond are in no order among themselves. */
export function newId(): string {
  return ulid();
}
