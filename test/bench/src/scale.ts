/**
 * 1,000,000 stored future schedules in one SQLite file: memory, idle CPU, how late due ones start, and what finding the
 * due ones costs against a file of 1,000. `STORED=100000` tries it with fewer.
 */
import { createScheduler, defineTask, type Scheduler } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
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

await inDirectory(async (directory) => {
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
});

function opened(file: string): Scheduler {
  return createScheduler({
    storage: sqlite(file),
    tasks: [task],
    logger: silent,
  });
}

/** Stores future schedules, then measures what finding 100 due ones among them takes, in milliseconds. */
async function finding(file: string, stored: number): Promise<number> {
  const scheduler = opened(file);
  const from = Date.now() + 86_400_000;
  for (let i = 0; i < stored; i += CHUNK) {
    await scheduler.createMany(
      Array.from(
        { length: Math.min(CHUNK, stored - i) },
        (_, k) => ({ task, input: { id: i + k }, at: from + (i + k) * 10 }),
      ),
    );
  }
  await scheduler.close();
  const store = sqlite(file);
  const clock = {
    now: Date.now,
    monotonic: () => performance.now(),
    setTimer: () => () => {},
    defer: setImmediate,
  };
  await store.open({ clock: clock as never, logger: silent });
  const times: number[] = [];
  for (let rep = 0; rep < 50; rep++) {
    const started = performance.now();
    // The first hundred are due then; they are left as they are.
    await store.advance(
      { lanes: ["", "bench"], limit: 100, now: from + 1_000 },
      () => ({ value: undefined }),
    );
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
