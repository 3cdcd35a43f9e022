/**
 * One instance in a process of its own. Reads its settings from the first argument, appends what its handlers do to a
 * journal, which outlives a SIGKILL, and talks to the test by lines of JSON.
 *
 * @module
 */
import { appendFileSync, readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { createScheduler, defineTask } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import type { Clock } from "../../src/contract/mod.ts";
import { systemClock } from "../../src/system.ts";
import type { ChildSettings, JournalEntry, SlowInput } from "./processes.ts";

const settings = JSON.parse(process.argv[2]!) as ChildSettings;

function say(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function note(entry: Omit<JournalEntry, "pid">): void {
  appendFileSync(settings.journal, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);
}

/** The machine's clock, faster and set to another time; what has passed is as fast. */
let jumped = 0;
function movedClock({ speed, origin }: NonNullable<ChildSettings["clock"]>): Clock {
  const real = systemClock();
  return {
    ...real,
    now: () => Math.round(origin + (real.now() - origin) * speed) + jumped,
    monotonic: () => real.monotonic() * speed,
    setTimer: (callback, delayMs, options) => real.setTimer(callback, delayMs / speed, options),
  };
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** However long others take to start and to find the lease at its end. */
function blockUntilTaken(): void {
  const end = Date.now() + 60_000;
  const starts = () => readFileSync(settings.journal, "utf8").split('"what":"start"').length - 1;
  while (starts() < 2 && Date.now() < end) block(50);
}

const quick = defineTask("quick", (_input, { schedule, scheduledAt, attempt }) => {
  note({ what: "start", id: schedule.id, point: scheduledAt.getTime(), attempt });
});
const slow = defineTask("slow", async (input: SlowInput, { schedule, attempt, scheduledAt }) => {
  const entry = { id: schedule.id, point: scheduledAt.getTime(), attempt };
  note({ what: "start", ...entry });
  say({ started: schedule.id, attempt });
  if (input.blocks === undefined) await new Promise((resolve) => setTimeout(resolve, input.ms));
  else if (input.blocks === "so long") block(input.ms);
  else if (attempt === 1) blockUntilTaken();
  note({ what: "end", ...entry });
});
const hanging = defineTask("hanging", (_input, { schedule, signal, attempt }) => {
  note({ what: "start", id: schedule.id, point: 0, attempt });
  say({ started: schedule.id, attempt });
  if (attempt > 1) return undefined;
  return new Promise<void>((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      say({ aborted: schedule.id, reason: signal.reason.name });
      reject(signal.reason);
    });
  });
});

const scheduler = createScheduler({
  storage: sqlite({ path: settings.file, synchronous: "normal" }),
  tasks: [quick, slow, hanging],
  leaseMs: settings.leaseMs ?? 30_000,
  concurrency: settings.concurrency ?? 20,
  ...(settings.clock === undefined ? {} : { clock: movedClock(settings.clock) }),
});
for (const name of ["leaseLost", "lost"] as const) {
  scheduler.on(name, ({ schedule, run }) => say({ event: name, id: schedule.id, attempt: run.attempt }));
}

const commands: Record<string, (value: number) => Promise<void> | void> = {
  async create(count) {
    for (let i = 0; i < count; i++) say({ made: (await scheduler.after(quick, "1h", { i })).id });
  },
  jump(ms) {
    jumped += ms;
    say({ jumped });
  },
  async close() {
    await scheduler.close();
    process.exit(0);
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const [command, value] = line.split(" ");
  void commands[command!]!(Number(value));
});
if (settings.starts !== false) await scheduler.start();
say({ ready: process.pid });
