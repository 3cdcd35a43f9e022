import type pg from "pg";
import { onTestFinished } from "vitest";
import { createScheduler, defineTask, type Scheduler } from "../../mod.ts";
import { postgres } from "../../plugins/storage/postgres/mod.ts";
import { MAX_PAGE, type ScheduleDocument, type Storage } from "../../src/contract/mod.ts";
import { freshSchema, testPool } from "../support/postgres.ts";
import { type Child, launch } from "./processes.ts";

/** What a child process is told. */
export interface PostgresChildSettings {
  readonly url: string;
  readonly schema: string;
  readonly leaseMs?: number;
  readonly poolSize?: number;
  /** How far its own clock is off. */
  readonly clockOffMs?: number;
}

/** A start that a handler wrote down, with the database's time. */
export interface Started {
  readonly run: string;
  readonly id: string;
  readonly point: number;
  readonly pid: number;
  readonly at: number;
}

/** The tasks that children have, for creating. */
export const work = defineTask("work", () => {});
export const quick = defineTask("quick", () => {});
export const slow = defineTask("slow", (_input: { ms: number }) => {});

/** One schema, the processes on it, and a scheduler that only creates. */
export interface PostgresCluster {
  readonly schema: string;
  readonly pool: pg.Pool;
  readonly scheduler: Scheduler;
  /** Starts an instance and waits until it is ready. */
  child(settings?: Partial<PostgresChildSettings>): Promise<Child>;
  started(): Promise<readonly Started[]>;
  /** Every document there is, retired ones too. */
  documents(): Promise<readonly ScheduleDocument[]>;
}

export async function postgresCluster(url: string): Promise<PostgresCluster> {
  const schema = freshSchema();
  const pool = testPool(url);
  const storage = postgres({ pool, schema });
  const scheduler = createScheduler({
    storage,
    tasks: [work, quick, slow],
    retention: "1h",
  });
  await scheduler.valid("");
  onTestFinished(async () => {
    await scheduler.close({ drain: 0 });
    await pool.query(`drop schema "${schema}" cascade`);
  });
  await pool.query(`create table "${schema}".started (run text primary key, id text not null, point float8 not null,
    pid integer not null, at timestamptz not null default clock_timestamp())`);
  return {
    schema,
    pool,
    scheduler,
    async child(settings = {}) {
      const made = launch("postgres_child.ts", { url, schema, ...settings });
      await made.said((message) => "ready" in message);
      return made;
    },
    async started() {
      const { rows } = await pool.query<Started>(
        `select run, id, point, pid, (extract(epoch from at) * 1000)::float8 as at from "${schema}".started`,
      );
      return rows;
    },
    documents: () => allDocuments(storage),
  };
}

async function allDocuments(storage: Storage): Promise<readonly ScheduleDocument[]> {
  const documents: ScheduleDocument[] = [];
  for (let after = "";;) {
    const page = await storage.find({ retired: true, limit: MAX_PAGE, after });
    documents.push(...page);
    if (page.length < MAX_PAGE) return documents;
    after = page.at(-1)!.id;
  }
}
