import type { Clock, Logger } from "../../../src/contract/mod.ts";
import type { PgListenerLike } from "./connecting.ts";
import { LOOK_MS } from "./hints.ts";
import { Listener } from "./listener.ts";

/** The shortest time between two hints, in milliseconds, a tick: creations come in thousands, and one look sees them all. */
const HINT_GAP_MS = 10;

/** What {@linkcode Subscribers} work with. */
export interface SubscribersOptions {
  /** How a listener connects; undefined for polling only. */
  readonly connect: (() => Promise<PgListenerLike>) | undefined;
  readonly channel: string;
  /** Has the database tell something on a channel. */
  readonly tell: (channel: string) => Promise<unknown>;
  /** What this handle tells others by, so that it need not listen to itself. */
  readonly sender: string;
  readonly pollMs: number;
  /** Told at once of what makes a hint, which itself may have to wait. */
  readonly told: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells of what other handles have written: at once where a listener works, and else, or in any case later, by a timer. */
export class Subscribers {
  readonly #options: SubscribersOptions;
  readonly #listeners = new Set<() => void>();
  #listener: Listener | undefined;
  #listening = false;
  #cancelPoll: (() => void) | undefined;
  #cancelGap: (() => void) | undefined;
  #hinted = false;
  #closing: Promise<void> = Promise.resolve();

  constructor(options: SubscribersOptions) {
    this.#options = options;
  }

  /** Adds a listener; answers a function that removes it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Leaves no connection and no timer behind. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stop();
    await this.#closing;
  }

  #start(): void {
    const { connect, channel, tell, clock, logger, sender } = this.#options;
    this.#poll();
    if (connect === undefined) return;
    this.#listener = new Listener({
      connect,
      channel,
      tell,
      clock,
      logger,
      notified: (from) => from === sender ? undefined : this.#hint(),
      changed: (listening) => {
        this.#listening = listening;
        // What was told while nobody listened is lost.
        this.#hint();
        this.#poll();
      },
    });
    this.#listener.start();
  }

  #stop(): void {
    this.#cancelPoll?.();
    this.#cancelGap?.();
    this.#cancelGap = undefined;
    const listener = this.#listener;
    this.#listener = undefined;
    this.#listening = false;
    if (listener !== undefined) this.#closing = Promise.all([this.#closing, listener.close()]).then(() => {});
  }

  #poll(): void {
    const { clock, pollMs } = this.#options;
    this.#cancelPoll?.();
    this.#cancelPoll = clock.setTimer(
      () => {
        this.#poll();
        this.#hint();
      },
      this.#listening ? LOOK_MS : pollMs,
      { unref: true },
    );
  }

  /** Whether others' notifications come in. */
  get isListening(): boolean {
    return this.#listening;
  }

  /** Tells at once, and once more a while after if there was more to tell, so that the last is never lost. */
  #hint(): void {
    this.#options.told();
    if (this.#listeners.size === 0) return;
    this.#hinted = true;
    if (this.#cancelGap !== undefined) return;
    this.#hinted = false;
    this.#cancelGap = this.#options.clock.setTimer(
      () => {
        this.#cancelGap = undefined;
        if (this.#hinted) this.#hint();
      },
      HINT_GAP_MS,
      { unref: true },
    );
    for (const listener of [...this.#listeners]) listener();
  }
}
