import type { ScheduleDefinition } from "./definition.ts";
import type { ScheduleDocument } from "./document.ts";
import { SchedulerError, show } from "./errors.ts";
import { isHistory } from "./history.ts";
import {
  MAX_CONCURRENT_RUNS,
  MAX_CRON_LENGTH,
  MAX_DEADLINE,
  MAX_DECISIONS,
  MAX_DURATION_MS,
  MAX_HISTORY,
  MAX_NAME_LENGTH,
  MAX_TAGS,
  MAX_WAITING,
} from "./limits.ts";

/** A value's test, what it expects in words, and what is wrong deeper inside, which is only asked once it failed. */
interface Check {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
  readonly blame?: (value: unknown, path: string) => SchedulerError | undefined;
}

type Shape = readonly (readonly [key: string, check: Check])[];

/** The last instant that a `Date` holds, and minus it the first. */
const MAX_DATE = 8.64e15;

// Comparisons refuse NaN and the infinities by themselves.
const instant = check(
  "an instant in milliseconds",
  (v) => typeof v === "number" && v >= -MAX_DATE && v <= MAX_DEADLINE,
);
// What is worked out from an instant and a duration may lie after the last deadline: leases, retries, retention.
const moment = check("an instant in milliseconds", (v) => typeof v === "number" && Math.abs(v) <= MAX_DATE);
const duration = check("milliseconds from 0", (v) => typeof v === "number" && v >= 0 && v <= MAX_DURATION_MS);
const interval = check("milliseconds from 1", (v) => typeof v === "number" && v >= 1 && v <= MAX_DURATION_MS);
const count = check("a whole number from 0", (v) => Number.isSafeInteger(v) && v as number >= 0);
const positive = check("a whole number from 1", (v) => Number.isSafeInteger(v) && v as number >= 1);
const sum = check("a number from 0", (v) => typeof v === "number" && v >= 0 && v < Infinity);
const flag = check("true or false", (v) => typeof v === "boolean");
const text = check("text", (v) => typeof v === "string");
const label = check(
  `text of 1 to ${MAX_NAME_LENGTH} characters`,
  (v) => typeof v === "string" && v.length > 0 && v.length <= MAX_NAME_LENGTH,
);
const expression = check(
  `text of 1 to ${MAX_CRON_LENGTH} characters`,
  (v) => typeof v === "string" && v.length > 0 && v.length <= MAX_CRON_LENGTH,
);
const object = check("an object", isObject);
const maybeText = optional(text);
const maybeMoment = optional(moment);

const PRINCIPAL: Shape = [["id", label], ["admin", optional(flag)]];
const BOUNDS: Shape = [["startAt", optional(instant)], ["endAt", optional(instant)], ["maxRuns", optional(positive)]];
const UNKNOWN: Shape = [["kind", oneOf("at", "every", "cron")]];
const SPECS = new Map<unknown, Shape>([
  ["at", [["at", instant]]],
  ["every", [["every", interval], ["anchor", instant], ["clamped", optional(oneOf(true))], ...BOUNDS]],
  ["cron", [
    ["cron", expression],
    ["timezone", expression],
    ["dst", optional(shaped([["gap", optional(oneOf("fire", "skip"))], ["fold", optional(oneOf("first", "both"))]]))],
    ...BOUNDS,
  ]],
]);
const DEFINITION: Shape = [
  ["task", label],
  ["spec", {
    expected: "an object",
    fits: (v) => isObject(v) && fitsShape(SPECS.get(v["kind"]) ?? UNKNOWN, v),
    blame: (v, path) => isObject(v) ? blameShape(SPECS.get(v["kind"]) ?? UNKNOWN, v, `${path}.`) : undefined,
  }],
  ["options", object],
  ["owner", label],
  ["authority", shaped(PRINCIPAL)],
  ["runAs", optional(label)],
  ["name", optional(label)],
  ["key", optional(label)],
  ["group", optional(label)],
  ["target", optional(label)],
  ["tags", optional(listOf(label, MAX_TAGS))],
  ["adaptive", flag],
  ["timeout", optional(duration)],
  ["onLost", optional(oneOf("fault"))],
  ["maxLost", optional(positive)],
  ["retention", duration],
  ["history", check(`a whole number from 0 to ${MAX_HISTORY}`, (v) => count.fits(v) && v as number <= MAX_HISTORY)],
  ["createdAt", instant],
];
const LIVE_RUN: Shape = [
  ["fence", positive],
  ["point", instant],
  ["attempt", positive],
  ["missed", count],
  ["instance", text],
  ["leaseUntil", moment],
  ["claimedAt", moment],
  ["previousStart", optional(moment)],
  ["losses", optional(count)],
  ["lined", optional(oneOf(true))],
  ["retimed", optional(oneOf("at", "every", "cron"))],
  ["abort", optional(oneOf("replaced", "aborted", "stopped"))],
];
const WAITING: Shape = [
  ["point", instant],
  ["at", moment],
  ["attempt", positive],
  ["missed", count],
  ["cause", oneOf("queued", "retry", "rerun", "catchup", "triggered", "replacing")],
  ["losses", optional(count)],
];
const PROGRESS: Shape = [
  ["wakeAt", orNull(moment)],
  ["next", orNull(shaped([["point", instant], ["at", instant], ["again", optional(oneOf(true))]]))],
  ["cursor", optional(instant)],
  ["runs", listOf(shaped(LIVE_RUN), MAX_CONCURRENT_RUNS)],
  ["waiting", listOf(shaped(WAITING), MAX_WAITING)],
  ["backlog", optional(listOf(shaped([["next", instant], ["last", instant]]), MAX_WAITING))],
  ["fence", count],
  ["firings", count],
  ["runCount", count],
  ["faultCount", count],
  ["consecutiveFaults", count],
  ["missedCount", count],
  ["overlapCount", count],
  [
    "lastFault",
    optional(shaped([["name", text], ["message", text], ["stack", maybeText], ["cause", maybeText], ["at", moment]])),
  ],
  ["lastRun", optional(moment)],
  ["lastDurationMs", optional(sum)],
  ["settledCount", count],
  ["durationSum", sum],
  ["sketch", optional(text)],
  ["pausedAt", optional(moment)],
  ["stopping", optional(oneOf(true))],
  ["retired", optional(shaped([["at", instant], ["reason", text]]))],
  ["history", check(`the text of at most ${MAX_HISTORY} runs`, (v) => isHistory(v, MAX_HISTORY))],
  ["decisions", listOf(check("an entry of five values", isDecision), MAX_DECISIONS)],
];
const REST: Shape = [["id", label], ["progress", shaped(PROGRESS)], ["parked", optional(text)]];
const DOCUMENT: Shape = [["definition", shaped(DEFINITION)], ...REST];

/**
 * Checks a document that was read back from a store, so that a damaged or hand-edited one is parked instead of being
 * acted upon: every field that the scheduler computes with has its type and lies in its range. Fields it does not know
 * are left alone; `input`, `state` and `options` are the business of their owners. Cheap: a few microseconds.
 *
 * @param known A definition that was checked before; it is not looked at again where the document has that very one.
 * @throws {SchedulerError} `invalid_option`, naming the field, what it holds and what was expected.
 */
export function checkDocument(value: unknown, known?: ScheduleDefinition): ScheduleDocument {
  const isKnown = known !== undefined && isObject(value) && value["definition"] === known;
  if (isObject(value) && fitsShape(isKnown ? REST : DOCUMENT, value)) return value as unknown as ScheduleDocument;
  throw (isObject(value) ? blameShape(DOCUMENT, value, "") : undefined) ?? wrong("document", value, "an object");
}

type Fields = Readonly<Record<string, unknown>>;

function fitsShape(shape: Shape, value: Fields): boolean {
  for (const [key, check] of shape) if (!check.fits(value[key])) return false;
  return true;
}

function blameShape(shape: Shape, value: Fields, path: string): SchedulerError | undefined {
  for (const [key, check] of shape) {
    if (!check.fits(value[key])) {
      return check.blame?.(value[key], path + key) ?? wrong(path + key, value[key], check.expected);
    }
  }
  return undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDecision(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [what, at, count, point, detail] = value;
  return text.fits(what) && moment.fits(at) && positive.fits(count) && (point === null || maybeMoment.fits(point)) &&
    maybeText.fits(detail);
}

function check(expected: string, fits: Check["fits"]): Check {
  return { expected, fits };
}

function optional(check: Check): Check {
  return { ...check, fits: (value) => value === undefined || check.fits(value) };
}

function orNull(check: Check): Check {
  return { ...check, expected: `${check.expected} or null`, fits: (value) => value === null || check.fits(value) };
}

function oneOf(...values: readonly unknown[]): Check {
  return { expected: values.map(show).join(" or "), fits: (value) => values.includes(value) };
}

function shaped(shape: Shape): Check {
  return {
    expected: "an object",
    fits: (value) => isObject(value) && fitsShape(shape, value),
    blame: (value, path) => isObject(value) ? blameShape(shape, value, `${path}.`) : undefined,
  };
}

function listOf(element: Check, limit: number): Check {
  return {
    expected: `a list of at most ${limit}`,
    fits: (value) => Array.isArray(value) && value.length <= limit && value.every(element.fits),
    blame: (value, path) => {
      if (!Array.isArray(value) || value.length > limit) return undefined;
      const i = value.findIndex((item) => !element.fits(item));
      return element.blame?.(value[i], `${path}[${i}]`) ?? wrong(`${path}[${i}]`, value[i], element.expected);
    },
  };
}

function wrong(path: string, given: unknown, expected: string): SchedulerError {
  return new SchedulerError("invalid_option", `${path}: ${show(given)}; expected ${expected}`, {
    details: { path, given: show(given) },
  });
}
