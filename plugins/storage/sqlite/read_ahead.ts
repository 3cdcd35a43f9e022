import { type Clock, MAX_ADVANCE, MAX_TIMER_MS } from "../../../src/contract/mod.ts";

/** Documents that are written together, from which on it is worth while: fewer are read in a millisecond or two. */
const LEAST = 100;

/** Milliseconds before their instant at which documents are read: reading {@linkcode MAX_ADVANCE} takes some 20. */
const LEAD_MS = 100;

/** What a {@linkcode ReadAhead} works with. */
export interface ReadAheadOptions {
  readonly clock: Clock;
  /** The earliest `wakeAt` of lanes. */
  earliest(lanes: readonly string[]): number | null;
  /** Keeps what will be due in lanes by an instant at hand, so many at most. */
  read(lanes: readonly string[], by: number, limit: number): void;
}

/**
 * Reads what is due next shortly before it is. What was due together is likely to be due together again, as a thousand
 * schedules of one cron are; each of them starts the later the more there is to do before the last one has started, and
 * reading is a third of that. Nothing depends on it: what was written meanwhile is read again.
 */
export class ReadAhead {
  readonly #options: ReadAheadOptions;
  #lanes: readonly string[] = [];
  #cancel: (() => void) | undefined;

  constructor(options: ReadAheadOptions) {
    this.#options = options;
  }

  /** What is due was asked for in these lanes, and so many documents were moved. */
  moved(count: number, lanes: readonly string[]): void {
    this.#lanes = lanes;
    this.wrote(count);
  }

  /** So many documents were written together. */
  wrote(count: number): void {
    if (count < LEAST || this.#lanes.length === 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
    const { clock, earliest } = this.#options;
    const next = quietly(() => earliest(this.#lanes)) ?? Infinity;
    const delayMs = next - LEAD_MS - clock.now();
    if (delayMs <= 0 || delayMs > MAX_TIMER_MS) return;
    this.#cancel = clock.setTimer(() => this.#read(next), delayMs, { unref: true });
  }

  /** Reads nothing any more. */
  close(): void {
    this.#cancel?.();
    this.#lanes = [];
  }

  #read(by: number): void {
    this.#cancel = undefined;
    quietly(() => this.#options.read(this.#lanes, by, MAX_ADVANCE));
  }
}

/** A store that fails just now will say so to whoever needs it. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
