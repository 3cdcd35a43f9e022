import { createServer, type Server, type Socket } from "node:net";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { ANSWER_MS } from "../../../plugins/storage/postgres/connecting.ts";
import { PoolDatabase } from "../../../plugins/storage/postgres/pool.ts";
import { listen } from "../../support/postgres_server.ts";
import { SILENT } from "../../failure/crash/life.ts";
import { context } from "../../conformance/storage_suite.ts";

/** A message of the server's: its type, its length, its body. */
function message(type: string, body: readonly (string | number)[]): Buffer {
  const parts = body.map((part) => typeof part === "number" ? Buffer.from([0, 0, 0, part]) : Buffer.from(part));
  const rest = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeInt32BE(rest.length + 4);
  return Buffer.concat([Buffer.from(type), length, rest]);
}

const WELCOME = [message("R", [0]), message("Z", ["I"])];
const ENDED = message("E", ["SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"]);

/** A server that lets everybody in and ends the connection with the same breath. */
async function hastyServer(): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([...WELCOME, ENDED])));
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return await listen(server);
}

it("M6 F1 a server that ends a connection in the turn in which it is handed out is store_unavailable, and no more", async () => {
  const listeners: number[] = [];
  class Watched extends pg.Client {
    override emit(event: string | symbol, ...values: unknown[]): boolean {
      if (event !== "error") return super.emit(event, ...values);
      listeners.push(this.listenerCount("error"));
      return listeners.at(-1)! > 0 && super.emit(event, ...values);
    }
  }
  const port = await hastyServer();
  const pool = new pg.Pool({ host: "127.0.0.1", port, user: "a", database: "a", Client: Watched as never, max: 1 });
  const database = new PoolDatabase({
    pool: pool as never,
    own: { pool: pool as never, gone: () => Promise.resolve(), cut: () => {} },
    acquireMs: 10_000,
    answerMs: 60_000,
    clock: context.clock,
    logger: SILENT,
  });
  onTestFinished(() => database.close(true));
  const asked = database.run("asking", { query: { sql: "select 1" }, parameters: [] } as never, {});
  await expect(asked).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
  expect(listeners.length).toBeGreaterThan(0);
  expect(listeners).not.toContain(0);
});

const SILENCE = Symbol("no answer, for ever");

/** A pool of one connection that answers, or fails, as told. */
function scripted(answer: (sql: string) => unknown, answerMs = 60_000) {
  const sent: string[] = [];
  const released: unknown[] = [];
  const client = {
    query: (sql: string) => {
      sent.push(sql);
      const answered = answer(sql);
      if (answered === SILENCE) return new Promise<never>(() => {});
      return answered instanceof Error ? Promise.reject(answered) : Promise.resolve({ rows: [answered] });
    },
    on() {},
    removeListener() {},
    release: (destroy?: boolean) => void released.push(destroy),
  };
  const pool = { connect: () => Promise.resolve(client), end: () => Promise.resolve(), on() {}, removeListener() {} };
  const shared = { acquireMs: 10_000, answerMs, clock: context.clock, logger: SILENT };
  return { database: new PoolDatabase({ pool, ...shared }), sent, released };
}

const failure = (code: string) => Object.assign(new Error(code), { code });
const SELECT = { query: { sql: "select 1" }, parameters: [] } as never;

it.each(["40001", "40P01"])(
  "B121 a statement by itself that others were in the way of (%s) is sent again",
  async (code) => {
    let failures = 3;
    const { database, sent } = scripted(() => failures-- > 0 ? failure(code) : { one: 1 });
    expect(await database.run("asking", SELECT, {})).toEqual([{ one: 1 }]);
    expect(sent).toHaveLength(4);
  },
);

it("B121 it is not sent again for ever, nor where a lock or the statement itself is at fault", async () => {
  for (const [code, times] of [["40001", 5], ["55P03", 1], ["42P01", 1]] as const) {
    const { database, sent } = scripted(() => failure(code));
    await expect(database.run("asking", SELECT, {})).rejects.toMatchObject({ details: { sqlState: code } });
    expect(sent).toHaveLength(times);
  }
});

it("M6 a transaction that fails as it begins leaves none open on the connection", async () => {
  const { database, sent } = scripted((sql) => sql.startsWith("begin") ? failure("57014") : {});
  const asked = database.transaction("asking", { lockMs: 1 }, () => Promise.resolve());
  await expect(asked).rejects.toMatchObject({ details: { sqlState: "57014" } });
  expect(sent.at(-1)).toBe("rollback");
});

it("M6 a connection that has gone without a word is given up, whoever's the pool is", async () => {
  const { database, sent, released } = scripted(() => SILENCE, 20);
  await expect(database.run("asking", SELECT, {})).rejects.toMatchObject({
    code: "store_unavailable",
    retryable: true,
  });
  const working = database.transaction("asking", { lockMs: 1 }, () => Promise.resolve());
  await expect(working).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
  expect(sent).toHaveLength(2);
  expect(released).toEqual([true, true]);
});

it("M3 M6 a renewal that waits behind a connection that has gone without a word is in time, with the default lease", () => {
  const leaseMs = 30_000;
  expect(leaseMs / 3 + ANSWER_MS).toBeLessThan(leaseMs);
});

it("M7 a transaction may say how long its statements take, as a migration does", async () => {
  const { database, released } = scripted((sql) => sql.startsWith("alter") ? SILENCE : {});
  const working = database.transaction("asking", { lockMs: 1, answerMs: 20 }, (session) => session.script("alter"));
  await expect(working).rejects.toThrow("no answer within 20 ms");
  expect(released).toEqual([true]);
});
