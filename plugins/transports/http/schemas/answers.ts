import { z } from "@hono/zod-openapi";
import { json, kind, utc, utcOrNull } from "./leaves.ts";

/** A run. */
export const run = z.object({
  id: z.string(),
  scheduleId: z.string(),
  scheduledAt: utc.openapi({ description: "The cadence point or deadline that it stands for." }),
  startedAt: utc,
  endedAt: utc.optional(),
  attempt: z.int().openapi({ description: "1 for the first run of a deadline." }),
  outcome: z.enum(["succeeded", "faulted", "timeout", "aborted", "replaced", "lost", "released", "running"]),
  instance: z.string().openapi({ description: "The instance that runs it, or ran it." }),
  fault: z.string().optional().openapi({ description: "What went wrong." }),
}).openapi("Run");

/** A list of runs. */
export const runs = z.object({ runs: z.array(run) }).openapi("Runs");

/** A schedule in short. */
export const schedule = z.object({
  id: z.string().openapi({ description: "A ULID." }),
  name: z.string().optional(),
  kind,
  task: z.string(),
  nextRun: utcOrNull.openapi({ description: "The next deadline." }),
}).openapi("Schedule");

/** A list of schedules. */
export const schedules = z.object({ schedules: z.array(schedule) }).openapi("Schedules");

/** One page. */
export const page = z.object({
  schedules: z.array(schedule),
  cursor: z.string().optional().openapi({ description: "For the next page; absent on the last one." }),
}).openapi("Page");

const bounds = { startAt: utc.optional(), endAt: utc.optional(), maxRuns: z.int().optional() };

const spec = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("at"), at: utc }),
  z.object({
    kind: z.literal("every"),
    every: z.number().openapi({ description: "Milliseconds." }),
    anchor: utc.openapi({ description: "A point from which the others are counted." }),
    clamped: z.boolean().optional(),
    ...bounds,
  }),
  z.object({
    kind: z.literal("cron"),
    cron: z.string(),
    timezone: z.string(),
    dst: z.object({ gap: z.enum(["fire", "skip"]).optional(), fold: z.enum(["first", "both"]).optional() }).optional(),
    ...bounds,
  }),
]).openapi("Spec");

const decision = z.object({
  what: z.string(),
  at: utc.openapi({ description: "When, the last time." }),
  count: z.int().openapi({ description: "How many in a row." }),
  point: utc.optional(),
  detail: z.string().optional(),
});

/** Everything about one schedule. */
export const info = schedule.extend({
  revision: z.string().openapi({ description: "Changes with the definition; what `ETag` carries." }),
  target: z.string().optional(),
  key: z.string().optional(),
  group: z.string().optional(),
  tags: z.array(z.string()),
  input: json.optional(),
  state: json.optional(),
  owner: z.string(),
  authority: z.object({ id: z.string(), admin: z.boolean().optional() }),
  runAs: z.string(),
  spec,
  createdAt: utc,
  lastRun: utcOrNull.openapi({ description: "When its newest run started." }),
  runCount: z.int(),
  faultCount: z.int(),
  consecutiveFaults: z.int(),
  lastFault: z.object({ name: z.string(), message: z.string(), cause: z.string().optional(), at: utc }).optional(),
  missedCount: z.int(),
  overlapCount: z.int(),
  lastDurationMs: z.number().optional(),
  meanDurationMs: z.number().optional(),
  p99DurationMs: z.number().optional(),
  running: z.array(run),
  intervalClamped: z.boolean(),
  paused: z.boolean(),
  retired: z.boolean(),
  retireReason: z.string().optional(),
  parked: z.string().optional(),
  adaptive: z.boolean(),
  persist: z.boolean(),
  timeout: z.number().optional(),
  onLost: z.enum(["rerun", "fault"]),
  maxLost: z.int(),
  retention: z.number(),
  history: z.int(),
  timezone: z.string().optional(),
  startAt: utc.optional(),
  endAt: utc.optional(),
  maxRuns: z.int().optional(),
  options: z.record(z.string(), json),
  catchup: json.optional(),
  overlap: json.optional(),
  jitter: json.optional(),
  retry: json.optional(),
  maxFaults: json.optional(),
  decisions: z.array(decision),
}).openapi("ScheduleInfo");

/** What a pause, a resumption or a trigger came to. */
export const outcome = z.object({
  done: z.boolean().openapi({ description: "Whether it did anything." }),
  schedule: info.optional().openapi({ description: "Absent if it has ended meanwhile." }),
}).openapi("Outcome");

const wait = z.looseObject({
  for: z.enum(["deadline", "run", "retry", "turn", "instance", "plugin", "resume", "repair", "removal"]),
  text: z.string(),
}).openapi("Wait");

/** Why a schedule fires or does not. */
export const explanation = z.object({
  id: z.string(),
  name: z.string().optional(),
  at: utc,
  waits: z.array(wait),
  decisions: z.array(decision.extend({ text: z.string() })),
  lastRun: run.optional(),
  text: z.string().openapi({ description: "All of it in words." }),
}).openapi("Explanation");

/** The tasks that the caller may use. */
export const tasks = z.object({
  tasks: z.array(z.object({
    name: z.string(),
    inputSchema: z.record(z.string(), json).optional().openapi({
      description: "JSON Schema of the input, where the task's schema can tell it.",
    }),
  })),
}).openapi("Tasks");
