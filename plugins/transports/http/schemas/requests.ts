import { z } from "@hono/zod-openapi";
import { duration, instant, json, kind } from "./leaves.ts";

const catchupPolicy = z.enum(["once", "skip", "all"]);
const overlapPolicy = z.enum(["skip", "queue", "concurrent", "replace"]);

const catchup = z.union([
  catchupPolicy,
  z.looseObject({
    policy: catchupPolicy,
    grace: duration.optional(),
    limit: z.number().optional(),
    window: duration.optional(),
  }),
]).openapi({ description: "What becomes of points that passed with nothing running. Default `once`." });

const overlap = z.union([
  overlapPolicy,
  z.looseObject({ policy: overlapPolicy, limit: z.number().optional() }),
]).openapi({ description: "What becomes of a point that arrives during a run. Default `skip`." });

const jitter = z.union([duration, z.looseObject({ spread: duration })]).openapi({
  description: "How far deadlines are moved: ± a duration each time, or one stable offset up to `spread`. Default 0.",
});

const retry = z.looseObject({
  limit: z.number(),
  delay: duration.optional(),
  backoff: z.number().optional(),
  maxDelay: duration.optional(),
}).openapi({ description: "Attempts at the same deadline after a fault. Default: the task's." });

const dst = z.looseObject({ gap: z.enum(["fire", "skip"]).optional(), fold: z.enum(["first", "both"]).optional() })
  .openapi({ description: "What clock changes do to fixed-time cron jobs." });

/** When it fires, within a flat object. */
const timing = {
  at: instant.optional().openapi({ description: "Once, at an instant." }),
  after: duration.optional().openapi({ description: "Once, after a delay." }),
  every: duration.optional().openapi({ description: "At an interval." }),
  cron: z.string().optional().openapi({ description: "By the calendar: a cron expression.", example: "0 2 * * *" }),
};

/** Bounds of a recurring schedule. */
const bounds = {
  startAt: instant.optional().openapi({ description: "No point before it; for `every` it sets the phase." }),
  endAt: instant.optional().openapi({ description: "No point after it." }),
  maxRuns: z.number().optional().openapi({ description: "Deadlines that fire in all." }),
  timezone: z.string().optional().openapi({ description: "The IANA zone of `cron`.", example: "Europe/Berlin" }),
  dst: dst.optional(),
};

/** Options that may change later. */
const changeable = {
  group: z.string().optional().openapi({ description: "The declared set it belongs to." }),
  target: z.string().optional().openapi({ description: "What it is about.", example: "room:42" }),
  tags: z.array(z.string()).optional().openapi({ description: "At most 20 words to list by." }),
  runAs: z.looseObject({ id: z.string() }).optional().openapi({ description: "Whom runs act for." }),
  state: json.optional().openapi({ description: "A JSON value handed to each run unchanged, at most 4 KiB." }),
  adaptive: z.boolean().optional().openapi({ description: "Whether a handler's `again(delay)` counts." }),
  timeout: duration.optional().openapi({ description: "Time after which a run is aborted; 0 means never." }),
  onLost: z.enum(["rerun", "fault"]).optional().openapi({ description: "What happens to a run whose instance died." }),
  maxLost: z.number().optional().openapi({ description: "Losses with which a deadline is given up. Default 3." }),
  retention: duration.optional().openapi({
    description: "How long the record is kept after retirement. Default 60 s.",
  }),
  history: z.number().optional().openapi({ description: "Runs kept, from 0 to 100. Default 20." }),
  catchup: catchup.optional(),
  overlap: overlap.optional(),
  jitter: jitter.optional(),
  retry: retry.optional(),
  maxFaults: z.number().optional().openapi({
    description: "Consecutive faults after which a recurring schedule retires; 0 means no limit. Default 50.",
  }),
};

const identity = {
  name: z.string().optional().openapi({ description: "One live schedule of that name per owner: again is an update." }),
  key: z.string().optional().openapi({ description: "A creation whose key names a live schedule answers that one." }),
  onConflict: z.enum(["keep", "replace", "error"]).optional().openapi({
    description: "What a creation does that finds its key. Default `keep`.",
  }),
  owner: z.string().optional().openapi({ description: "The id of the owner; the system only." }),
  persist: z.boolean().optional().openapi({ description: "`false` keeps it in this server's process only." }),
};

const PLUGINS = "Options that plugins of the server own stand beside the ones listed.";

/** One schedule as one flat object. */
export const scheduleRequest = z.looseObject({
  kind: kind.optional().openapi({ description: "If given, it has to go with the one of at, after, every and cron." }),
  task: z.string().openapi({ description: "The name of the task that runs." }),
  input: json.optional().openapi({ description: "The task's input, at most 32 KiB." }),
  ...timing,
  ...bounds,
  ...identity,
  ...changeable,
}).openapi("ScheduleRequest", {
  description: `One schedule as one flat object, with exactly one of at, after, every and cron. ${PLUGINS}`,
});

/** Changes of a schedule. */
export const updateRequest = z.looseObject({
  input: json.optional().openapi({ description: "The task's input." }),
  ...timing,
  ...bounds,
  ...changeable,
}).openapi("UpdateRequest", { description: `What changes; what is not given stays. ${PLUGINS}` });

/** One operation of a transaction. */
export const transactionStep = z.looseObject({
  create: scheduleRequest.optional(),
  update: z.string().optional().openapi({ description: "The id of the schedule that `to` changes." }),
  to: updateRequest.optional(),
  stop: z.string().optional(),
  abortRunning: z.boolean().optional().openapi({ description: "With `stop`: abort runs in progress." }),
  pause: z.string().optional(),
  resume: z.string().optional(),
  trigger: z.string().optional(),
}).openapi("TransactionStep", {
  description: "One change: exactly one of create, update, stop, pause, resume and trigger.",
});

/** A spec whose next runs are asked for. */
export const nextRunsRequest = z.looseObject({
  spec: z.looseObject(
    { ...timing, ...bounds, name: z.string().optional() },
    "expected an object with one of at, after, every and cron",
  ),
  count: z.number().openapi({ description: "How many, at most 10,000." }),
  from: instant.optional().openapi({ description: "When the schedule would be made. Default: now." }),
}).openapi("NextRunsRequest");
