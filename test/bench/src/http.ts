/**
 * The HTTP transport on the loopback interface: creating over it against creating in the process, through the same store;
 * reading meanwhile; memory over many requests; and what ten thousand idle event streams cost the runs. `N`, `REPS` and
 * `ONLY=sqlite,postgres,memory,streams` make it shorter.
 */
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { compareCreating } from "./http/creating.ts";
import { Generator } from "./http/generator.ts";
import { input, OWNER, served, task } from "./http/served.ts";
import { coresSince, inDirectory, otherCores, percentile, print, residentMiB, sleep } from "./tools.ts";

const CREATES = Number(process.env["N"] ?? 20_000);
const REPS = Number(process.env["REPS"] ?? 3);
const REQUESTS = Number(process.env["REQUESTS"] ?? 100_000);
const STREAMS = Number(process.env["STREAMS"] ?? 10_000);
const WATCH_MS = Number(process.env["WATCH_MS"] ?? 30_000);
const CONNECTIONS = 50;
const only = process.env["ONLY"]?.split(",");

type Fresh = () => string;

async function onSqlite(generator: Generator, fresh: Fresh): Promise<void> {
  await compareCreating(generator, { name: "sqlite", open: () => sqlite(fresh()) }, { amount: CREATES, reps: REPS });
}

async function onPostgres(generator: Generator, _fresh: Fresh, directory: string): Promise<void> {
  const { startServer } = await import("./postgres/server.ts");
  const { postgres } = await import("../../../plugins/storage/postgres/mod.ts");
  const { default: pg } = await import("pg");
  const { url, stop } = await startServer(directory);
  const open = async () => {
    const client = new pg.Client(url);
    await client.connect();
    await client.query("drop schema if exists ostinato cascade");
    await client.end();
    return postgres(url);
  };
  await compareCreating(generator, { name: "postgres", open }, { amount: CREATES, reps: REPS });
  await stop();
}

/** Requests that store nothing new: whatever grows is kept by mistake. */
async function flat(generator: Generator, fresh: Fresh): Promise<void> {
  const { scheduler, target, close } = await served(sqlite(fresh()));
  const { id } = await scheduler.as(OWNER).every(task, "1h", input, { name: "same" });
  const body = JSON.stringify({ kind: "every", task: "bench", every: "1h", input });
  const requests = [
    { method: "GET", path: `/v1/schedules/${id}` },
    { method: "PUT", path: "/v1/schedules/by-name/same", body },
    { method: "GET", path: "/v1/schedules?limit=10" },
    { method: "POST", path: "/v1/schedules", body: "{" },
    { method: "GET", path: "/v1/schedules/unknown" },
  ] as const;
  const parts = 5;
  const sizes: number[] = [];
  for (let part = 0; part < parts; part++) {
    await generator.load({ ...target, connections: CONNECTIONS, amount: REQUESTS / parts, requests });
    residentMiB();
    sizes.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
  print("http memory", {
    requests: REQUESTS,
    heapMiB: sizes.at(-1),
    // The first part compiles and fills caches.
    grewMiB: sizes.at(-1)! - sizes[0]!,
    target: 5,
    residentMiB: residentMiB(),
  });
  await close();
}

/** How late runs are: alone, beside streams that see nothing of them, and beside streams that get every event of them. */
async function streaming(generator: Generator, fresh: Fresh): Promise<void> {
  const { scheduler, target, close } = await served(sqlite(fresh()));
  const lateMs: number[] = [];
  scheduler.on("started", ({ run }) => void lateMs.push(run.latenessMs!));
  await scheduler.start();
  const watch = async () => {
    lateMs.length = 0;
    const [cpu, began] = [process.cpuUsage(), performance.now()];
    await sleep(WATCH_MS);
    const cores = coresSince(cpu, performance.now() - began);
    return { runs: lateMs.length, p50Ms: percentile(lateMs, 50), p99Ms: percentile(lateMs, 99), cores };
  };
  await scheduler.as({ id: "alice" }).every(task, "200ms", undefined, { name: "beat" });
  const alone = await watch();
  const before = residentMiB();
  await generator.open({ ...target, token: "nobody", streams: STREAMS });
  const kibEach = (residentMiB() - before) * 1_024 / STREAMS;
  const idle = await watch();
  await generator.leave();
  await generator.open({ ...target, streams: STREAMS });
  const told = await watch();
  print("http streams", { streams: STREAMS, kibEach, alone, idle, told, otherCores: await otherCores() });
  await close();
}

const PARTS = { sqlite: onSqlite, postgres: onPostgres, memory: flat, streams: streaming };

await inDirectory(async (directory) => {
  let files = 0;
  const fresh = () => `${directory}/${++files}.db`;
  const generator = new Generator();
  await generator.ready();
  try {
    for (const [name, part] of Object.entries(PARTS)) {
      if (only === undefined || only.includes(name)) await part(generator, fresh, directory);
    }
  } finally {
    generator.end();
  }
});
