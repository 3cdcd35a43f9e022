/**
 * A crontab, kept by the scheduler in an SQLite file.
 *
 *     npm start                            on Node
 *     deno run -A examples/quickstart.ts   on Deno
 *
 * It makes a schedule of each line of `examples/crontab`, an interval with jitter, and a one-shot that reschedules
 * itself to follow changes of the file. Stop it, or kill it, and start it again: it tells what it missed.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { again, createScheduler, defineTask, isSchedulerError, type Scheduler } from "../mod.ts";
import { sqlite } from "../plugins/storage/sqlite/mod.ts";
import { parseDuration } from "../src/contract/mod.ts";
import { type Crontab, parseCrontab } from "./crontab.ts";
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

/** The input of the task `shell`. */
interface Command {
  readonly command: string;
  readonly stdin?: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Something that the user can mend; its message is enough. */
class Failure extends Error {}

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
        crontab: { type: "string", default: fileURLToPath(new URL("crontab", import.meta.url)) },
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

/** Runs a command as cron does; a run that ends with another code than 0 is a fault. */
async function execute({ command, stdin, env }: Command, signal: AbortSignal): Promise<string> {
  const options = { env: { ...process.env, ...env }, signal, shell: env["SHELL"] ?? "/bin/sh" };
  const child = spawn(command, { ...options, stdio: ["pipe", "inherit", "inherit"] });
  // A command that does not read what it is given closes the pipe.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin ?? "");
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exit, killedBy) => resolve(exit ?? killedBy ?? "nothing"));
  });
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return `ran: ${command}`;
}

/** The crontab as schedules: one group, so that a line that is gone stops its schedule. */
async function register(scheduler: Scheduler, { entries }: Crontab): Promise<void> {
  await scheduler.sync(
    entries.map(({ name, cron, timezone, command, stdin, env }) => ({
      name,
      cron,
      ...(timezone === undefined ? {} : { timezone }),
      task: "shell",
      input: { command, env, ...(stdin === undefined ? {} : { stdin }) },
    })),
    { group: "crontab" },
  );
}

/** Reads the crontab; lines that are wrong or that no scheduler can serve are told with their number. */
async function load(scheduler: Scheduler, { crontab: file }: Settings): Promise<Crontab | undefined> {
  const check = (cron: string, timezone: string | undefined) =>
    void scheduler.nextRuns(timezone === undefined ? { cron } : { cron, timezone }, 1);
  const crontab = parseCrontab(await readFile(file, "utf8"), check);
  for (const { line, message } of crontab.unsupported) console.log(`${file}:${line}: ${message}`);
  for (const { line, message } of crontab.errors) console.error(`${file}:${line}: ${message}`);
  return crontab.errors.length > 0 ? undefined : crontab;
}

/** The scheduler, and the tasks that are scheduled beside the crontab. */
function build(settings: Settings, loadedAt: number) {
  const shell = defineTask("shell", (input: Command, ctx) => {
    return settings.run ? execute(input, ctx.signal) : `would run: ${input.command}`;
  });
  const pulse = defineTask("pulse", async () => {
    const { schedules } = await scheduler.list({ group: "crontab", limit: 1_000 }).page();
    return `${schedules.length} lines of the crontab, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`;
  });
  let seen = loadedAt;
  const follow = defineTask("follow-crontab", async () => {
    const { mtimeMs } = await stat(settings.crontab);
    if (mtimeMs === loadedAt) return again("5s");
    // Somebody may be in the middle of writing it: it counts once it has stayed the same for a second.
    if (mtimeMs === seen) {
      loadedAt = mtimeMs;
      await reload(scheduler, settings);
    }
    seen = mtimeMs;
    return again("1s");
  });
  const scheduler: Scheduler = createScheduler({
    storage: sqlite(settings.database),
    tasks: [shell, pulse, follow],
    plugins: [printRuns()],
    defaults: { timezone: settings.timezone },
  });
  return { scheduler, pulse, follow };
}

/** Every schedule there is. At a second start each is there already, and is left as it is. */
async function registerAll({ scheduler, pulse, follow }: ReturnType<typeof build>, crontab: Crontab): Promise<void> {
  await register(scheduler, crontab);
  await scheduler.every(pulse, "5s", undefined, { name: "pulse", jitter: "1s" });
  // A chain of one-shots has no name to register again, but a key, which finds the one that an earlier start began.
  await scheduler.after(follow, "3s", undefined, {
    key: "follow-crontab",
    retry: { limit: 1_000, delay: "2s", backoff: 1 },
  });
}

async function reload(scheduler: Scheduler, settings: Settings): Promise<void> {
  const crontab = await load(scheduler, settings);
  if (crontab === undefined) return console.error("The crontab has errors; its schedules stay as they were.");
  console.log("The crontab has changed.");
  await register(scheduler, crontab);
  await printComing(scheduler);
}

/** Resolves at Ctrl-C, at a polite kill, or when the time is over. A second Ctrl-C ends the process at once. */
function ended(forMs: number | undefined): Promise<string> {
  return new Promise((resolve) => {
    const timer = forMs === undefined ? undefined : setTimeout(() => end(`${forMs / 1000} s are over`), forMs);
    const end = (why: string) => {
      clearTimeout(timer);
      process.off("SIGINT", interrupted).off("SIGTERM", terminated);
      resolve(why);
    };
    const interrupted = () => end("interrupted");
    const terminated = () => end("terminated");
    process.on("SIGINT", interrupted).on("SIGTERM", terminated);
  });
}

async function main(): Promise<void> {
  const begun = Date.now();
  const settings = readSettings();
  if (settings === undefined) return console.log(USAGE);
  const { mtimeMs } = await stat(settings.crontab);
  const parts = build(settings, mtimeMs);
  const { scheduler } = parts;
  try {
    const crontab = await load(scheduler, settings);
    if (crontab === undefined) throw new Failure("The crontab has errors; nothing was registered.");
    await printFound(scheduler, settings.database);
    await registerAll(parts, crontab);
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

/** Errors whose message is enough: the user's, the scheduler's, and the system's, such as a file that is not there. */
function isExpected(error: unknown): error is Error {
  return error instanceof Failure || isSchedulerError(error) || (error instanceof Error && "syscall" in error);
}

try {
  await main();
} catch (error) {
  process.exitCode = 1;
  console.error(isExpected(error) ? error.message : error);
}
