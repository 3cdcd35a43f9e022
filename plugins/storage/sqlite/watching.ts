import { basename } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { STORE_LOOK_MS, STORE_QUIET_LOOK_MS } from "../../../src/contract/mod.ts";
import type { WatchDirectory } from "./change_watch.ts";

/**
 * How writes to a database's file, or to its log, are reported on this runtime. A report can be lost, in a full queue or on
 * a file system that has none to give, so the files' sizes and times are looked at every ten seconds besides.
 *
 * Deno's directory watcher opens and closes the files that it reports. To close any descriptor of a file drops every
 * lock that the process has on it (POSIX, `fcntl`), SQLite's among them, and two processes then write at once: the
 * database is corrupted. There nothing but sizes and times is looked at, which opens nothing.
 */
export async function fileWatcher(file: string, every: Every = realInterval): Promise<WatchDirectory> {
  const { versions } = await import("node:process");
  const { statSync, watch } = await import("node:fs");
  const state = (path: string) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? "" : `${found.size} ${found.mtimeMs}`;
  };
  const looking = (report: (event: string, name: string | null) => void, everyMs: number) => {
    const files = [file, `${file}-wal`].map((path) => ({ path, seen: state(path) }));
    return every(() => {
      for (const watched of files) {
        const now = state(watched.path);
        if (now !== watched.seen) report("change", basename(watched.path));
        watched.seen = now;
      }
    }, everyMs);
  };
  if (versions["deno"] !== undefined) {
    return (_directory, _options, report) => ({ close: looking(report, STORE_LOOK_MS), unref() {}, on() {} });
  }
  return (directory, options, report) => {
    const watcher = watch(directory, options, report);
    const cancel = looking(report, STORE_QUIET_LOOK_MS);
    return {
      close() {
        cancel();
        watcher.close();
      },
      unref: () => void watcher.unref(),
      on: (event, listener) => void watcher.on(event, listener),
    };
  };
}

/** Calls back again and again without keeping the process; answers what ends that. */
type Every = (callback: () => void, everyMs: number) => () => void;

/** Not by the scheduler's clock: whoever writes is real, also where time is a test's. */
const realInterval: Every = (callback, everyMs) => {
  const timer = setInterval(callback, everyMs).unref();
  return () => clearInterval(timer);
};
