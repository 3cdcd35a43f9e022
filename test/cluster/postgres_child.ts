/**
 * One instance on PostgreSQL in a process of its own. Reads its settings from the first argument, writes down in a table,
 * which outlives a SIGKILL, what its handlers start, and talks to the test by lines of JSON.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import pg from "pg";
import { createScheduler, defineTask } from "../../mod.ts";
import { postgres } from "../../plugins/storage/postgres/mod.ts";
import { systemClock } from "../../src/system.ts";
import type { PostgresChildSettings } from "./postgres_processes.ts";

const settings = JSON.parse(process.argv[2]!) as PostgresChildSettings;
const { url, schema, leaseMs = 30_000, clockOffMs = 0, poolSize = 3 } = settings;

function say(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const journal = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
journal.on("error", () => {});

/** Writes a start down, also when the server is just being restarted. */
async function note(runId: string, id: string, point: number): Promise<void> {
  for (;;) {
    try {
      const into =
        `insert into "${schema}".started (run, id, point, pid) values ($1, $2, $3, $4) on conflict do nothing`;
      await journal.query(into, [runId, id, point, process.pid]);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const counted: string[] = [];
const work = defineTask(
  "work",
  (_input, { schedule, scheduledAt, runId }) => note(runId, schedule.id, scheduledAt.getTime()),
);
const quick = defineTask("quick", (_input, { schedule }) => void counted.push(schedule.id));
const slow = defineTask("slow", async (input: { ms: number }, { schedule, attempt }) => {
  say({ started: schedule.id, attempt });
  await new Promise((resolve) => setTimeout(resolve, input.ms));
  say({ ended: schedule.id, attempt });
});

const real = systemClock();
const scheduler = createScheduler({
  storage: postgres({ url, schema, poolSize }),
  tasks: [work, quick, slow],
  leaseMs,
  clock: { ...real, now: () => real.now() + clockOffMs },
  logger: { error: console.error, warn() {}, info() {}, debug() {} },
});
for (const name of ["leaseLost", "lost"] as const) {
  scheduler.on(name, ({ schedule }) => say({ event: name, id: schedule.id }));
}

const commands: Record<string, () => Promise<void> | void> = {
  counted: () => say({ counted }),
  async close() {
    await scheduler.close();
    await journal.end();
    say({ closed: true });
  },
};

createInterface({ input: process.stdin }).on("line", (line) => void commands[line]!()).on(
  "close",
  () => process.exit(),
);
await scheduler.start();
say({ ready: true });
