import { DatabaseSync } from "node:sqlite";
import { kv } from "../../plugins/storage/kv/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { openKv } from "../support/kv.ts";

/** Stores that a simulation runs on. Those of a database are real, and virtual time waits for them. */
export const STORE_NAMES = ["memory", "sqlite", "kv", "postgres"] as const;
export type StoreName = typeof STORE_NAMES[number];

/** A store for one simulation. */
export interface SimulatedStore {
  readonly handle: () => Storage;
  readonly dispose: () => void | Promise<void>;
}

/** Makes an empty store. */
export async function makeStore(name: StoreName): Promise<SimulatedStore> {
  if (name === "memory") {
    const root = memory();
    return { handle: () => root.handle(), dispose() {} };
  }
  if (name === "sqlite") {
    const database = new DatabaseSync(":memory:");
    return { handle: () => sqlite({ database }), dispose: () => database.close() };
  }
  // Loaded where it is needed, as it brings a server along.
  if (name === "postgres") return await (await import("./postgres_store.ts")).postgresStore();
  const handle = await openKv(":memory:");
  return { handle: () => kv({ kv: handle }), dispose: () => void handle.close() };
}
