import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask } from "../../mod.ts";
import { postgres, type PostgresOptions } from "../../plugins/storage/postgres/mod.ts";
import type { Clock, Storage } from "../../src/contract/mod.ts";
import { change, document, id, moved, store } from "../../src/testing/storage/documents.ts";
import { cuttableProxy } from "../support/cuttable_proxy.ts";
import { freshSchema, sharedServer, testPool } from "../support/postgres.ts";
import { context } from "./storage_suite.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

const FAR = 9_000_000_000_000;

/** Timers that go off when the test lets time pass; what they start goes on by itself. */
function timers(): { clock: Clock; pass(ms: number): Promise<void> } {
  const waiting = new Map<() => void, number>();
  let now = 0;
  const setTimer: Clock["setTimer"] = (callback, delayMs) => {
    const timer = () => callback();
    waiting.set(timer, now + delayMs);
    return () => void waiting.delete(timer);
  };
  return {
    clock: { ...context.clock, setTimer },
    async pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...waiting].filter(([, at]) => at <= end).sort(([, a], [, b]) => a - b);
        if (next === undefined) break;
        waiting.delete(next[0]);
        now = Math.max(now, next[1]);
        next[0]();
        await settled();
      }
      now = end;
    },
  };
}

/** Lets what is under way on the loopback interface come to its end. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function opened(options: PostgresOptions, clock = context.clock): Promise<Storage> {
  const storage = postgres(options);
  onTestFinished(() => storage.close());
  await storage.open({ ...context, clock });
  return storage;
}

function arrange() {
  const [schema, pool] = [freshSchema(), testPool(url)];
  onTestFinished(async () => void await pool.query(`drop schema if exists "${schema}" cascade`));
  return { schema, pool };
}

function kyselyOn(connectionString: string): Kysely<unknown> {
  return new Kysely({ dialect: new PostgresDialect({ pool: testPool(connectionString) }) });
}

/** Hints that a store gives, and a way to wait for the next. */
function hints(storage: Storage): { count(): number; next(): Promise<void> } {
  let count = 0;
  let tell = () => {};
  storage.subscribe!(() => {
    count++;
    tell();
  });
  return { count: () => count, next: () => new Promise((resolve) => tell = resolve) };
}

/** What the server's address says, as options of a pool, which hides the password among them. */
function parts(): pg.PoolConfig {
  const { hostname, port, username, password, pathname } = new URL(url);
  const database = pathname.slice(1);
  return { connectionString: undefined, host: hostname, port: Number(port), user: username, password, database };
}

/** A listening store on timers of the test, and another one that writes. */
async function pair(options: Partial<PostgresOptions> = {}) {
  const { schema, pool } = arrange();
  const time = timers();
  const listening = await opened({ url, schema, ...options }, time.clock);
  const writing = await opened({ pool, schema, listen: false });
  const heard = hints(listening);
  // The first hint tells that it listens.
  await heard.next();
  await time.pass(1_000);
  return { schema, pool, time, listening, writing, heard };
}

describe("postgres: wake-ups", () => {
  const pooled = (options: pg.PoolConfig = {}) => ({
    pool: testPool(url, { max: 1, ...options }),
    url: undefined as never,
  });
  const sources: Readonly<Record<string, () => Partial<PostgresOptions>>> = {
    "a connection string": () => ({ url }),
    "a pool": () => pooled(),
    "a pool that hides its password": () => pooled(parts()),
    "an address of its own": () => ({ ...pooled(), listen: url }),
    "a Kysely and an address": () => ({ kysely: kyselyOn(url), url: undefined as never, listen: url }),
  };
  for (const [what, source] of Object.entries(sources)) {
    it(`M6 another handle's creation is heard of at once, without any timer, with ${what}`, async () => {
      const { time, writing, heard } = await pair(source());
      for (let n = 0; n < 3; n++) {
        const next = heard.next();
        await store(writing, [document(n, 5_000)]);
        await next;
        await time.pass(1_000);
      }
    });
  }

  it("M6 a Kysely without an address polls, and says so once at opening unless it was told to", async () => {
    const said = async (options: PostgresOptions) => {
      const infos: string[] = [];
      const logger = { ...console, info: (message: string) => void infos.push(message) };
      const storage = postgres({ kysely: kyselyOn(url), schema: arrange().schema, ...options });
      onTestFinished(() => storage.close());
      await storage.open({ ...context, logger });
      storage.subscribe!(() => {});
      return infos;
    };
    expect(await said({})).toEqual([expect.stringMatching(/every 3000 ms; give listen: "postgres:/)]);
    expect(await said({ listen: false })).toEqual([]);
    expect(await said({ listen: url })).toEqual([]);
  });

  it("M6 an abort of a run is heard of; claims, settlements, removals and deadlines far off are not", async () => {
    const { time, writing, listening, heard } = await pair();
    await store(writing, [document(1, FAR), document(2, FAR), document(3, FAR)]);
    const run = { fence: 1, point: 1, attempt: 1, missed: 0, instance: "i", leaseUntil: FAR, claimedAt: 1 };
    await change(writing, id(1), (current) => moved(current, { runs: [run], fence: 1 }));
    await change(writing, id(2), (current) => moved(current, { runs: [run], fence: 1 }));
    await change(writing, id(2), (current) => moved(current, { runs: [], wakeAt: 5_000 }));
    await writing.advance({ lanes: ["work"], limit: 1, now: 0 }, (current) => ({
      document: moved(current, { wakeAt: 6_000 }),
      value: 0,
    }));
    await change(writing, id(3), () => null);
    await store(listening, [document(4, 5_000)]);
    const before = heard.count();
    const next = heard.next();
    await change(writing, id(1), (current) => moved(current, { runs: [{ ...run, abort: "aborted" }] }));
    await next;
    expect(heard.count()).toBe(before + 1);
    expect(before).toBe(1);
    await time.pass(1_000);
  });

  it("many notifications in a row make few hints, and the last of them is never lost", async () => {
    const { time, writing, heard, listening } = await pair();
    const before = heard.count();
    for (let n = 0; n < 50; n++) await store(writing, [document(n, 5_000)]);
    await settled();
    expect(heard.count() - before).toBe(1);
    await time.pass(20);
    expect(heard.count() - before).toBe(2);
    expect((await listening.find({ limit: 100 })).length).toBe(50);
  });

  it("B117 M6 a listener that is lost comes back by itself, tells so, and hears again", async () => {
    const { schema, pool } = arrange();
    const proxy = await cuttableProxy(url);
    const time = timers();
    const listening = await opened({ pool, schema, listen: `${proxy.url}?application_name=${schema}` }, time.clock);
    const writing = await opened({ pool, schema, listen: false });
    const heard = hints(listening);
    await heard.next();
    await time.pass(1_000);
    proxy.cut();
    await settled();
    const [hinted, attempts] = [heard.count(), proxy.attempts()];
    await time.pass(60_000);
    expect(proxy.attempts() - attempts).toBeGreaterThan(5);
    expect(proxy.attempts() - attempts).toBeLessThan(60);
    // Polling covers the gap.
    expect(heard.count() - hinted).toBeGreaterThanOrEqual(60_000 / 3_000 - 1);
    proxy.mend();
    const isBack = async () =>
      (await pool.query(
        "select 1 from pg_stat_activity where application_name = $1 and query like 'listen%' and state = 'idle'",
        [schema],
      )).rows.length > 0;
    const refused = proxy.attempts();
    while (proxy.attempts() === refused) await time.pass(1_000);
    // The server is real, and its time with it.
    while (!await isBack()) await settled();
    // It finds out that it hears, which is a hint, too; polling is seconds away.
    for (let n = 0; n < 3; n++) {
      const before = heard.count();
      await store(writing, [document(n, 5_000)]);
      let waited = 0;
      for (; heard.count() === before; waited += 10) {
        await settled();
        await time.pass(10);
      }
      expect(waited).toBeLessThan(1_000);
    }
  });

  it("M6 a listener outlasts a limit for idle sessions, which others meet", async () => {
    const { schema, pool } = arrange();
    const limited = {
      max: 1,
      idleTimeoutMillis: 0,
      options: "-c idle_session_timeout=200ms",
      application_name: schema,
    };
    const listening = await opened({ pool: testPool(url, limited), schema });
    await hints(listening).next();
    const sessions = async () =>
      (await pool.query("select query from pg_stat_activity where application_name = $1", [schema])).rows;
    // One that begins to be idle later than the listener did.
    const other = testPool(url, limited);
    await other.query("select 'later'");
    while ((await sessions()).some(({ query }) => query === "select 'later'")) await settled();
    expect(await sessions()).toEqual([{ query: expect.stringMatching(/^listen/) }]);
  });

  it("M6 closing tells the others, who may not know what is due sooner by what was done here", async () => {
    const { schema, heard, time } = await pair();
    const leaving = await opened({ url, schema, listen: false });
    await store(leaving, [document(1, FAR)]);
    const run = { fence: 1, point: 1, attempt: 1, missed: 0, instance: "i", leaseUntil: FAR, claimedAt: 1 };
    const first = heard.next();
    await change(leaving, id(1), (current) => moved(current, { runs: [run], fence: 1, wakeAt: 5_000 }));
    await first;
    await time.pass(1_000);
    await leaving.advance({ lanes: ["work"], limit: 1, now: 0 }, (current) => ({
      document: moved(current, { wakeAt: FAR }),
      value: 0,
    }));
    // Gives the run back.
    await change(leaving, id(1), (current) => moved(current, { runs: [], wakeAt: 6_000 }));
    const next = heard.next();
    await leaving.close();
    await next;
    await time.pass(1_000);
  });

  it("B117 a server that goes without a word is noticed, and the listener connects anew", async () => {
    const { schema, pool } = arrange();
    const time = timers();
    const made: SilentClient[] = [];
    const Client = class extends SilentClient {
      constructor(options: pg.ClientConfig) {
        super(options);
        made.push(this);
      }
    };
    const silent = new Proxy(pool, { get: (target, key) => key === "Client" ? Client : bound(target, key) });
    const listening = await opened({ pool: silent, schema }, time.clock);
    await hints(listening).next();
    made[0]!.silent = true;
    await time.pass(41_500);
    expect(made.length).toBe(2);
  });

  it("an idle cluster of five instances asks less than twice a second in all", async () => {
    const { schema } = arrange();
    const task = defineTask("work", () => {});
    let asked = 0;
    const time = timers();
    for (let n = 0; n < 5; n++) {
      const pool = testPool(url, { max: 2 });
      pool.on("connect", (client) => {
        const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
        client.query = ((...parameters: unknown[]) => (asked++, query(...parameters))) as never;
      });
      const scheduler = createScheduler({
        storage: postgres({ pool, schema, listen: n % 2 === 0 }),
        tasks: [task],
        clock: time.clock,
      });
      onTestFinished(() => scheduler.close({ drain: 0 }));
      await scheduler.start();
      if (n === 0) await scheduler.at(task, new Date(Date.now() + 3_600_000));
    }
    await time.pass(5_000);
    asked = 0;
    await time.pass(30_000);
    expect(asked).toBeLessThan(60);
    expect(asked).toBeGreaterThan(5);
  });
});

/** A connection of `pg` whose questions go unanswered when it is told so. */
class SilentClient extends pg.Client {
  silent = false;
  override query(...parameters: unknown[]): never {
    if (this.silent) return new Promise(() => {}) as never;
    return (super.query as (...parameters: unknown[]) => never).call(this, ...parameters);
  }
}

function bound(target: object, key: PropertyKey): unknown {
  const member: unknown = Reflect.get(target, key, target);
  return typeof member === "function" ? member.bind(target) : member;
}
