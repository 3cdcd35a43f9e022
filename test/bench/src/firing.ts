/**
 * Firing due one-shots with a handler that does nothing, from a SQLite file that holds them, settled and durable:
 * against plainjob, a job queue on SQLite, and against the bare loop that reads, updates and deletes the same rows in
 * batches through the same driver. `N=20000 REPS=5`
 */
import Database from "better-sqlite3";
import { copyFileSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { better, defineQueue, defineWorker } from "plainjob";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { inDirectory, median, otherCores, print, silent, sleep } from "./tools.ts";

const N = Number(process.env["N"] ?? 20_000);
const REPS = Number(process.env["REPS"] ?? 5);
const BATCH = 500;

let count = 0;
const task = defineTask("bench", () => void count++);

await inDirectory(async (directory) => {
  const master = `${directory}/master.db`;
  await fill(master);
  const runs = {
    ours: [] as number[],
    plainjob: [] as number[],
    bare: [] as number[],
  };
  const noise = await otherCores();
  for (let rep = 0; rep < REPS; rep++) {
    runs.bare.push(bare(copied(master, directory)));
    runs.ours.push(await ours(copied(master, directory)));
    runs.plainjob.push(await plainjob(`${directory}/plainjob.db`));
  }
  const [ours_, plainjob_, bare_] = [
    median(runs.ours),
    median(runs.plainjob),
    median(runs.bare),
  ];
  print("firing", {
    perSecond: ours_,
    plainjob: plainjob_,
    bare: bare_,
    ratioToPlainjob: ours_ / plainjob_,
    targetToPlainjob: 3,
    ratioToBare: ours_ / bare_,
    targetToBare: 0.25,
    otherCores: noise,
  });
});

async function fill(file: string): Promise<void> {
  const scheduler = createScheduler({
    storage: sqlite(file),
    tasks: [task],
    logger: silent,
  });
  const past = Date.now() - 1_000;
  for (let from = 0; from < N; from += 1_000) {
    const size = Math.min(1_000, N - from);
    await Promise.all(
      Array.from(
        { length: size },
        (_, i) => scheduler.at(task, past, { id: from + i, due: past }),
      ),
    );
  }
  await scheduler.close();
}

function copied(master: string, directory: string): string {
  const file = `${directory}/copy.db`;
  for (const suffix of ["", "-wal", "-shm"]) {
    rmSync(file + suffix, { force: true });
  }
  copyFileSync(master, file);
  return file;
}

/** Firings a second, until nothing is unsettled. */
async function ours(file: string): Promise<number> {
  const scheduler = createScheduler({
    storage: sqlite(file),
    tasks: [task],
    logger: silent,
  });
  let settled = 0;
  const all = new Promise<void>((resolve) => scheduler.on("succeeded", () => ++settled === N && resolve()));
  const started = performance.now();
  await scheduler.start();
  await all;
  const perSecond = N / (performance.now() - started) * 1_000;
  await scheduler.close();
  return perSecond;
}

/** The same rows read, updated and deleted, two commits a batch, as the least code would. */
function bare(file: string): number {
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  const { lane } = database.prepare(
    "select lane from ostinato_schedules limit 1",
  ).get() as { lane: string };
  const due = database.prepare(
    `select * from ostinato_schedules where lane = ? and wake_at <= ? order by wake_at limit ${BATCH}`,
  );
  const update = database.prepare(
    "update ostinato_schedules set wake_at = ?, progress = ? where id = ?",
  );
  const remove = database.prepare(
    "delete from ostinato_schedules where id = ?",
  );
  const started = performance.now();
  for (let done = 0; done < N;) {
    database.exec("begin immediate");
    const rows = due.all(lane, Date.now()) as {
      id: string;
      progress: string;
    }[];
    for (const { id, progress } of rows) {
      update.run(Date.now() + 30_000, progress, id);
    }
    database.exec("commit");
    database.exec("begin immediate");
    for (const { id } of rows) remove.run(id);
    database.exec("commit");
    done += rows.length;
  }
  const perSecond = N / (performance.now() - started) * 1_000;
  database.close();
  return perSecond;
}

/** As its own documentation says is fastest: WAL and NORMAL are its defaults, one worker, a short poll. */
async function plainjob(file: string): Promise<number> {
  for (const suffix of ["", "-wal", "-shm"]) {
    rmSync(file + suffix, { force: true });
  }
  const database = new Database(file);
  const queue = defineQueue({ connection: better(database), logger: silent });
  queue.addMany(
    "bench",
    Array.from({ length: N }, (_, id) => ({ id, due: Date.now() })),
  );
  const open = database.prepare(
    "select count(*) as open from plainjob_jobs where status in (0, 1)",
  );
  let done = 0;
  let all = () => {};
  const finished = new Promise<void>((resolve) => all = resolve);
  const worker = defineWorker("bench", (job) => {
    JSON.parse(job.data);
    if (++done === N) all();
  }, { queue, logger: silent, pollIntervall: 10 });
  const started = performance.now();
  void worker.start();
  await finished;
  while ((open.get() as { open: number }).open > 0) await sleep(1);
  const perSecond = N / (performance.now() - started) * 1_000;
  await worker.stop();
  queue.close();
  return perSecond;
}
