/**
 * Tells each run of a schedule of four a second, and each second that passes.
 *
 * @module
 */
import process from "node:process";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";

const { file } = JSON.parse(process.argv[2]!) as { file: string };
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const beat = defineTask(
  "beat",
  (_input, { scheduledAt, missed }) => void say({ point: scheduledAt.getTime(), missed }),
);
const scheduler = createScheduler({ storage: sqlite(file), tasks: [beat] });
await scheduler.start();
await scheduler.every(beat, 250);
setInterval(() => say({ tick: Date.now() }), 500);
