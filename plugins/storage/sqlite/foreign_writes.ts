import type { Statement } from "../sql/statement.ts";
import type { Connection } from "./connection.ts";
import type { Versions } from "./statements.ts";

/**
 * Tells whether anybody else wrote: another connection, which moves SQLite's data version, or the application through
 * the connection that it shares with us, which changes more rows than we did.
 */
export class ForeignWrites {
  readonly #connection: Connection;
  readonly #versions: Statement<unknown, Versions>;
  /** Rows that we changed. */
  #own = 0;

  constructor(connection: Connection, versions: Statement<unknown, Versions>) {
    this.#connection = connection;
    this.#versions = versions;
  }

  /** What stays the same for as long as nobody else writes. */
  mark(): string {
    const { version, changes } = this.#read();
    return `${version} ${changes - this.#own}`;
  }

  /** Does work whose changes are ours. */
  own<T>(work: () => T): T {
    const before = this.#read();
    const result = work();
    this.#own += this.#read().changes - before.changes;
    return result;
  }

  #read(): Versions {
    return this.#connection.get(this.#versions, {})!;
  }
}
