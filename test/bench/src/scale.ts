/**
 * 1,000,000 stored future schedules in one SQLite file: memory, idle CPU, how late due ones start, and what finding the
 * due ones costs against a file of 1,000. `STORED=100000` tries it with fewer.
 */
import { execFileSync } from "node:child_process";
import { createScheduler, defineTask, type Scheduler } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { systemClock } from "../../../src/system.ts";
import { coresSince, inDirectory, median, otherCores, percentile, print, residentMiB, silent, sleep } from "./tools.ts";

const STORED = Number(process.env["STORED"] ?? 1_000_000);
const DUE = 300;
const IDLE_MS = 10_000;
const CHUNK = 1_000;

const late: number[] = [];
const task = defineTask(
  "bench",
  (_input, { scheduledAt }) => void late.push(Date.now() - scheduledAt.getTime()),
);

const [, , , filled, count] = process.argv;
if (filled !== undefined) await fill(filled, Number(count));
else await inDirectory(measure);

async function measure(directory: string): Promise<void> {
  const few = await finding(`${directory}/few.db`, 1_000);
  const file = `${directory}/many.db`;
  const many = await finding(file, STORED);
  const scheduler = opened(file);
  await scheduler.start();
  const noise = await otherCores();
  const [before, at] = [process.cpuUsage(), performance.now()];
  await sleep(IDLE_MS);
  const idleCores = coresSince(before, performance.now() - at);
  const lateness = await lateOf(scheduler);
  print("scale", {
    stored: STORED,
    residentMiB: residentMiB(),
    targetMiB: 200,
    idleCores,
    targetCores: 0.01,
    latenessP50Ms: percentile(lateness, 50),
    latenessP99Ms: percentile(lateness, 99),
    targetP99Ms: 20,
    findingRatio: many / few,
    targetFindingRatio: 1.3,
    otherCores: noise,
  });
  await scheduler.close();
}

function opened(file: string): Scheduler {
  return createScheduler({
    storage: sqlite(file),
    tasks: [task],
    logger: silent,
  });
}

/** Stores future schedules; in a process of its own, so that what it needed is not taken for what they need. */
async function fill(file: string, stored: number): Promise<void> {
  const scheduler = opened(file);
  const from = firstDue();
  for (let i = 0; i < stored; i += CHUNK) {
    await scheduler.createMany(
      Array.from({ length: Math.min(CHUNK, stored - i) }, (_, k) => {
        const id = i + k;
        return { task, input: { id }, at: from + id * 10 };
      }),
    );
  }
  await scheduler.close();
}

/** Tomorrow's noon, the same in both processes. */
function firstDue(): number {
  const day = 86_400_000;
  return Math.floor(Date.now() / day) * day + 1.5 * day;
}

/** What finding 100 due ones among so many takes, in milliseconds. */
async function finding(file: string, stored: number): Promise<number> {
  execFileSync(process.execPath, [process.argv[1]!, "scale", file, `${stored}`], { stdio: "inherit" });
  const store = sqlite(file);
  await store.open({ clock: systemClock(), logger: silent });
  const times: number[] = [];
  for (let rep = 0; rep < 50; rep++) {
    const started = performance.now();
    // The first hundred are due then; they are left as they are.
    await store.advance({ lanes: ["", "bench"], limit: 100, now: firstDue() + 990 }, () => ({ value: undefined }));
    times.push(performance.now() - started);
  }
  await store.close();
  return median(times);
}

/** How late one-shots spread over some seconds start, in milliseconds. */
async function lateOf(scheduler: Scheduler): Promise<readonly number[]> {
  late.length = 0;
  const from = Date.now() + 1_000;
  for (let i = 0; i < DUE; i++) await scheduler.at(task, from + i * 17);
  while (late.length < DUE) await sleep(100);
  return late;
}
