/**
 * Recipe: an audit. Lists the schedules that fire more often than once a second, by what they say (an interval below a
 * second) and by what they did (chains that call `again` with short delays), with their owners.
 *
 *     node examples/recipes/audit.ts
 *     deno run -A examples/recipes/audit.ts
 *
 * Time is moved by hand, so it ends at once.
 *
 * @module
 */
import { again, createScheduler, defineTask, type ScheduleInfo, type Scheduler } from "../../mod.ts";
import { manualClock } from "../../src/testing/mod.ts";

const LIMIT_MS = 1_000;

/** Why a schedule is thought to fire too often; undefined where it is not. */
async function complaint(scheduler: Scheduler, info: ScheduleInfo): Promise<string | undefined> {
  if (info.spec.kind === "every" && info.spec.every < LIMIT_MS) return `every ${info.spec.every} ms`;
  // What is kept of its runs, the newest first. Retries of one deadline are no cadence.
  const starts = (await scheduler.runs(info.id)).filter(({ attempt }) => attempt === 1).map(({ startedAt }) =>
    startedAt
  );
  if (starts.length < 2) return undefined;
  const mean = (starts[0]!.getTime() - starts.at(-1)!.getTime()) / (starts.length - 1);
  return mean < LIMIT_MS ? `every ${Math.round(mean)} ms, as its last ${starts.length} runs show` : undefined;
}

/** Asked by the system, it sees everybody's; `list` reads page by page, however many there are. */
async function audit(scheduler: Scheduler): Promise<void> {
  let seen = 0;
  for await (const schedule of scheduler.list()) {
    seen++;
    const info = await schedule.info();
    const why = await complaint(scheduler, info);
    if (why !== undefined) console.log(`${info.owner.padEnd(8)} ${info.task.padEnd(8)} ${why}`);
  }
  console.log(`${seen} schedules looked at`);
}

const clock = manualClock("2026-01-01T00:00:00Z");
const beat = defineTask("beat", () => {});
const chase = defineTask("chase", () => again("50ms"));
const scheduler = createScheduler({ clock, tasks: [beat, chase] });
await scheduler.start();
await scheduler.as({ id: "alice" }).every(beat, "100ms");
await scheduler.as({ id: "alice" }).every(beat, "1m");
await scheduler.as({ id: "bob" }).after(chase, "1s");
await scheduler.cron("each-second", "* * * * * *", beat);
await clock.advance("10s");
await audit(scheduler);
await scheduler.close();
