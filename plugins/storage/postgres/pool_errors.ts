import type { Clock, Logger } from "../../../src/contract/mod.ts";
import type { PgClientLike, PgPoolLike } from "./pg_like.ts";

/** Who hears of lost connections. */
export interface Hearer {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** However many stores are on one pool, it has one listener for all of them: of more than ten, Node warns as of a leak. */
const errorsOf = new WeakMap<PgPoolLike, PoolErrors>();

/**
 * Hears what becomes of a pool's connections while no statement is under way on them, which without a listener would end
 * the process; until what it answers is called.
 */
export function hearErrors(pool: PgPoolLike, hearer: Hearer): () => void {
  let errors = errorsOf.get(pool);
  if (errors === undefined) errorsOf.set(pool, errors = new PoolErrors(pool));
  return errors.add(hearer);
}

class PoolErrors {
  readonly #pool: PgPoolLike;
  readonly #hearers = new Set<Hearer>();
  /** Connections in the turn in which the pool hands them out, which it may do many times over. */
  readonly #handedOut = new Set<PgClientLike>();

  constructor(pool: PgPoolLike) {
    this.#pool = pool;
  }

  add(hearer: Hearer): () => void {
    if (this.#hearers.size === 0) {
      this.#pool.on("error", this.#onError);
      this.#pool.on("acquire", this.#onAcquire);
    }
    this.#hearers.add(hearer);
    return () => {
      if (!this.#hearers.delete(hearer) || this.#hearers.size > 0) return;
      this.#pool.removeListener("error", this.#onError);
      this.#pool.removeListener("acquire", this.#onAcquire);
    };
  }

  /** A connection that dies while it is idle is replaced at the next use. */
  readonly #onError = (error: Error): void => {
    for (const { logger } of this.#hearers) logger.debug("postgres: a connection of the pool was lost", error);
  };

  /**
   * A connection that the server ends as soon as it is made can tell so within the very turn in which the pool hands it
   * out, when the pool no longer listens and whoever waits for it has not begun to: an error that would end the process.
   */
  readonly #onAcquire = (client: PgClientLike): void => {
    const [first] = this.#hearers;
    if (first === undefined || this.#handedOut.has(client)) return;
    this.#handedOut.add(client);
    client.on("error", this.#onError);
    first.clock.defer(() => {
      this.#handedOut.delete(client);
      client.removeListener("error", this.#onError);
    });
  };
}
