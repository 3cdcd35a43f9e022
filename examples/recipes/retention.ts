/**
 * Recipe: retention. Every night the rows of a table that are older than 30 days are deleted, by an internal task: users
 * who may schedule things can neither schedule nor run it, and cannot even tell that it exists.
 *
 *     node examples/recipes/retention.ts
 *     deno run -A examples/recipes/retention.ts
 *
 * Time is moved by hand, so it ends at once.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createScheduler, defineTask, isSchedulerError } from "../../mod.ts";
import { manualClock } from "../../src/testing/mod.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-03-27T12:00:00Z");
const directory = mkdtempSync(join(tmpdir(), "retention-"));
const database = new DatabaseSync(join(directory, "app.db"));
database.exec("CREATE TABLE event (id INTEGER PRIMARY KEY, at INTEGER NOT NULL)");
const insert = database.prepare("INSERT INTO event (at) VALUES (?)");
database.exec("BEGIN");
for (let day = 0; day < 60; day++) for (let i = 0; i < 20; i++) insert.run(START - day * DAY);
database.exec("COMMIT");

const clock = manualClock(START);
const rows = () => Number(database.prepare("SELECT count(*) AS n FROM event").get()!["n"]);

const prune = defineTask("prune", {
  internal: true,
  timeout: "10m",
  run(input: { days: number; batch: number }, ctx) {
    const before = ctx.scheduledAt.getTime() - input.days * DAY;
    const remove = database.prepare("DELETE FROM event WHERE id IN (SELECT id FROM event WHERE at < ? LIMIT ?)");
    let deleted = 0;
    // In batches, so that others get at the table; what is left when the run is aborted is tomorrow's.
    for (let n = input.batch; n === input.batch && !ctx.signal.aborted; deleted += n) {
      n = Number(remove.run(before, input.batch).changes);
    }
    console.log(`${ctx.scheduledAt.toISOString()}  ${deleted} rows deleted, ${rows()} left`);
  },
});
const scheduler = createScheduler({ clock, tasks: [prune] });
await scheduler.start();
// One run is enough however many nights were missed; the zone makes it three at night in summer, too.
await scheduler.cron("nightly-prune", "0 3 * * *", prune, { days: 30, batch: 100 }, {
  timezone: "Europe/Berlin",
  catchup: "once",
  jitter: { spread: "5m" },
});
console.log(`${rows()} rows before the first night`);
await clock.advance("4d");
try {
  await scheduler.as({ id: "alice" }).after(prune, 0, { days: 0, batch: 1_000 });
} catch (error) {
  console.log(`alice may not: ${isSchedulerError(error) ? error.code : error}`);
}
await scheduler.close();
database.close();
rmSync(directory, { recursive: true });
