import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask } from "../../../mod.ts";
import { postgres } from "../../../plugins/storage/postgres/mod.ts";
import { readHistory } from "../../../src/contract/mod.ts";
import { until } from "../../cluster/processes.ts";
import { freshSchema, type OwnServer, ownServer, testPool } from "../../support/postgres.ts";
import { SILENT } from "../crash/life.ts";
import { documents } from "../crash/promises.ts";

const SCHEDULES = 60;

let server: OwnServer;
beforeAll(async () => void (server = await ownServer()), 60_000);

type Ask = (sql: string) => Promise<pg.QueryResult>;

async function asked<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server.url });
  client.on("error", () => {});
  await client.connect();
  try {
    return await work((sql) => client.query(sql));
  } finally {
    await client.end().catch(() => {});
  }
}

/** The server's processes: the one that listens first, so that nobody comes in while the others are signalled. */
async function processes(ask: Ask): Promise<number[]> {
  const [{ data_directory: directory }] = (await ask("show data_directory")).rows;
  const [postmaster] = readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n");
  const { rows } = await ask(
    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  return [Number(postmaster), ...rows.map(({ pid }) => Number(pid))];
}

/** A connection may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

const OUTAGES: Readonly<Record<string, () => Promise<void>>> = {
  restarted: () => server.restart(),
  "stopped and continued": async () => {
    const all = await asked(processes);
    try {
      for (const pid of all) signal(pid, "SIGSTOP");
      // Longer than a lease, by the server's clock, which goes on.
      await new Promise((resolve) => setTimeout(resolve, 800));
    } finally {
      for (const pid of all) signal(pid, "SIGCONT");
    }
  },
  "rid of its connections, three times": async () => {
    for (let round = 0; round < 3; round++) {
      await asked((ask) =>
        ask(
          "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
        )
      );
    }
  },
};

describe("a PostgreSQL that misbehaves", { timeout: 120_000 }, () => {
  it.each(Object.entries(OUTAGES))(
    "M1 M3 M6 U3: a server that is %s loses nothing and doubles nothing without a lost lease",
    async (_how, outage) => {
      const schema = freshSchema();
      const pool = testPool(server.url);
      onTestFinished(async () => void await pool.query(`drop schema if exists "${schema}" cascade`));
      const starts = new Map<string, number>();
      const child = defineTask("child", (_input, { schedule }) => count(schedule.id));
      const parent = defineTask("parent", async (_input, { schedule, schedules }) => {
        count(schedule.id);
        await schedules.after(child, 0, undefined, { tags: [schedule.id] });
        await new Promise((resolve) => setTimeout(resolve, 20));
      });
      function count(id: string): void {
        starts.set(id, (starts.get(id) ?? 0) + 1);
      }
      const instance = () => {
        const storage = postgres({ url: server.url, schema, poolSize: 2, pollInterval: 200 });
        const config = {
          tasks: [parent, child],
          leaseMs: 500,
          concurrency: 4,
          retention: "1d",
          logger: SILENT,
        } as const;
        const scheduler = createScheduler({ storage, ...config });
        onTestFinished(() => scheduler.close({ drain: 0 }));
        return { storage, scheduler };
      };
      const [one, two] = [instance(), instance()];
      for (const { scheduler } of [one, two]) await scheduler.start();
      const request = { task: parent, after: 0, maxLost: 100 } as const;
      await one.scheduler.createMany(Array.from({ length: SCHEDULES }, () => request));
      await until("some are running", () => starts.size > 4);
      await outage();
      await until("all are over", async () => {
        const found = await documents(one.storage).catch(() => []);
        return found.length === 2 * SCHEDULES && found.every(({ progress }) => progress.retired !== undefined);
      });
      for (const { id, definition, progress } of await documents(one.storage)) {
        const outcomes = readHistory(progress.history).map(({ outcome }) => outcome);
        expect(outcomes.filter((outcome) => outcome === "succeeded"), `${definition.task} ${outcomes}`).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome !== "lost")).toEqual(["succeeded"]);
        expect(starts.get(id)).toBeLessThanOrEqual(outcomes.length);
        expect(progress.retired?.reason).toBe("completed");
      }
      const children = (await documents(one.storage)).flatMap(({ definition }) => definition.tags ?? []);
      expect(new Set(children).size, "U3: one child for each parent").toBe(SCHEDULES);
    },
  );
});
