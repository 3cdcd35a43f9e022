/**
 * The HTTP transport on the loopback interface: creating over it against creating in the process, through the same store;
 * reading meanwhile; memory over many requests; and what ten thousand idle event streams cost the runs.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { serve } from "../../../examples/serve.ts";
import { createScheduler, defineTask, type Scheduler } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { bearerTokens, http } from "../../../plugins/transports/http/mod.ts";
import type { Load, Loaded, Streams } from "./http/load.ts";
import { coresSince, inDirectory, median, otherCores, percentile, print, residentMiB, silent, sleep } from "./tools.ts";

const CREATES = Number(process.env["N"] ?? 20_000);
const REPS = Number(process.env["REPS"] ?? 3);
const REQUESTS = Number(process.env["REQUESTS"] ?? 100_000);
const STREAMS = Number(process.env["STREAMS"] ?? 10_000);
const WATCH_MS = Number(process.env["WATCH_MS"] ?? 30_000);
const CONNECTIONS = 50;
const TOKEN = "bench";
const OWNER = { id: "bench", admin: true };
const task = defineTask("bench", () => {});
const input = { orderId: "42" };

/** The load generator's process. */
class Generator {
  readonly #child: ChildProcess = fork(`${import.meta.dirname}/http/load.ts`);

  async ready(): Promise<void> {
    await once(this.#child, "message");
  }

  async load(load: Load): Promise<Loaded> {
    this.#child.send({ load });
    const [loaded] = await once(this.#child, "message") as [Loaded];
    const { "2xx": done = 0, ...others } = loaded.statuses;
    if (done === 0) throw new Error(`no request succeeded: ${JSON.stringify(others)}`);
    return loaded;
  }

  async open(streams: Streams): Promise<void> {
    this.#child.send({ open: streams });
    await once(this.#child, "message");
  }

  async leave(): Promise<void> {
    this.#child.send({ leave: true });
    await once(this.#child, "message");
  }

  end(): void {
    this.#child.disconnect();
  }
}

interface Served {
  readonly scheduler: Scheduler;
  readonly target: { readonly url: string; readonly token: string };
  close(): Promise<void>;
}

/** A scheduler behind a server of this process. */
async function served(file: string): Promise<Served> {
  const scheduler = createScheduler({ storage: sqlite(file), tasks: [task], logger: silent });
  const app = http(scheduler, {
    authenticate: bearerTokens({ [TOKEN]: OWNER, nobody: { id: "nobody" } }),
    events: { streamsOfOne: 100_000, streams: 100_000 },
    logger: silent,
  });
  const server = await serve(app.fetch, { hostname: "127.0.0.1", port: 0 });
  return {
    scheduler,
    target: { url: server.url, token: TOKEN },
    async close() {
      await scheduler.close();
      await server.close();
    },
  };
}

/** Work's rate and what it cost this process, in microseconds of processor time for each. */
async function measured(count: number, work: () => Promise<unknown>) {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await work();
  const [elapsedMs, { user, system }] = [performance.now() - began, process.cpuUsage(cpu)];
  return { perSecond: count / elapsedMs * 1_000, cpuUs: (user + system) / count };
}

/** Creates in the process as fifty connections would: each has one creation under way. */
async function inProcess(file: string) {
  const scheduler = createScheduler({ storage: sqlite(file), tasks: [task], logger: silent });
  const client = scheduler.as(OWNER);
  await client.after(task, "1h", input);
  let left = CREATES;
  const one = async () => {
    while (left-- > 0) await client.after(task, "1h", input);
  };
  const figures = await measured(CREATES, () => Promise.all(Array.from({ length: CONNECTIONS }, one)));
  await scheduler.close();
  return figures;
}

async function overHttp(file: string, generator: Generator) {
  const { scheduler, target, close } = await served(file);
  const { id } = await scheduler.as(OWNER).after(task, "1h", input);
  const body = JSON.stringify({ kind: "at", task: "bench", after: "1h", input });
  const requests = [{ method: "POST", path: "/v1/schedules", body }] as const;
  const common = { ...target, connections: CONNECTIONS, requests };
  await generator.load({ ...common, amount: 2_000 });
  const creates = { ...common, amount: CREATES };
  let perSecond = 0;
  const { cpuUs } = await measured(CREATES, async () => ({ perSecond } = await generator.load(creates)));
  const { readMs } = await generator.load({ ...creates, read: `/v1/schedules/${id}` });
  await close();
  return { perSecond, cpuUs, readMs };
}

async function creating(generator: Generator, fresh: () => string): Promise<void> {
  const [near, far] = [[] as Awaited<ReturnType<typeof inProcess>>[], [] as Awaited<ReturnType<typeof overHttp>>[]];
  const noise = await otherCores();
  for (let rep = 0; rep < REPS; rep++) {
    near.push(await inProcess(fresh()));
    far.push(await overHttp(fresh(), generator));
  }
  const of = (runs: readonly { readonly perSecond: number; readonly cpuUs: number }[]) =>
    [median(runs.map(({ perSecond }) => perSecond)), median(runs.map(({ cpuUs }) => cpuUs))] as const;
  const [[here, hereUs], [there, thereUs]] = [of(near), of(far)];
  const reads = far.flatMap(({ readMs }) => readMs);
  print("http create", {
    perSecond: there,
    inProcess: here,
    ratio: there / here,
    target: 0.5,
    cpuUs: thereUs,
    inProcessCpuUs: hereUs,
    cpuRatio: hereUs / thereUs,
    otherCores: noise,
  });
  print("http read while creating", {
    reads: reads.length,
    p50Ms: percentile(reads, 50),
    p99Ms: percentile(reads, 99),
  });
}

/** Requests that store nothing new: whatever grows is kept by mistake. */
async function flat(generator: Generator, fresh: () => string): Promise<void> {
  const { scheduler, target, close } = await served(fresh());
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
async function streaming(generator: Generator, fresh: () => string): Promise<void> {
  const { scheduler, target, close } = await served(fresh());
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

await inDirectory(async (directory) => {
  let files = 0;
  const fresh = () => `${directory}/${++files}.db`;
  const generator = new Generator();
  await generator.ready();
  try {
    await creating(generator, fresh);
    await flat(generator, fresh);
    await streaming(generator, fresh);
  } finally {
    generator.end();
  }
});
