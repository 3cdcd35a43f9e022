import pg from "pg";

/** Connections of one life. */
const SIZE = 2;

/**
 * Pools that no life uses just now, by address. A connection costs the server several times what a life does with it, so
 * lives hand theirs on, as behind a pooler; each has a pool of its own as long as it lasts.
 */
const kept = new Map<string, pg.Pool[]>();

/** A pool for one life, to be given back. */
export function takePool(url: string): pg.Pool {
  const pool = kept.get(url)?.pop();
  if (pool !== undefined) return pool;
  const made = new pg.Pool({ connectionString: url, max: SIZE, idleTimeoutMillis: 0 });
  made.on("error", () => {});
  return made;
}

/** Hands a pool on to the next life. */
export function giveBack(url: string, pool: pg.Pool): void {
  kept.set(url, [...kept.get(url) ?? [], pool]);
}

/** Ends them all, which waits for every connection that a life has not released. */
export async function endPools(): Promise<void> {
  const pools = [...kept.values()].flat();
  kept.clear();
  await Promise.all(pools.map((pool) => pool.end()));
}
