import pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { postgres, type PostgresOptions } from "../../plugins/storage/postgres/mod.ts";
import type { Clock, Storage } from "../../src/contract/mod.ts";
import { type CuttableProxy, cuttableProxy } from "../support/cuttable_proxy.ts";
import { freshSchema, sharedServer, testPool } from "../support/postgres.ts";
import { context } from "./storage_suite.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

/** How much faster than the machine's own timers those of the store are: while it is closed only. */
let haste = 1;
const clock: Clock = {
  ...context.clock,
  setTimer: (callback, delayMs, options) => context.clock.setTimer(callback, delayMs / haste, options),
};

async function closed(storage: Storage): Promise<void> {
  haste = 100;
  await storage.close();
  haste = 1;
}

const quiet = { error() {}, warn() {}, info() {}, debug() {} };

async function opened(options: PostgresOptions): Promise<Storage> {
  const schema = freshSchema();
  const pool = testPool(url);
  onTestFinished(async () => void await pool.query(`drop schema if exists "${schema}" cascade`));
  const storage = postgres({ schema, ...options });
  await storage.open({ clock, logger: quiet });
  return storage;
}

async function connected(way: CuttableProxy, connections: number): Promise<void> {
  while (way.attempts() < connections) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("postgres: closing while the network is gone without a word", () => {
  it("X1 B112 waits neither for idle connections nor for the one that listens", async () => {
    const way = await cuttableProxy(url);
    const storage = await opened({ url: way.url });
    const listens = new Promise<void>((resolve) => storage.subscribe!(resolve));
    await listens;
    way.stall();
    await closed(storage);
  });

  it("X1 B112 waits no longer for a connection that was just being made to listen", async () => {
    const way = await cuttableProxy(url);
    way.stall();
    const storage = await opened({ url, listen: way.url });
    storage.subscribe!(() => {});
    await connected(way, 1);
    await closed(storage);
  });

  it("X1 B112 gives up statements that are under way, which fail", async () => {
    const way = await cuttableProxy(url);
    const storage = await opened({ url: way.url, listen: false });
    way.stall();
    const asked = storage.get("nothing").catch((error) => error);
    await closed(storage);
    expect(await asked).toMatchObject({ code: "store_unavailable" });
  });

  it("X1 B112 leaves a pool of the application's to it, with the statements that are under way there", async () => {
    const way = await cuttableProxy(url);
    const pool = new pg.Pool({ connectionString: way.url, max: 1 });
    pool.on("error", () => {});
    const storage = await opened({ pool, listen: false });
    way.stall();
    const asked = storage.get("nothing").catch((error) => error);
    await closed(storage);
    expect(pool.totalCount).toBe(1);
    way.cut();
    expect(await asked).toMatchObject({ code: "store_unavailable" });
    await pool.end();
  });
});
