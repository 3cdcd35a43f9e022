/**
 * Recipe: one batch schedule for a class of objects, instead of one schedule for each. 5,000 subscriptions fall due at
 * times of their own; what knows when is the application's table, and one hourly schedule takes what is due from it.
 *
 *     node examples/recipes/batch.ts
 *     deno run -A examples/recipes/batch.ts
 *
 * Give each object its own schedule when it has a policy, an owner or a history of its own. When all do the same and the
 * table has the time already, this is one row in the store instead of 5,000, and a run that comes late, or is repeated,
 * takes what is still due and nothing twice. Time is moved by hand, so it ends at once.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createScheduler, defineTask } from "../../mod.ts";
import { manualClock } from "../../src/testing/mod.ts";

const MONTH = 30 * 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const directory = mkdtempSync(join(tmpdir(), "batch-"));
const database = new DatabaseSync(join(directory, "shop.db"));
database.exec("CREATE TABLE subscription (id INTEGER PRIMARY KEY, due INTEGER NOT NULL, charges INTEGER NOT NULL)");
database.exec("CREATE INDEX subscription_due ON subscription (due)");
database.exec("BEGIN");
const insert = database.prepare("INSERT INTO subscription VALUES (?, ?, 0)");
for (let id = 0; id < 5_000; id++) insert.run(id, START + (id * 7_919_000) % (MONTH / 10));
database.exec("COMMIT");

const clock = manualClock(START);
/** At most so many in one statement, so that a backlog does not hold the table. */
const BATCH = 500;
const charge = database.prepare(
  "UPDATE subscription SET due = due + ?, charges = charges + 1 " +
    "WHERE id IN (SELECT id FROM subscription WHERE due <= ? ORDER BY due LIMIT ?)",
);
let charged = 0;
const bill = defineTask("bill", (_input, ctx) => {
  let count = 0;
  for (let changes = BATCH; changes === BATCH && !ctx.signal.aborted; count += changes) {
    changes = Number(charge.run(MONTH, ctx.scheduledAt.getTime(), BATCH).changes);
  }
  charged += count;
  if (ctx.scheduledAt.getUTCHours() % 12 === 0) {
    console.log(`${ctx.scheduledAt.toISOString().slice(0, 16)}  ${count} due this time, ${charged} charged so far`);
  }
});

const scheduler = createScheduler({ clock, tasks: [bill] });
await scheduler.start();
await scheduler.every(bill, "1h", undefined, { name: "bill" });
await clock.advance("3d");
const { schedules } = await scheduler.list().page();
const [{ twice } = { twice: 0 }] = database.prepare("SELECT count(*) AS twice FROM subscription WHERE charges > 1")
  .all();
console.log(`${schedules.length} schedule, ${charged} subscriptions charged, ${twice} of them twice`);
await scheduler.close();
database.close();
rmSync(directory, { recursive: true });
