/**
 * Recipe: upkeep that integrates over time. A tank leaks 2 litres an hour. The task looks every 10 minutes, but what it
 * takes off is the rate times `ctx.elapsed`: the time that has really passed since it ran last, late runs, runs that were
 * dropped and a night without any process included.
 *
 *     node examples/recipes/upkeep.ts
 *     deno run -A examples/recipes/upkeep.ts
 *
 * Time is moved by hand, so it ends at once.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScheduler, defineTask, type Scheduler } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import { manualClock } from "../../src/testing/mod.ts";

const LITRES_PER_HOUR = 2;
const directory = mkdtempSync(join(tmpdir(), "upkeep-"));
const clock = manualClock("2026-01-01T18:00:00Z");
const tank = { litres: 100 };

const leak = defineTask("leak", (_input, ctx) => {
  tank.litres -= LITRES_PER_HOUR * ctx.elapsed / 3_600_000;
  const minutes = Math.round(ctx.elapsed / 60_000);
  console.log(`${time(ctx.scheduledAt)}  ${minutes} min, ${ctx.missed} missed: ${tank.litres.toFixed(2)} l`);
});

function time(at: Date): string {
  return at.toISOString().slice(0, 16).replace("T", " ");
}

/** One life of the process: the schedule has a name, so the second start finds it. */
async function start(): Promise<Scheduler> {
  const scheduler = createScheduler({ clock, storage: sqlite(join(directory, "tank.db")), tasks: [leak] });
  await scheduler.every(leak, "10m", undefined, { name: "leak", startAt: "2026-01-01T18:00:00Z" });
  await scheduler.start();
  return scheduler;
}

const evening = await start();
await clock.advance("40m");
await evening.close();
console.log("                  nothing runs for the night");
await clock.advance("685m");
const morning = await start();
await clock.advance("20m");
await morning.close();
const hours = 12 + 1 / 3;
console.log(`expected after ${hours.toFixed(2)} h: ${(100 - LITRES_PER_HOUR * hours).toFixed(2)} l`);
rmSync(directory, { recursive: true });
