/** What a query of `pg` answers, as far as it is used. */
export interface PgResultLike {
  /** One object for each row. */
  readonly rows: readonly unknown[];
  /** What the server did: `"COMMIT"`, or `"ROLLBACK"` where a commit was asked of a failed transaction. */
  readonly command?: string;
}

/** The few methods of a connection of `pg` that are used. */
export interface PgClientLike {
  /** Runs one statement with parameters, or several without. */
  query(text: string, values?: PgQueryValue[]): Promise<PgResultLike>;
  /** Listens for the loss of the connection. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Takes a listener back. */
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** What is bound to a parameter of a query. */
export type PgQueryValue = string | number | null;

/** A connection that was taken out of a pool. */
export interface PgPoolClientLike extends PgClientLike {
  /** Gives it back, or has it closed. */
  release(destroy?: boolean): void;
}

/** The few methods of a pool of `pg` that are used: `pg.Pool` fits as it is. */
export interface PgPoolLike {
  /** Takes a connection out. */
  connect(): Promise<PgPoolClientLike>;
  /** Closes the pool; only one that the store has opened is closed. */
  end(): Promise<void>;
  /** Listens for the loss of idle connections. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Listens for connections that are about to be handed out. */
  on(event: "acquire", listener: (client: PgClientLike) => void): unknown;
  /** Takes a listener back. */
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  /** Takes a listener back. */
  removeListener(event: "acquire", listener: (client: PgClientLike) => void): unknown;
}

const POOL_METHODS = ["connect", "end", "on", "removeListener"] as const;

/** Whether a value has what is used of a pool. */
export function isPool(value: unknown): value is PgPoolLike {
  const methods = (value ?? {}) as Partial<PgPoolLike>;
  return POOL_METHODS.every((method) => typeof methods[method] === "function");
}

/** Whether it is a single connection of `pg`, which has a pool's methods but connects once. */
export function isClient(value: unknown): value is PgPoolLike {
  return isPool(value) && "processID" in value;
}
