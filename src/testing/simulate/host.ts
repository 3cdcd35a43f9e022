import { type Clock, MAX_TIMER_MS, type RunSignal } from "../../contract/mod.ts";
import type { World } from "./world.ts";

/** What a host's clock shows, beside true time. */
export interface WallClock {
  /** Wall time minus true time. */
  offset: number;
}

/** One simulated host: everything that happens in it goes through here, so that it can stall and die. */
export class SimulatedHost {
  /** Which instance, and its how manyeth life: `"0.1"`. */
  readonly name: string;
  /** The instance's number. */
  readonly index: number;
  readonly clock: Clock;
  readonly wall: WallClock;
  alive = true;
  /** Timers and deferred calls that have not fired yet. */
  pending = 0;
  #stalledUntil = -Infinity;
  readonly #world: World;
  readonly #jumps = new Set<() => void>();

  /** @param watched Whether the clock tells of jumps; otherwise the scheduler has to notice them, as it has on a real machine. */
  constructor(world: World, index: number, life: number, wall: WallClock, watched: boolean) {
    this.#world = world;
    this.index = index;
    this.name = `${index}.${life}`;
    this.wall = wall;
    const born = world.now;
    const onJump = (callback: () => void) => {
      this.#jumps.add(callback);
      return () => void this.#jumps.delete(callback);
    };
    this.clock = {
      now: () => world.now + wall.offset,
      monotonic: () => world.now - born,
      setTimer: (callback, delayMs) => {
        // As real timers do with what they cannot hold.
        const delay = delayMs > MAX_TIMER_MS || !(delayMs >= 1) ? 1 : Math.ceil(delayMs);
        return this.#keep(world.now + delay, callback);
      },
      defer: (callback) => void this.#keep(world.now, callback),
      ...(watched ? { onJump } : {}),
    };
  }

  get isStalled(): boolean {
    return this.#stalledUntil > this.#world.now;
  }

  /** Something that reaches the host at an instant: later if it is stalled then, never if it is dead. */
  post(at: number, run: () => void): () => void {
    let cancelled = false;
    const arrive = () => {
      if (!this.alive || cancelled) return;
      if (this.isStalled) this.#world.post(this.#stalledUntil, arrive);
      else run();
    };
    this.#world.post(at, arrive);
    return () => {
      cancelled = true;
    };
  }

  #keep(at: number, callback: () => void): () => void {
    let over = false;
    this.pending++;
    const end = () => {
      if (over) return false;
      over = true;
      this.pending--;
      return true;
    };
    const cancel = this.post(at, () => {
      if (end()) callback();
    });
    return () => {
      cancel();
      end();
    };
  }

  /** Blocks the event loop. */
  stall(ms: number): void {
    this.#stalledUntil = Math.max(this.#stalledUntil, this.#world.now + ms);
  }

  /** Dies where it stands: nothing reaches it any more, and nothing comes from it. */
  kill(): void {
    this.alive = false;
  }

  /** The wall clock was set. */
  jumped(): void {
    for (const callback of [...this.#jumps]) this.post(this.#world.now, callback);
  }

  /** Inside a handler: resolves after so much time; rejects when the signal aborts. */
  sleep(ms: number, signal?: RunSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      // The handler's own timer: none that its scheduler would have to clear.
      const cancel = this.post(this.#world.now + Math.ceil(ms), () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      if (signal?.aborted === true) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
