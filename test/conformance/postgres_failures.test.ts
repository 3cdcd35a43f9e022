import { type AddressInfo, connect, createServer } from "node:net";
import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask } from "../../mod.ts";
import { postgres } from "../../plugins/storage/postgres/mod.ts";
import type { AdvanceResult, ScheduleDocument, Storage } from "../../src/contract/mod.ts";
import { change, create, document, id, moved, operation, store } from "../../src/testing/storage/documents.ts";
import { cuttableProxy } from "../support/cuttable_proxy.ts";
import { sharedServer, testPool } from "../support/postgres.ts";
import { arrange, opened } from "./postgres_store.ts";
import { context } from "./storage_suite.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

const HOUR = 3_600_000;

/** A claim: a run with a lease, so that the store knows the document and settles it the quick way. */
function claim(storage: Storage, limit = 10): Promise<AdvanceResult<string>> {
  return storage.advance({ lanes: ["work"], limit, now: 0 }, (current, now) => ({
    document: moved(current, {
      wakeAt: now + HOUR,
      fence: 1,
      runs: [{ fence: 1, point: 0, attempt: 1, missed: 0, instance: "i", leaseUntil: now + HOUR, claimedAt: now }],
    }),
    value: current.id,
  }));
}

function counted(current: ScheduleDocument): ScheduleDocument {
  return moved(current, { settledCount: current.progress.settledCount + 1, runs: [] });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("postgres: connections that are lost", () => {
  it("B116 M6 the process lives when every connection is ended, and goes on with new ones", async () => {
    const { schema, pool } = arrange(url);
    const ran: string[] = [];
    const task = defineTask("work", (_input, { schedule }) => void ran.push(schedule.id));
    const scheduler = createScheduler({
      storage: postgres({ url: `${url}?application_name=${schema}`, schema }),
      tasks: [task],
      logger: quiet,
    });
    onTestFinished(() => scheduler.close({ drain: 0 }));
    await scheduler.start();
    for (let round = 1; round <= 3; round++) {
      const { rows } = await pool.query<{ ended: boolean }>(
        "select pg_terminate_backend(pid) as ended from pg_stat_activity where application_name = $1",
        [schema],
      );
      expect(rows.length).toBeGreaterThan(0);
      const { id } = await scheduler.at(task, new Date(0)).catch(() => scheduler.at(task, new Date(0)));
      await until(() => ran.includes(id));
    }
  });

  for (const statement of ["commit\0", "step_at"]) {
    it(`M6 a settlement whose answer is lost at ${JSON.stringify(statement)} is applied once and reported as what it was`, async () => {
      const { schema } = arrange(url);
      const proxy = await cuttableProxy(url);
      const storage = await opened({ url: proxy.url, schema, poolSize: 2 });
      await store(storage, [document(1, 5_000)]);
      await claim(storage);
      // Two documents in one group go through a transaction, one that is known through a single statement.
      const second = statement === "commit\0" ? create(document(2, 9_000_000_000_000)) : [];
      proxy.loseAnswerTo(statement);
      const [result] = await storage.apply<unknown>([[
        operation({ id: id(1) }, (current) => ({ document: counted(current!), value: current!.progress.settledCount })),
        ...second,
      ]], 0);
      await proxy.lost();
      expect(result!.committed && result!.values[0]).toBe(0);
      expect((await storage.get(id(1)))?.progress.settledCount).toBe(1);
      expect((await storage.find({ limit: 5 })).length).toBe(second.length + 1);
    });
  }

  // A single one has a statement of its own.
  for (const [ids, statement] of [[[1], "insert into"], [[1, 2], '."insert"']] as const) {
    it(`M6 creations whose answer is lost (${ids.length}) are stored once and reported as stored`, async () => {
      const { schema } = arrange(url);
      const proxy = await cuttableProxy(url);
      const storage = await opened({ url: proxy.url, schema, poolSize: 2 });
      proxy.loseAnswerTo(statement);
      expect(await storage.apply(ids.map((n) => create(document(n, 5_000))), 0)).toEqual(
        ids.map((n) => ({ committed: true, values: [id(n)] })),
      );
      await proxy.lost();
      expect((await storage.find({ limit: 5 })).map((found) => found.id)).toEqual(ids.map(id));
    });
  }

  it("M6 the process lives when the server ends a connection that is being closed", async () => {
    const { schema } = arrange(url);
    const { proxyUrl, ended } = await partingProxy(url);
    const storage = await opened({ url: proxyUrl, schema, poolSize: 1 });
    await storage.close();
    await ended;
  });

  it("M6 a claim whose answer is lost is an error, and the lease that it left runs out like any other", async () => {
    const { schema } = arrange(url);
    const proxy = await cuttableProxy(url);
    const storage = await opened({ url: proxy.url, schema, poolSize: 2 });
    await store(storage, [document(1, 5_000)]);
    proxy.loseAnswerTo("step_free");
    await expect(claim(storage)).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await until(async () => (await storage.get(id(1)))?.progress.runs.length === 1);
  });

  it("M6 what a claim has got is not lost by a failure over what is damaged, which needs a transaction", async () => {
    const { schema, pool } = arrange(url);
    const proxy = await cuttableProxy(url);
    const storage = await opened({ url: proxy.url, schema, poolSize: 2 });
    await store(storage, [document(1, 5_000), document(2, 5_000)]);
    await pool.query(`update "${schema}".documents set progress = '{' where id = $1`, [id(2)]);
    proxy.loseAnswerTo("commit\0");
    expect(await claim(storage)).toMatchObject({ values: [id(1)], more: true });
    await until(async () => (await storage.get(id(2)))?.parked !== undefined);
  });

  it("a server that is gone is reported at once, and used again when it is back", async () => {
    const { schema } = arrange(url);
    const proxy = await cuttableProxy(url);
    const storage = await opened({ url: proxy.url, schema });
    proxy.cut();
    for (
      const call of [
        () => storage.apply([create(document(1, 5_000))], 0),
        () => storage.get(id(1)),
        () => claim(storage),
      ]
    ) {
      await expect(call()).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    }
    proxy.mend();
    await store(storage, [document(1, 5_000)]);
    expect((await storage.get(id(1)))?.id).toBe(id(1));
  });
});

describe("postgres: others in the way", () => {
  it("B121 claims, renewals, removals and registrations of the same rows by eight handles end in no deadlock for anybody", async () => {
    const { schema } = arrange(url);
    const stores = await Promise.all(Array.from({ length: 8 }, () => opened({ url, schema, poolSize: 2 })));
    const all = Array.from({ length: 100 }, (_, n) => n);
    await store(stores[0]!, all.map((n) => document(n, 5_000, { definition: { name: `n${n}` } })));
    const shuffled = (seed: number) => all.toSorted((a, b) => (a * 7_919 + seed) % 101 - (b * 7_919 + seed) % 101);
    const touch = (n: number) => [operation({ id: id(n) }, (current) => ({ document: counted(current!), value: 1 }))];
    const name = (n: number) => [
      operation({ owner: "system", name: `n${n}` }, (current) => ({ document: counted(current!), value: 1 })),
    ];
    const touches = await Promise.all(stores.map(async (storage, seed) => {
      let done = 0;
      for (let round = 0; round < 5; round++) {
        const [, ...results] = await Promise.all([
          claim(storage),
          storage.apply([shuffled(seed + round).flatMap(touch)], 0),
          storage.apply(shuffled(seed * 3 + round).map(name), 0),
          storage.apply(shuffled(seed * 5 + round).map(touch), 0),
        ]);
        done += results.flat().reduce((sum, result) => sum + (result.committed ? result.values.length : NaN), 0);
      }
      return done;
    }));
    const counts = await Promise.all(all.map(async (n) => (await stores[0]!.get(id(n)))!.progress.settledCount));
    expect(touches).toEqual(stores.map(() => 1_500));
    expect(counts).toEqual(all.map(() => 8 * 5 * 3));
  });

  it("M1 a few documents that four handles find at the same time go to one of them each", async () => {
    const { schema } = arrange(url);
    const stores = await Promise.all(Array.from({ length: 4 }, () => opened({ url, schema, poolSize: 2 })));
    for (let round = 0; round < 10; round++) {
      const ids = Array.from({ length: 12 }, (_, n) => round * 12 + n);
      await store(stores[0]!, ids.map((n) => document(n, 5_000)));
      const claims = await Promise.all(stores.map((storage) => claim(storage, 20)));
      const rest = await claim(stores[0]!, 20);
      expect([...claims, rest].flatMap(({ values }) => values).toSorted()).toEqual(ids.map(id));
    }
  });

  it("M1 a document that somebody has locked is passed over by a claim of a few, and looked at again soon", async () => {
    const { schema, pool } = arrange(url);
    const storage = await opened({ url, schema, poolSize: 2 });
    await store(storage, [document(1, 5_000), document(2, 5_000)]);
    const other = await pool.connect();
    await other.query("begin");
    await other.query(`select from "${schema}".documents where id = $1 for update`, [id(1)]);
    const { values, more, nextWake, now } = await claim(storage);
    expect({ values, more }).toEqual({ values: [id(2)], more: false });
    expect(nextWake! - now).toBeLessThanOrEqual(100);
    await other.query("rollback");
    other.release();
    expect((await claim(storage)).values).toEqual([id(1)]);
  });

  it("a database whose default isolation is serializable is no obstacle", async () => {
    const { schema } = arrange(url);
    const options = "-c default_transaction_isolation=serializable";
    const handles = await Promise.all([1, 2, 3].map(async () => {
      const pool = testPool(url, { options });
      return await opened({ pool, schema });
    }));
    await store(handles[0]!, [document(1, 5_000), document(2, 5_000)]);
    await Promise.all(handles.map(claim));
    const grow = [operation({ id: id(1) }, (current) => ({ document: counted(current!), value: 0 }))];
    await Promise.all(handles.flatMap((handle) => Array.from({ length: 10 }, () => handle.apply([grow], 0))));
    expect((await handles[0]!.get(id(1)))?.progress.settledCount).toBe(30);
  });

  it("a statement that times out is an error that may be tried again, and nothing of it is stored", async () => {
    const { schema, pool } = arrange(url);
    const storage = await opened({ pool: testPool(url, { statement_timeout: 300 }), schema });
    await store(storage, [document(1, 5_000)]);
    const client = await pool.connect();
    await client.query(`begin; lock table "${schema}".documents in access exclusive mode`);
    const failed = storage.apply([create(document(2, 5_000))], 0);
    await expect(failed).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await expect(claim(storage)).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await client.query("rollback");
    client.release();
    await store(storage, [document(3, 5_000)]);
    expect((await storage.find({ limit: 5 })).map((found) => found.id)).toEqual([id(1), id(3)]);
  });

  it.each(["pool", "kysely"] as const)(
    "M6 a %s whose connections are all taken is an error after a while, and no connection is lost by it",
    async (way) => {
      const { schema } = arrange(url);
      const pool = testPool(url, { max: 1 });
      const timers: (() => void)[] = [];
      const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
      const storage = postgres({ ...(way === "pool" ? { pool } : { kysely }), schema, listen: false });
      onTestFinished(() => storage.close());
      // Its timers go off when the test says so.
      const setTimer = (callback: () => void) => {
        timers.push(callback);
        return () => void timers.splice(timers.indexOf(callback), 1);
      };
      await storage.open({ ...context, clock: { ...context.clock, setTimer } });
      const taken = await pool.connect();
      const waiting = [storage.get(id(1)), store(storage, [document(1, 5_000, { definition: { name: "nightly" } })])];
      for (const failing of waiting) failing.catch(() => {});
      await until(() => timers.length === waiting.length);
      for (const fire of [...timers]) fire();
      for (const failing of waiting) {
        await expect(failing).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
        await expect(failing).rejects.toThrow("no connection of the pool was free within 10000 ms");
      }
      taken.release();
      expect(await storage.get(id(1))).toBeUndefined();
    },
  );

  it("B061 a row that somebody has marked as parked is left alone, and nothing spins", async () => {
    const { schema, pool } = arrange(url);
    const storage = await opened({ pool, schema });
    await store(storage, [document(1, 5_000)]);
    await pool.query(`update "${schema}".documents set parked = 'by me'`);
    // As the machine does with what is parked.
    const advance = () => storage.advance({ lanes: ["work"], limit: 5, now: 0 }, () => ({ value: 0 }));
    await advance();
    expect(await advance()).toMatchObject({ values: [], more: false, nextWake: null });
    expect((await storage.get(id(1)))?.parked).toBe("by me");
  });

  it("M4 a row that was changed by hand is settled as it is now, not as it was", async () => {
    const { schema, pool } = arrange(url);
    const storage = await opened({ pool, schema });
    await store(storage, [document(1, 5_000)]);
    await claim(storage);
    await pool.query(
      `update "${schema}".documents set progress = replace(progress, '"fence":1', '"runCount":41,"fence":1') where id = $1`,
      [id(1)],
    );
    await change(storage, id(1), (current) => moved(current, { runCount: current.progress.runCount + 1 }));
    expect((await storage.get(id(1)))?.progress.runCount).toBe(42);
  });
});

/** Refuses for good, as a trigger or a constraint of somebody's does, what is written to rows of a name. */
async function refuse(pool: pg.Pool, schema: string, name: string, event: string, when = "true"): Promise<void> {
  await pool.query(
    `create function "${schema}".refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse before ${event} on "${schema}".documents for each row
      when (${event === "insert" ? "new" : "old"}.name = '${name}' and ${when}) execute function "${schema}".refuse()`,
  );
}

describe("postgres: what the database refuses for good", () => {
  it("I3 a call whose write is refused fails by itself, and not those that share its commit", async () => {
    const { schema, pool } = arrange(url);
    const storage = await opened({ pool, schema });
    await refuse(pool, schema, "bad", "insert");
    const names = ["a", "bad", "b", "c"];
    const calls = await Promise.allSettled(
      names.map((name, n) => storage.apply([create(document(n, 5_000, { definition: { name } }))], 0)),
    );
    expect(calls.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect((await storage.find({ limit: 5 })).map(({ definition }) => definition.name)).toEqual(["a", "b", "c"]);
  });

  it("M6 a settlement that is refused keeps no other waiting", async () => {
    const { schema, pool } = arrange(url);
    const ran: string[] = [];
    let both: () => void = () => {};
    const together = new Promise<void>((resolve) => both = resolve);
    const task = defineTask("work", async (_input, { schedule }) => {
      if (ran.push(schedule.name!) === 2) both();
      await together;
    });
    const scheduler = createScheduler({ storage: postgres({ pool, schema }), tasks: [task], logger: quiet });
    onTestFinished(() => scheduler.close({ drain: 0 }));
    await scheduler.start();
    await refuse(pool, schema, "bad", "update", "old.running and not new.running");
    for (const name of ["bad", "good"]) await scheduler.at(task, new Date(), null, { name });
    await until(async () => {
      const { rows } = await pool.query(`select state from "${schema}".schedules where task = 'work' order by id`);
      return rows.some(({ state }) => state === "retired");
    });
    expect(ran.toSorted()).toEqual(["bad", "good"]);
  });
});

const quiet = { error() {}, warn() {}, info() {}, debug() {} };

describe("postgres: what a run costs", () => {
  it("B125 a renewal leaves a large definition where it is", async () => {
    const { schema, pool } = arrange(url);
    const storage = await opened({ pool, schema });
    // Incompressible, so that it is stored out of line.
    const input = Array.from({ length: 1_000 }, () => Math.random().toString(36).slice(2)).join("");
    await store(storage, [document(1, 5_000, { definition: { input } })]);
    await claim(storage);
    const { rows: [{ toast }] } = await pool.query(
      `select reltoastrelid::regclass::text as toast from pg_class where oid = '"${schema}".documents'::regclass`,
    );
    const chunks = async () => (await pool.query(`select xmin::text, chunk_seq from ${toast} order by 2`)).rows;
    const before = await chunks();
    expect(before.length).toBeGreaterThan(1);
    for (let n = 0; n < 3; n++) {
      await change(storage, id(1), (current) => moved(current, { wakeAt: current.progress.wakeAt! + 1 }));
    }
    expect(await chunks()).toEqual(before);
  });
});

/** A way to a server whose last word to whoever leaves is that it is shutting down. */
async function partingProxy(target: string): Promise<{ proxyUrl: string; ended: Promise<void> }> {
  const { hostname, port } = new URL(target);
  const terminate = Buffer.from("X\0\0\0\x04", "latin1");
  const fields = Buffer.from("SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0", "latin1");
  const farewell = Buffer.concat([Buffer.from("E\0\0\0", "latin1"), Buffer.from([fields.length + 4]), fields]);
  let end = () => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(port), hostname);
    upstream.on("data", (chunk) => void client.write(chunk));
    client.on("data", (chunk) => {
      if (!chunk.includes(terminate)) return void upstream.write(chunk);
      upstream.destroy();
      client.end(farewell);
    });
    client.on("close", end);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const proxyUrl = new URL(target);
  proxyUrl.port = String((server.address() as AddressInfo).port);
  return { proxyUrl: proxyUrl.href, ended };
}
