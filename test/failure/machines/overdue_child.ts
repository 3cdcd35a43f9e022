/**
 * Makes as many schedules as it is told that are overdue, then drains them with a new instance and tells what memory that took.
 *
 * @module
 */
import process from "node:process";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";

const { file, count } = JSON.parse(process.argv[2]!) as { file: string; count: number };
const BATCH = 5_000;
const storage = () => sqlite({ path: file, synchronous: "normal" });
const collect = (globalThis as unknown as { gc: () => void }).gc;

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

let runs = 0;
let most = 0;
const ids = new Set<string>();
let over = () => {};
const allOver = new Promise<void>((resolve) => over = resolve);
const work = defineTask("work", (_input, { schedule }) => {
  runs++;
  ids.add(schedule.id);
  if (runs % BATCH === 0) most = Math.max(most, heap());
  if (runs === count + 1) over();
});

const maker = createScheduler({ storage: storage(), tasks: [work] });
for (let made = 0; made < count; made += BATCH) {
  await maker.createMany(Array.from({ length: BATCH }, () => ({ task: work, after: 0, retention: "1h" } as const)));
}
await maker.close();
const before = heap();
const scheduler = createScheduler({ storage: storage(), tasks: [work], concurrency: 100 });
await scheduler.start();
await scheduler.after(work, 0);
const createdAfter = runs;
await allOver;
most = Math.max(most, heap());
await scheduler.close();
process.stdout.write(`${JSON.stringify({ runs, different: ids.size, before, most, createdAfter })}\n`);
