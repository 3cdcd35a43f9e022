import { type Clock, SchedulerError } from "../contract/mod.ts";
import { invoke, within } from "../engine/mod.ts";

/** How long calls of clients may go on once the handlers have had their drain time. */
const INVOKE_GRACE_MS = 5_000;

/** The tasks that clients invoke and wait for. */
export class Calls {
  readonly #running = new Set<AbortController>();
  #whenQuiet: (() => void) | undefined;

  /** Calls a task's handler for a client. */
  async invoke(call: Omit<Parameters<typeof invoke>[0], "signal" | "abort">): Promise<unknown> {
    const controller = new AbortController();
    this.#running.add(controller);
    try {
      return await invoke({ ...call, signal: controller.signal, abort: (reason) => controller.abort(reason) });
    } finally {
      this.#running.delete(controller);
      if (this.#running.size === 0) this.#whenQuiet?.();
    }
  }

  /** Waits for what is running, then aborts it. */
  async drain(clock: Clock, drainMs: number): Promise<void> {
    for (const waitMs of [drainMs, INVOKE_GRACE_MS]) {
      if (this.#running.size === 0) return;
      await within(clock, waitMs, new Promise((resolve) => this.#whenQuiet = resolve));
      for (const call of this.#running) call.abort(closed());
    }
  }
}

/** The refusal of whatever comes after the end. */
export function closed(): SchedulerError {
  return new SchedulerError("closed", "the scheduler is closed");
}
