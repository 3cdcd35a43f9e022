import { nextPoints } from "../calendar/mod.ts";
import {
  type Instant,
  invalidOption,
  isPlainObject,
  MAX_NEXT_RUNS,
  parseInstant,
  plainOptions,
  SchedulerError,
  unknownOption,
  wholeNumber,
} from "../contract/mod.ts";
import { cadenceOf, neverComes } from "../machine/mod.ts";
import type { ClientHost } from "./host.ts";
import { parseOptions } from "./options.ts";
import { specOf, TIMING_KEYS, timingIn } from "./timing.ts";

const OPTIONS = ["name", "startAt", "endAt", "maxRuns", "timezone", "dst"] as const;
const KEYS: readonly string[] = [...TIMING_KEYS, ...OPTIONS];

/**
 * The next deadlines of a spec as a schedule made at `from` (now, unless given) would have them (K6).
 *
 * @throws {SchedulerError} as creation does.
 */
export function nextRuns(host: ClientHost, spec: unknown, count: unknown, options: unknown): Date[] {
  const most = wholeNumber(count, 0, MAX_NEXT_RUNS, "count");
  const { from: given } = options === undefined ? {} : plainOptions(options, ["from"], "nextRuns");
  const from = given === undefined ? host.now() : parseInstant(given as Instant, "nextRuns.from");
  if (!isPlainObject(spec)) throw invalidOption("spec", spec, `an object of ${KEYS.join(", ")}`);
  for (const key of Object.keys(spec)) if (!KEYS.includes(key)) throw unknownOption(key, KEYS, "");
  const timing = timingIn(spec, "");
  if (timing === undefined) {
    throw new SchedulerError(
      "invalid_option",
      `spec: it does not say when; expected one of ${TIMING_KEYS.join(", ")}`,
      {
        details: { where: "spec" },
      },
    );
  }
  const { core } = parseOptions(host, spec, { kind: timing.kind, prefix: "", besides: TIMING_KEYS });
  const made = specOf(host, { timing, core, prefix: "" }, from);
  // A deadline already past is due at once (T1).
  if (made.kind === "at") return most === 0 ? [] : [new Date(Math.max(made.at, from))];
  const cadence = cadenceOf(made, core.name)!;
  const isToCome = made.startAt !== undefined && made.startAt >= from;
  const limit = Math.min(most, made.maxRuns ?? most);
  const points = nextPoints(cadence, limit, isToCome ? made.startAt - 1 : from);
  const never = limit > 0 && points.length === 0 ? neverComes(made, from) : undefined;
  if (never !== undefined) throw never;
  return points.map((point) => new Date(point));
}
