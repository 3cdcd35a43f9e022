import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createScheduler, type Scheduler } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import { Program } from "../support/program.ts";
import { scratch } from "../unit/support/schedulers.ts";

const QUICKSTART = fileURLToPath(new URL("../../examples/quickstart.ts", import.meta.url));

/** A quickstart in a process of its own, under the runtime that runs the tests. */
class Quickstart extends Program {
  constructor(directory: string, parameters: readonly string[], env: Readonly<Record<string, string>> = {}) {
    super(QUICKSTART, { directory, parameters, env });
  }
}

/** A directory with a crontab in it; the option that names it. */
function withCrontab(text: string): { readonly directory: string; readonly file: string } {
  const directory = scratch();
  const file = join(directory, "crontab");
  writeFileSync(file, text);
  return { directory, file };
}

function inspect(file: string): Scheduler {
  const scheduler = createScheduler({ storage: sqlite(file) });
  onTestFinished(() => scheduler.close());
  return scheduler;
}

/** A run's line: time, name, due, late, elapsed, missed. */
const TICK = /^\d\d:\d\d:\d\d +tick +\d\d:\d\d:\d\d +\S+ m?s +(?:-|\S+ m?s) +(\d+) +would run: date$/m;
/** Two seconds, so that a kill on seeing a run does not meet the next one. */
const TICKS = "*/2 * * * * * date # tick\n0 2 1 1 * never # new-year\n";

it("I3 C2 killed and started again it has lost nothing: every point has run or is counted as missed", async () => {
  const { directory, file } = withCrontab(TICKS);
  const first = new Quickstart(directory, ["--crontab", file]);
  await first.says(/ostinato\.db is new: no schedules yet/);
  await first.says(/^tick +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\S+ m?s +every 2 seconds, UTC$/m);
  await first.says(new RegExp(`${TICK.source}(?:.|\n)*${TICK.source}`, "m"));
  first.kill("SIGKILL");
  expect(await first.ended()).toBe("SIGKILL");

  const database = join(directory, "ostinato.db");
  const before = await tickOf(database);
  expect(before.runCount).toBeGreaterThanOrEqual(2);
  // Two points and the grace of a third have to pass.
  await new Promise((resolve) => setTimeout(resolve, before.nextRun!.getTime() + 5_200 - Date.now()));

  const second = new Quickstart(directory, [database, "--crontab", file]);
  await second.says(new RegExp(`^Found 4 schedules in .*ostinato\\.db: \\d+ runs so far, the last one at `, "m"));
  await second.says(/^Came due while nothing ran: .*tick \(\d\d:\d\d:\d\d\)/m);
  const [, missed] = await second.says(TICK);
  const [, deadlines] = await second.says(/^Caught up, .*tick (\d+)/m);
  expect(Number(missed)).toBeGreaterThanOrEqual(2);
  expect(Number(deadlines)).toBe(Number(missed) + 1);
  second.kill("SIGINT");
  await second.says(/interrupted; closing(?:.|\n)*closed; the schedules stay in .*ostinato\.db/);
  expect(await second.ended()).toBe(0);

  const after = await tickOf(database);
  expect([after.id, after.faultCount, after.running]).toEqual([before.id, 0, []]);
  const points = (after.nextRun!.getTime() - before.nextRun!.getTime()) / 2_000;
  const accounted = (info: typeof after) => info.runCount + info.missedCount + info.overlapCount;
  expect(accounted(after) - accounted(before)).toBe(points);
}, 60_000);

async function tickOf(database: string) {
  const scheduler = inspect(database);
  const { schedules: [tick] } = await scheduler.list({ name: "tick" }).page();
  const info = await tick!.info();
  await scheduler.close();
  return info;
}

it("N4 it follows the crontab: a line that is gone stops its schedule, a wrong one changes nothing", async () => {
  const { directory, file } = withCrontab(TICKS);
  const quickstart = new Quickstart(directory, ["mine.db", "--crontab", file]);
  await quickstart.says(TICK);
  replace(file, "*/2 * * * * * date # tick\n99 * * * * nothing\n");
  await quickstart.says(/crontab:2: .*minute field(?:.|\n)*its schedules stay as they were/);
  replace(file, "*/2 * * * * * date # tick\n@daily tidy # tidy\n");
  await quickstart.says(/new-year: stopped(?:.|\n)*^tidy .* at 00:00 every day, UTC$/m);
  quickstart.kill("SIGTERM");
  await quickstart.says(/terminated; closing/);
  expect(await quickstart.ended()).toBe(0);
  const names: string[] = [];
  for await (const { name } of inspect(join(directory, "mine.db")).list({ group: "crontab" })) names.push(name!);
  expect(names.toSorted()).toEqual(["tick", "tidy"]);
}, 60_000);

/** As editors do, so that nobody reads half a file. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

it("with --run it runs the commands with their variables and input, and a command that fails is a fault", async () => {
  const { directory, file } = withCrontab(
    'WORD="hello there"\n* * * * * * read x; echo "$WORD, $x" # greet%you\n* * * * * * exit 3 # fail\n',
  );
  const quickstart = new Quickstart(directory, ["--run", "--crontab", file], { OSTINATO_DB: "env.db" });
  await quickstart.says(/env\.db is new/);
  await quickstart.says(/^hello there, you$/m);
  await quickstart.says(/fail: FAULT: exit 3 ended with 3/);
  quickstart.kill("SIGINT");
  expect(await quickstart.ended()).toBe(0);
}, 60_000);

it("X3 it ends by itself when its time is over", async () => {
  const { directory, file } = withCrontab("@yearly x\n");
  const quickstart = new Quickstart(directory, ["--crontab", file, "--for", "100ms"]);
  expect(await quickstart.ended(), quickstart.output).toBe(0);
  expect(quickstart.output).toMatch(/0\.1 s are over; closing/);
}, 60_000);

it.each([
  ["a crontab with errors", ["--crontab", "bad"], /^bad:1: .*minute field.*\nThe crontab has errors; nothing was reg/m],
  ["no crontab", ["--crontab", "none"], /^ENOENT: .*none'\n$/],
  ["no directory for the database", ["none/x.db", "--crontab", "good"], /^sqlite: none\/x\.db cannot be used: .*\n$/],
  ["an option that it does not have", ["--fro", "1s"], /--fro.*\n(?:.|\n)*Usage: quickstart\.ts \[database\]/],
])("refuses to start with %s, in words and not with a stack", async (_what, parameters, message) => {
  const directory = scratch();
  writeFileSync(join(directory, "bad"), "99 * * * * x\n");
  writeFileSync(join(directory, "good"), "@daily x\n");
  const quickstart = new Quickstart(directory, parameters);
  expect(await quickstart.ended(), quickstart.output).toBe(1);
  expect(quickstart.output).toMatch(message);
  expect(quickstart.output).not.toMatch(/^\s+at /m);
}, 60_000);
