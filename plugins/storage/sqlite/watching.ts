import { basename } from "node:path";
import { STORE_LOOK_MS } from "../../../src/contract/mod.ts";
import type { WatchDirectory } from "./change_watch.ts";

/**
 * How writes to a database's file, or to its log, are reported on this runtime.
 *
 * Deno's directory watcher opens and closes the files that it reports. To close any descriptor of a file drops every
 * lock that the process has on it (POSIX, `fcntl`), SQLite's among them, and two processes then write at once: the
 * database is corrupted. There the files' sizes and times are looked at instead, which opens nothing.
 */
export async function fileWatcher(file: string): Promise<WatchDirectory> {
  const { versions } = await import("node:process");
  const { statSync, watch } = await import("node:fs");
  if (versions["deno"] === undefined) return watch;
  const { setInterval, clearInterval } = await import("node:timers");
  const state = (path: string) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? "" : `${found.size} ${found.mtimeMs}`;
  };
  return (_directory, _options, report) => {
    const files = [file, `${file}-wal`].map((path) => ({ path, seen: state(path) }));
    // Not the scheduler's clock: whoever writes is real, also where time is a test's.
    const timer = setInterval(() => {
      for (const watched of files) {
        const now = state(watched.path);
        if (now !== watched.seen) report("change", basename(watched.path));
        watched.seen = now;
      }
    }, STORE_LOOK_MS);
    return { close: () => clearInterval(timer), unref: () => void timer.unref(), on: () => {} };
  };
}
