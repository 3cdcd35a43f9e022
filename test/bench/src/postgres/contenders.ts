/** Three schedulers on PostgreSQL behind one face, each as its own documentation says is fastest. */
import { Logger, makeWorkerUtils, run, type Runner, type WorkerUtils } from "graphile-worker";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { createScheduler, defineTask, type Scheduler } from "../../../../mod.ts";
import { postgres } from "../../../../plugins/storage/postgres/mod.ts";
import { silent } from "../tools.ts";

export type Handler = (id: number, due: number) => void;

export interface Contender {
  /** Opens it; `fresh` empties its tables first. */
  setup(fresh: boolean): Promise<void>;
  createOne(id: number, due: number): Promise<void>;
  createMany(count: number, due: (n: number) => number): Promise<void>;
  startWorker(handler: Handler): Promise<void>;
  /** What is due and not yet settled. */
  pending(): Promise<number>;
  close(): Promise<void>;
}

export const NAMES = ["ostinato", "pg-boss", "graphile-worker"] as const;
export type Name = typeof NAMES[number];

/** Jobs created by one call of the bulk interface. */
const CHUNK = 5_000;

export function contender(name: Name, url: string): Contender {
  return { ostinato, "pg-boss": pgBoss, "graphile-worker": graphileWorker }
    [name](url);
}

/** A connection beside the contender's own, for emptying and counting. */
function beside(
  url: string,
): { sql(text: string): Promise<number>; end(): Promise<void> } {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // After a failure the server stops while it is open; what failed is what has to be told.
  pool.on("error", () => {});
  return {
    sql: async (text) => Number(Object.values((await pool.query(text)).rows[0] ?? {})[0]),
    end: () => pool.end(),
  };
}

async function inChunks<T>(
  count: number,
  make: (n: number) => T,
  add: (chunk: T[]) => Promise<unknown>,
) {
  for (let from = 0; from < count; from += CHUNK) {
    await add(
      Array.from(
        { length: Math.min(CHUNK, count - from) },
        (_, n) => make(from + n),
      ),
    );
  }
}

function ostinato(url: string): Contender {
  const { sql, end } = beside(url);
  let scheduler: Scheduler;
  let handle: Handler = () => {};
  const task = defineTask(
    "bench",
    ({ id, due }: { id: number; due: number }) => handle(id, due),
  );
  return {
    async setup(fresh) {
      if (fresh) await sql("drop schema if exists ostinato cascade");
      scheduler = createScheduler({
        storage: postgres(url),
        tasks: [task],
        logger: silent,
      });
      await scheduler.valid("");
    },
    createOne: async (id, due) => void await scheduler.at(task, due, { id, due }),
    createMany: (count, due) =>
      inChunks(
        count,
        (id) => ({ task, input: { id, due: due(id) }, at: due(id) }),
        (requests) => scheduler.createMany(requests),
      ),
    async startWorker(handler) {
      handle = handler;
      await scheduler.start();
    },
    // Of the task's lane, which a settled one-shot has left; a run in progress wakes at the end of its lease.
    pending: () =>
      sql(
        "select count(*) from ostinato.documents where lane = 'bench' and wake_at < now() + interval '1 minute'",
      ),
    async close() {
      await scheduler.close();
      await end();
    },
  };
}

// docs: batchSize and burstWhenBatchFull to drain, localConcurrency for workers beside one another, LISTEN/NOTIFY for low
// latency, half a second is the shortest polling allowed.
function pgBoss(url: string): Contender {
  const { sql, end } = beside(url);
  const boss = new PgBoss({
    connectionString: url,
    max: 10,
    useListenNotify: true,
  });
  boss.on("error", (error) => console.error("pg-boss", error));
  const later = (due: number) => due > Date.now() ? { startAfter: new Date(due) } : {};
  const options = {
    batchSize: 1_000,
    localConcurrency: 2,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    notifyPollingIntervalSeconds: 0.5,
  };
  return {
    async setup(fresh) {
      if (fresh) await sql("drop schema if exists pgboss cascade");
      await boss.start();
      if (fresh) await boss.createQueue("bench", { notify: true });
    },
    createOne: async (id, due) => void await boss.send("bench", { id, due }, later(due)),
    createMany: (count, due) =>
      inChunks(
        count,
        (id) => ({ data: { id, due: due(id) }, ...later(due(id)) }),
        (jobs) => boss.insert("bench", jobs),
      ),
    async startWorker(handler) {
      await boss.work<{ id: number; due: number }>(
        "bench",
        options,
        (jobs) => {
          for (const { data } of jobs) handler(data.id, data.due);
          return Promise.resolve();
        },
      );
    },
    pending: () =>
      sql(
        "select count(*) from pgboss.job where name = 'bench' and state in ('created', 'retry', 'active') and " +
          "start_after <= now()",
      ),
    async close() {
      await boss.stop({ graceful: false });
      await end();
    },
  };
}

// docs, "performance": the settings of its own perfTest; polling matters for jobs in the future only.
function graphileWorker(url: string): Contender {
  const { sql, end } = beside(url);
  const logger = new Logger(() => () => {});
  const worker = {
    connectionString: url,
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    pollInterval: 100,
    logger,
  };
  const later = (due: number) => due > Date.now() ? { runAt: new Date(due) } : {};
  let utils: WorkerUtils;
  let runner: Runner | undefined;
  return {
    async setup(fresh) {
      if (fresh) await sql("drop schema if exists graphile_worker cascade");
      utils = await makeWorkerUtils({ connectionString: url, logger });
      await utils.migrate();
    },
    createOne: async (id, due) => void await utils.addJob("bench", { id, due }, later(due)),
    createMany: (count, due) =>
      inChunks(
        count,
        (id) => ({
          identifier: "bench",
          payload: { id, due: due(id) },
          ...later(due(id)),
        }),
        (jobs) => utils.addJobs(jobs),
      ),
    async startWorker(handler) {
      runner = await run({
        preset: { worker },
        taskList: {
          bench: (payload) =>
            handler(
              (payload as { id: number }).id,
              (payload as { due: number }).due,
            ),
        },
        parsedCronItems: [],
        noHandleSignals: true,
      });
    },
    pending: () =>
      sql(
        "select count(*) from graphile_worker._private_jobs where run_at <= now() and attempts < max_attempts",
      ),
    async close() {
      await runner?.stop();
      await utils.release();
      await end();
    },
  };
}
