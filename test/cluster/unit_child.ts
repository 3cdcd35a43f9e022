/**
 * A process that opens a transaction and, in a run, a unit of work, makes a schedule in each, tells their ids, and never
 * comes to an end.
 *
 * @module
 */
import process from "node:process";
import { createScheduler, defineTask, type Schedule } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";

const { file, leaseMs } = JSON.parse(process.argv[2]!) as { readonly file: string; readonly leaseMs: number };
const forever = new Promise<never>(() => {});
const say = (message: object) => void process.stdout.write(`${JSON.stringify(message)}\n`);

const child = defineTask("child", () => {});
const parent = defineTask("parent", async (_input, { schedules, schedule }) => {
  const made = await schedules.after(child, "1h");
  await schedules.pause(schedule.id);
  say({ unit: "run", id: made.id });
  await forever;
});

const scheduler = createScheduler({ storage: sqlite(file), tasks: [child, parent], leaseMs });
await scheduler.start();
const { id } = await scheduler.every(parent, "1h", undefined, { name: "parent" });
await scheduler.trigger(id);
say({ parent: id });
await scheduler.transaction(async (tx) => {
  const made: Schedule = await tx.after(child, "1h", undefined, { name: "child" });
  await tx.stop(id);
  say({ unit: "transaction", id: made.id });
  await forever;
});
