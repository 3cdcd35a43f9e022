/**
 * One instance on a KV file in a process of its own; like child.ts. What its handlers do goes to a journal, which outlives a
 * SIGKILL.
 *
 * @module
 */
import { appendFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { createScheduler, defineTask } from "../../mod.ts";
import { kv } from "../../plugins/storage/kv/mod.ts";

const { file, journal, leaseMs } = JSON.parse(process.argv[2]!) as { file: string; journal: string; leaseMs: number };

const quick = defineTask("quick", (_input, { schedule, attempt }) => {
  appendFileSync(journal, `${JSON.stringify({ pid: process.pid, what: "start", id: schedule.id, attempt })}\n`);
});
const slow = defineTask<{ ms: number }>("slow", async ({ ms }, { schedule, attempt }) => {
  const entry = { pid: process.pid, id: schedule.id, attempt };
  appendFileSync(journal, `${JSON.stringify({ what: "start", ...entry })}\n`);
  await new Promise((resolve) => setTimeout(resolve, ms));
  appendFileSync(journal, `${JSON.stringify({ what: "end", ...entry })}\n`);
});

const say = (message: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(message)}\n`);
const scheduler = createScheduler({ storage: kv(file), tasks: [quick, slow], leaseMs, concurrency: 20 });
for (const name of ["leaseLost", "lost"] as const) {
  scheduler.on(name, ({ schedule, run }) => say({ event: name, id: schedule.id, attempt: run.attempt }));
}
scheduler.on("storeError", ({ operation, error }) => say({ storeError: operation, error: String(error) }));
createInterface({ input: process.stdin }).on("line", async () => {
  process.stdin.destroy();
  // Nothing may keep the process once it is closed (X3).
  await scheduler.close();
});
await scheduler.start();
say({ ready: process.pid });
