import { cronCadence } from "../calendar/mod.ts";
import {
  type Duration,
  type Instant,
  invalidOption,
  MAX_DEADLINE,
  parseDuration,
  parseInstant,
  SchedulerError,
  show,
  type SpecBounds,
  type StoredSpec,
} from "../contract/mod.ts";
import type { ClientHost } from "./host.ts";
import { type CoreValues, wholeDuration } from "./options.ts";

/** When a schedule fires, as the caller said it and before it is checked. */
export type GivenTiming =
  | { readonly kind: "at"; readonly by: "at"; readonly value: Instant }
  | { readonly kind: "at"; readonly by: "after"; readonly value: Duration }
  | { readonly kind: "every"; readonly by: "every"; readonly value: Duration }
  | { readonly kind: "cron"; readonly by: "cron"; readonly value: string };

/** The keys of a flat request that say when it fires. */
export const TIMING_KEYS = ["at", "after", "every", "cron"] as const;

/** Takes the timing out of a flat request, if there is one. */
export function timingIn(request: Readonly<Record<string, unknown>>, prefix: string): GivenTiming | undefined {
  const given = TIMING_KEYS.filter((key) => request[key] !== undefined);
  const by = given[0];
  if (by === undefined) return undefined;
  if (given.length > 1) {
    throw new SchedulerError(
      "invalid_option",
      `${prefix}${by}: given together with ${given.slice(1).join(", ")}; expected one of them`,
      {
        details: { where: `${prefix}${by}`, given },
      },
    );
  }
  const kind = by === "after" ? "at" : by;
  return { kind, by, value: request[by] } as GivenTiming;
}

/** What a spec is made of. */
export interface SpecRequest {
  /** Absent in an update that leaves the time as it is. */
  readonly timing: GivenTiming | undefined;
  readonly core: Readonly<CoreValues>;
  /** The path of the object that holds the timing, ending in a dot; empty for a call's own. */
  readonly prefix: string;
}

/**
 * The stored spec of a creation, or of an update of `before`: what is not given stays.
 *
 * @param now The instant that delays and intervals are counted from.
 * @throws {SchedulerError} `invalid_time`, `invalid_duration`, `invalid_cron`, `deadline_out_of_range`, `invalid_option`.
 */
export function specOf(host: ClientHost, request: SpecRequest, now: number, before?: StoredSpec): StoredSpec {
  switch (request.timing?.kind ?? before?.kind) {
    case "every":
      return everySpec(host, request, now, before);
    case "cron":
      return cronSpec(host, request, before);
    default:
      return request.timing === undefined ? before! : { kind: "at", at: deadlineOf(request, now) };
  }
}

function deadlineOf({ timing, prefix }: SpecRequest, now: number): number {
  const { by, value } = timing as Extract<GivenTiming, { kind: "at" }>;
  if (by === "at") return parseInstant(value, `${prefix}at`);
  const at = now + wholeDuration(value, `${prefix}after`);
  if (at <= MAX_DEADLINE) return at;
  throw new SchedulerError(
    "deadline_out_of_range",
    `${prefix}after: ${show(value)} from now is after 9999-12-31T23:59:59.999Z, the latest deadline`,
    { details: { where: `${prefix}after`, given: show(value) } },
  );
}

/** An interval that comes to replace the very same one is given back its phase: see `replace`. */
function everySpec(host: ClientHost, request: SpecRequest, now: number, before?: StoredSpec): StoredSpec {
  const old = before?.kind === "every" ? before : undefined;
  const { timing, prefix } = request;
  const { every, clamped } = timing === undefined
    ? old!
    : interval(timing.value as Duration, host.env.tickMs, `${prefix}every`);
  const bounds = boundsOf(request, before);
  return { kind: "every", every, anchor: bounds.startAt ?? now, ...(clamped === true ? { clamped } : {}), ...bounds };
}

/** An interval in whole milliseconds, at least one tick (T5). */
function interval(value: Duration, tickMs: number, where: string): { readonly every: number; readonly clamped?: true } {
  const ms = parseDuration(value, where);
  if (ms === 0) {
    throw new SchedulerError("invalid_duration", `${where}: ${show(value)} is no interval; expected more than 0`, {
      details: { where, given: show(value) },
    });
  }
  return ms < tickMs ? { every: tickMs, clamped: true } : { every: Math.round(ms) };
}

function cronSpec(host: ClientHost, request: SpecRequest, before?: StoredSpec): StoredSpec {
  const old = before?.kind === "cron" ? before : undefined;
  const { timing, core, prefix } = request;
  const cron: unknown = timing === undefined ? old!.cron : timing.value;
  if (typeof cron !== "string") {
    throw new SchedulerError(
      "invalid_cron",
      `${prefix}cron: ${show(cron)} is no cron expression; expected text such as "0 2 * * *"`,
      {
        details: { where: `${prefix}cron`, given: show(cron) },
      },
    );
  }
  const timezone = core.timezone ?? old?.timezone ?? host.defaults.timezone ?? "UTC";
  const dst = core.dst ?? old?.dst ?? {};
  // Found again where the schedule is armed; read here, where the place that it was given in is known.
  if (timing !== undefined) cronCadence(cron, { timezone, dst, seed: core.name ?? "", where: `${prefix}cron` });
  return {
    kind: "cron",
    cron,
    timezone,
    ...(Object.keys(dst).length === 0 ? {} : { dst }),
    ...boundsOf(request, before),
  };
}

/** The bounds of a recurring spec (T9). */
function boundsOf(
  { core, prefix }: SpecRequest,
  before: StoredSpec | undefined,
): SpecBounds {
  const old: SpecBounds = before === undefined || before.kind === "at" ? {} : before;
  const startAt = core.startAt ?? old.startAt;
  const endAt = core.endAt ?? old.endAt;
  const maxRuns = core.maxRuns ?? old.maxRuns;
  if (startAt !== undefined && endAt !== undefined && endAt < startAt) {
    throw invalidOption(
      `${prefix}endAt`,
      new Date(endAt),
      `an instant from startAt, ${new Date(startAt).toISOString()}, on`,
    );
  }
  return {
    ...(startAt === undefined ? {} : { startAt }),
    ...(endAt === undefined ? {} : { endAt }),
    ...(maxRuns === undefined ? {} : { maxRuns }),
  };
}
