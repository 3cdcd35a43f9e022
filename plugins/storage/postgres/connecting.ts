import { SchedulerError } from "../../../src/contract/mod.ts";
import { cut } from "./closing.ts";
import type { PostgresSource } from "./options.ts";
import type { PgClientLike, PgPoolLike } from "./pg_like.ts";

/** Milliseconds for which a connection is waited for, and after which a server that does not answer counts as gone. */
export const CONNECT_MS = 10_000;

/**
 * Milliseconds after which a statement that is not answered has its connection given up: the network may be gone. Writes
 * wait for one another, renewals that are sent after a third of a lease among them, so this is half the default lease.
 */
export const ANSWER_MS = 15_000;

/** A connection of one's own that is told what others say. */
export interface PgListenerLike extends PgClientLike {
  connect(): Promise<unknown>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  on(
    event: "notification",
    listener: (message: { readonly channel: string; readonly payload?: string }) => void,
  ): unknown;
  /** Lets the process end although it is open. */
  unref?(): void;
}

/** A pool of `pg` as far as it tells how it connects. */
interface ConnectingPool extends PgPoolLike {
  readonly Client?: new (options: object) => PgListenerLike;
  readonly options?: object;
}

interface PgModule {
  readonly Pool: new (options: object) => PgPoolLike;
  readonly Client: new (options: object) => PgListenerLike;
}

/** The package `pg`, which is only needed for a connection string. */
async function importPg(): Promise<PgModule> {
  try {
    const module: { readonly default: unknown } = await import("pg");
    return module.default as PgModule;
  } catch (error) {
    throw new SchedulerError(
      "config_invalid",
      "postgres: a connection string needs the package pg, which cannot be loaded; expected it beside the scheduler " +
        '(npm install pg, or "pg": "npm:pg@^8" in deno.json), or one of the options pool and kysely',
      { cause: error },
    );
  }
}

const SHARED = { connectionTimeoutMillis: CONNECT_MS, keepAlive: true, application_name: "ostinato" };

/** A pool of one's own. */
export interface OwnPool {
  readonly pool: PgPoolLike;
  /** Resolves when every connection is closed, which those that have been given up are no sooner than the server agrees. */
  gone(): Promise<void>;
  /** Closes what is left of them at once. */
  cut(): void;
}

/** Opens a pool of one's own. Its idle connections do not keep the process alive. */
export async function openPool(url: string, size: number): Promise<OwnPool> {
  const { Pool, Client } = await importPg();
  const open = new Map<PgListenerLike, Promise<void>>();
  class Counted extends Client {
    constructor(options: object) {
      super(options);
      open.set(this, new Promise((resolve) => this.on("end", () => resolve(void open.delete(this)))));
    }
  }
  const options = { ...SHARED, connectionString: url, max: size, allowExitOnIdle: true };
  return {
    pool: new Pool({ ...options, Client: Counted }),
    gone: async () => void await Promise.all(open.values()),
    cut: () => [...open.keys()].forEach(cut),
  };
}

/** How a listener connects; undefined where that cannot be told. */
export function listenerFactory(
  source: PostgresSource,
  listen: boolean | string,
): (() => Promise<PgListenerLike>) | undefined {
  if (listen === false) return undefined;
  const url = typeof listen === "string" ? listen : "url" in source ? source.url : undefined;
  if (url !== undefined) {
    return async () => new (await importPg()).Client({ ...SHARED, connectionString: url });
  }
  const { Client, options } = ("pool" in source ? source.pool : {}) as Partial<ConnectingPool>;
  if (Client === undefined || options === undefined) return undefined;
  return () => Promise.resolve(new Client(Object.assign(copied(options), { keepAlive: true })));
}

/** With what a pool hides from those who only look, as it does with its password. */
function copied(options: object): object {
  return Object.defineProperties({}, Object.getOwnPropertyDescriptors(options));
}
