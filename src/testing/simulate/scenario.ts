import type { ScheduleRequest, UpdateRequest } from "../../contract/mod.ts";
import { type NetworkFaults, QUICK_MS } from "./network.ts";
import type { Random } from "./random.ts";

/** Something that goes wrong in a simulation, if it is asked for. */
export type FaultKind =
  | "skew"
  | "jumps"
  | "stalls"
  | "kills"
  | "delays"
  | "failures"
  | "lost-replies"
  | "wake-ups"
  | "partitions";

/** Every kind of fault, in the order in which shrinking tries to do without them. */
export const FAULT_KINDS: readonly FaultKind[] = [
  "skew",
  "jumps",
  "stalls",
  "kills",
  "delays",
  "failures",
  "lost-replies",
  "wake-ups",
  "partitions",
];

/** When a simulation begins. */
export const START = Date.UTC(2026, 0, 1);

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;

/** Points that a recurring schedule has in a simulation, about: enough to meet every fault, few enough to be quick. */
const MAX_POINTS = 120;

/** Tasks by name, with what differs between them. `slow` lasts; `strict` may ignore its signal, and has a timeout. */
export const TASKS = {
  quick: {},
  slow: {},
  strict: { timeout: "20s" },
  narrow: { concurrency: 2 },
  stubborn: { retry: { limit: 2, delay: "2s" } },
} as const;

/** A task's name. */
export type TaskName = keyof typeof TASKS;

const TASK_NAMES = Object.keys(TASKS) as TaskName[];

/** What is the same for a whole simulation, drawn from its seed. */
export interface Settings {
  /** Whether the store has a clock of its own; otherwise all instances share that of their machine. */
  readonly ownClock: boolean;
  /** Whether clocks tell of their jumps. */
  readonly watched: boolean;
  readonly leaseMs: number;
  /** How late anything may be done on an instance that is able to do it. */
  readonly lateMs: number;
  readonly network: NetworkFaults;
}

/** Messages that a wake-up, a claim and what stood before it may take together. */
const MESSAGES = 6;
/** Pauses between attempts at a store that has failed end there. */
const BACKOFF_MS = 5_000;
/** A clock that does not tell of its jumps is looked at so often. */
const CLOCK_CHECK_MS = 1_000;

/** Draws what is the same for a whole simulation. */
export function settingsOf(random: Random, faults: ReadonlySet<FaultKind>): Settings {
  const strength = random.scale(1, 10) / 3;
  const has = (kind: FaultKind, value: number) => faults.has(kind) ? value * strength : 0;
  const network = {
    slow: has("delays", 0.03),
    slowMs: 1_500,
    fails: has("failures", 0.01),
    loses: has("lost-replies", 0.01),
    dies: has("kills", 0.001),
    hintMs: faults.has("wake-ups") ? 3_000 : QUICK_MS,
    hintTwice: has("wake-ups", 0.1),
  };
  return {
    ownClock: random.chance(0.5),
    watched: random.chance(0.94),
    leaseMs: random.pick([5, 10, 30]) * SECOND,
    lateMs: lateness(faults, network),
    network,
  };
}

function lateness(faults: ReadonlySet<FaultKind>, { slow, slowMs, hintMs }: NetworkFaults): number {
  const breaks = (["failures", "lost-replies", "partitions", "kills"] as const).some((kind) => faults.has(kind));
  const message = slow > 0 ? slowMs : QUICK_MS;
  return MESSAGES * message + hintMs + (breaks ? BACKOFF_MS : 0) + (faults.has("jumps") ? CLOCK_CHECK_MS : 0);
}

/** The tasks that an instance has: the first has all, so that everything can run somewhere. */
export function tasksOf(random: Random, index: number): readonly TaskName[] {
  if (index === 0) return TASK_NAMES;
  const some = TASK_NAMES.filter(() => random.chance(0.7));
  return some.length === 0 ? ["quick"] : some;
}

/** A random creation, as one flat object. */
export function requestOf(random: Random, tasks: readonly TaskName[], hours: number, now: number): ScheduleRequest {
  const task = random.pick(tasks);
  const common = { task, input: { depth: 0 }, ...policiesOf(random), ...lossesOf(random) };
  const span = hours * HOUR;
  const kind = random.weighted([[2, "at"], [5, "every"], [4, "cron"]] as const);
  if (kind === "at") {
    const delay = random.int(-MINUTE, Math.round(span / 2));
    return random.chance(0.5)
      ? { ...common, at: now + delay }
      : { ...common, after: Math.max(0, delay), ...adaptiveOf(random) };
  }
  const bounds = boundsOf(random, now, span);
  if (kind === "cron") return { ...common, ...bounds, ...cronOf(random, hours), ...adaptiveOf(random) };
  const every = random.scale(Math.max(SECOND, Math.ceil(span / MAX_POINTS)), Math.max(2 * MINUTE, span / 3));
  return { ...common, ...bounds, every: random.chance(0.7) ? every - every % SECOND : every, ...adaptiveOf(random) };
}

function policiesOf(random: Random): object {
  return {
    catchup: random.weighted<unknown>([
      [4, undefined],
      [2, "skip"],
      [2, "all"],
      [1, { policy: "all", limit: random.int(1, 5) }],
      [1, { policy: "all", window: random.scale(MINUTE, HOUR) }],
      [1, { policy: random.pick(["once", "skip"]), grace: random.scale(SECOND, 10 * MINUTE) }],
    ]),
    overlap: random.weighted<unknown>([
      [4, undefined],
      [2, "queue"],
      [1, { policy: "queue", limit: random.int(2, 4) }],
      [1, { policy: "concurrent", limit: random.int(2, 5) }],
      [2, "replace"],
    ]),
    jitter: random.weighted<unknown>([
      [5, undefined],
      [1, random.scale(100, 2 * MINUTE)],
      [1, { spread: random.scale(100, MINUTE) }],
    ]),
    retry: random.weighted<unknown>([
      [4, undefined],
      [1, { limit: random.int(1, 4), delay: random.scale(10, 30 * SECOND) }],
    ]),
    maxFaults: random.weighted<unknown>([[5, undefined], [1, random.int(1, 5)]]),
  };
}

function lossesOf(random: Random): object {
  return {
    ...(random.chance(0.15) ? { onLost: "fault" as const } : {}),
    ...(random.chance(0.15) ? { maxLost: random.int(1, 2) } : {}),
    ...(random.chance(0.1) ? { timeout: random.scale(SECOND, 2 * MINUTE) } : {}),
    ...(random.chance(0.2) ? { target: `room:${random.int(0, 2)}` } : {}),
    ...(random.chance(0.2) ? { state: { seen: random.int(0, 9) } } : {}),
  };
}

function adaptiveOf(random: Random): object {
  return random.chance(0.2) ? { adaptive: true } : {};
}

function boundsOf(random: Random, now: number, span: number): object {
  return {
    ...(random.chance(0.25) ? { startAt: now + random.int(-Math.round(span / 4), Math.round(span / 4)) } : {}),
    ...(random.chance(0.2) ? { endAt: now + random.int(Math.round(span / 4), Math.round(span / 2)) } : {}),
    ...(random.chance(0.2) ? { maxRuns: random.int(1, 20) } : {}),
  };
}

const ZONES = ["UTC", "Asia/Kolkata", "Asia/Kathmandu"];

/** Expressions whose points anybody can work out; what is hard about the calendar has its own tests. */
function cronOf(random: Random, hours: number): { readonly cron: string; readonly timezone?: string } {
  const minutes = Math.max(1, Math.ceil(hours * 60 / MAX_POINTS));
  const step = random.int(minutes, Math.max(minutes, 30));
  const cron = random.weighted([
    [4, `*/${Math.min(step, 59)} * * * *`],
    [2, `${random.int(0, 59)} * * * *`],
    [1, `${random.int(0, 29)},${random.int(30, 59)} * * * *`],
    [1, `${random.int(0, 20)}-${random.int(21, 59)}/${random.int(Math.min(minutes, 20), 20)} */2 * * *`],
    [1, `${random.int(0, 59)} */${Math.min(minutes, 59)} * * * *`],
    [1, `${random.int(0, 59)} ${random.int(0, 23)} * * ${random.int(0, 6)}`],
    [1, `*/${Math.min(step, 59)} ${random.int(0, 11)}-${random.int(12, 23)} 1 * *`],
  ]);
  return random.chance(0.4) ? { cron, timezone: random.pick(ZONES) } : { cron };
}

/** A random change of a schedule, whatever its kind. */
export function updateOf(random: Random, hours: number, now: number): UpdateRequest {
  const change = random.weighted([[3, "policies"], [2, "every"], [2, "cron"], [1, "at"], [1, "bounds"]] as const);
  switch (change) {
    case "policies":
      return policiesOf(random);
    case "every":
      return { every: random.scale(MINUTE, HOUR) };
    case "cron":
      return cronOf(random, hours);
    case "at":
      return { at: now + random.int(0, HOUR) };
    case "bounds":
      return { input: { depth: 1 }, tags: ["changed"] };
  }
}
