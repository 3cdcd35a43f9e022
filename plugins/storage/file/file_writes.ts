import { STORE_LOOK_MS, STORE_QUIET_LOOK_MS } from "../../../src/contract/mod.ts";

/** What is told of a file. */
export interface FileListener {
  /** The file, or its log, was written. */
  written(): void;
  /** Nothing more will be told. */
  broken(): void;
}

/** Begins to tell of writes to a file, or to its log; answers what ends that. Throws where the file cannot be watched. */
export type FileWrites = (listener: FileListener) => () => void;

/** Calls back again and again without keeping the process; answers what ends that. */
export type Every = (callback: () => void, everyMs: number) => () => void;

/**
 * How writes to a store's file, or to its log, are told on this runtime. A report can be lost, in a full queue or on a file
 * system that has none to give, so the files' sizes and times are looked at every ten seconds besides.
 *
 * Deno's directory watcher opens and closes the files that it reports. To close any descriptor of a file drops every
 * lock that the process has on it (POSIX, `fcntl`), SQLite's among them, in which Deno KV keeps its files, too: two
 * processes then write at once, and the file is corrupted. There nothing but sizes and times is looked at, which opens
 * nothing.
 *
 * @param every Not by the scheduler's clock: whoever writes is real, also where time is a test's.
 */
export async function fileWrites(file: string, every?: Every): Promise<FileWrites> {
  const { versions } = await import("node:process");
  const { basename, dirname } = await import("node:path");
  const { realpathSync, statSync, watch } = await import("node:fs");
  const repeat = every ?? await realInterval();
  // A log stands beside the file itself, wherever a link to that does.
  const real = tried(() => realpathSync(file)) ?? file;
  const files = [real, `${real}-wal`];
  // One that cannot be looked at has changed, too: whoever reads it will find out how.
  const state = (path: string) => {
    const found = tried(() => statSync(path, { throwIfNoEntry: false }));
    return `${found?.size} ${found?.mtimeMs}`;
  };
  const looking = (written: () => void, everyMs: number) => {
    const states = () => files.map(state).join();
    let seen = states();
    return repeat(() => {
      const now = states();
      if (now !== seen) written();
      seen = now;
    }, everyMs);
  };
  if (versions["deno"] !== undefined) return ({ written }) => looking(written, STORE_LOOK_MS);
  const names = files.map((path) => basename(path));
  return ({ written, broken }) => {
    const watcher = watch(dirname(real), { persistent: false }, (_event, name) => {
      if (name === null || names.includes(name)) written();
    });
    watcher.on("error", broken);
    const stopLooking = looking(written, STORE_QUIET_LOOK_MS);
    return () => {
      stopLooking();
      watcher.close();
    };
  };
}

function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

async function realInterval(): Promise<Every> {
  const { clearInterval, setInterval } = await import("node:timers");
  return (callback, everyMs) => {
    const timer = setInterval(callback, everyMs).unref();
    return () => clearInterval(timer);
  };
}
