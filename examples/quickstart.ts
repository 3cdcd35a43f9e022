/**
 * A crontab, kept by the scheduler in an SQLite file.
 *
 *     npm run quickstart                   on Node
 *     deno run -A examples/quickstart.ts   on Deno
 *
 * It makes a schedule of each line of `examples/crontab`, an interval with jitter, and a one-shot that reschedules
 * itself to follow changes of the file. Stop it, or kill it, and start it again: it tells what it missed.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { createScheduler } from "../mod.ts";
import { sqlite } from "../plugins/storage/sqlite/mod.ts";
import { parseDuration } from "../src/contract/mod.ts";
import { CrontabSchedules, EXAMPLE_CRONTAB } from "./crontab_schedules.ts";
import { ended, Failure, run } from "./program.ts";
import { clock, printComing, printFound, printRuns, tellCaughtUp } from "./quickstart_output.ts";

const USAGE = `Usage: quickstart.ts [database] [options]

  database             the SQLite file, created if it is absent (default: $OSTINATO_DB, else ostinato.db)
  --crontab <file>     the crontab to follow (default: examples/crontab)
  --timezone <zone>    the zone of lines without CRON_TZ above them (default: UTC)
  --for <duration>     end after so long, such as 15s (default: run until Ctrl-C)
  --run                really run the commands, instead of telling what would run
  -h, --help           print this
`;

interface Settings {
  readonly database: string;
  readonly crontab: string;
  readonly timezone: string;
  readonly forMs: number | undefined;
  readonly run: boolean;
}

/** The settings, unless help was asked for. */
function readSettings(): Settings | undefined {
  const { values, positionals } = readArguments();
  if (values.help) return undefined;
  if (positionals.length > 1) throw new Failure(`expected one database, got ${positionals.join(", ")}\n\n${USAGE}`);
  return {
    database: positionals[0] ?? process.env["OSTINATO_DB"] ?? "ostinato.db",
    crontab: values.crontab,
    timezone: values.timezone,
    forMs: values.for === undefined ? undefined : parseDuration(values.for, "--for"),
    run: values.run,
  };
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        crontab: { type: "string", default: EXAMPLE_CRONTAB },
        timezone: { type: "string", default: "UTC" },
        for: { type: "string" },
        run: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

async function main(): Promise<void> {
  const begun = Date.now();
  const settings = readSettings();
  if (settings === undefined) return console.log(USAGE);
  const crontab = new CrontabSchedules({ file: settings.crontab, run: settings.run }, printComing);
  const scheduler = createScheduler({
    storage: sqlite(settings.database),
    tasks: crontab.tasks,
    plugins: [printRuns()],
    defaults: { timezone: settings.timezone },
  });
  try {
    if (!await crontab.read(scheduler)) throw new Failure("The crontab has errors; nothing was registered.");
    await printFound(scheduler, settings.database);
    await crontab.register(scheduler);
    await printComing(scheduler);
    await tellCaughtUp(scheduler, begun);
    const end = ended(settings.forMs);
    await scheduler.start();
    const why = await end;
    console.log(`${clock()}  ${why}; closing`);
  } finally {
    await scheduler.close({ drain: "10s" });
  }
  console.log(`${clock()}  closed; the schedules stay in ${settings.database}`);
}

await run(main);
