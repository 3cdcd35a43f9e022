import type { Wire, WireError } from "./api.ts";
import { checkJson, type JsonRule } from "./check_json.ts";
import type { DecisionInfo, RunInfo, ScheduleInfo } from "./info.ts";
import { isSchedulerError, SchedulerError } from "./errors.ts";
import type { ExplainedDecision, Explanation, Wait } from "./explain.ts";
import type { Json } from "./json.ts";
import { MAX_INPUT_BYTES, MAX_JSON_DEPTH, MAX_STATE_BYTES } from "./limits.ts";
import { invalidOption, isPlainObject } from "./option_errors.ts";
import { toWire } from "./to_wire.ts";

/** An error as it travels. What is thrown and is no error travels as its text. */
export function errorToWire(error: unknown): WireError {
  if (isSchedulerError(error)) {
    const { code, message, details, retryable } = error;
    return { name: "SchedulerError", message, code, details: jsonOf(details), retryable };
  }
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "Error", message: String(error) };
}

/** The error that {@linkcode errorToWire} was given, as far as it travels: the scheduler's own by its code. */
export function errorFromWire({ name, message, code, details, retryable }: WireError): Error {
  if (code === undefined || !isSchedulerError({ code })) return Object.assign(new Error(message), { name });
  return new SchedulerError(code, message, {
    retryable: retryable === true,
    ...(isPlainObject(details) ? { details } : {}),
  });
}

/** What of an error's facts JSON carries. */
function jsonOf(details: unknown): Json {
  try {
    return toWire(details) as Json;
  } catch {
    return {};
  }
}

const RULES: Readonly<Record<"input" | "state", Omit<JsonRule, "where">>> = {
  input: { maxBytes: MAX_INPUT_BYTES, invalid: "invalid_input", tooLarge: "input_too_large" },
  state: { maxBytes: MAX_STATE_BYTES, invalid: "invalid_option", tooLarge: "state_too_large" },
};

/**
 * An input or a state as it travels: a value that JSON would change is refused here, with its path, since at the other
 * end it could no longer be seen (S4).
 *
 * @throws {SchedulerError} As creation does.
 */
export function valueToWire(value: unknown, what: "input" | "state", where: string): Json | undefined {
  return value === undefined ? undefined : checkJson(value, { ...RULES[what], where });
}

/**
 * Anything else that a call takes, as it travels: instants as ISO 8601 text, and numbers that JSON has not as `null`,
 * which the other end refuses as it would refuse them.
 *
 * @throws {SchedulerError} `invalid_option` for what JSON has no word for, such as a function.
 */
export function optionToWire(value: unknown, where: string, depth = 0): Json | undefined {
  if (value === undefined || value === null || typeof value === "string" || typeof value === "boolean") {
    return value as Json | undefined;
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  const instant = instantToWire(value);
  if (instant !== undefined) return instant;
  const isNested = depth < MAX_JSON_DEPTH;
  if (isNested && Array.isArray(value)) {
    return value.map((member, i) => optionToWire(member, `${where}[${i}]`, depth + 1) ?? null);
  }
  if (!isNested || !isPlainObject(value)) throw invalidOption(where, value, "what JSON carries, or an instant");
  const members = Object.entries(value).flatMap(([key, member]) => {
    const json = optionToWire(member, `${where}.${key}`, depth + 1);
    return json === undefined ? [] : [[key, json] as const];
  });
  return Object.fromEntries(members);
}

/** A `Date` or an instant of Temporal as text; `null` for an invalid one. */
function instantToWire(value: unknown): string | null | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { epochMilliseconds } = value as { readonly epochMilliseconds?: unknown };
  const ms = value instanceof Date ? value.getTime() : epochMilliseconds;
  if (typeof ms !== "number") return undefined;
  return Number.isNaN(new Date(ms).getTime()) ? null : new Date(ms).toISOString();
}

/** Every run that travelled, with its instants. */
export function runFromWire(run: Wire<RunInfo>): RunInfo {
  return dated<RunInfo>(run, ["scheduledAt", "startedAt", "endedAt"]);
}

/** What `info` answers, as it travels. By name and not by `toWire`: of all that travels it is the most, and the most often. */
export function infoToWire(info: ScheduleInfo): Wire<ScheduleInfo> {
  const wire: Omit<Wire<ScheduleInfo>, AbsentKey> = {
    id: info.id,
    revision: info.revision,
    kind: info.kind,
    task: info.task,
    tags: toWire(info.tags),
    owner: info.owner,
    authority: toWire(info.authority),
    runAs: info.runAs,
    spec: toWire(info.spec),
    createdAt: info.createdAt.toISOString(),
    nextRun: toWire(info.nextRun),
    lastRun: toWire(info.lastRun),
    runCount: info.runCount,
    faultCount: info.faultCount,
    consecutiveFaults: info.consecutiveFaults,
    missedCount: info.missedCount,
    overlapCount: info.overlapCount,
    running: toWire(info.running),
    intervalClamped: info.intervalClamped,
    paused: info.paused,
    retired: info.retired,
    adaptive: info.adaptive,
    persist: info.persist,
    onLost: info.onLost,
    maxLost: info.maxLost,
    retention: info.retention,
    history: info.history,
    options: toWire(info.options),
    decisions: toWire(info.decisions),
  };
  const all = wire as Record<string, unknown>;
  for (const key of ABSENT_KEYS) if (info[key] !== undefined) all[key] = toWire(info[key]);
  return wire as Wire<ScheduleInfo>;
}

/** What `info` answered, with its instants, and with the keys that `undefined` had. */
export function infoFromWire(info: Wire<ScheduleInfo>): ScheduleInfo {
  return {
    ...ABSENT,
    ...dated<ScheduleInfo>(info, ["createdAt", "nextRun", "lastRun", "startAt", "endAt"]),
    running: info.running.map(runFromWire),
    decisions: info.decisions.map((decision) => dated<DecisionInfo>(decision, ["at", "point"])),
  };
}

/** What `explain` answered, with its instants, and with the keys that `undefined` had. */
export function explanationFromWire(explanation: Wire<Explanation>): Explanation {
  const { lastRun } = explanation;
  return {
    ...dated<Explanation>(explanation, ["at"]),
    name: explanation.name,
    waits: explanation.waits.map(waitFromWire),
    decisions: explanation.decisions.map((decision) => dated<ExplainedDecision>(decision, ["at", "point"])),
    lastRun: lastRun === undefined ? undefined : runFromWire(lastRun),
  };
}

function waitFromWire(wait: Wire<Wait>): Wait {
  const read = dated<Wait>(wait, ["until", "since", "point"]);
  return read.for === "run" ? { ...read, run: runFromWire((wait as Wire<typeof read>).run) } : read;
}

/** An object whose named members, where they are text, are instants again. */
function dated<Value>(wire: unknown, keys: readonly string[]): Value {
  const value: Record<string, unknown> = { ...wire as Readonly<Record<string, unknown>> };
  for (const key of keys) if (typeof value[key] === "string") value[key] = new Date(value[key]);
  return value as Value;
}

/** The members of {@linkcode ScheduleInfo} that may be `undefined`, and do not travel then. */
type AbsentKey = { [Key in keyof ScheduleInfo]: undefined extends ScheduleInfo[Key] ? Key : never }[keyof ScheduleInfo];

const ABSENT = {
  name: undefined,
  target: undefined,
  key: undefined,
  group: undefined,
  input: undefined,
  state: undefined,
  lastFault: undefined,
  lastDurationMs: undefined,
  meanDurationMs: undefined,
  p99DurationMs: undefined,
  retireReason: undefined,
  parked: undefined,
  timeout: undefined,
  timezone: undefined,
  startAt: undefined,
  endAt: undefined,
  maxRuns: undefined,
  catchup: undefined,
  overlap: undefined,
  jitter: undefined,
  retry: undefined,
  maxFaults: undefined,
} satisfies Record<AbsentKey, undefined>;

const ABSENT_KEYS = Object.keys(ABSENT) as readonly AbsentKey[];
