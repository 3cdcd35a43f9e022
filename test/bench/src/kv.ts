/**
 * Firing due one-shots with a handler that does nothing from a KV file that holds them, settled and durable, against the
 * naive loop: take the first that is due, read its schedule, run it, and write it back, one commit for each run; and against
 * the least that any loop in batches has to do to run each at least once and find what is live. Then, idle, how often the
 * store is read. On Node through the package `@deno/kv`, and then on Deno through `Deno.openKv`, which is what
 * the targets are about. `N=10000 REPS=3`
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import process from "node:process";
import { createScheduler, defineTask } from "../../../mod.ts";
import { kv, type KvEntryLike, type KvKey, type KvLike, type KvSelectorLike } from "../../../plugins/storage/kv/mod.ts";
import { openKv } from "../../support/kv.ts";
import { inDirectory, median, print, silent, sleep } from "./tools.ts";

const N = Number(process.env["N"] ?? 10_000);
const REPS = Number(process.env["REPS"] ?? 3);
/** The naive loop is slow and steady: a part of it tells its pace. */
const NAIVE = Math.min(N, 1_000);
const CREATED_TOGETHER = 100;
/** Of the least loop: as many as one commit takes. */
const LEAST_BATCH = 450;
const IDLE_MS = 3_000;

const encoder = new TextEncoder();
let count = 0;
const task = defineTask("bench", () => void count++);

await inDirectory(async (directory) => {
  const [master, due, all] = [`${directory}/master.kv`, `${directory}/due.kv`, `${directory}/all.kv`];
  await fill(master);
  await fillNaive(due, NAIVE);
  await fillNaive(all, N);
  const ours: number[] = [];
  const naives: number[] = [];
  const leasts: number[] = [];
  for (let rep = 0; rep < REPS; rep++) {
    naives.push(await naive(copied(due, `${directory}/naive${rep}.kv`)));
    leasts.push(await least(copied(all, `${directory}/least${rep}.kv`)));
    ours.push(await fire(copied(master, `${directory}/ours${rep}.kv`)));
  }
  const [perSecond, naivePerSecond, leastPerSecond] = [median(ours), median(naives), median(leasts)];
  print("kv firing", {
    runtime: "Deno" in globalThis ? "deno" : "node",
    perSecond,
    target: 2_000,
    naive: naivePerSecond,
    ratioToNaive: perSecond / naivePerSecond,
    targetToNaive: 5,
    least: leastPerSecond,
    shareOfLeast: perSecond / leastPerSecond,
  });
  // A handle of the package is polled; Deno's own is watched.
  if ("Deno" in globalThis) {
    print("kv idle", {
      ms: IDLE_MS,
      reads: await idle(`${directory}/idle.kv`),
      target: 0,
    });
  }
});

if (!("Deno" in globalThis)) {
  execFileSync("deno", ["run", "-A", "--unstable-kv", import.meta.filename], {
    stdio: "inherit",
  });
}

function copied(from: string, to: string): string {
  for (const end of ["", "-wal", "-shm"]) {
    if (existsSync(from + end)) copyFileSync(from + end, to + end);
  }
  return to;
}

async function fill(file: string): Promise<void> {
  await using scheduler = createScheduler({
    storage: kv(file),
    tasks: [task],
    logger: silent,
  });
  const request = {
    task,
    at: new Date(Date.now() - 1_000),
    input: { order: "42" },
    catchup: "once",
  } as const;
  for (let made = 0; made < N; made += CREATED_TOGETHER) {
    await scheduler.createMany(
      Array.from({ length: CREATED_TOGETHER }, () => request),
    );
  }
}

/** From the start to the moment when every run is settled. */
async function fire(file: string): Promise<number> {
  const scheduler = createScheduler({
    storage: kv(file),
    tasks: [task],
    logger: silent,
    concurrency: 100,
  });
  let settled = 0;
  const all = new Promise<void>((resolve) => scheduler.on("succeeded", () => void (++settled === N && resolve())));
  const began = performance.now();
  await scheduler.start();
  await all;
  const seconds = (performance.now() - began) / 1_000;
  await scheduler.close();
  return N / seconds;
}

/** Schedules of the size of ours, each with an entry of when it is due, and one of what is live. */
async function fillNaive(file: string, count: number): Promise<void> {
  const handle = await openKv(file);
  const schedule = {
    task: "bench",
    input: { order: "42" },
    padding: "x".repeat(600),
  };
  for (let n = 0; n < count; n += CREATED_TOGETHER) {
    const commit = handle.atomic();
    for (let i = n; i < n + CREATED_TOGETHER; i++) {
      commit.set(["schedule", i], { ...schedule, id: i });
      commit.set(["due", 1_000 + i, i], null);
      commit.set(["live", i], null);
    }
    await commit.commit();
  }
  handle.close();
}

async function naive(file: string): Promise<number> {
  const handle = await openKv(file);
  const began = performance.now();
  let runs = 0;
  for (let isDue = true; isDue;) {
    isDue = false;
    for await (
      const { key } of handle.list({
        prefix: ["due"],
        end: ["due", began + 1e9],
      }, { limit: 1, batchSize: 1 })
    ) {
      isDue = true;
      const [, , id] = key as [string, number, number];
      const [entry] = await handle.getMany([["schedule", id]]);
      const commit = handle.atomic();
      commit.check({
        key: ["schedule", id],
        versionstamp: entry!.versionstamp,
      });
      commit.set(["schedule", id], {
        ...entry!.value as object,
        lastRun: Date.now(),
      });
      commit.delete(["due", 1_000 + id, id]);
      commit.set(["done", id], null);
      if ((await commit.commit()).ok) runs++;
    }
  }
  const seconds = (performance.now() - began) / 1_000;
  handle.close();
  return runs / seconds;
}

/** In batches: leases what is due, runs it, and writes down what became of it, with two keys for each in both commits. */
async function least(file: string): Promise<number> {
  const handle = await openKv(file);
  const list = async (selector: KvSelectorLike) => {
    const entries: KvEntryLike[] = [];
    for await (const entry of handle.list(selector, { limit: LEAST_BATCH, batchSize: LEAST_BATCH })) {
      entries.push(entry);
    }
    return entries;
  };
  const began = performance.now();
  let runs = 0;
  for (;;) {
    const due = await list({ prefix: ["due"] });
    if (due.length === 0) break;
    const first = due[0]!.key[2] as number;
    const documents = await list({ prefix: ["schedule"], start: ["schedule", first] });
    const texts = documents.map(({ value }) => JSON.stringify({ ...value as object, leaseUntil: Date.now() + 30_000 }));
    const claim = handle.atomic();
    documents.forEach(({ key }, i) => claim.set(key as KvKey, encoder.encode(texts[i])));
    for (const { key } of due) claim.delete(key as KvKey);
    claim.set(["lease", first], first);
    await claim.commit();
    const settle = handle.atomic();
    for (const { key, value } of documents) {
      runs++;
      settle.set(key as KvKey, encoder.encode(JSON.stringify({ ...value as object, lastRun: Date.now() })));
      settle.delete(["live", key[1] as number]);
    }
    settle.delete(["lease", first]);
    await settle.commit();
  }
  const seconds = (performance.now() - began) / 1_000;
  handle.close();
  return runs / seconds;
}

/** Reads of a scheduler that waits for an hour. */
async function idle(file: string): Promise<number> {
  const handle = await openKv(file);
  let reads = 0;
  const counting = new Proxy(handle, {
    get(target, name) {
      const member = target[name as keyof KvLike];
      if (name === "getMany" || name === "list") reads++;
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const scheduler = createScheduler({
    storage: "Deno" in globalThis ? kv(counting) : kv({ kv: counting, pollInterval: "1h" }),
    tasks: [task],
    logger: silent,
  });
  await scheduler.start();
  await scheduler.after(task, "1h", { order: "42" });
  await sleep(1_000);
  reads = 0;
  await sleep(IDLE_MS);
  const seen = reads;
  await scheduler.close();
  handle.close();
  return seen;
}
