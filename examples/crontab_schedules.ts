/**
 * A crontab as schedules: one of each line, an interval with jitter, and a one-shot that reschedules itself to follow
 * changes of the file.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { again, type AnyTask, defineTask, type Scheduler } from "../mod.ts";
import { type Crontab, parseCrontab } from "./crontab.ts";

/** The crontab that is there to be tried. */
export const EXAMPLE_CRONTAB: string = fileURLToPath(new URL("crontab", import.meta.url));

/** Which crontab, and what becomes of its commands. */
export interface CrontabSettings {
  readonly file: string;
  /** Really run the commands, instead of telling what would run. */
  readonly run: boolean;
}

/** The input of the task `shell`. */
interface Command {
  readonly command: string;
  readonly stdin?: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The schedules of one crontab, and the tasks that they run. */
export class CrontabSchedules {
  /** For `createScheduler`. */
  readonly tasks: readonly AnyTask[];
  readonly #settings: CrontabSettings;
  readonly #changed: (scheduler: Scheduler) => unknown;
  #scheduler: Scheduler | undefined;
  #read: Crontab | undefined;
  /** When the file that is registered was written, and when the one that was seen last. */
  #loadedAt = 0;
  #seenAt = 0;

  /** @param changed Told when the file has changed and is registered anew. */
  constructor(settings: CrontabSettings, changed: (scheduler: Scheduler) => unknown = () => {}) {
    this.#settings = settings;
    this.#changed = changed;
    this.tasks = [
      defineTask("shell", (input: Command, ctx) => {
        return settings.run ? execute(input, ctx.signal) : `would run: ${input.command}`;
      }),
      defineTask("pulse", () => this.#pulse()),
      defineTask("follow-crontab", () => this.#follow()),
    ];
  }

  /** Reads the crontab; where it has errors, prints them and answers false. */
  async read(scheduler: Scheduler): Promise<boolean> {
    this.#loadedAt = this.#seenAt = (await stat(this.#settings.file)).mtimeMs;
    this.#read = await this.#load(scheduler);
    return this.#read !== undefined;
  }

  /** Registers what was read. At a second start every schedule is there already, and is left as it is. */
  async register(scheduler: Scheduler): Promise<void> {
    this.#scheduler = scheduler;
    await sync(scheduler, this.#read!);
    await scheduler.every("pulse", "5s", undefined, { name: "pulse", jitter: "1s" });
    // A chain of one-shots has no name to register again, but a key, which finds the one that an earlier start began.
    await scheduler.after("follow-crontab", "3s", undefined, {
      key: "follow-crontab",
      retry: { limit: 1_000, delay: "2s", backoff: 1 },
    });
  }

  /** Reads the crontab; lines that are wrong or that no scheduler can serve are told with their number. */
  async #load(scheduler: Scheduler): Promise<Crontab | undefined> {
    const { file } = this.#settings;
    const check = (cron: string, timezone: string | undefined) =>
      void scheduler.nextRuns(timezone === undefined ? { cron } : { cron, timezone }, 1);
    const crontab = parseCrontab(await readFile(file, "utf8"), check);
    for (const { line, message } of crontab.unsupported) console.log(`${file}:${line}: ${message}`);
    for (const { line, message } of crontab.errors) console.error(`${file}:${line}: ${message}`);
    return crontab.errors.length > 0 ? undefined : crontab;
  }

  async #pulse(): Promise<string> {
    const { schedules } = await this.#scheduler!.list({ group: "crontab", limit: 1_000 }).page();
    return `${schedules.length} lines of the crontab, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`;
  }

  async #follow() {
    const { mtimeMs } = await stat(this.#settings.file);
    if (mtimeMs === this.#loadedAt) return again("5s");
    // Somebody may be in the middle of writing it: it counts once it has stayed the same for a second.
    if (mtimeMs === this.#seenAt) {
      this.#loadedAt = mtimeMs;
      await this.#reload(this.#scheduler!);
    }
    this.#seenAt = mtimeMs;
    return again("1s");
  }

  async #reload(scheduler: Scheduler): Promise<void> {
    const crontab = await this.#load(scheduler);
    if (crontab === undefined) return console.error("The crontab has errors; its schedules stay as they were.");
    console.log("The crontab has changed.");
    await sync(scheduler, crontab);
    await this.#changed(scheduler);
  }
}

/** The crontab as schedules: one group, so that a line that is gone stops its schedule. */
async function sync(scheduler: Scheduler, { entries }: Crontab): Promise<void> {
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
