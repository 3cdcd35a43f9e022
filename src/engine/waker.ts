import { type Clock, CLOCK_CHECK_MS, MAX_TIMER_MS, NOTICED_JUMP_MS } from "../contract/mod.ts";

/**
 * Sleeps until an instant of the store's time. The store is asked for nothing meanwhile; a clock that may jump unseen is
 * looked at every second. Once it has jumped nobody knows here what time it is for a store with a clock of its own, so
 * that the store is looked into at once (T8). No timer is longer than a runtime holds (T7).
 */
export class Waker {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #offset: () => number;
  readonly #unref: boolean;
  #target: number | null = null;
  #cancel: (() => void) | undefined;
  #offJump: (() => void) | undefined;
  #active = false;
  /** How far wall time is ahead of the monotonic clock. */
  #lead = 0;

  constructor(clock: Clock, wake: () => void, offset: () => number, unref: boolean) {
    this.#clock = clock;
    this.#wake = wake;
    this.#offset = offset;
    this.#unref = unref;
  }

  start(): void {
    this.#active = true;
    this.#lead = this.#clock.now() - this.#clock.monotonic();
    this.#offJump = this.#clock.onJump?.(() => this.#rise());
    this.#arm();
  }

  stop(): void {
    this.#active = false;
    this.#cancel?.();
    this.#offJump?.();
  }

  /** Wakes no later than an instant. */
  notLaterThan(instant: number): void {
    if (this.#target !== null && this.#target <= instant) return;
    this.#target = instant;
    this.#arm();
  }

  #arm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (!this.#active) return;
    const left = this.#target === null ? Infinity : this.#target - this.#offset() - this.#clock.now();
    const longest = this.#clock.onJump === undefined ? CLOCK_CHECK_MS : MAX_TIMER_MS;
    this.#cancel = this.#clock.setTimer(() => this.#look(), Math.max(0, Math.min(left, longest)), {
      unref: this.#unref,
    });
  }

  #look(): void {
    this.#cancel = undefined;
    const isDue = this.#target !== null && this.#target <= this.#clock.now() + this.#offset();
    if (this.#hasJumped() || isDue) this.#rise();
    else this.#arm();
  }

  #rise(): void {
    this.#target = null;
    this.#wake();
    if (this.#cancel === undefined) this.#arm();
  }

  #hasJumped(): boolean {
    const before = this.#lead;
    this.#lead = this.#clock.now() - this.#clock.monotonic();
    return Math.abs(this.#lead - before) > NOTICED_JUMP_MS;
  }
}
