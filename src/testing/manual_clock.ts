import {
  type Clock,
  type Duration,
  type Instant,
  longTimer,
  MAX_TIMER_MS,
  parseDuration,
  parseInstant,
  type RunSignal,
} from "../contract/mod.ts";
import { turn } from "./turn.ts";

/** A clock that a test moves. */
export interface ManualClock extends Clock {
  /**
   * Moves time on. Everything due on the way runs in order, each at its own time, without real waiting; resolves when
   * nothing is left to do. Handlers wait through {@linkcode sleep}; one that waits for anything else real is not waited
   * for. A `close` that waits for handlers lets time pass by itself when the test leaves the clock alone.
   */
  advance(duration: Duration): Promise<void>;
  /**
   * Sets the wall time at once, forward or back, without passing through what lies between: a clock step. What is due
   * by then runs.
   */
  set(instant: Instant): Promise<void>;
  /**
   * Inside a handler: resolves once so much virtual time has passed; rejects with the signal's reason when it aborts.
   */
  sleep(duration: Duration, options?: { readonly signal?: RunSignal }): Promise<void>;
  /** Resolves when nothing is left to do at the present time. */
  settled(): Promise<void>;
}

/** Turns of the event loop without any work under way after which all is taken to be quiet. */
const QUIET_TURNS = 3;

/** Turns of the event loop without any move of the clock after which a close under way moves it itself. */
const LEFT_ALONE_TURNS = 500;

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until a test moves it, for schedulers under test: `createScheduler({ clock, … })`.
 *
 * @param start The wall time to begin at. Default the Unix epoch.
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { manualClock } from "@ostinato/scheduler/testing";
 *
 * const clock = manualClock("2026-01-01T00:00:00Z");
 * const beat = defineTask("beat", async (_input, ctx) => {
 *   console.log(ctx.scheduledAt.toISOString());
 *   await clock.sleep("20m"); // takes virtual time
 * });
 * await using scheduler = createScheduler({ clock, tasks: [beat] });
 * await scheduler.start();
 * await scheduler.every(beat, "1h");
 * await clock.advance("150m");
 * // 2026-01-01T01:00:00.000Z
 * // 2026-01-01T02:00:00.000Z
 * ```
 */
export function manualClock(start: Instant = 0): ManualClock {
  return new Manual(parseInstant(start, "manualClock"));
}

class Manual implements ManualClock {
  /** Time that has passed; what timers and durations go by. */
  #passed = 0;
  /** Wall time when nothing had passed. */
  #origin: number;
  #order = 0;
  #work = 0;
  /** Calls of `advance` under way. */
  #moving = 0;
  readonly #timers = new Set<Timer>();
  readonly #jumps = new Set<() => void>();

  constructor(start: number) {
    this.#origin = start;
  }

  now(): number {
    return this.#origin + this.#passed;
  }

  monotonic(): number {
    return this.#passed;
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    // As real timers do with what they cannot hold.
    const delay = delayMs > MAX_TIMER_MS || !(delayMs >= 0) ? 1 : Math.ceil(delayMs);
    const timer: Timer = { at: this.#passed + delay, order: this.#order++, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  defer(callback: () => void): void {
    const done = this.busy();
    void turn().then(() => {
      done();
      callback();
    });
  }

  busy(): () => void {
    this.#work++;
    let over = false;
    return () => {
      if (!over) this.#work--;
      over = true;
    };
  }

  onJump(callback: () => void): () => void {
    this.#jumps.add(callback);
    return () => void this.#jumps.delete(callback);
  }

  async settled(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await turn();
      if (this.#work > 0) quiet = -1;
    }
  }

  async advance(duration: Duration): Promise<void> {
    const until = this.#passed + parseDuration(duration, "advance");
    this.#moving++;
    try {
      await this.settled();
      while (await this.#fire(until));
      this.#passed = Math.max(this.#passed, until);
      await this.settled();
    } finally {
      this.#moving--;
    }
  }

  /** Moves on to the next timer, if there is one by then, and lets it have its effect. */
  async #fire(until: number): Promise<boolean> {
    const timer = this.#next(until);
    if (timer === undefined) return false;
    this.#passed = Math.max(this.#passed, timer.at);
    this.#timers.delete(timer);
    timer.callback();
    await this.settled();
    return true;
  }

  #next(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > until) continue;
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  }

  async set(instant: Instant): Promise<void> {
    await this.settled();
    this.#origin = parseInstant(instant, "set") - this.#passed;
    for (const callback of [...this.#jumps]) callback();
    await this.settled();
    while (await this.#fire(this.#passed));
  }

  /** Lets time pass once the test has left the clock alone for long enough to be taken to wait for this. */
  async pass(withinMs: number, until: Promise<void>): Promise<void> {
    let over = false;
    const end = () => {
      over = true;
    };
    until.then(end, end);
    const cancel = longTimer(this, end, withinMs);
    for (let idle = 0; !over; idle = this.#moving > 0 || this.#work > 0 ? 0 : idle + 1) {
      await turn();
      if (!over && idle >= LEFT_ALONE_TURNS) await this.#fire(Infinity);
    }
    cancel();
  }

  sleep(duration: Duration, options: { readonly signal?: RunSignal } = {}): Promise<void> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      const cancel = longTimer(this, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, parseDuration(duration, "sleep"));
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      if (signal?.aborted === true) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
