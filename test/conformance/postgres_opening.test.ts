import process from "node:process";
import { createHash } from "node:crypto";
import { Kysely, PostgresDialect } from "kysely";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { migrationSql, postgres, type PostgresOptions } from "../../plugins/storage/postgres/mod.ts";
import { metaSql, migrationSteps, SCHEMA_VERSION } from "../../plugins/storage/postgres/schema.ts";
import { document, id, moved, retired, store } from "../../src/testing/storage/documents.ts";
import { sharedServer, testPool } from "../support/postgres.ts";
import { arrange, opened } from "./postgres_store.ts";
import { context } from "./storage_suite.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

describe("postgres: opening and migrating", () => {
  for (const [what, poolSize] of [["pools", 3], ["pools of one connection", 1]] as const) {
    it(`M7 B122 ten instances on ${what} start at once on an empty database`, async () => {
      for (let round = 0; round < 5; round++) {
        const { schema, pool } = arrange(url);
        const stores = Array.from({ length: 10 }, () => postgres({ url, poolSize, schema, listen: false }));
        await Promise.all(stores.map((one) => one.open(context)));
        await Promise.all(stores.map((one) => one.close()));
        const { rows } = await pool.query(`select key from "${schema}".meta order by key`);
        expect(rows).toEqual([{ key: "schema" }, { key: "store" }]);
      }
    });
  }

  it("M7 B122 so do ten whose connections have been in use, as behind a pooler, and remember that nothing was there", async () => {
    const pools = Array.from({ length: 10 }, () => testPool(url, { max: 1 }));
    for (let round = 0; round < 5; round++) {
      const { schema, pool } = arrange(url);
      const stores = pools.map((one) => postgres({ pool: one, schema, listen: false }));
      await Promise.all(stores.map((one) => one.open(context)));
      await Promise.all(stores.map((one) => one.close()));
      const { rows } = await pool.query(`select key from "${schema}".meta order by key`);
      expect(rows).toEqual([{ key: "schema" }, { key: "store" }]);
    }
  });

  it("M7 B122 so do stores of several prefixes in one schema, whose locks are not the same", async () => {
    for (let round = 0; round < 5; round++) {
      const { schema, pool } = arrange(url);
      const stores = Array.from(
        { length: 6 },
        (_, n) => postgres({ url, poolSize: 1, schema, tablePrefix: `p${n}_`, listen: false }),
      );
      await Promise.all(stores.map((one) => one.open(context)));
      await Promise.all(stores.map((one) => one.close()));
      const { rows } = await pool.query(
        "select count(*)::int as tables from pg_tables where schemaname = $1 and tablename ~ 'documents$'",
        [schema],
      );
      expect(rows).toEqual([{ tables: 6 }]);
    }
  });

  it("M7 refuses a store that a newer version wrote, and leaves it as it is", async () => {
    const { schema, pool } = arrange(url);
    await (await opened({ pool, schema })).close();
    await pool.query(`update "${schema}".meta set value = '99' where key = 'schema'`);
    await expect(opened({ pool, schema })).rejects.toMatchObject({
      code: "store_too_new",
      message: expect.stringContaining("have schema 99; this version of the scheduler knows up to 4"),
    });
  });

  it.each([1, 2, 3])("M7 brings a store of schema %i to this one, with what it holds", async (version) => {
    const { schema, pool } = arrange(url);
    const settings = { schema, tablePrefix: "" };
    const steps = migrationSteps(settings, 0).slice(0, version);
    await pool.query(`create schema "${schema}"; ${metaSql(settings)} ${steps.join("")}`);
    const elsewhere = arrange(url);
    await store(await opened(elsewhere), [document(1, 5_000), document(2, 5_000), document(3, 253_402_300_799_999)]);
    await pool.query(`insert into "${schema}".documents select * from "${elsewhere.schema}".documents`);
    const storage = await opened({ pool, schema });
    const { values } = await storage.advance(
      { lanes: ["work"], limit: 5, now: 0 },
      (current) => ({ value: current.id }),
    );
    expect(values.toSorted()).toEqual([id(1), id(2)]);
    expect((await storage.get(id(3)))?.progress.wakeAt).toBe(253_402_300_799_999);
    const { rows } = await pool.query(`select value from "${schema}".meta where key = 'schema'`);
    expect(rows).toEqual([{ value: `${SCHEMA_VERSION}` }]);
  });

  it("M7 leaves the functions of the schema before to instances that still run", async () => {
    const { schema, pool } = arrange(url);
    const settings = { schema, tablePrefix: "" };
    const functions = async () =>
      (await pool.query<{ name: string }>(
        `select oid::regprocedure::text as name from pg_proc where pronamespace = $1::regnamespace order by 1`,
        [`"${schema}"`],
      )).rows.map(({ name }) => name);
    await pool.query(
      `create schema "${schema}"; ${metaSql(settings)} ${migrationSteps(settings, 0).slice(0, 2).join("")}`,
    );
    const before = await functions();
    await opened({ pool, schema });
    expect(await functions()).toEqual(expect.arrayContaining(before));
  });

  it("M7 changes nothing in the database without a new version, which alone reaches the ones that are there", () => {
    const text = createHash("sha256").update(migrationSql()).digest("hex");
    expect([SCHEMA_VERSION, text]).toEqual([4, "6bb91f5794c04212ced553b3ca450a49dda4cae93ec1de79d68645e042094f09"]);
  });

  it("refuses absent tables when somebody else migrates, and takes what migrationSql made", async () => {
    const { schema, pool } = arrange(url);
    const options = { pool, schema, tablePrefix: "x_", migrate: "manual" } as const;
    await expect(opened(options)).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
    await pool.query(migrationSql({ schema, tablePrefix: "x_" }));
    const storage = await opened(options);
    await store(storage, [document(1, 5_000)]);
    expect((await storage.get(id(1)))?.id).toBe(id(1));
  });

  it.each([1, 2, 3])("M7 migrationSql leads on from schema %i, which a refusal to open names", async (version) => {
    const { schema, pool } = arrange(url);
    const steps = migrationSteps({ schema, tablePrefix: "" }, 0).slice(0, version);
    await pool.query(`create schema "${schema}"; ${metaSql({ schema, tablePrefix: "" })} ${steps.join("")}`);
    const options = { pool, schema, migrate: "manual" } as const;
    await expect(opened(options)).rejects.toThrow(`apply migrationSql({ from: ${version} })`);
    await pool.query(migrationSql({ schema, from: version }));
    const storage = await opened(options);
    await store(storage, [document(1, 5_000)]);
    expect((await storage.get(id(1)))?.id).toBe(id(1));
  });

  it.each([-1, 1.5, "2", SCHEMA_VERSION + 1])("migrationSql refuses to lead on from schema %o", (from) => {
    expect(() => migrationSql({ from } as never)).toThrow("from: ");
  });

  it("makes the same tables itself as migrationSql does", async () => {
    const [a, b] = [arrange(url), arrange(url)];
    await opened({ pool: a.pool, schema: a.schema });
    await b.pool.query(migrationSql({ schema: b.schema }));
    const columns = async ({ schema, pool }: typeof a) =>
      (await pool.query(
        `select c.relname, c.relkind, c.reloptions, a.attname, format_type(a.atttypid, a.atttypmod) as type,
          obj_description(c.oid) as comment, col_description(c.oid, a.attnum) as told
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
        where c.relnamespace = $1::regnamespace order by 1, a.attnum`,
        [`"${schema}"`],
      )).rows;
    expect(await columns(a)).toEqual(await columns(b));
    expect((await columns(a)).length).toBeGreaterThan(30);
  });

  it("shows the schedules to people in the view schedules, damaged and hostile ones too", async () => {
    const { schema, pool } = arrange(url);
    const storage = await opened({ pool, schema });
    const ran = { lastRun: 1_767_225_600_123, runCount: 7, faultCount: 2 };
    await store(storage, [
      document(1, 253_402_300_799_999, { definition: { name: "nightly", target: "room:42" }, progress: ran }),
      retired(document(2, 5_000), 6_000),
      moved(document(3, 5_000), { wakeAt: null, pausedAt: 1 }),
      document(4, 5_000, { progress: { lastFault: { name: "E", message: "\\u0000\\ud800", at: 1 } } }),
      document(5, 5_000),
      document(6, 253_402_300_799_999),
    ]);
    await pool.query(`update "${schema}".documents set progress = '{broken' where id = $1`, [id(5)]);
    await pool.query(`update "${schema}".documents set progress = '{"runCount":"many"}' where id = $1`, [id(6)]);
    await storage.advance({ lanes: ["work"], limit: 5, now: 0 }, () => ({ value: 0 }));
    const { rows } = await pool.query(
      `select id, name, target, state, runs, faults, last_run, next_run, retire_reason, parked is not null as parked
      from "${schema}".schedules order by id`,
    );
    const plain = {
      name: null,
      target: null,
      runs: "0",
      faults: "0",
      last_run: null,
      retire_reason: null,
      parked: false,
    };
    const due = new Date(5_000);
    expect(rows).toEqual([
      {
        ...plain,
        id: id(1),
        name: "nightly",
        target: "room:42",
        state: "waiting",
        runs: "7",
        faults: "2",
        last_run: new Date(1_767_225_600_123),
        next_run: new Date(253_402_300_799_999),
      },
      { ...plain, id: id(2), state: "retired", next_run: null, retire_reason: "completed" },
      { ...plain, id: id(3), state: "paused", next_run: null },
      { ...plain, id: id(4), state: "waiting", next_run: due },
      { ...plain, id: id(5), state: "parked", next_run: due, parked: true },
      { ...plain, id: id(6), state: "waiting", next_run: new Date(253_402_300_799_999) },
    ]);
  });

  it("keeps what the view calls out of parallel plans, where PostgreSQL before 17 begins no subtransaction", async () => {
    const { schema, pool } = arrange(url);
    await opened({ pool, schema });
    const { rows } = await pool.query(
      "select proparallel from pg_proc where proname = 'facts' and pronamespace = $1::regnamespace",
      [`"${schema}"`],
    );
    expect(rows).toEqual([{ proparallel: "u" }]);
  });

  it("closes neither the pool nor the Kysely that it was given, and takes its listener back", async () => {
    const { schema, pool } = arrange(url);
    const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    const before = pool.listenerCount("error");
    for (const options of [{ pool, schema }, { kysely, schema }] as const) {
      const storage = await opened(options);
      await storage.close();
      expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    }
    expect(pool.listenerCount("error")).toBe(before);
  });

  it("leaves the pool's listeners few, however many stores are on it", async () => {
    const { schema, pool } = arrange(url);
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on("warning", onWarning);
    onTestFinished(() => void process.removeListener("warning", onWarning));
    let most = 0;
    pool.on("release", (_error, client) => most = Math.max(most, client.listenerCount("error")));
    const before = pool.listenerCount("error");
    const stores = await Promise.all(Array.from({ length: 12 }, () => opened({ pool, schema })));
    await Promise.all(stores.map((storage) => Promise.all([storage.now(0), storage.now(0)])));
    expect(pool.listenerCount("error")).toBe(before + 1);
    expect(pool.listenerCount("acquire")).toBe(1);
    for (const storage of stores) await storage.close();
    expect(pool.listenerCount("error")).toBe(before);
    expect(pool.listenerCount("acquire")).toBe(0);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(5);
    expect(warnings).not.toContain("MaxListenersExceededWarning");
  });

  it("may be opened again after it could not be", async () => {
    const { schema, pool } = arrange(url);
    const storage = postgres({ pool, schema, migrate: "manual", listen: false });
    onTestFinished(() => storage.close());
    await expect(storage.open(context)).rejects.toMatchObject({ code: "store_unavailable" });
    await pool.query(migrationSql({ schema }));
    await storage.open(context);
    await expect(storage.open(context)).rejects.toThrow("open already");
  });

  it("uses a schema that somebody else made, without the right to make one", async () => {
    const { schema, pool } = arrange(url);
    const role = `${schema}_role`;
    await pool.query(`create role "${role}" login password 'x'; create schema "${schema}" authorization "${role}"`);
    const own = Object.assign(new URL(url), { username: role, password: "x" }).href;
    const storage = await opened({ url: own, schema });
    await store(storage, [document(1, 5_000)]);
    await storage.close();
    await pool.query(`drop schema "${schema}" cascade; drop role "${role}"`);
  });

  it("B141 S4 refuses a database whose encoding lacks characters, and takes one that keeps bytes as they are", async () => {
    const { schema, pool } = arrange(url);
    const at = async (encoding: string): Promise<PostgresOptions> => {
      const name = `${schema}_${encoding.toLowerCase()}`;
      await pool.query(
        `create database "${name}" template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`,
      );
      onTestFinished(async () => void await pool.query(`drop database "${name}" with (force)`));
      const address = new URL(url);
      address.pathname = name;
      return { url: address.href, listen: false };
    };
    const latin = postgres(await at("LATIN1"));
    await expect(latin.open(context)).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
    await expect(latin.open(context)).rejects.toThrow("encoding is LATIN1");
    const bytes = await opened(await at("SQL_ASCII"));
    const name = "\u65e5\u672c \u2192 \u00e9";
    await store(bytes, [document(1, null, { definition: { name } })]);
    expect((await bytes.find({ name, limit: 10 })).map(({ definition }) => definition.name)).toEqual([name]);
  });

  it("tells of a server that is not there, and of one that refuses, without a password", async () => {
    const nowhere = postgres("postgres://postgres:secret@127.0.0.1:1/postgres");
    const refused = postgres(Object.assign(new URL(url), { password: "secret" }).href);
    for (const [storage, retryable] of [[nowhere, true], [refused, false]] as const) {
      const opening = storage.open(context);
      await expect(opening).rejects.toMatchObject({ code: "store_unavailable", retryable });
      await expect(opening).rejects.not.toThrow("secret");
      await storage.close();
    }
  });
});
