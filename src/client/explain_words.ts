import {
  type DecisionInfo,
  DEFAULT_CATCHUP_LIMIT,
  DEFAULT_QUEUE_LIMIT,
  isPlainObject,
  type Json,
  type JsonObject,
  MAX_CONCURRENT_RUNS,
  show,
  type StoredSpec,
} from "../contract/mod.ts";
import { RETIMED } from "../machine/mod.ts";

/** An instant as text; `"?"` where there is none. */
export function iso(instant: number | Date | undefined): string {
  return instant === undefined ? "?" : new Date(instant).toISOString();
}

/** Such as `"attempt 2 of 4"`. Runs that were lost count as attempts and are no retries, so that there may be more of them. */
export function attemptWords(attempt: number, options: JsonObject): string {
  const retries = parameter(options["retry"], "limit") ?? 0;
  return retries === 0 || attempt > retries + 1 ? `attempt ${attempt}` : `attempt ${attempt} of ${retries + 1}`;
}

const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1_000], ["ms", 1]] as const;

/** When a schedule fires, by its definition: such as `cron "0 9 * * *" in Europe/Berlin, maxRuns 3`. */
export function specWords(spec: StoredSpec): string {
  if (spec.kind === "at") return `at ${iso(spec.at)}`;
  const cadence = spec.kind === "every"
    ? `every ${durationWords(spec.every, UNITS.length)}`
    : `cron ${show(spec.cron)} in ${spec.timezone}`;
  const { gap, fold } = spec.kind === "cron" && spec.dst !== undefined ? spec.dst : {};
  const { startAt, endAt, maxRuns } = spec;
  return [
    cadence,
    ...(gap === undefined ? [] : [`dst.gap ${show(gap)}`]),
    ...(fold === undefined ? [] : [`dst.fold ${show(fold)}`]),
    ...(startAt === undefined ? [] : [`startAt ${iso(startAt)}`]),
    ...(endAt === undefined ? [] : [`endAt ${iso(endAt)}`]),
    ...(maxRuns === undefined ? [] : [`maxRuns ${maxRuns}`]),
  ].join(", ");
}

/** Such as `"3 h 55 min"`: the largest units, as many as `most`, the rest left out. */
export function durationWords(ms: number, most = 2): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first === -1) return "0 ms";
  let rest = Math.round(ms);
  const words: string[] = [];
  for (const [unit, size] of UNITS.slice(first, first + most)) {
    const count = Math.floor(rest / size);
    if (count > 0) words.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return words.join(" ");
}

/**
 * A decision in words.
 *
 * @param options Those in force now; a decision does not keep those that it was made under.
 */
export function decisionWords(decision: DecisionInfo, options: JsonObject): string {
  const { what, at, count, point, detail = "" } = decision;
  const one = detail === "triggered" ? "trigger" : "point";
  const points = count === 1 ? `the ${one} ${iso(point)}` : `${count} ${one}s, the latest ${iso(point)}`;
  const them = count === 1 ? "it" : "them";
  const times = count === 1 ? "" : ` ${count} times, the latest`;
  switch (what) {
    case "ran":
      return `started${times} for the point ${iso(point)}`;
    case "late":
      return `started late${times} for the point ${iso(point)}, ${lateWords(at.getTime() - point!.getTime())}`;
    case "missed":
      return `missed ${points}: ${detail === RETIMED ? RETIMED_WORDS : missedWords(options["catchup"], them)}`;
    case "overlapped":
      return `dropped ${points}: ${detail === RETIMED ? RETIMED_WORDS : overlapWords(options["overlap"])}`;
    case "queued":
      return `queued ${points}, behind a run in progress`;
    case "replaced":
      return `aborted the run for ${points}, to make way for a newer one`;
    case "skipped":
      return `skipped ${points}: ${detail}`;
    case "triggered":
      return `started${times} because it was triggered`;
    case "retry":
      return `tried again${times} for the point ${iso(point)}`;
    case "lost":
      return `lost a run with its instance${times} for the point ${iso(point)}`;
    case "released":
      return `gave back a run${times} for the point ${iso(point)}: its instance closed before the run had ended`;
    case "again":
      return `was asked by its handler to run again at ${iso(point)}`;
    case "unknown_policy":
      return `waited for an instance with a plugin that owns the option ${show(detail)}`;
    case "retired":
      return `retired: ${detail}`;
    default:
      return `was ${what}${count === 1 ? "" : ` ${count} times`}`;
  }
}

/** Why points that were owed do not run: an update has changed when the schedule fires (L5). */
const RETIMED_WORDS = "what was still owed when the schedule was given another time is not run";

/** A deadline that jitter has set before its point may be late and yet be served before the point. */
function lateWords(afterMs: number): string {
  if (afterMs >= 0) return `${durationWords(afterMs)} after it`;
  return `${durationWords(-afterMs)} before it: its deadline was earlier still`;
}

/** Why points are missed, as far as a schedule can know, and what its catchup policy makes of them. */
function missedWords(catchup: Json | undefined, them: string): string {
  return `no instance took ${them} in time (none running, asleep, no slot free, or the clock set ahead)${
    catchupWords(catchup, them)
  }`;
}

/** What the catchup policy makes of missed points: of it, or of them. */
function catchupWords(catchup: Json | undefined, them: string): string {
  switch (policyOf(catchup)) {
    case "once":
      return ', and catchup "once" has one run stand for all that was missed';
    case "skip":
      return `, and catchup "skip" drops ${them}`;
    case "all": {
      const window = parameter(catchup, "window");
      const old = window === undefined ? "" : `, none older than ${durationWords(window)}`;
      return `, and catchup "all" runs the newest ${parameter(catchup, "limit") ?? DEFAULT_CATCHUP_LIMIT} alone${old}`;
    }
    default:
      return "";
  }
}

/** Why the overlap policy drops a point. */
function overlapWords(overlap: Json | undefined): string {
  const limit = parameter(overlap, "limit");
  switch (policyOf(overlap)) {
    case "queue":
      return `a run was in progress, and the queue behind it was full (${limit ?? DEFAULT_QUEUE_LIMIT})`;
    case "concurrent":
      return `as many runs were in progress as its overlap allows (${limit ?? MAX_CONCURRENT_RUNS})`;
    case "replace":
      return "a newer one took its place before it could start";
    default:
      return "a run was in progress";
  }
}

/** The policy of an option that is stored as a word, or with parameters. */
function policyOf(option: Json | undefined): Json | undefined {
  return isPlainObject(option) ? option["policy"] as Json : option;
}

function parameter(option: Json | undefined, key: string): number | undefined {
  const value = isPlainObject(option) ? option[key] : undefined;
  return typeof value === "number" ? value : undefined;
}
