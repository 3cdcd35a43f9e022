import { type Clock, STORE_LOOK_MS } from "../../../src/contract/mod.ts";

/** What {@linkcode News} work with. */
export interface NewsOptions {
  readonly clock: Clock;
  /** Tells the others by a commit of its own. */
  readonly write: () => Promise<boolean>;
}

/**
 * How often others are told that they should look: with the change itself where that is not too often, and otherwise once
 * for all that came meanwhile.
 */
export class News {
  readonly #options: NewsOptions;
  #cancel: (() => void) | undefined;
  #owed = false;
  #closed = false;
  #writing: Promise<void> = Promise.resolve();
  /** How often this handle has told, by which it knows its own voice. */
  count = 0;

  constructor(options: NewsOptions) {
    this.#options = options;
  }

  /** A commit has news: whether it is to tell them itself, or they are told later. */
  claim(): "now" | "later" {
    if (this.#cancel === undefined) return "now";
    this.#owed = true;
    return "later";
  }

  /** A commit has told them. */
  told(): void {
    this.count++;
    if (this.#closed) return;
    this.#cancel ??= this.#options.clock.setTimer(() => this.#quietIsOver(), STORE_LOOK_MS, { unref: true });
  }

  /** Tells what is owed, and leaves no timer behind. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#owed) this.#tell();
    await this.#writing;
  }

  #quietIsOver(): void {
    this.#cancel = undefined;
    if (this.#owed) this.#tell();
  }

  #tell(): void {
    this.#owed = false;
    const written = async () => {
      // A hint may be lost: whoever wakes next finds what it was about.
      if (await this.#options.write().catch(() => false)) this.told();
    };
    this.#writing = this.#writing.then(written);
  }
}
