import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createScheduler, type Scheduler, type SchedulerConfig } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { type Logger, type Storage, StorageError } from "../../../src/contract/mod.ts";
import { type ManualClock, manualClock } from "../../../src/testing/mod.ts";

/** 2026-01-01T00:00:00Z, where virtual time begins. */
export const START = Date.UTC(2026, 0, 1);
export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** The stores that every rule is proved over. */
export const STORES = ["memory", "sqlite"] as const;
export type StoreKind = typeof STORES[number];

/** A message that a scheduler gave to its logger. */
export interface Message {
  readonly level: keyof Logger;
  readonly text: string;
  readonly details: readonly unknown[];
}

/** One clock, one store, and the schedulers that share them; all of it is gone when the test ends. */
export interface World {
  readonly clock: ManualClock;
  /** The database's file, over SQLite. */
  readonly file: string | undefined;
  /** What was logged by schedulers that were given no logger of their own. */
  readonly messages: Message[];
  /** Another handle on the same documents. */
  handle(): Storage;
  /** A scheduler on the world's clock and store that only creates and inspects. */
  create(config?: SchedulerConfig): Scheduler;
  /** The same, started. */
  start(config?: SchedulerConfig): Promise<Scheduler>;
}

export function world(kind: StoreKind, start: number = START): World {
  const clock = manualClock(start);
  const file = kind === "sqlite" ? join(scratch(), "schedules.db") : undefined;
  const root = memory();
  const messages: Message[] = [];
  const handle = () => file === undefined ? root.handle() : sqlite(file);
  const create = (config: SchedulerConfig = {}) => {
    const scheduler = createScheduler({ clock, storage: handle(), logger: recorder(messages), ...config });
    onTestFinished(() => scheduler.close({ drain: 0 }));
    return scheduler;
  };
  const begin = async (config?: SchedulerConfig) => {
    const scheduler = create(config);
    await scheduler.start();
    return scheduler;
  };
  return { clock, file, messages, handle, create, start: begin };
}

/** A directory that goes with the test, after the schedulers that were made later. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

/** A logger that keeps what it is told. */
export function recorder(messages: Message[]): Logger {
  const keep = (level: keyof Logger) => (text: string, ...details: unknown[]) => {
    messages.push({ level, text, details });
  };
  return { error: keep("error"), warn: keep("warn"), info: keep("info"), debug: keep("debug") };
}

/** A store whose connection a test may cut and mend: while it is cut every call fails and nothing happens. */
export interface CuttableStore {
  readonly storage: Storage;
  cut(): void;
  mend(): void;
  /** Calls that failed because the connection was cut. */
  refused(): number;
}

const CALLS = ["now", "advance", "apply", "get", "find", "nextWake", "backlog"];

export function cuttable(inner: Storage): CuttableStore {
  let isCut = false;
  let refused = 0;
  const storage = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      const method = member.bind(target);
      if (!CALLS.includes(String(key))) return method;
      return (...parameters: unknown[]) => {
        if (!isCut) return method(...parameters);
        refused++;
        return Promise.reject(new StorageError("the connection is cut"));
      };
    },
  });
  return {
    storage,
    cut: () => void (isCut = true),
    mend: () => void (isCut = false),
    refused: () => refused,
  };
}
