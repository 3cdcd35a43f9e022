import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { scratch } from "../unit/support/schedulers.ts";

const onDeno = "Deno" in globalThis;
const HERE = fileURLToPath(new URL(".", import.meta.url));

/** What a child process is told. */
export interface ChildSettings {
  readonly file: string;
  readonly journal: string;
  readonly leaseMs?: number;
  readonly concurrency?: number;
  /** `false` for one that only creates. */
  readonly starts?: boolean;
  readonly clock?: { readonly speed: number; readonly origin: number };
}

/** What a handler wrote down. */
export interface JournalEntry {
  readonly pid: number;
  readonly what: "start" | "end";
  readonly id: string;
  readonly point: number;
  readonly attempt: number;
}

/** What the task `slow` does: waits, or blocks its process, for a time or until another process has started its run. */
export interface SlowInput {
  readonly ms: number;
  readonly blocks?: "so long" | "until taken";
}

export type Message = Readonly<Record<string, unknown>>;

/** A process that runs on this test's own runtime. */
export interface Child {
  readonly process: ChildProcess;
  readonly messages: readonly Message[];
  /** Everything that went to its standard error. */
  readonly errors: () => string;
  /** The exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  tell(command: string): void;
  /** Resolves with the first message that fits, said already or still to come; rejects when the process ends before. */
  said(fits: (message: Message) => boolean): Promise<Message>;
}

export interface SpawnOptions {
  /** Flags of Node alone. */
  readonly node?: readonly string[];
  /** Flags of Deno alone. */
  readonly deno?: readonly string[];
  /** The environment instead of this process's own. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a script of this folder. */
export function launch(script: string, argument: unknown, { node = [], deno = [], env }: SpawnOptions = {}): Child {
  const flags = onDeno ? ["run", "-A", ...deno] : [...node];
  const child = spawn(process.execPath, [...flags, join(HERE, script), JSON.stringify(argument)], {
    stdio: ["pipe", "pipe", "pipe"],
    ...(env === undefined ? {} : { env }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const messages: Message[] = [];
  const listeners = new Set<() => void>();
  let errors = "";
  let over = false;
  child.stderr.on("data", (chunk) => errors += chunk);
  createInterface({ input: child.stdout }).on("line", (line) => {
    messages.push(JSON.parse(line));
    for (const listener of [...listeners]) listener();
  });
  const ended = new Promise<number | string>((resolve) => {
    child.on("close", (code, signal) => {
      over = true;
      resolve(signal ?? code ?? -1);
      for (const listener of [...listeners]) listener();
    });
  });
  return {
    process: child,
    messages,
    errors: () => errors,
    ended,
    tell: (command) => void child.stdin.write(`${command}\n`),
    said: (fits) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = messages.find(fits);
          if (found === undefined && !over) return;
          listeners.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`the process ended without a word; it complained: ${errors}`));
        };
        listeners.add(look);
        look();
      }),
  };
}

/** One SQLite file, and the processes on it. */
export interface Cluster {
  readonly file: string;
  /** Starts an instance and waits until it is ready. */
  child(settings?: Partial<ChildSettings>): Promise<Child>;
  children(count: number, settings?: Partial<ChildSettings>): Promise<Child[]>;
  journal(): JournalEntry[];
}

export function cluster(): Cluster {
  const folder = scratch();
  const [file, journal] = [join(folder, "schedules.db"), join(folder, "journal")];
  const child = async (settings: Partial<ChildSettings> = {}) => {
    const made = launch("child.ts", { file, journal, ...settings });
    await made.said((message) => "ready" in message);
    return made;
  };
  return {
    file,
    child,
    children: (count, settings) => Promise.all(Array.from({ length: count }, () => child(settings))),
    journal: () =>
      existsSync(journal)
        ? readFileSync(journal, "utf8").split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line))
        : [],
  };
}

/** Waits for something to become true; how long that takes is the machine's business, up to a generous end. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!await holds()) {
    if (Date.now() > end) throw new Error(`not within a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
