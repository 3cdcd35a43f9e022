/**
 * Three processes share the schedules of one file, and one of them is killed in the middle of a run.
 *
 *     node examples/cluster.ts
 *     deno run -A examples/cluster.ts
 *
 * Each deadline runs in one of them. The run of the process that is killed is lost; once its lease is over (2 s here, 30 s
 * unless you say otherwise) another process starts it again. It ends by itself, after some seconds.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createScheduler, defineTask, type Scheduler } from "../mod.ts";
import { sqlite } from "../plugins/storage/sqlite/mod.ts";

/** The same program in every process: a store that they share, and the tasks that they know. */
function build(file: string, name: string): Scheduler {
  let beats = 0;
  const beat = defineTask("beat", () => console.log(`${name} has beaten ${++beats} times`));
  const crawl = defineTask("crawl", async (_input, ctx) => {
    console.log(`${name} crawls, attempt ${ctx.attempt}`);
    // The first attempt is the one that is killed; it would never end.
    if (ctx.attempt === 1) await once(ctx.signal, "abort");
    console.log(`${name} has crawled`);
  });
  const scheduler = createScheduler({ storage: sqlite(file), tasks: [beat, crawl], leaseMs: 2_000 });
  scheduler.on(
    "lost",
    ({ schedule }) => console.log(`${name} sees that the ${schedule.task} of a dead process is lost`),
  );
  return scheduler;
}

/** A process of the cluster: runs what is due until whoever started it ends, or says so by closing the pipe. */
async function work(file: string, name: string): Promise<void> {
  const scheduler = build(file, name);
  await scheduler.start();
  console.log(`${name} is ready`);
  process.stdin.resume();
  await once(process.stdin, "end");
  await scheduler.close();
}

/** What a process says, line by line, and a wait for the first line that matches. */
class Worker {
  readonly child: ChildProcess;
  readonly #waiting = new Set<(line: string) => void>();

  readonly name: string;

  constructor(file: string, name: string) {
    this.name = name;
    const flags = "Deno" in globalThis ? ["run", "-A"] : ["--disable-warning=ExperimentalWarning"];
    const parameters = [...flags, fileURLToPath(import.meta.url), "work", file, name];
    this.child = spawn(process.execPath, parameters, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      console.log(line);
      for (const told of [...this.#waiting]) told(line);
    });
  }

  says(pattern: RegExp): Promise<this> {
    return new Promise((resolve) => {
      const told = (line: string) => {
        if (!pattern.test(line)) return;
        this.#waiting.delete(told);
        resolve(this);
      };
      this.#waiting.add(told);
    });
  }
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "cluster-"));
  const file = join(directory, "schedules.db");
  const workers = ["A", "B", "C"].map((name) => new Worker(file, name));
  const ended = workers.map(({ child }) => once(child, "close"));
  await Promise.all(workers.map((worker) => worker.says(/is ready/)));

  // This process is not started: it only creates.
  const scheduler = build(file, "main");
  const beat = await scheduler.every("beat", "400ms", undefined, { name: "beat" });
  const crawling = Promise.race(workers.map((worker) => worker.says(/crawls, attempt 1/)));
  const crawled = Promise.race(workers.map((worker) => worker.says(/has crawled/)));
  const crawl = await scheduler.after("crawl", "1s");

  const victim = await crawling;
  victim.child.kill("SIGKILL");
  console.log(`KILLED ${victim.name}: nothing is said any more by ${victim.name}; the others go on`);
  const heir = await crawled;
  console.log(`${heir.name} has finished what ${victim.name} began`);

  for (const worker of workers) worker.child.stdin!.end();
  await Promise.all(ended);
  for (const run of (await crawl.runs()).toReversed()) console.log(`crawl: attempt ${run.attempt} ${run.outcome}`);
  const { runCount, missedCount, overlapCount } = await beat.info();
  console.log(`beat: ${runCount} runs in all, ${missedCount} missed, ${overlapCount} overlapped`);
  await scheduler.close();
  rmSync(directory, { recursive: true, force: true });
}

const [role, file, name] = process.argv.slice(2);
if (role === "work" && file !== undefined && name !== undefined) await work(file, name);
else await main();
