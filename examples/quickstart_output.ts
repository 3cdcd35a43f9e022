/**
 * What the quickstart prints: a line for each run, a table of what comes next, and what a start finds.
 *
 * @module
 */
import {
  describeCron,
  type EventSchedule,
  type Plugin,
  type ScheduleInfo,
  type Scheduler,
  type StoredSpec,
} from "../mod.ts";
import { AGAIN, CONTRACT } from "../src/contract/mod.ts";

/** A time of day on this machine. */
export function clock(at: Date = new Date()): string {
  return date(at).slice(11);
}

/** A date and time, of this machine unless a zone is given. */
function date(at: Date, timezone?: string): string {
  return new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "medium",
    ...(timezone === undefined ? {} : { timeZone: timezone }),
  }).format(at);
}

/** The time of day alone where the day is today. */
function brief(at: Date): string {
  const text = date(at);
  return text.slice(0, 10) === date(new Date()).slice(0, 10) ? text.slice(11) : text;
}

/** A length of time in its largest fitting unit. */
function length(ms: number): string {
  const units = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1_000]] as const;
  for (const [unit, size] of units) if (Math.abs(ms) >= size) return `${(ms / size).toFixed(1)} ${unit}`;
  return `${Math.round(ms)} ms`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()).join("\n");
}

const TITLES = ["TIME", "NAME", "DUE", "LATE", "ELAPSED", "MISSED", "SAID"];
const WIDTHS = [8, 16, 8, 8, 8, 6, 0];

function runLine(cells: readonly string[]): string {
  // Text to the left, figures to the right.
  return cells.map((cell, i) => i < 3 ? cell.padEnd(WIDTHS[i]!) : cell.padStart(WIDTHS[i]!)).join("  ").trimEnd();
}

/** Prints one line for each run once it is settled, so durable, and whatever else happens to a schedule. */
export function printRuns(): Plugin {
  // By schedule: none of them has two runs at once (overlap: skip).
  const lateness = new Map<string, number>();
  const outcomes = new Map<string, { readonly elapsed: number; readonly said: string }>();
  let titled = false;
  const tell = (schedule: EventSchedule, text: string) =>
    console.log(`${clock()}  ${schedule.name ?? schedule.task}: ${text}`);
  return {
    name: "print-runs",
    contract: CONTRACT,
    async wrapRun({ context: { schedule, elapsed } }, next) {
      const result = await next();
      outcomes.set(schedule.id, { elapsed, said: said(result) });
      return result;
    },
    listeners: {
      started: ({ schedule, run }) => void lateness.set(schedule.id, run.latenessMs ?? 0),
      succeeded({ schedule, run: { startedAt, scheduledAt, missed } }) {
        if (!titled) console.log(runLine(TITLES));
        titled = true;
        const { elapsed, said } = outcomes.get(schedule.id) ?? { elapsed: 0, said: "" };
        const times = [length(lateness.get(schedule.id) ?? 0), elapsed === 0 ? "-" : length(elapsed)];
        const name = schedule.name ?? schedule.task;
        console.log(runLine([clock(startedAt), name, brief(scheduledAt), ...times, `${missed}`, said]));
      },
      faulted: ({ schedule, fault, retryAt }) =>
        tell(schedule, `FAULT: ${fault.message}${retryAt === undefined ? "" : `; again at ${clock(retryAt)}`}`),
      lost: ({ schedule, run, rerun }) =>
        tell(schedule, `the run of ${brief(run.scheduledAt)} was lost${rerun ? " and starts again" : ""}`),
      overlapped: ({ schedule, count }) => tell(schedule, `${count} skipped, because the run before was not over`),
      stopped: ({ schedule }) => tell(schedule, "stopped"),
      retired: ({ schedule, reason }) => tell(schedule, `over: ${reason}`),
      unclaimed: ({ task, due }) => console.log(`${clock()}  ${due} due for the task ${task}, which nobody here has`),
    },
  };
}

/** What a handler answered, where it says something. */
function said(result: unknown): string {
  if (typeof result === "object" && result !== null && AGAIN in result) return `again in ${result[AGAIN]}`;
  return typeof result === "string" ? result : "";
}

/** Prints what comes next, the soonest first, each in its own zone. */
export async function printComing(scheduler: Scheduler): Promise<void> {
  const describe = await describer();
  const infos = (await all(scheduler)).filter(({ nextRun }) => nextRun !== null);
  infos.sort((a, b) => a.nextRun!.getTime() - b.nextRun!.getTime());
  const rows = infos.map((info) => {
    const timezone = info.timezone ?? "UTC";
    const wait = length(Math.max(0, info.nextRun!.getTime() - Date.now()));
    return [nameOf(info), date(info.nextRun!, timezone), wait, when(info, describe)];
  });
  console.log(`\n${table([["NAME", "NEXT, IN ITS ZONE", "IN", "WHEN"], ...rows])}\n`);
}

type Describe = (spec: Extract<StoredSpec, { kind: "cron" }>, name: string | undefined) => string;

function when({ spec, jitter, name }: ScheduleInfo, describe: Describe): string {
  const shaken = jitter === undefined || jitter === 0 ? "" : ", with jitter";
  if (spec.kind === "at") return "Once";
  if (spec.kind === "every") return `Every ${length(spec.every)}${shaken}`;
  return describe(spec, name) + shaken;
}

/** Expressions in words where cronstrue is installed, as they are where it is not. */
async function describer(): Promise<Describe> {
  try {
    const { default: cronstrue } = await import("cronstrue");
    return ({ cron, timezone }, name = "") => describeCron(cron, { timezone, seed: name }, cronstrue);
  } catch {
    return ({ cron, timezone }) => `${cron}, ${timezone}`;
  }
}

function nameOf({ name, task }: ScheduleInfo): string {
  const text = name ?? task;
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

async function all(scheduler: Scheduler): Promise<ScheduleInfo[]> {
  const infos: ScheduleInfo[] = [];
  for await (const schedule of scheduler.list()) infos.push(await schedule.info());
  return infos;
}

/** Prints what an earlier start left in the store. */
export async function printFound(scheduler: Scheduler, database: string): Promise<void> {
  const infos = await all(scheduler);
  if (infos.length === 0) return console.log(`${database} is new: no schedules yet.`);
  const runs = infos.reduce((sum, { runCount }) => sum + runCount, 0);
  const last = Math.max(...infos.map(({ lastRun }) => lastRun?.getTime() ?? 0));
  const since = last === 0 ? "" : `, the last one at ${brief(new Date(last))}, ${length(Date.now() - last)} ago`;
  console.log(`Found ${infos.length} schedules in ${database}: ${runs} runs so far${since}.`);
  for (const { startedAt, scheduleId } of await scheduler.running()) {
    const { name, task } = infos.find(({ id }) => id === scheduleId)!;
    const began = `The run of ${name ?? task} that began at ${brief(startedAt)} is not over:`;
    console.log(`${began} another process has it, or it starts again when its lease ends.`);
  }
}

/** Prints what came due before this process began and, once that is dealt with, what stands for it. */
export async function tellCaughtUp(scheduler: Scheduler, begun: number): Promise<void> {
  const overdue = (await all(scheduler)).filter(({ nextRun }) => nextRun !== null && nextRun.getTime() <= begun);
  if (overdue.length === 0) return;
  const since = overdue.map((info) => `${nameOf(info)} (${brief(info.nextRun!)})`).join(", ");
  console.log(`Came due while nothing ran: ${since}`);
  const waiting = new Map(overdue.map((info) => [info.id, info]));
  const points = new Map<string, number>();
  const missed = ({ schedule: { id }, count }: { readonly schedule: EventSchedule; readonly count: number }) =>
    void points.set(id, (points.get(id) ?? 0) + count);
  const over = ({ schedule: { id } }: { readonly schedule: EventSchedule }) => {
    if (!waiting.delete(id) || waiting.size > 0) return;
    for (const end of ends) end();
    // The run itself stands for one more.
    const counts = overdue.map((info) => `${nameOf(info)} ${1 + (points.get(info.id) ?? 0)}`).join(", ");
    console.log(`Caught up, one run each, standing for so many deadlines: ${counts}`);
  };
  const ends = [
    scheduler.on("missed", missed),
    ...(["succeeded", "faulted", "stopped", "retired"] as const).map((name) => scheduler.on(name, over)),
  ];
}
