/**
 * PostgreSQL beside pg-boss and graphile-worker, one after another on one server: draining, creating, latency, and all of
 * it beside a million schedules to come. `N`, `BIG`, `REPS` and `ONLY=drain,create,latency,crowded,wake,snapshot` make it shorter.
 */
import pg from "pg";
import { type Contender, contender, type Name, NAMES } from "./postgres/contenders.ts";
import { startServer } from "./postgres/server.ts";
import { heldSnapshot } from "./postgres/snapshot.ts";
import { WorkerProcess } from "./postgres/workers.ts";
import { inDirectory, median, otherCores, percentile, print, sleep } from "./tools.ts";

const N = Number(process.env["N"] ?? 20_000);
const BIG = Number(process.env["BIG"] ?? 1_000_000);
const REPS = Number(process.env["REPS"] ?? 3);
const SEQUENTIAL = Math.ceil(N / 4);
const SAMPLES = Math.ceil(N / 66);
const FUTURE = Math.ceil(N / 20);
const HOUR_MS = 3_600_000;
const only = process.env["ONLY"]?.split(",");

type Measure = (name: Name, url: string) => Promise<Record<string, number>>;

/** Seconds of draining `N` due jobs by some processes, each job exactly once. */
function draining(processes: number, stored = 0): Measure {
  return async (name, url) => {
    const producer = contender(name, url);
    await producer.setup(true);
    if (stored > 0) {
      await producer.createMany(stored, () => Date.now() + 24 * HOUR_MS);
    }
    await producer.createMany(N, () => Date.now() - 1_000);
    await settle(url);
    const workers = await Promise.all(
      Array.from(
        { length: processes },
        () => WorkerProcess.spawn(name, url, false),
      ),
    );
    const began = performance.now();
    await Promise.all(workers.map((worker) => worker.start()));
    const elapsed = await drained(producer, began);
    const reports = await Promise.all(workers.map((worker) => worker.report()));
    const ids = reports.flatMap(({ seen }) => seen).filter((id) => id < N);
    if (ids.length !== N || new Set(ids).size !== N) {
      throw new Error(`${name} ran ${ids.length} jobs of ${N}`);
    }
    await Promise.all(workers.map((worker) => worker.end()));
    await producer.close();
    return { perSecond: N / elapsed * 1_000 };
  };
}

/** Counting costs something, so it is done the oftener the nearer the end is. */
async function drained(producer: Contender, began: number): Promise<number> {
  for (;;) {
    const at = performance.now();
    const left = await producer.pending();
    if (left === 0) return at - began;
    await sleep(left > N / 2 ? 100 : left > N / 8 ? 40 : 5);
  }
}

async function settle(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("vacuum analyze");
  await client.query("checkpoint");
  await client.end();
}

const creating: Measure = async (name, url) => {
  const producer = contender(name, url);
  await producer.setup(true);
  const due = Date.now() + HOUR_MS;
  for (let id = 0; id < 100; id++) await producer.createOne(id, due);
  let began = performance.now();
  for (let id = 0; id < SEQUENTIAL; id++) await producer.createOne(id, due);
  const sequential = SEQUENTIAL / (performance.now() - began) * 1_000;
  began = performance.now();
  await producer.createMany(N, () => due);
  const bulk = N / (performance.now() - began) * 1_000;
  await producer.close();
  return { sequential, bulk, bare: await bareInserts(url) };
};

/** Rows a second into a table of its own, one by one, each flushed to the disk: what the server and the driver allow. */
async function bareInserts(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("create table if not exists bare (id text primary key, payload text not null)");
  const payload = "x".repeat(400);
  const insert = (id: string) => client.query("insert into bare values ($1, $2)", [id, payload]);
  for (let id = 0; id < 100; id++) await insert(`first ${id}`);
  const began = performance.now();
  for (let id = 0; id < SEQUENTIAL; id++) await insert(`${id}`);
  const perSecond = SEQUENTIAL / (performance.now() - began) * 1_000;
  await client.query("drop table bare");
  await client.end();
  return perSecond;
}

const latency: Measure = async (name, url) => {
  const producer = contender(name, url);
  await producer.setup(true);
  const worker = await WorkerProcess.spawn(name, url, true);
  await worker.start();
  await sleep(1_500);
  const createToStart = await createdToStarted(producer, worker, SAMPLES);
  const before = (await worker.report()).seen.length;
  const base = Date.now() + 2_000;
  await producer.createMany(
    FUTURE,
    (n) => base + Math.floor(n * 7_919 % FUTURE * 15_000 / FUTURE),
  );
  let report = await worker.report();
  while (report.seen.length < before + FUTURE) {
    await sleep(250);
    report = await worker.report();
  }
  const late = report.lateMs.slice(before);
  await worker.end();
  await producer.close();
  return {
    createToStartP50: percentile(createToStart, 50),
    createToStartP99: percentile(createToStart, 99),
    lateP50: percentile(late, 50),
    lateP99: percentile(late, 99),
    earliest: Math.min(...late),
  };
};

/** How long after the call the handler starts, in another process; milliseconds. */
async function createdToStarted(
  producer: Contender,
  worker: WorkerProcess,
  samples: number,
): Promise<number[]> {
  const waits: number[] = [];
  for (let n = -20; n < samples; n++) {
    const id = N + 20 + n;
    const started = worker.started(id);
    const began = Date.now();
    await producer.createOne(id, began);
    if (n >= 0) waits.push(await started - began);
    else await started;
    // At any phase of whoever polls.
    await sleep(5 + Math.random() * 100);
  }
  return waits;
}

/** What one instance creates, due at once, starts on another: wanted within 50 ms at p99. */
async function wakeUps(url: string): Promise<Record<string, number>> {
  const producer = contender("ostinato", url);
  await producer.setup(true);
  const worker = await WorkerProcess.spawn("ostinato", url, true);
  await worker.start();
  await sleep(1_500);
  const noise = await otherCores();
  const waits = await createdToStarted(producer, worker, SAMPLES * 3);
  await worker.end();
  await producer.close();
  const [p50, p99] = [percentile(waits, 50), percentile(waits, 99)];
  return { samples: waits.length, p50, p99, max: Math.max(...waits), otherCores: noise };
}

const MEASURES: Readonly<Record<string, Readonly<Record<string, Measure>>>> = {
  drain: {
    "drain, one process": draining(1),
    "drain, two processes": draining(2),
  },
  create: { create: creating },
  latency: { latency },
  crowded: { [`drain beside ${BIG} to come`]: draining(1, BIG) },
};

await inDirectory(async (directory) => {
  const server = await startServer(directory);
  try {
    for (const [group, measures] of Object.entries(MEASURES)) {
      if (only !== undefined && !only.includes(group)) continue;
      for (const [title, measure] of Object.entries(measures)) {
        await compare(title, measure, server.url, group);
      }
    }
    if (only === undefined || only.includes("wake")) {
      print("postgres: another instance wakes", {
        name: "ostinato",
        ...await wakeUps(server.url),
      });
    }
    if (only === undefined || only.includes("snapshot")) {
      print("postgres: an old snapshot", {
        name: "ostinato",
        ...await heldSnapshot(server.url),
      });
    }
  } finally {
    await server.stop();
  }
});

/** Every contender in turn, several times, so that what drifts drifts for all. */
async function compare(
  title: string,
  measure: Measure,
  url: string,
  group: string,
): Promise<void> {
  const noise = await otherCores();
  const results = new Map<Name, Record<string, number>[]>(
    NAMES.map((name) => [name, []]),
  );
  for (
    let rep = 0;
    rep < (group === "crowded" || group === "latency" ? 1 : REPS);
    rep++
  ) {
    for (const name of NAMES) results.get(name)!.push(await measure(name, url));
  }
  for (const [name, all] of results) {
    const figures = Object.fromEntries(
      Object.keys(all[0]!).map((key) => [
        key,
        median(all.map((one) => one[key]!)),
      ]),
    );
    print(`postgres: ${title}`, { name, ...figures, otherCores: noise });
  }
}
