import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import type { Storage } from "../../src/contract/mod.ts";
import { create, document, id, moved, operation, store } from "../../src/testing/storage/documents.ts";
import { sharedServer, testPool } from "../support/postgres.ts";
import { arrange, opened } from "./postgres_store.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

/** Everything that writes: a claim, a creation by itself, several, a change. */
function writes(storage: Storage): (() => Promise<unknown>)[] {
  const grow = operation({ id: id(1) }, (current) => ({ document: moved(current!, { runCount: 1 }), value: 0 }));
  return [
    () =>
      storage.advance({ lanes: ["work"], limit: 5, now: 0 }, (current, now) => ({
        document: moved(current, { wakeAt: now + 60_000 }),
        value: current.id,
      })),
    () => storage.apply([create(document(2, 5_000))], 0),
    () => storage.apply([create(document(3, 5_000)), create(document(4, 5_000))], 0),
    () => storage.apply([[grow]], 0),
  ];
}

describe("postgres: a database that may only be read", () => {
  const settings = { options: "-c default_transaction_read_only=on" };
  for (
    const [what, source] of [
      ["a pool", (pool: pg.Pool) => ({ pool })],
      ["Kysely", (pool: pg.Pool) => ({ kysely: new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) }) })],
    ] as const
  ) {
    it(`M6 refuses every write alike until it may be written, with ${what}`, async () => {
      const { schema, pool } = arrange(url);
      await store(await opened({ pool, schema }), [document(1, 5_000)]);
      const storage = await opened({ ...source(testPool(url, settings)), schema });
      for (const write of writes(storage)) {
        await expect(write()).rejects
          .toMatchObject({ code: "store_unavailable", retryable: true, details: { sqlState: "25006" } });
      }
      expect((await storage.find({ limit: 5 })).map((found) => found.id)).toEqual([id(1)]);
    });
  }

  it("M6 a connection to what has become a standby is given up for one to the server that took its place", async () => {
    const { schema, pool } = arrange(url);
    await store(await opened({ pool, schema }), [document(1, 5_000)]);
    const failing = testPool(url, { max: 1 });
    const storage = await opened({ pool: failing, schema });
    for (const write of writes(storage)) {
      // A server that is demoted keeps its connections.
      await failing.query("set default_transaction_read_only = on");
      await write().catch(write);
    }
    expect((await storage.find({ limit: 5 })).map((found) => found.id)).toEqual([1, 2, 3, 4].map(id));
  });
});
