import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createScheduler } from "../../../mod.ts";
import type { AnyTask, Scheduler, SchedulerConfig, Storage } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { type ManualClock, manualClock } from "../../../src/testing/mod.ts";

/** Where tests' clocks start. */
export const START = Date.parse("2026-01-01T00:00:00Z");
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** A store that several schedulers can be opened on, one after another or together. */
export type OpenStore = () => Storage;

/** The stores that every behaviour is shown on. */
export const STORES: readonly (readonly [string, () => OpenStore])[] = [
  ["memory", () => {
    const shared = memory();
    return () => shared.handle();
  }],
  ["sqlite", () => {
    const path = join(mkdtempSync(join(tmpdir(), "ostinato-")), "schedules.db");
    onTestFinished(() => rmSync(join(path, ".."), { recursive: true, force: true }));
    return () => sqlite(path);
  }],
];

export interface Bench {
  readonly clock: ManualClock;
  readonly scheduler: Scheduler;
  /** A further scheduler on the same store and clock. */
  open(config?: SchedulerConfig): Scheduler;
}

/** A scheduler on a fresh store, with a clock that the test moves; closed when the test is over. */
export function bench(store: () => OpenStore, tasks: readonly AnyTask[], config: SchedulerConfig = {}): Bench {
  const openStore = store();
  const clock = manualClock(START);
  const open = (more: SchedulerConfig = {}) => {
    const scheduler = createScheduler({ storage: openStore(), clock, tasks, logger: silent, ...config, ...more });
    onTestFinished(() => scheduler.close());
    return scheduler;
  };
  return { clock, scheduler: open(), open };
}

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };
