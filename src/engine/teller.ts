import {
  type EventRun,
  type EventSchedule,
  type LiveRun,
  type Logger,
  nextRunOf,
  type ScheduleDocument,
} from "../contract/mod.ts";
import { type Effect, runId, type Settlement } from "../machine/mod.ts";
import type { Emitter } from "./emitter.ts";
import type { Execution } from "./execution.ts";
import type { EngineParts } from "./parts.ts";

type Told = Exclude<Effect, { readonly type: "start" | "abort" }>;

/** What an event says of a schedule. */
function eventSchedule(document: ScheduleDocument): EventSchedule {
  const { id, definition } = document;
  const next = nextRunOf(document);
  return {
    id,
    name: definition.name,
    kind: definition.spec.kind,
    task: definition.task,
    owner: definition.owner,
    target: definition.target,
    nextRun: next === null ? null : new Date(next),
  };
}

/** What an event says of a run. */
function eventRun(document: ScheduleDocument, run: LiveRun, settlement?: Settlement): EventRun {
  return {
    id: runId(document.id, run.fence),
    scheduledAt: new Date(run.point),
    attempt: run.attempt,
    missed: run.missed,
    instance: run.instance,
    startedAt: new Date(settlement?.startedAt ?? run.claimedAt),
    ...(settlement === undefined ? {} : {
      endedAt: new Date(settlement.endedAt),
      durationMs: settlement.durationMs,
      outcome: settlement.outcome,
    }),
  };
}

/** Tells that a handler is about to be called. */
export function tellStarted(emitter: Emitter, { document, run, lateMs, startedAt }: Execution): void {
  if (!emitter.has("started")) return;
  // It was late by so much when it was claimed, and has waited for a slot since.
  const latenessMs = lateMs + Math.max(0, startedAt - run.claimedAt);
  const told = { ...eventRun(document, run), startedAt: new Date(startedAt), latenessMs };
  emitter.emit("started", { schedule: eventSchedule(document), run: told });
}

/** Tells that this instance lost a run's lease. */
export function tellLeaseLost(emitter: Emitter, { document, run }: Execution): void {
  if (emitter.has("leaseLost")) {
    emitter.emit("leaseLost", { schedule: eventSchedule(document), run: eventRun(document, run) });
  }
}

/** Ends that nobody wished for. */
const BAD_ENDS: ReadonlySet<string> = new Set([
  "failed",
  "lost",
  "max_faults",
  "invalid_target",
  "deadline_out_of_range",
]);

/** Tells listeners what a committed step did; a fault or a bad end that nobody listens to is logged: none is silent. */
export function tell(
  { emitter, logger }: Pick<EngineParts, "emitter" | "logger">,
  document: ScheduleDocument,
  effect: Told,
): void {
  const name = effect.type === "settled"
    ? (effect.settlement.outcome === "succeeded" ? "succeeded" : "faulted")
    : effect.type;
  if (name === "faulted" && !emitter.hasListener(name)) logFault(logger, document, effect);
  if (name === "retired" && !emitter.hasListener(name)) logEnd(logger, document, effect);
  if (!emitter.has(name)) return;
  const schedule = eventSchedule(document);
  switch (effect.type) {
    case "created":
    case "updated":
    case "stopped":
      return emitter.emit(effect.type, { schedule });
    case "retired":
      return emitter.emit("retired", { schedule, reason: effect.reason });
    case "settled":
      return tellSettled(emitter, document, effect);
    case "lost":
      return emitter.emit("lost", { schedule, run: eventRun(document, effect.run), rerun: effect.rerun });
    case "missed": {
      const { count, oldest, newest } = effect;
      return emitter.emit("missed", { schedule, count, oldest: new Date(oldest), newest: new Date(newest) });
    }
    case "overlapped":
      return emitter.emit("overlapped", { schedule, count: effect.count, point: new Date(effect.point) });
    case "unknownPolicy":
      return emitter.emit("unknownPolicy", { schedule, option: effect.option });
    case "parked":
      return emitter.emit("parked", { id: document.id, task: document.definition.task, error: effect.error });
  }
}

/** A replaced run is neither a success nor a fault (O4); the point it lost is told as overlapped. */
function tellSettled(emitter: Emitter, document: ScheduleDocument, effect: Extract<Effect, { type: "settled" }>): void {
  const { run, settlement, retryAt } = effect;
  const schedule = eventSchedule(document);
  const told = eventRun(document, run, settlement);
  if (settlement.outcome === "succeeded") return emitter.emit("succeeded", { schedule, run: told });
  if (settlement.outcome === "replaced") return;
  const fault = settlement.fault ?? { name: "Error", message: "the run failed", at: settlement.endedAt };
  emitter.emit("faulted", {
    schedule,
    run: told,
    fault,
    ...(retryAt === undefined ? {} : { retryAt: new Date(retryAt) }),
  });
}

function logFault(logger: Logger, { id, definition }: ScheduleDocument, effect: Told): void {
  if (effect.type !== "settled" || effect.settlement.outcome === "replaced") return;
  const { run, settlement, retryAt } = effect;
  const next = retryAt === undefined
    ? ""
    : `; attempt ${run.attempt + 1} follows at ${new Date(retryAt).toISOString()}`;
  const { name, message } = settlement.fault ?? { name: "Error", message: "the run failed" };
  logger.error(
    `run ${runId(id, run.fence)} of ${definition.name ?? definition.task} faulted: ${name}: ${message}${next}`,
  );
}

function logEnd(logger: Logger, { id, definition }: ScheduleDocument, effect: Told): void {
  if (effect.type !== "retired" || !BAD_ENDS.has(effect.reason)) return;
  logger.error(
    `schedule ${id} of ${definition.name ?? definition.task} has retired and will not run again: ${effect.reason}`,
  );
}
