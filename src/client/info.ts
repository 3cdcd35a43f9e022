import {
  copyJson,
  type DecisionInfo,
  type Json,
  type JsonObject,
  type LiveRun,
  type OptionParser,
  type PastRun,
  readHistory,
  type RunInfo,
  type ScheduleDocument,
  type ScheduleInfo,
  type SpecBounds,
  type StoredDecision,
} from "../contract/mod.ts";
import { DEFAULT_MAX_LOST, p99, runId } from "../machine/mod.ts";
import type { Place } from "./host.ts";
import { revisionOf } from "./revision.ts";
import { nextRunDate } from "./schedule.ts";

/** Everything about a schedule, from its document (V1). */
export function infoOf(
  document: ScheduleDocument,
  place: Place,
  parsers: ReadonlyMap<string, OptionParser>,
): ScheduleInfo {
  const { id, definition, progress, parked } = document;
  const spec = copy(definition.spec);
  const bounds: SpecBounds = spec.kind === "at" ? {} : spec;
  const options = copy(optionsInForce(definition.options, parsers));
  return {
    id,
    revision: revisionOf(document),
    name: definition.name,
    kind: spec.kind,
    task: definition.task,
    target: definition.target,
    key: definition.key,
    group: definition.group,
    tags: copy(definition.tags ?? []),
    input: copyJson(definition.input),
    state: copyJson(definition.state),
    owner: definition.owner,
    authority: copy(definition.authority),
    runAs: definition.runAs ?? definition.owner,
    spec,
    createdAt: new Date(definition.createdAt),
    nextRun: nextRunDate(document),
    lastRun: dateOf(progress.lastRun) ?? null,
    runCount: progress.runCount,
    faultCount: progress.faultCount,
    consecutiveFaults: progress.consecutiveFaults,
    lastFault: copy(progress.lastFault),
    missedCount: progress.missedCount,
    overlapCount: progress.overlapCount,
    lastDurationMs: progress.lastDurationMs,
    meanDurationMs: progress.settledCount === 0 ? undefined : progress.durationSum / progress.settledCount,
    p99DurationMs: p99(progress.sketch),
    running: runningOf(document).reverse(),
    intervalClamped: spec.kind === "every" && spec.clamped === true,
    paused: progress.pausedAt !== undefined,
    retired: progress.retired !== undefined,
    retireReason: progress.retired?.reason,
    parked,
    adaptive: definition.adaptive,
    persist: place === "stored",
    timeout: definition.timeout,
    onLost: definition.onLost ?? "rerun",
    maxLost: definition.maxLost ?? DEFAULT_MAX_LOST,
    retention: definition.retention,
    history: definition.history,
    timezone: spec.kind === "cron" ? spec.timezone : undefined,
    startAt: dateOf(bounds.startAt),
    endAt: dateOf(bounds.endAt),
    maxRuns: bounds.maxRuns,
    options,
    catchup: options.catchup,
    overlap: options.overlap,
    jitter: options.jitter,
    retry: options.retry,
    maxFaults: options.maxFaults,
    decisions: progress.decisions.map(decisionInfo),
  };
}

/** Whoever is told may do with it what they like: it is not the document's. */
function copy<Value extends object | undefined>(value: Value): Value {
  return copyJson(value as Json | undefined) as Value;
}

/** The options that policies own: those at their default, too. */
export function optionsInForce(stored: JsonObject, parsers: ReadonlyMap<string, OptionParser>): JsonObject {
  const options: Record<string, Json> = {};
  for (const [key, parser] of parsers) if (parser.default !== undefined) options[key] = parser.default;
  return { ...options, ...stored };
}

/** The runs of a schedule, the newest first: those in progress, then the history (V4). */
export function runsOf(document: ScheduleDocument): RunInfo[] {
  const past = readHistory(document.progress.history).sort((a, b) => b.fence - a.fence);
  return [...runningOf(document), ...past.map((run) => pastRun(document.id, run))];
}

/** The runs in progress, the newest first. What a damaged document says of runs is no longer kept up with. */
export function runningOf({ id, progress, parked }: ScheduleDocument): RunInfo[] {
  if (parked !== undefined) return [];
  return [...progress.runs].sort((a, b) => b.fence - a.fence).map((run) => liveRun(id, run));
}

function liveRun(scheduleId: string, run: LiveRun): RunInfo {
  return {
    id: runId(scheduleId, run.fence),
    scheduleId,
    scheduledAt: new Date(run.point),
    startedAt: new Date(run.claimedAt),
    attempt: run.attempt,
    outcome: "running",
    instance: run.instance,
  };
}

function pastRun(scheduleId: string, run: PastRun): RunInfo {
  const { fence, point, startedAt, endedAt, attempt, outcome, instance, fault } = run;
  return {
    id: runId(scheduleId, fence),
    scheduleId,
    scheduledAt: new Date(point),
    startedAt: new Date(startedAt),
    endedAt: new Date(endedAt),
    attempt,
    outcome,
    instance,
    ...(fault === undefined ? {} : { fault }),
  };
}

/** A decision as callers see it. */
export function decisionInfo([what, at, count, point, detail]: StoredDecision): DecisionInfo {
  return {
    what,
    at: new Date(at),
    count,
    ...(typeof point === "number" ? { point: new Date(point) } : {}),
    ...(detail === undefined ? {} : { detail }),
  };
}

function dateOf(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
