/**
 * PostgreSQL while somebody holds an old snapshot (B125), so that nothing written since can be vacuumed: how long claims
 * take then, beside how long they took before, and how many row versions a run costs. `SNAPSHOT_S` makes it shorter.
 */
import pg from "pg";
import { createScheduler, defineTask, type Scheduler } from "../../../../mod.ts";
import { postgres } from "../../../../plugins/storage/postgres/mod.ts";
import type { Storage } from "../../../../src/contract/mod.ts";
import { percentile, silent, sleep } from "../tools.ts";

const SCHEDULES = 200;
const BASELINE_MS = 20_000;
const SNAPSHOT_MS = Number(process.env["SNAPSHOT_S"] ?? 180) * 1_000;
const LAST_MS = 20_000;

/** Measures it on a server, with 200 schedules that fire once a second each. */
export async function heldSnapshot(
  url: string,
): Promise<Record<string, number>> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("drop schema if exists ostinato cascade");
  const claims: number[] = [];
  let runs = 0;
  const beat = defineTask("beat", () => void runs++);
  const scheduler: Scheduler = createScheduler({
    storage: timed(postgres(url), claims),
    tasks: [beat],
    logger: silent,
  });
  const now = Date.now();
  await scheduler.createMany(
    Array.from({ length: SCHEDULES }, (_, n) => ({
      task: beat,
      every: "1s",
      startAt: new Date(now + n * 1_000 / SCHEDULES),
    })),
  );
  await scheduler.start();
  await sleep(BASELINE_MS / 2);
  claims.length = 0;
  await sleep(BASELINE_MS);
  const before = percentile(claims, 95);
  await client.query("begin isolation level repeatable read");
  await client.query("select count(*) from ostinato.documents");
  const other = new pg.Client(url);
  await other.connect();
  const [ranBefore, versionsBefore] = [runs, await versions(other)];
  await sleep(SNAPSHOT_MS - LAST_MS);
  claims.length = 0;
  await sleep(LAST_MS);
  const after = percentile(claims, 95);
  const [ran, written] = [
    runs - ranBefore,
    await versions(other) - versionsBefore,
  ];
  await client.query("commit");
  await scheduler.close();
  await Promise.all([client.end(), other.end()]);
  return {
    runs: ran,
    claimP95Before: before,
    claimP95After: after,
    slowdown: after / before,
    versionsPerRun: written / ran,
  };
}

/** Row versions written so far; the server counts with some delay. */
async function versions(client: pg.Client): Promise<number> {
  await sleep(1_500);
  const { rows: [row] } = await client.query(
    "select n_tup_upd + n_tup_ins as written from pg_stat_user_tables where schemaname = 'ostinato' and relname = 'documents'",
  );
  return Number(row.written);
}

/** A store whose claims that found something are timed. */
function timed(storage: Storage, claims: number[]): Storage {
  const advance = storage.advance.bind(storage);
  storage.advance = async (request, step, moved) => {
    const began = performance.now();
    let told = 0;
    const result = await advance(request, step, (values, now) => {
      told += values.length;
      moved?.(values, now);
    });
    if (told + result.values.length > 0) {
      claims.push(performance.now() - began);
    }
    return result;
  };
  return storage;
}
