/**
 * Processes whose end is what a test looks at: nothing here keeps them alive but the scheduler.
 *
 * @module
 */
import process from "node:process";
import { createScheduler, defineTask } from "../../mod.ts";
import { kv } from "../../plugins/storage/kv/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import { CONTRACT, type Plugin, type ScheduleDocument, type Storage } from "../../src/contract/mod.ts";

const { mode, file } = JSON.parse(process.argv[2]!) as { mode: string; file: string };

function say(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** A store whose renewals and later calls are rejected. */
function failing(inner: Storage, fails: () => boolean): Storage {
  return new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      if (key !== "apply" && key !== "close") return member.bind(target);
      return (...parameters: unknown[]) =>
        fails() ? Promise.reject(new Error(`${String(key)} fails`)) : member.apply(target, parameters);
    },
  });
}

const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };
const quick = defineTask("quick", () => {});

async function idle(unref: boolean, storage = sqlite(file)): Promise<void> {
  const scheduler = createScheduler({ storage, tasks: [quick], unref });
  await scheduler.start();
  await scheduler.every(quick, "1h");
  say({ idle: true });
}

async function closed(): Promise<void> {
  const beat = defineTask("beat", { timeout: "1h", run: () => say({ ran: true }) });
  const scheduler = createScheduler({ storage: sqlite(file), tasks: [beat] });
  scheduler.on("succeeded", () => void scheduler.close().then(() => say({ closed: true })));
  await scheduler.start();
  await scheduler.every(beat, "20ms");
  await scheduler.every(beat, "1h", undefined, { persist: false });
}

/** Everything rejects that can. */
async function rejecting(): Promise<void> {
  let fails = false;
  const storage = failing(memory(), () => fails);
  const bad = defineTask("bad", () => Promise.reject(new Error("a handler")));
  const long = defineTask("long", () => new Promise<void>((resolve) => setTimeout(resolve, 300)));
  const scheduler = createScheduler({ storage, tasks: [bad, long], leaseMs: 100, logger: quiet });
  let faults = 0;
  let errors = 0;
  scheduler.on("faulted", () => {
    faults++;
    return Promise.reject(new Error("a listener"));
  });
  scheduler.on("storeError", () => {
    errors++;
    throw new Error("another listener");
  });
  await scheduler.start();
  await scheduler.after(bad, 0);
  await scheduler.after(long, 0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  fails = true;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const refused = await scheduler.close({ drain: 0 }).then(() => undefined, (error: Error) => error.message);
  say({ faults, errors, refused });
}

/** Handlers leave promises behind that are rejected; then the application itself does, while the scheduler is open or closed. */
async function leaving(open: boolean): Promise<void> {
  const told: string[] = [];
  const logger = {
    ...quiet,
    error: (_message: string, reason?: unknown) => {
      told.push(String((reason as Error | undefined)?.message));
      throw new Error("the log is full");
    },
  };
  const leave = (when: string) => void Promise.reject(new Error(when));
  const careless = defineTask("careless", async (by: string) => {
    leave(`${by}: at once`);
    void (async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      throw new Error(`${by}: while it runs`);
    })();
    setTimeout(() => leave(`${by}: when it is over`), 100);
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  const scheduler = createScheduler({ tasks: [careless], logger });
  const other = createScheduler({ tasks: [careless], logger });
  await Promise.all([scheduler.start(), other.start()]);
  await scheduler.after(careless, 0, "scheduled");
  await other.invoke(careless, "invoked");
  await new Promise((resolve) => setTimeout(resolve, 200));
  await other.close();
  if (!open) await scheduler.close();
  say({ told: told.sort(), listeners: process.listenerCount("unhandledRejection") });
  leave("the application");
  await new Promise((resolve) => setTimeout(resolve, 200));
  say({ survived: true });
}

/** Listeners of the signals of runs throw, are rejected, and leave rejections behind. */
async function listening(): Promise<void> {
  const told: string[] = [];
  const logger = {
    ...quiet,
    error: (_message: string, reason?: unknown) => {
      if (reason instanceof Error) told.push(reason.message);
    },
  };
  const fail = (by: string): never => {
    throw new Error(by);
  };
  const deaf = defineTask("deaf", {
    timeout: 50,
    run: (by: string, { signal }) =>
      new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => fail(`${by}: thrown`));
        signal.addEventListener("abort", async () => fail(`${by}: rejected, ${await "later"}`));
        signal.addEventListener("abort", { handleEvent: () => fail(`${by}: of an object`) });
        signal.addEventListener("abort", () => void Promise.reject(new Error(`${by}: left behind`)));
        signal.onabort = () => {
          setTimeout(resolve, 50);
          fail(`${by}: onabort`);
        };
      }),
  });
  const scheduler = createScheduler({ tasks: [deaf], logger });
  await scheduler.start();
  await scheduler.after(deaf, 0, "scheduled");
  const refused = await scheduler.invoke(deaf, "invoked").then(() => undefined, (error: Error) => error.name);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await scheduler.close();
  say({ told: told.sort(), refused });
}

/** What 10,000 further runs leave behind. */
async function leaking(): Promise<void> {
  const collect = (globalThis as unknown as { gc: () => void }).gc;
  const warnings: string[] = [];
  process.on("warning", ({ name }) => warnings.push(name));
  let runs = 0;
  const task = defineTask("task", {
    timeout: "1h",
    run(_input, { signal }) {
      signal.addEventListener("abort", () => {});
      runs++;
    },
  });
  const storage = memory();
  const scheduler = createScheduler({ storage, tasks: [task], logger: quiet });
  await scheduler.start();
  const more = async (count: number) => {
    const until = runs + count;
    await scheduler.createMany(Array.from({ length: count }, () => ({ task, after: 0, retention: 0 } as const)));
    while (runs < until) await new Promise((resolve) => setTimeout(resolve, 5));
    // Until the records of what is over have gone, too.
    while (await storage.nextWake(["", "task"]) !== null) await new Promise((resolve) => setTimeout(resolve, 5));
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await more(2_000);
  const after = await more(10_000);
  await scheduler.close();
  say({ runs, grown: after - before, warnings });
}

/** Tasks that a plugin keeps in the store are made anew with each look: those before are to be forgotten. */
async function relearning(): Promise<void> {
  const collect = (globalThis as unknown as { gc: () => void }).gc;
  const made: WeakRef<object>[] = [];
  const records = defineTask("records", { internal: true, run: () => {} });
  const taskOf = ({ definition }: ScheduleDocument) => {
    const task = { name: definition.tags![0]!, run: () => {} };
    made.push(new WeakRef(task));
    return task;
  };
  const plugin: Plugin = { name: "kept", contract: CONTRACT, tasks: { records, taskOf } };
  const scheduler = createScheduler({ plugins: [plugin], logger: quiet });
  await scheduler.at(records, "9000-01-01T00:00:00Z", undefined, { tags: ["kept"], key: "kept" });
  for (let n = 0; n < 100; n++) {
    await scheduler.tasks();
    await (await scheduler.after("kept", "1h")).stop();
  }
  // What was made in this turn stays until it is over.
  await new Promise((resolve) => setTimeout(resolve, 10));
  collect();
  const alive = made.filter((task) => task.deref() !== undefined).length;
  await scheduler.close();
  say({ made: made.length, alive });
}

const modes: Record<string, () => Promise<void>> = {
  ref: () => idle(false),
  unref: () => idle(true),
  "unref on kv": () => idle(true, kv(file)),
  closed,
  rejecting,
  leaving: () => leaving(true),
  "leaving and closed": () => leaving(false),
  listening,
  leaking,
  relearning,
};
await modes[mode]!();
