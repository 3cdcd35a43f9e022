import { createScheduler, defineTask, isSchedulerError, type Scheduler, type Task } from "../../../mod.ts";
import type { Clock, Storage } from "../../../src/contract/mod.ts";

/** What was done, in order; it outlives the process that did it. */
export type Entry =
  | { readonly what: "start" | "end"; readonly id: string; readonly point: number }
  | { readonly what: "asked" | "resolved"; readonly call: Call };

/** What a user does in a life, besides starting it. */
export type Call = "pair" | "unit" | "beat" | "flaky" | "once";

/** One life of a scheduler: what it is made of. */
export interface LifeParts {
  readonly storage: Storage;
  readonly clock?: Clock;
  readonly leaseMs: number;
  readonly note: (entry: Entry) => void;
}

export const SILENT = { error() {}, warn() {}, info() {}, debug() {} };

/** Runs that succeed in a whole life: two parents with two children each, the flaky one, the one at most once, three points. */
export const SUCCESSES = 2 + 4 + 1 + 1 + 3;
export const POINTS = 3;

/** Long enough for every check; what is done with it then goes away by itself or by a stop. */
const keep = { retention: "1d", maxLost: 100, history: 100 } as const;

function tasksOf(note: (entry: Entry) => void) {
  const noted = (name: string, run: (ctx: Parameters<Task["run"]>[1]) => Promise<void> = async () => {}) =>
    defineTask(name, async (_input, ctx) => {
      const entry = { id: ctx.schedule.id, point: ctx.scheduledAt.getTime() };
      note({ what: "start", ...entry });
      await run(ctx);
      note({ what: "end", ...entry });
    });
  const child = noted("child");
  const parent = noted("parent", async ({ schedules, schedule }) => {
    for (const _ of [1, 2]) await schedules.after(child, 0, undefined, { tags: [`of:${schedule.id}`], ...keep });
  });
  const flaky = noted("flaky", ({ attempt }) => {
    if (attempt === 1) throw new Error("the first attempt faults");
    return Promise.resolve();
  });
  return { child, parent, flaky, beat: noted("beat"), once: noted("once"), idle: noted("idle") };
}

/** A scheduler that knows the tasks of a life. */
export function schedulerOf({ storage, clock, leaseMs, note }: LifeParts): {
  readonly scheduler: Scheduler;
  readonly tasks: ReturnType<typeof tasksOf>;
} {
  const tasks = tasksOf(note);
  const scheduler = createScheduler({
    storage,
    tasks: Object.values(tasks),
    leaseMs,
    logger: SILENT,
    ...(clock === undefined ? {} : { clock }),
  });
  return { scheduler, tasks };
}

/**
 * What a user does: a pair in one call, a unit of work, three points that are owed at once, a task that is retried, one
 * that runs at most once. A call that the store refuses is left at that.
 */
export async function play(
  { scheduler, tasks }: ReturnType<typeof schedulerOf>,
  note: (entry: Entry) => void,
): Promise<void> {
  const { parent, flaky, beat, once, idle } = tasks;
  const tried = async (call: Call, make: () => Promise<unknown>) => {
    note({ what: "asked", call });
    try {
      await make();
      note({ what: "resolved", call });
    } catch (error) {
      if (!isSchedulerError(error, "store_unavailable") && !isSchedulerError(error, "conflict")) throw error;
    }
  };
  await tried("pair", () => {
    const one = { task: parent, after: 0, tags: ["pair"], ...keep } as const;
    return scheduler.createMany([one, one]);
  });
  const victim = await scheduler.every(idle, "30d", undefined, { name: "victim", ...keep }).catch(() => undefined);
  if (victim !== undefined) {
    await tried("unit", () =>
      scheduler.transaction(async (tx) => {
        await tx.after(idle, "30d", undefined, { name: "heir", ...keep });
        await tx.stop(victim.id);
      }));
  }
  await tried("beat", () => {
    const overlap = { policy: "queue", limit: 10 } as const;
    return scheduler.every(beat, "500ms", undefined, {
      name: "beat",
      maxRuns: POINTS,
      catchup: "all",
      overlap,
      ...keep,
    });
  });
  await tried("flaky", () => {
    const retry = { limit: 1, delay: 10 };
    return scheduler.after(flaky, 0, undefined, { tags: ["flaky"], retry, ...keep });
  });
  await tried("once", () => scheduler.after(once, 0, undefined, { tags: ["once"], onLost: "fault", ...keep }));
  await started(scheduler);
}

/** A store that fails at the opening is opened again, as a process would be restarted. */
export async function started(scheduler: Scheduler): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      return await scheduler.start();
    } catch (error) {
      if (attempt > 2 || !isSchedulerError(error, "store_unavailable")) throw error;
    }
  }
}
