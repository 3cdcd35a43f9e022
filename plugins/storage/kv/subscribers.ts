import type { KvEntryLike } from "./handle.ts";
import type { Signal } from "./signals.ts";

/** What {@linkcode Subscribers} work with. */
export interface SubscribersOptions {
  readonly signals: readonly Signal[];
  /** Reads the entry of the counter. */
  readonly read: () => Promise<KvEntryLike>;
  /** How much of the count is this handle's own. */
  readonly own: () => number;
}

/** Tells listeners that other handles have changed something: the store's counter has grown by more than our own part. */
export class Subscribers {
  readonly #options: SubscribersOptions;
  readonly #listeners = new Set<() => void>();
  #ending: Promise<void> = Promise.resolve();
  #stops: Promise<() => Promise<void>>[] = [];
  /** How much of the count was others' when it was last seen. */
  #others = 0;
  #looking: Promise<void> | undefined;
  #again = false;

  constructor(options: SubscribersOptions) {
    this.#options = options;
  }

  /** Sees the count before anybody can have looked for work: what others write from then on is told. */
  async begin(): Promise<void> {
    this.#others = this.#othersOf(await this.#options.read());
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

  /** Leaves no watch and no timer behind. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stop();
    await this.#ending;
    await this.#looking;
  }

  #start(): void {
    const listener = { look: () => this.#look(), heard: (entry: KvEntryLike) => this.#heard(entry) };
    this.#stops = this.#options.signals.map((signal) => signal(listener));
    // What came before the signals are there is not theirs to tell.
    void Promise.allSettled(this.#stops).then(() => this.#look());
    this.#look();
  }

  #stop(): void {
    const stops = this.#stops.splice(0);
    this.#ending = this.#ending.then(async () => {
      for (const result of await Promise.allSettled(stops)) {
        if (result.status === "fulfilled") await result.value();
      }
    });
  }

  #look(): void {
    if (this.#listeners.size === 0) return;
    this.#again = this.#looking !== undefined;
    this.#looking ??= this.#options.read().then((entry) => this.#heard(entry), () => this.#tell()).then(() => {
      this.#looking = undefined;
      if (this.#again) this.#look();
    });
  }

  #heard(entry: KvEntryLike): void {
    if (this.#listeners.size === 0) return;
    const before = this.#others;
    this.#others = this.#othersOf(entry);
    if (this.#others > before) this.#tell();
  }

  #othersOf({ value }: KvEntryLike): number {
    return count(value) - this.#options.own();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The number in an entry of KV's own 64 bit type. */
function count(value: unknown): number {
  const { value: number } = (value ?? {}) as { readonly value?: unknown };
  return typeof number === "bigint" ? Number(number) : 0;
}
