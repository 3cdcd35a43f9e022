import { again, createScheduler, defineTask, isSchedulerError, type Scheduler } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import { median } from "./figures.ts";

/** The mix at work. */
export interface Mix {
  readonly scheduler: Scheduler;
  /** Median lateness and number of the runs since it was last asked. */
  take(): { readonly latenessMs: number; readonly runs: number };
  totals(): string;
  /** What must not happen in it. */
  complaints(): readonly string[];
  close(): Promise<void>;
}

const QUIET = { error() {}, warn() {}, info() {}, debug() {} };
/** Orders a second, each with a follow-up, a cancellation or a retry. */
const ORDERS_PER_SECOND = 20;

/**
 * What an application does with a scheduler: recurring work of several rhythms, orders with follow-ups of which half are
 * called off, retries, chains, runs that take a while, units of work, updates, triggers and inspection, on two instances.
 */
export async function startMix(file: string): Promise<Mix> {
  const open = () => createScheduler({ storage: sqlite(file), tasks, logger: QUIET, retention: "2s" });
  let lateness: number[] = [];
  let [runs, faults, calls] = [0, 0, 0];
  const complaints: string[] = [];
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const beat = defineTask("beat", () => {});
  const reminder = defineTask("reminder", () => {});
  const order = defineTask("order", async (_input, { schedules, target }) => {
    await schedules.after(reminder, "3s", undefined, target === undefined ? {} : { target });
  });
  const shaky = defineTask("shaky", (_input, { attempt }) => {
    if (attempt < 3) throw new Error("not yet");
  });
  const slow = defineTask("slow", { timeout: "10s", run: () => wait(700) });
  const chain = defineTask("chain", () => again("400ms"));
  const tasks = [beat, reminder, order, shaky, slow, chain];
  const [scheduler, other] = [open(), open()];
  for (const one of [scheduler, other]) {
    one.on("started", ({ run }) => {
      runs++;
      lateness.push(run.latenessMs ?? 0);
    });
    one.on("faulted", () => faults++);
    one.on("lost", ({ schedule }) => complaints.push(`a run of ${schedule.task} was lost`));
    one.on("storeError", ({ operation, error }) => complaints.push(`the store failed to ${operation}: ${error}`));
    await one.start();
  }
  await declare(scheduler);
  let closing = false;
  const users = use();

  async function declare(one: Scheduler): Promise<void> {
    const every = (n: number) => ({ name: `beat ${n}`, every: 200 + 37 * n, task: beat, jitter: 50 });
    await one.sync(Array.from({ length: 20 }, (_, n) => every(n)), { group: "beats" });
    await one.cron("each second", "* * * * * *", beat);
    for (const overlap of ["skip", "queue", "replace", "concurrent"] as const) {
      await one.every(slow, 500, undefined, { name: overlap, overlap });
    }
    await one.after(chain, 0, undefined, { name: "chain" });
  }

  async function use(): Promise<void> {
    for (let n = 0; !closing; n++) {
      const target = `order:${n}`;
      const made = await scheduler.after(order, "100ms", { n }, { key: target, target });
      // Called off half a second late, when its reminder is what is left.
      if (n % 2 === 0) await scheduler.stopFor(`order:${n - 10}`);
      if (n % 5 === 0) await scheduler.after(shaky, 0, undefined, { retry: { limit: 3, delay: 50 } });
      if (n % 10 === 0) await unit(n);
      if (n % 20 === 0) await declare(other);
      if (n % 7 === 0) await look(made.id);
      calls++;
      await wait(1_000 / ORDERS_PER_SECOND);
    }
  }

  async function unit(n: number): Promise<void> {
    await scheduler.transaction(async (tx) => {
      const first = await tx.after(reminder, "1s", { n });
      await tx.after(reminder, "2s", { n });
      await tx.stop(first.id);
    });
  }

  async function look(id: string): Promise<void> {
    try {
      await scheduler.info(id);
      await scheduler.runs(id);
      await other.explain(id);
    } catch (error) {
      // It is over, and its record gone.
      if (!isSchedulerError(error, "not_found")) throw error;
    }
  }

  return {
    scheduler,
    take() {
      const taken = { latenessMs: median(lateness), runs: lateness.length };
      lateness = [];
      return taken;
    },
    totals: () => `${runs} runs, ${faults} faults on purpose, ${calls} orders`,
    complaints: () => complaints,
    async close() {
      closing = true;
      await users;
      await Promise.all([scheduler.close(), other.close()]);
    },
  };
}
