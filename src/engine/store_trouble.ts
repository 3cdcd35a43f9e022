import { type Logger, show } from "../contract/mod.ts";

/** Logs that the store fails: the whole error once, since each attempt says the same while the store is away (M6). */
export class StoreTrouble {
  readonly #logger: Logger;
  /** Calls that have failed since the store answered. */
  #failures = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A call failed. */
  failed(operation: string, error: unknown): void {
    this.#failures++;
    if (this.#failures === 1) return this.#logger.warn(`the store failed to ${operation}; it is tried again`, error);
    const times = `${this.#failures} times by now`;
    this.#logger.warn(`the store failed to ${operation} again (${times}): ${oneLine(error)}`);
  }

  /** A call went through. */
  answered(): void {
    if (this.#failures > 0) this.#logger.warn(`the store answers again; ${this.#failures} calls had failed`);
    this.#failures = 0;
  }
}

function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : show(error)).replaceAll(/\s+/g, " ");
}
