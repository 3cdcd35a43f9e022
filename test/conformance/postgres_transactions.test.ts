import { CamelCasePlugin, Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask } from "../../mod.ts";
import { postgres, type PostgresOptions } from "../../plugins/storage/postgres/mod.ts";
import type { Group, Storage } from "../../src/contract/mod.ts";
import { manualClock } from "../../src/testing/mod.ts";
import { create, document, id, operation, retired, store } from "../../src/testing/storage/documents.ts";
import { freshSchema, sharedServer, testPool } from "../support/postgres.ts";
import { context } from "./storage_suite.ts";

interface Application {
  readonly orders: { readonly id: string; readonly label: string };
}

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

/** An application with a table of its own and a store beside it, through one pool. */
async function arrange(max = 3, options: Partial<PostgresOptions> = {}) {
  const schema = freshSchema();
  const pool = testPool(url, { max });
  const db = new Kysely<Application>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })
    .withSchema(schema);
  const storage = await opened(postgres({ pool, schema, listen: false, ...options }));
  await pool.query(`create table "${schema}".orders (id text primary key, label text not null)`);
  onTestFinished(async () => {
    const last = new pg.Client(url);
    await last.connect();
    await last.query(`drop schema "${schema}" cascade`);
    await last.end();
  });
  return { schema, pool, db, storage };
}

async function opened(storage: Storage): Promise<Storage> {
  await storage.open(context);
  onTestFinished(() => storage.close());
  return storage;
}

async function ids(storage: Storage): Promise<string[]> {
  return (await storage.find({ limit: 100 })).map((found) => found.id);
}

function order(trx: Transaction<Application>, label: string) {
  return trx.insertInto("orders").values({ id: label, label }).execute();
}

describe("postgres: within the application's transaction", () => {
  it("U4 the schedule and the application's rows commit together, also from a pool with one connection", async () => {
    const { db, storage } = await arrange(1);
    await db.transaction().execute(async (trx) => {
      await order(trx, "42");
      const [result] = await storage.enlist!(trx).apply([create(document(1, 5_000))], 0);
      expect(result).toEqual({ committed: true, values: [id(1)] });
      expect((await storage.enlist!(trx).get(id(1)))?.id).toBe(id(1));
    });
    expect(await ids(storage)).toEqual([id(1)]);
    expect(await db.selectFrom("orders").select("label").execute()).toEqual([{ label: "42" }]);
  });

  it("U4 a store that is not open, and cannot be since the transaction has the only connection, is told of in time", async () => {
    const { db, schema, storage, pool } = await arrange(1);
    const clock = manualClock();
    const noop = defineTask("noop", () => {});
    const scheduler = createScheduler({ storage: postgres({ pool, schema, listen: false }), tasks: [noop], clock });
    onTestFinished(() => scheduler.close());
    await db.transaction().execute(async (trx) => {
      const early = scheduler.within(trx).after(noop, "1h");
      await Promise.all([
        expect(early).rejects.toMatchObject({ code: "store_unavailable", retryable: true }),
        clock.advance("5s"),
      ]);
      await order(trx, "42");
    });
    expect(await db.selectFrom("orders").select("label").execute()).toEqual([{ label: "42" }]);
    expect(await ids(storage)).toEqual([]);
    await scheduler.valid("");
    await db.transaction().execute((trx) => scheduler.within(trx).after(noop, "1h"));
    expect(await ids(storage)).toHaveLength(1);
  });

  it("U4 both roll back together", async () => {
    const { db, storage } = await arrange(1);
    const failing = db.transaction().execute(async (trx) => {
      await order(trx, "42");
      await storage.enlist!(trx).apply([create(document(1, 5_000))], 0);
      throw new RangeError("the application changed its mind");
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(await ids(storage)).toEqual([]);
    expect(await db.selectFrom("orders").selectAll().execute()).toEqual([]);
  });

  it("U4 the scheduler's own calls wait for the pool's only connection and then go on", async () => {
    const { db, storage } = await arrange(1);
    const own: Promise<unknown>[] = [];
    await db.transaction().execute(async (trx) => {
      own.push(store(storage, [document(1, 5_000)]), storage.nextWake(["work"]));
      await storage.enlist!(trx).apply([create(document(2, 5_000))], 0);
      await order(trx, "42");
    });
    await Promise.all(own);
    expect(await ids(storage)).toEqual([id(1), id(2)]);
  });

  it("U4 a name that is taken, a reject and a broken decision leave the transaction usable", async () => {
    const { db, storage } = await arrange();
    await store(storage, [document(1, 5_000, { definition: { name: "only" } })]);
    await db.transaction().execute(async (trx) => {
      const enlisted = storage.enlist!(trx);
      const [taken, free] = await enlisted.apply([
        create(document(2, 5_000, { definition: { name: "only" } })),
        create(document(3, 5_000)),
      ], 0);
      expect(taken).toMatchObject({ committed: false, reason: { code: "conflict" } });
      expect(free!.committed).toBe(true);
      const broken: Group = [operation({ id: id(1) }, () => {
        throw new RangeError("broken");
      })];
      await expect(enlisted.apply([broken], 0)).rejects.toThrow("broken");
      await order(trx, "42");
      await enlisted.apply<unknown>([[operation({ owner: "system", name: "only" }, (current) => ({
        document: retired(current!, 5_000),
        value: 0,
      }))], create(document(4, 5_000, { definition: { name: "only" } }))], 0);
    });
    expect(await ids(storage)).toEqual([id(3), id(4)]);
    expect(await db.selectFrom("orders").select("label").execute()).toEqual([{ label: "42" }]);
  });

  it("U4 calls made at once in one transaction do not get into each other's way", async () => {
    const { db, storage } = await arrange();
    await db.transaction().execute(async (trx) => {
      const make = (n: number) => storage.enlist!(trx).apply([create(document(n, 5_000))], 0);
      const results = await Promise.all([make(1), make(2), make(1), make(3)]);
      expect(results.map(([result]) => result!.committed)).toEqual([true, true, false, true]);
    });
    expect(await ids(storage)).toEqual([id(1), id(2), id(3)]);
  });

  it("U4 T8 decisions are told the database's time", async () => {
    const { db, storage } = await arrange();
    const before = await storage.now(0);
    await db.transaction().execute(async (trx) => {
      const [result] = await storage.enlist!(trx).apply([[operation(null, (_, now) => ({ value: now }))]], 5);
      expect(result!.committed && result!.values[0]! >= before).toBe(true);
    });
  });

  it("U4 refuses a transaction on another database, with another store or with none, without spoiling it", async () => {
    const { schema, storage } = await arrange();
    for (const tables of ["another store", "none"]) {
      const database = `${schema}_${tables.length}`;
      const admin = testPool(url, { max: 1 });
      await admin.query(`create database "${database}"`);
      const pool = new pg.Pool({ connectionString: Object.assign(new URL(url), { pathname: database }).href, max: 2 });
      const db = new Kysely<Application>({ dialect: new PostgresDialect({ pool }) });
      if (tables === "another store") {
        await opened(postgres({ pool, schema, listen: false })).then((one) => one.close());
      }
      await db.transaction().execute(async (trx) => {
        await expect(storage.enlist!(trx).apply([create(document(1, 5_000))], 0), tables).rejects
          .toMatchObject({ code: "config_invalid" });
        await trx.schema.createTable("still_usable").addColumn("id", "integer").execute();
      });
      await db.destroy();
      await admin.query(`drop database "${database}"`);
    }
  });

  it.each([undefined, null, 7, {}, { isTransaction: false, withoutPlugins() {} }])("U4 refuses %o", async (given) => {
    const { storage } = await arrange();
    expect(() => storage.enlist!(given)).toThrow(/^within: .*expected an open Kysely transaction/);
  });

  it("another transaction's lock holds up only the group that needs the row", async () => {
    const { pool, schema, storage } = await arrange(6);
    await store(storage, [document(1, 5_000), document(2, 5_000)]);
    const client = await pool.connect();
    await client.query("begin");
    await client.query(`select 1 from "${schema}".documents where id = $1 for update`, [id(1)]);
    const remove = (n: number): Group<number> => [operation({ id: id(n) }, () => ({ document: null, value: n }))];
    let held = true;
    const locked = storage.apply([remove(1)], 0).then((results) => (held = false, results));
    expect(await storage.apply<unknown>([remove(2), create(document(3, 5_000))], 0)).toMatchObject([
      { committed: true },
      { committed: true },
    ]);
    expect(held).toBe(true);
    await client.query("commit");
    client.release();
    expect(await locked).toEqual([{ committed: true, values: [1] }]);
    expect(await ids(storage)).toEqual([id(3)]);
  });
});
