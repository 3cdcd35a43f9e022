/** What happens to the n-th call: it fails, its reply is lost, or the process dies before or after it took effect. */
export type Fate = "fails" | "reply lost" | "dies before" | "dies after";

/** Where calls are counted: at the storage contract, or at what the driver writes through. */
export type Level = "store" | "write";

export const DEATHS: readonly Fate[] = ["dies before", "dies after"];
export const ERRORS: readonly Fate[] = ["fails", "reply lost"];

/** The error of a call that failed on purpose, as the driver's library would have thrown it. */
export interface Failure {
  (what: string): unknown;
}

/**
 * Counts the calls that pass, and strikes the n-th. Where a process dies, nothing passes any more: asynchronous calls
 * never answer, synchronous ones throw whatever is tried next, so that a transaction stays as it is until the real end.
 */
export class CrashPoint {
  readonly at: number;
  readonly fate: Fate;
  /** Resolves when the process has died, as far as the store can tell. */
  readonly died: Promise<void>;
  calls = 0;
  #struck: string | undefined;
  #isDead = false;
  #die = () => {};

  constructor(at: number, fate: Fate) {
    this.at = at;
    this.fate = fate;
    this.died = new Promise((resolve) => this.#die = resolve);
  }

  /** The call that was struck. */
  get struck(): string | undefined {
    return this.#struck;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  async pass<T>(what: string, call: () => Promise<T>, failure: Failure): Promise<T> {
    if (this.#isDead) return await never();
    if (!this.#strikes(what)) return await call();
    if (this.fate === "reply lost" || this.fate === "dies after") await call();
    if (DEATHS.includes(this.fate)) return await this.#end();
    throw failure(`${what} ${this.fate}`);
  }

  passNow<T>(what: string, call: () => T, failure: Failure): T {
    if (this.#isDead) throw failure(`${what}: dead`);
    if (!this.#strikes(what)) return call();
    if (this.fate === "reply lost" || this.fate === "dies after") call();
    if (DEATHS.includes(this.fate)) void this.#end();
    throw failure(`${what} ${this.fate}`);
  }

  #strikes(what: string): boolean {
    if (++this.calls !== this.at) return false;
    this.#struck = what;
    return true;
  }

  #end(): Promise<never> {
    this.#isDead = true;
    this.#die();
    return never();
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
