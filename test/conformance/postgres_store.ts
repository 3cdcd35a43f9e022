import type pg from "pg";
import { onTestFinished } from "vitest";
import { postgres, type PostgresOptions } from "../../plugins/storage/postgres/mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { freshSchema, testPool } from "../support/postgres.ts";
import { context } from "./storage_suite.ts";

/** A schema that no other test has, and a pool beside the stores; both are gone when the test ends. */
export function arrange(url: string, options: pg.PoolConfig = {}): { readonly schema: string; readonly pool: pg.Pool } {
  const [schema, pool] = [freshSchema(), testPool(url, options)];
  onTestFinished(async () => void await pool.query(`drop schema if exists "${schema}" cascade`));
  return { schema, pool };
}

/** An open store that does not listen, unless told; closed when the test ends. */
export async function opened(options: PostgresOptions): Promise<Storage> {
  const storage = postgres({ listen: false, ...options });
  onTestFinished(() => storage.close());
  await storage.open(context);
  return storage;
}
