import { DatabaseSync } from "node:sqlite";
import { rmSync } from "node:fs";
import type pg from "pg";
import { kv, type KvLike } from "../../../plugins/storage/kv/mod.ts";
import { type PgPoolLike, postgres } from "../../../plugins/storage/postgres/mod.ts";
import { sqlite, type SqliteDatabaseLike, type SqlValue } from "../../../plugins/storage/sqlite/mod.ts";
import { type Storage, StorageError } from "../../../src/contract/mod.ts";
import { openKv } from "../../support/kv.ts";
import { giveBack, takePool } from "./kept_pools.ts";
import { CrashPoint, type Level } from "./point.ts";

/** A store under a crash point, and how to be rid of what it took. */
export interface Opened {
  readonly storage: Storage;
  dispose(): Promise<void>;
}

/** A driver over real files or a real server. */
export interface CrashStore {
  /** Opens what is at a place; calls of that level pass the point. */
  open(place: string, level: Level, point: CrashPoint): Promise<Opened>;
  /** What the driver still holds at a place once every schedule is gone, and what is wrong with it. */
  leftovers(place: string): Promise<readonly unknown[]>;
  remove(place: string): Promise<void>;
}

export type StoreName = "sqlite" | "kv" | "postgres";

const CALLS = ["now", "advance", "apply", "get", "find", "nextWake", "backlog"] as const;

/** Lets every call of the storage contract pass a point; opening and closing are the driver's. */
function pointed(inner: Storage, point: CrashPoint): Storage {
  return new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      const method = member.bind(target) as (...parameters: unknown[]) => Promise<unknown>;
      const name = CALLS.find((call) => call === key);
      if (name === undefined) return method;
      return (...parameters: unknown[]) =>
        point.pass(name, () => method(...parameters), (what) => new StorageError(`crash point: ${what}`));
    },
  });
}

/** Never reached. */
const nowhere = () => new CrashPoint(0, "fails");

function atLevel(level: Level, point: CrashPoint, make: (writes: CrashPoint) => Storage): Storage {
  return level === "store" ? pointed(make(nowhere()), point) : make(point);
}

/** The last are the functions of the PostgreSQL driver. */
const WRITES =
  /^\s*(?:begin|commit|rollback|savepoint|release|insert|update|delete|create|drop|alter|with|select \* from)\b/i;

class PointedDatabase implements SqliteDatabaseLike {
  readonly #inner: DatabaseSync;
  readonly #point: CrashPoint;

  constructor(inner: DatabaseSync, point: CrashPoint) {
    this.#inner = inner;
    this.#point = point;
  }

  get isTransaction(): boolean {
    return this.#inner.isTransaction;
  }

  prepare(sql: string) {
    const statement = this.#inner.prepare(sql);
    const pass = <T>(call: () => T) => this.#pass(sql, call);
    return {
      run: (...values: SqlValue[]) => pass(() => statement.run(...values)),
      get: (...values: SqlValue[]) => pass(() => statement.get(...values)),
      all: (...values: SqlValue[]) => pass(() => statement.all(...values)),
    };
  }

  exec(sql: string) {
    return this.#pass(sql, () => this.#inner.exec(sql));
  }

  close() {
    this.#inner.close();
  }

  #pass<T>(sql: string, call: () => T): T {
    if (!WRITES.test(sql) && !this.#point.isDead) return call();
    return this.#point.passNow(sql.slice(0, 40), call, (what) => {
      // A transaction of SQLite whose beginning fails has not begun.
      if (/^begin/i.test(sql) && !this.#point.isDead && this.#inner.isTransaction) this.#inner.exec("rollback");
      return Object.assign(new Error(`disk I/O error: ${what}`), { code: "ERR_SQLITE_ERROR", errcode: 10 });
    });
  }
}

const sqliteStore: CrashStore = {
  open(place, level, point) {
    const inner = new DatabaseSync(place);
    // Processes die here, not machines: what was written need not reach the disk.
    inner.exec("pragma journal_mode = wal; pragma synchronous = off");
    const storage = atLevel(
      level,
      point,
      (writes) => sqlite({ database: new PointedDatabase(inner, writes) }),
    );
    return Promise.resolve({ storage, dispose: () => Promise.resolve(inner.close()) });
  },
  leftovers(place) {
    const database = new DatabaseSync(place);
    const rows = database.prepare("select id from ostinato_schedules").all();
    const damage = database.prepare("pragma integrity_check").all()
      .filter((row) => row["integrity_check"] !== "ok");
    database.close();
    return Promise.resolve([...rows, ...damage]);
  },
  remove(place) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(place + suffix, { force: true });
    return Promise.resolve();
  },
};

function pointedKv(inner: KvLike, point: CrashPoint): KvLike {
  return {
    getMany: (keys) => inner.getMany(keys),
    list: (selector, options) => inner.list(selector, options),
    atomic() {
      const operation = inner.atomic();
      return {
        check: (...checks) => operation.check(...checks),
        set: (key, value) => operation.set(key, value),
        delete: (key) => operation.delete(key),
        sum: (key, n) => operation.sum(key, n),
        commit: () => point.pass("commit", () => operation.commit(), (what) => new Error(`kv: ${what}`)),
      };
    },
    close: () => inner.close(),
  };
}

const kvStore: CrashStore = {
  async open(place, level, point) {
    const inner = await openKv(place);
    const storage = atLevel(level, point, (writes) => kv({ kv: pointedKv(inner, writes) }));
    return { storage, dispose: () => Promise.resolve(inner.close()).then(() => {}) };
  },
  async leftovers(place) {
    const handle = await openKv(place);
    const keys: unknown[] = [];
    for await (const { key } of handle.list({ prefix: ["ostinato"] }, { limit: 1_000, batchSize: 500 })) {
      // What the store knows of itself, rather than of a schedule.
      if (key[1] !== "meta") keys.push(key);
    }
    handle.close();
    return keys;
  },
  remove: (place) => sqliteStore.remove(place),
};

/** A place is the address of a database and, after a space, a schema in it. */
function parts(place: string): { readonly url: string; readonly schema: string } {
  const [url, schema] = place.split(" ");
  return { url: url!, schema: schema! };
}

/** What `pg` throws when its connection is gone. */
function disconnected(what: string): Error {
  return new Error(`Connection terminated unexpectedly: ${what}`);
}

function pointedPool(inner: pg.Pool, point: CrashPoint): PgPoolLike {
  return {
    async connect() {
      const client = await inner.connect();
      return {
        async query(text, values) {
          if (!WRITES.test(text) && !point.isDead) return await client.query(text, values);
          return await point.pass(text.slice(0, 40), () => client.query(text, values), disconnected);
        },
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
        // What was struck is gone, and so is what the server had open for it.
        release: (destroy) => client.release(destroy),
      };
    },
    end: () => inner.end(),
    on: (event, listener) => inner.on(event, listener),
    removeListener: (event, listener) => inner.removeListener(event, listener),
  };
}

const postgresStore: CrashStore = {
  open(place, level, point) {
    const { url, schema } = parts(place);
    const pool = takePool(url);
    const storage = atLevel(
      level,
      point,
      (writes) => postgres({ pool: pointedPool(pool, writes), schema, listen: false, pollInterval: 200 }),
    );
    return Promise.resolve({ storage, dispose: () => Promise.resolve(giveBack(url, pool)) });
  },
  leftovers: (place) => asked(place, (schema) => `select id from "${schema}".documents`),
  remove: async (place) => void await asked(place, (schema) => `drop schema if exists "${schema}" cascade`),
};

async function asked(place: string, query: (schema: string) => string): Promise<readonly unknown[]> {
  const { url, schema } = parts(place);
  const pool = takePool(url);
  try {
    return (await pool.query(query(schema))).rows;
  } finally {
    giveBack(url, pool);
  }
}

export const stores: Readonly<Record<StoreName, CrashStore>> = {
  sqlite: sqliteStore,
  kv: kvStore,
  postgres: postgresStore,
};
