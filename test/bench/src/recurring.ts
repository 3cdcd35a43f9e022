/**
 * 10,000 recurring schedules every 10 seconds in one process, a thousand at each full second, watched for 40 seconds:
 * how many of them fired, how late, in how much memory. Beside it croner, which keeps its jobs in memory only.
 */
import { spawnSync } from "node:child_process";
import { Cron } from "croner";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { coresSince, inDirectory, otherCores, percentile, print, residentMiB, silent, sleep } from "./tools.ts";

const N = Number(process.env["N"] ?? 10_000);
const PERIOD_S = 10;
const WATCH_MS = Number(process.env["WATCH_MS"] ?? 40_000);

let late: number[] = [];
const task = defineTask(
  "bench",
  (_input, { scheduledAt }) => void late.push(Date.now() - scheduledAt.getTime()),
);
const phase = (i: number) => `${i % PERIOD_S}-59/${PERIOD_S} * * * * *`;

/** What is watched, each in a process of its own, since none gives its memory back. */
const PARTS: Readonly<
  Record<string, { readonly flags: readonly string[]; watch(): Promise<void> }>
> = {
  "ostinato on a file, as npm start runs it": {
    flags: ["--max-semi-space-size=4"],
    watch: ostinato,
  },
  "ostinato on a file, Node's own settings": { flags: [], watch: ostinato },
  "croner in memory": { flags: [], watch: croner },
};

const part = process.env["PART"];
if (part !== undefined) await PARTS[part]!.watch();
else {
  for (const [name, { flags }] of Object.entries(PARTS)) {
    const script = [
      ...flags,
      ...process.execArgv,
      process.argv[1]!,
      "recurring",
    ];
    spawnSync(process.execPath, script, {
      env: { ...process.env, PART: name },
      stdio: "inherit",
    });
  }
}

function ostinato(): Promise<void> {
  return inDirectory(async (directory) => {
    const noise = await otherCores();
    const scheduler = createScheduler({
      storage: sqlite(`${directory}/recurring.db`),
      tasks: [task],
      logger: silent,
    });
    for (let i = 0; i < N; i += 1_000) {
      await scheduler.createMany(
        Array.from(
          { length: Math.min(1_000, N - i) },
          (_, k) => ({ task, cron: phase(i + k), name: `bench ${i + k}` }),
        ),
      );
    }
    await scheduler.start();
    print("recurring", { name: part, ...await watched(), otherCores: noise });
    await scheduler.close();
  });
}

async function croner(): Promise<void> {
  const jobs = Array.from({ length: N }, (_, i) =>
    new Cron(phase(i), () => {
      const at = Date.now();
      const offset = (i % PERIOD_S) * 1_000;
      late.push(
        at -
          (Math.floor((at + 50 - offset) / (PERIOD_S * 1_000)) * PERIOD_S *
              1_000 + offset),
      );
    }));
  print("recurring", { name: part, ...await watched() });
  for (const job of jobs) job.stop();
}

/** Lets one period pass, then watches whole periods. */
async function watched(): Promise<Readonly<Record<string, number>>> {
  await sleep(PERIOD_S * 1_000 + 2_500 - Date.now() % 1_000);
  late = [];
  const [before, at] = [process.cpuUsage(), performance.now()];
  await sleep(WATCH_MS);
  const cores = coresSince(before, performance.now() - at);
  const lateness = late;
  return {
    expected: N * WATCH_MS / (PERIOD_S * 1_000),
    fired: lateness.length,
    latenessP50Ms: percentile(lateness, 50),
    latenessP99Ms: percentile(lateness, 99),
    targetP99Ms: 50,
    residentMiB: residentMiB(),
    targetMiB: 200,
    cores,
  };
}
