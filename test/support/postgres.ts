import pg from "pg";
import { inject, onTestFinished } from "vitest";

/** A server that a test has to itself, so that it may restart it. */
export interface OwnServer {
  readonly url: string;
  /** Stops it, which ends every connection at once, and starts it again. */
  restart(): Promise<void>;
}

/** The address of a database on the server that all tests share. */
export async function sharedServer(): Promise<string> {
  return (await ask<{ url: string }>("shared")).url;
}

/** Starts another server; it ends with the run. */
export async function ownServer(): Promise<OwnServer> {
  const { url, index } = await ask<{ url: string; index: number }>("own");
  return { url, restart: async () => void await ask(`restart?index=${index}`) };
}

async function ask<T>(command: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${inject("postgresServers")}/${command}`);
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json() as T;
}

let schemas = 0;

/** A name that no other test's schema has. */
export function freshSchema(): string {
  return `test_${process.pid}_${Date.now().toString(36)}_${++schemas}`;
}

/** A pool on a server that is gone, with everybody else's connections to it, when the test ends. */
export function testPool(connectionString: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 4, ...options });
  // Some tests end its connections.
  pool.on("error", () => {});
  onTestFinished(() => pool.end());
  return pool;
}
