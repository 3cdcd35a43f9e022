import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import { CamelCasePlugin, type Generated, Kysely, SqliteDialect, type Transaction } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqlite, type SqliteDatabaseLike } from "../../plugins/storage/sqlite/mod.ts";
import type { Group, Storage } from "../../src/contract/mod.ts";
import { create, document, id, operation, started, store } from "../../src/testing/storage/documents.ts";
import { context } from "./storage_suite.ts";

interface Application {
  readonly orders: { readonly id: Generated<number>; readonly label: string };
}
type Trx = Transaction<Application>;

let directory: string;
let file: string;
const opened: (() => unknown)[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  file = join(directory, "schedules.db");
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  rmSync(directory, { recursive: true });
});

/** node:sqlite with the methods that Kysely's dialect knows from better-sqlite3. */
function forKysely(database: DatabaseSync) {
  return {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = database.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...parameters as never[]),
        run: (parameters: readonly unknown[]) => statement.run(...parameters as never[]),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...parameters as never[]),
      };
    },
  };
}

async function application(database: unknown, camelCase = false): Promise<Kysely<Application>> {
  const dialect = new SqliteDialect({ database: database as never });
  const db = new Kysely<Application>({ dialect, plugins: camelCase ? [new CamelCasePlugin()] : [] });
  await db.schema.createTable("orders").ifNotExists().addColumn("id", "integer", (c) => c.primaryKey())
    .addColumn("label", "text").execute();
  opened.push(() => db.destroy());
  return db;
}

async function scheduler(options: string | { database: SqliteDatabaseLike } | object): Promise<Storage> {
  const storage = sqlite(options as never);
  await storage.open(context);
  opened.push(() => storage.close());
  return storage;
}

function closedLater<T extends SqliteDatabaseLike>(database: T): T {
  opened.push(() => database.close());
  return database;
}

/** The ways in which an application and the scheduler may sit on one database. */
const ARRANGEMENTS: readonly (readonly [string, () => Promise<{ db: Kysely<Application>; storage: Storage }>])[] = [
  ["two better-sqlite3 connections", async () => {
    const db = await application(new Database(file));
    return { storage: await scheduler({ database: closedLater(new Database(file)) }), db };
  }],
  ["node:sqlite beside a file", async () => {
    const db = await application(forKysely(new DatabaseSync(file)));
    return { storage: await scheduler(file), db };
  }],
  ["one better-sqlite3 connection for both", async () => {
    const database = new Database(file);
    const db = await application(database);
    return { storage: await scheduler({ database }), db };
  }],
  ["one node:sqlite connection in memory for both", async () => {
    const database = new DatabaseSync(":memory:");
    const db = await application(forKysely(database));
    return { storage: await scheduler({ database }), db };
  }],
  ["a Kysely whose plugins rename columns", async () => {
    const db = await application(forKysely(new DatabaseSync(file)), true);
    return { storage: await scheduler(file), db };
  }],
];

describe.each(ARRANGEMENTS)("sqlite: the application's transaction, %s", (_, arrange) => {
  it("U4 commits the schedule and the application's rows together", async () => {
    const { db, storage } = await arrange();
    await db.transaction().execute(async (trx) => {
      await trx.insertInto("orders").values({ label: "42" }).execute();
      const results = await storage.enlist!(trx).apply([create(document(1, 5_000))], 1_000);
      expect(results).toEqual([{ committed: true, values: [id(1)] }]);
    });
    expect((await storage.get(id(1)))?.id).toBe(id(1));
    expect(await storage.nextWake(["work"])).toBe(5_000);
    expect((await db.selectFrom("orders").selectAll().execute()).length).toBe(1);
  });

  it("U4 rolls both back together, and answers nothing of it from memory", async () => {
    const { db, storage } = await arrange();
    await store(storage, [document(1, 5_000)]);
    await storage.advance({ lanes: ["work"], limit: 1, now: 5_000 }, (current) => ({
      document: started(current, 6_000),
      value: 0,
    }));
    const failing = db.transaction().execute(async (trx) => {
      await trx.insertInto("orders").values({ label: "42" }).execute();
      const within = storage.enlist!(trx);
      await within.apply<unknown>([
        [operation({ id: id(1) }, (current) => ({ document: started(current!, 9_000), value: 0 }))],
        create(document(2, 5_000)),
      ], 1_000);
      expect((await within.get(id(1)))?.progress.fence).toBe(2);
      throw new Error("changed its mind");
    });
    await expect(failing).rejects.toThrow("changed its mind");
    expect(await storage.get(id(2))).toBeUndefined();
    const seen = await storage.apply(
      [[operation({ id: id(1) }, (current) => ({ value: current?.progress.fence }))]],
      1,
    );
    expect(seen).toEqual([{ committed: true, values: [1] }]);
    expect(await db.selectFrom("orders").selectAll().execute()).toEqual([]);
  });

  it("U4 sees what it wrote, and decides groups as outside: all or nothing, names unique", async () => {
    const { db, storage } = await arrange();
    await store(storage, [document(1, 5_000, { definition: { name: "taken" } })]);
    await db.transaction().execute(async (trx) => {
      const within = storage.enlist!(trx);
      const named = (n: number, name: string): Group<string> => create(document(n, 5_000, { definition: { name } }));
      const results = await within.apply<unknown>([
        named(2, "free"),
        [...create(document(3, 5_000)), ...named(4, "taken")],
        [operation({ owner: "system", name: "free" }, (current) => ({ value: String(current?.id) }))],
      ], 1_000);
      expect(results.map((result) => result.committed)).toEqual([true, false, true]);
      expect(results[1]).toMatchObject({ reason: { code: "conflict" } });
      expect(results[2]).toMatchObject({ values: [id(2)] });
      expect(await within.get(id(3))).toBeUndefined();
    });
    expect((await storage.find({ limit: 9 })).map((found) => found.id)).toEqual([id(1), id(2)]);
  });

  it("U4 calls made at once in one transaction do not get into each other's way", async () => {
    const { db, storage } = await arrange();
    await db.transaction().execute(async (trx) => {
      const make = (n: number) => storage.enlist!(trx).apply([create(document(n, 5_000))], 1_000);
      await Promise.all([make(1), make(2), make(1).then(([result]) => expect(result!.committed).toBe(false)), make(3)]);
    });
    expect((await storage.find({ limit: 9 })).length).toBe(3);
  });

  it("U4 the scheduler's own write waits for the application's without blocking it, and both succeed", async () => {
    const { db, storage } = await arrange();
    let waited = false;
    const write = db.transaction().execute(async (trx) => {
      await trx.insertInto("orders").values({ label: "42" }).execute();
      const own = store(storage, [document(1, 5_000)]).then(() => waited = true);
      await turns(50);
      expect(waited).toBe(false);
      await storage.enlist!(trx).apply([create(document(2, 5_000))], 1_000);
      return { own };
    });
    await (await write).own;
    expect((await storage.find({ limit: 9 })).map((found) => found.id)).toEqual([id(1), id(2)]);
  });
});

describe("sqlite: locks", () => {
  it("U4 a lock that is kept ends in a retryable error after the busy timeout, and the store works again", async () => {
    const storage = await scheduler({ path: file, busyTimeout: 50 });
    const other = new DatabaseSync(file);
    opened.push(() => other.close());
    other.exec("begin immediate");
    const kept = storage.apply([create(document(1, 5_000))], 1_000);
    await expect(kept).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await expect(kept).rejects.toThrow("locked for 50 ms");
    const many = [2, 3, 4].map((n) => storage.apply([create(document(n, 5_000))], 1_000));
    const outcomes = await Promise.allSettled(many);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(Array(3).fill("rejected"));
    expect(new Set(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason)).size, "waited once")
      .toBe(1);
    expect(await storage.get(id(1))).toBeUndefined();
    other.exec("commit");
    await store(storage, [document(1, 5_000)]);
    expect((await storage.get(id(1)))?.id).toBe(id(1));
  });

  it("reads are answered while another connection writes", async () => {
    const storage = await scheduler({ path: file, busyTimeout: 0 });
    await store(storage, [document(1, 5_000)]);
    const other = new DatabaseSync(file);
    opened.push(() => other.close());
    other.exec("begin immediate; update ostinato_schedules set wake_at = 7");
    expect((await storage.find({ limit: 5 })).length).toBe(1);
    expect(await storage.nextWake(["work"])).toBe(5_000);
    const quiet = storage.advance({ lanes: ["work"], limit: 1, now: 4_000 }, () => ({ document: null, value: 0 }));
    expect(await quiet).toMatchObject({ values: [], nextWake: 5_000 });
    other.exec("rollback");
  });

  it("closing waits for a write that waits for the lock", async () => {
    const storage = await scheduler(file);
    const other = new DatabaseSync(file);
    other.exec("begin immediate");
    const pending = store(storage, [document(1, 5_000)]);
    const closed = storage.close();
    await turns(5);
    other.exec("commit");
    await closed;
    await pending;
    expect(other.prepare("select count(*) as n from ostinato_schedules").get()).toMatchObject({ n: 1 });
    other.close();
  });
});

describe("sqlite: transactions that do not fit", () => {
  it.each([undefined, null, 7, {}, { isTransaction: false, withoutPlugins() {} }])("U4 refuses %o", async (given) => {
    const storage = await scheduler(file);
    expect(() => storage.enlist!(given)).toThrow(/^within: .*expected an open Kysely transaction/);
  });

  it("U4 refuses a Kysely without a transaction, one on another store, and one on a database without a store", async () => {
    const storage = await scheduler(file);
    const here = await application(forKysely(new DatabaseSync(file)));
    expect(() => storage.enlist!(here)).toThrow("expected an open Kysely transaction");
    const other = join(directory, "other.db");
    await scheduler(other);
    for (const path of [other, join(directory, "third.db")]) {
      const elsewhere = await application(forKysely(new DatabaseSync(path)));
      const within = elsewhere.transaction().execute((trx: Trx) =>
        storage.enlist!(trx).apply([create(document(1, 5_000))], 1_000)
      );
      await expect(within, path).rejects.toMatchObject({ code: "config_invalid" });
    }
  });
});

describe("sqlite: two copies of SQLite on one file", () => {
  it("U4 are refused before anything is written: they do not see each other's locks", async () => {
    const storage = await scheduler(file);
    const db = await application(new Database(file));
    const within = db.transaction().execute((trx) => storage.enlist!(trx).apply([create(document(1, 5_000))], 1_000));
    await expect(within).rejects.toMatchObject({ code: "config_invalid" });
    await expect(within).rejects.toThrow("two copies of SQLite");
    expect(await storage.get(id(1))).toBeUndefined();
  });
});

/** Turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
}
