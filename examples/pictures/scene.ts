/**
 * What a scheduler did over a few minutes, or seconds, recorded as it happened: what a picture is drawn from.
 *
 * @module
 */
import {
  createScheduler,
  defineTask,
  type RunInfo,
  type Schedule,
  type Scheduler,
  type SchedulerConfig,
} from "../../mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { type ManualClock, manualClock } from "../../src/testing/mod.ts";

/** Where every picture begins. */
export const START = Date.parse("2030-01-01T00:00:00Z");

/** A run, in milliseconds since the start. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  /** The deadline that it stands for. */
  readonly due: number;
  readonly outcome: RunInfo["outcome"];
  readonly attempt: number;
}

/** One line of a picture. */
export interface Row {
  readonly label: string;
  /** Cadence points. */
  readonly points: readonly number[];
  readonly bars: readonly Bar[];
  /** Points that no run stands for. */
  readonly dropped: readonly number[];
  readonly notes: readonly { readonly at: number; readonly text: string }[];
}

/** A picture. */
export interface Scene {
  readonly name: string;
  readonly title: string;
  readonly lengthMs: number;
  /** How far apart the marks of the time are. */
  readonly markMs: number;
  /** What a point is. Default: one of the cadence. */
  readonly pointText?: string;
  /** When nothing runs. */
  readonly down?: readonly [from: number, to: number];
  readonly rows: readonly Row[];
}

/** What a recording is made with. */
export interface Stage {
  readonly clock: ManualClock;
  /** Another way to the row's store. */
  handle(): Storage;
  /** A started scheduler on the row's store, whose runs are recorded. */
  start(config?: SchedulerConfig): Promise<Scheduler>;
  note(text: string): void;
}

/** How a row is recorded. */
export interface Recording {
  readonly label: string;
  /** Cadence points, every so many milliseconds. Default: the deadlines of the runs. */
  readonly everyMs?: number;
  readonly lengthMs: number;
  /** What a run does. */
  readonly run: (clock: ManualClock, context: { readonly signal: AbortSignal; readonly attempt: number }) => unknown;
  /** What happens, from the first scheduler on, which is started and has the task `work`; answers the schedule. */
  readonly play: (stage: Stage, scheduler: Scheduler) => Promise<Schedule>;
}

/** Plays a row, and records what really happened. */
export async function record({ label, everyMs, lengthMs, run, play }: Recording): Promise<Row> {
  const clock = manualClock(START);
  const store = memory();
  const dropped: number[] = [];
  const notes: { at: number; text: string }[] = [];
  const note = (text: string) => void notes.push({ at: since(clock.now()), text });
  const schedulers: Scheduler[] = [];
  const start = async (config: SchedulerConfig = {}) => {
    const work = defineTask("work", (_input, context) => run(clock, context));
    const options = { clock, storage: store.handle(), tasks: [work], logger: SILENT, retention: "1d", ...config };
    const scheduler = createScheduler(options);
    scheduler.on("missed", ({ count, oldest, newest }) => {
      const gap = count > 1 ? (newest.getTime() - oldest.getTime()) / (count - 1) : 0;
      for (let i = 0; i < count; i++) dropped.push(since(oldest) + i * gap);
    });
    scheduler.on("overlapped", ({ point }) => void dropped.push(since(point)));
    scheduler.on("retired", ({ reason }) => note(reason));
    schedulers.push(scheduler);
    await scheduler.start();
    return scheduler;
  };
  const schedule = await play({ clock, handle: () => store.handle(), start, note }, await start());
  const bars = await barsOf(schedule.id, lengthMs, await start());
  for (const scheduler of schedulers) await scheduler.close({ drain: 0 });
  const points: number[] = everyMs === undefined ? [...new Set(bars.map(({ due }) => due))] : [];
  for (let at = everyMs ?? Infinity; at < lengthMs; at += everyMs!) points.push(at);
  const isDropped = (at: number) => at < lengthMs && !bars.some(({ due }) => due === at);
  return { label, points, bars, dropped: dropped.filter(isDropped), notes };
}

/** What the history tells of the runs that began within the picture, the first of them first. */
async function barsOf(id: string, lengthMs: number, scheduler: Scheduler): Promise<readonly Bar[]> {
  const runs = (await scheduler.runs(id)).toReversed();
  return runs.map(({ startedAt, endedAt, scheduledAt, outcome, attempt }) => ({
    from: since(startedAt),
    to: Math.min(lengthMs, since(endedAt ?? START + lengthMs)),
    due: since(scheduledAt),
    outcome,
    attempt,
  })).filter(({ from }) => from < lengthMs);
}

const SILENT = { error() {}, warn() {}, info() {}, debug() {} };

function since(at: Date | number): number {
  return Number(at) - START;
}
