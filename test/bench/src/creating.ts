/** Creating 10,000 schedules concurrently, each durable when its call resolves, against raw batched inserts of the same rows. */
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { inDirectory, median, otherCores, print, silent } from "./tools.ts";

const N = Number(process.env["N"] ?? 10_000);
const REPS = Number(process.env["REPS"] ?? 5);
const BATCH = 1_000;
const task = defineTask("bench", () => {});

await inDirectory(async (directory) => {
  const runs = {
    ours: [] as number[],
    bare: [] as number[],
    sequential: [] as number[],
  };
  const noise = await otherCores();
  for (let rep = 0; rep < REPS; rep++) {
    runs.ours.push(await ours(fresh(`${directory}/ours.db`)));
    runs.bare.push(bare(`${directory}/ours.db`, fresh(`${directory}/bare.db`)));
    runs.sequential.push(await sequential(fresh(`${directory}/sequential.db`)));
  }
  const [ours_, bare_] = [median(runs.ours), median(runs.bare)];
  print("creating", {
    perSecond: ours_,
    bare: bare_,
    ratio: ours_ / bare_,
    target: 0.3,
    sequentialPerSecond: median(runs.sequential),
    otherCores: noise,
  });
});

function fresh(file: string): string {
  for (const suffix of ["", "-wal", "-shm"]) {
    rmSync(file + suffix, { force: true });
  }
  return file;
}

async function ours(file: string): Promise<number> {
  const scheduler = createScheduler({
    storage: sqlite(file),
    tasks: [task],
    logger: silent,
  });
  const due = Date.now() + 3_600_000;
  await scheduler.at(task, due);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: N }, (_, id) => scheduler.at(task, due, { id, due })),
  );
  const perSecond = N / (performance.now() - started) * 1_000;
  await scheduler.close();
  return perSecond;
}

async function sequential(file: string): Promise<number> {
  const scheduler = createScheduler({
    storage: sqlite(file),
    tasks: [task],
    logger: silent,
  });
  const due = Date.now() + 3_600_000;
  const started = performance.now();
  for (let id = 0; id < 1_000; id++) await scheduler.at(task, due, { id, due });
  const perSecond = 1_000 / (performance.now() - started) * 1_000;
  await scheduler.close();
  return perSecond;
}

/** The rows of the first file inserted into a second with the same tables. */
function bare(from: string, file: string): number {
  const source = new DatabaseSync(from);
  const rows = source.prepare("select * from ostinato_schedules")
    .all() as Record<string, string | number | null>[];
  const tables = source.prepare(
    "select sql from sqlite_schema where sql is not null and type <> 'view'",
  ).all() as { sql: string }[];
  source.close();
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  for (const { sql } of tables) database.exec(sql);
  const columns = Object.keys(rows[0]!);
  const insert = database.prepare(
    `insert into ostinato_schedules (${columns.join()}) values (${columns.map(() => "?").join()})`,
  );
  const started = performance.now();
  for (let at = 0; at < rows.length; at += BATCH) {
    database.exec("begin immediate");
    for (const row of rows.slice(at, at + BATCH)) {
      insert.run(...Object.values(row));
    }
    database.exec("commit");
  }
  const perSecond = rows.length / (performance.now() - started) * 1_000;
  database.close();
  return perSecond;
}
