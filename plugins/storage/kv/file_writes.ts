import { STORE_LOOK_MS } from "../../../src/contract/mod.ts";

/** What is told of a file. */
export interface FileListener {
  /** The file, or its log, was written. */
  written(): void;
  /** Nothing more will be told. */
  broken(): void;
}

/**
 * Tells of writes to a store's file, or to its log; answers what ends it.
 *
 * Deno's directory watcher opens and closes the files that it reports. To close any descriptor of a file drops every
 * lock that the process has on it (POSIX, `fcntl`), and Deno KV keeps a file in SQLite: two processes then write at once,
 * and the file is corrupted. There the files' sizes and times are looked at instead, which opens nothing.
 */
export async function fileWrites(path: string, listener: FileListener): Promise<() => void> {
  const { versions } = await import("node:process");
  return versions["deno"] === undefined ? await watch(path, listener) : await look(path, listener);
}

async function watch(path: string, { written, broken }: FileListener): Promise<() => void> {
  const { watch } = await import("node:fs");
  const { basename, dirname } = await import("node:path");
  const names = filesOf(basename(path));
  const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
    if (name === null || names.includes(name)) written();
  });
  watcher.on("error", () => {
    watcher.close();
    broken();
  });
  return () => watcher.close();
}

async function look(path: string, { written }: FileListener): Promise<() => void> {
  const { statSync } = await import("node:fs");
  const { clearInterval, setInterval } = await import("node:timers");
  const state = () =>
    filesOf(path).map((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      return `${found?.size} ${found?.mtimeMs}`;
    }).join();
  let seen = state();
  // Not the scheduler's clock: whoever writes is real, also where time is a test's.
  const timer = setInterval(() => {
    const now = state();
    if (now !== seen) written();
    seen = now;
  }, STORE_LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function filesOf(file: string): readonly string[] {
  return [file, `${file}-wal`];
}
