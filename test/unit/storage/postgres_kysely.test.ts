import { expect, it } from "vitest";
import { KyselyDatabase } from "../../../plugins/storage/postgres/kysely.ts";
import type { KyselyExecutorLike } from "../../../plugins/storage/postgres/kysely_like.ts";
import { context } from "../../conformance/storage_suite.ts";

interface Silence {
  /** Whose answer does not come until `answer` is called. */
  readonly to: RegExp;
  answer: () => void;
}

/** A Kysely of one connection, which says what it was sent, and is silent where told. */
function scripted(to: RegExp) {
  const sent: string[] = [];
  const silence: Silence = { to, answer: () => {} };
  const send = (sql: string) => {
    sent.push(sql);
    if (!to.test(sql)) return Promise.resolve({ rows: [{ one: 1 }] });
    return new Promise<{ rows: object[] }>((resolve) => silence.answer = () => resolve({ rows: [] }));
  };
  const executor: KyselyExecutorLike = { executeQuery: (query) => send((query as { sql: string }).sql) };
  const lent = async <T>(work: (executor: KyselyExecutorLike) => Promise<T>) => {
    await Promise.resolve();
    try {
      return await work(executor);
    } finally {
      sent.push("given back");
    }
  };
  const transaction = async <T>(work: (executor: KyselyExecutorLike) => Promise<T>) => {
    await send("begin");
    const result = await work(executor).catch(async (error) => {
      await send("rollback");
      throw error;
    });
    await send("commit");
    return result;
  };
  const kysely = {
    isTransaction: false,
    withoutPlugins: () => ({
      connection: () => ({ execute: lent }),
      transaction: () => ({ setIsolationLevel: () => ({ execute: transaction }) }),
    }),
  };
  const database = new KyselyDatabase({ kysely, acquireMs: 10_000, answerMs: 20, clock: context.clock });
  return { database, sent, silence };
}

const SELECT = { query: { sql: "select 1" }, parameters: [] } as never;
const LOCK = { lockMs: 1 };
const TURN = () => new Promise((resolve) => setTimeout(resolve, 0));

it("M6 a statement that is not answered fails in time, and nobody is given its connection until it is", async () => {
  const { database, sent, silence } = scripted(/select/);
  const asked = database.run("asking", SELECT, {});
  await expect(asked).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
  await expect(asked).rejects.toThrow("no answer within 20 ms");
  expect(sent).toEqual(["select 1"]);
  silence.answer();
  await TURN();
  expect(sent).toEqual(["select 1", "given back"]);
});

it.each([["a statement", /select 1/, ["rollback"]], ["the commit", /commit/, []]] as const)(
  "M6 a transaction in which %s is not answered fails in time",
  async (_what, to, after) => {
    const { database, sent } = scripted(to);
    const working = database.transaction("asking", LOCK, (session) => session.run(SELECT, {}));
    await expect(working).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await expect(working).rejects.toThrow("no answer within 20 ms");
    await TURN();
    expect(sent.slice(sent.findIndex((sql) => to.test(sql)) + 1)).toEqual(after);
  },
);

it("M6 what the work throws passes through once it is rolled back; a beginning that fails is told as one", async () => {
  const { database, sent } = scripted(/^never$/);
  const error = new TypeError("the work's own");
  await expect(database.transaction("asking", LOCK, () => Promise.reject(error))).rejects.toBe(error);
  expect(sent.at(-1)).toBe("rollback");
  const failing = new KyselyDatabase({
    kysely: {
      isTransaction: false,
      withoutPlugins: () => ({
        connection: () => ({ execute: () => Promise.reject(new Error("timeout exceeded when trying to connect")) }),
        transaction: () => ({ setIsolationLevel: () => ({ execute: () => Promise.reject(new Error("unused")) }) }),
      }),
    },
    acquireMs: 10_000,
    answerMs: 20,
    clock: context.clock,
  });
  await expect(failing.run("asking", SELECT, {})).rejects.toMatchObject({
    code: "store_unavailable",
    retryable: true,
    details: { connecting: true },
  });
});
