import { invalidOption, isPlainObject, nearestName, SchedulerError, unknownOption } from "../contract/mod.ts";
import type { CreationRequest } from "./create.ts";
import { isCoreOption } from "./options.ts";
import { TIMING_KEYS, timingIn } from "./timing.ts";

const BESIDES: readonly string[] = ["task", "input", "kind", ...TIMING_KEYS];

/** Whether a key means something to the core wherever options stand, so that no plugin may own it. */
export function isReservedKey(key: string): boolean {
  return isCoreOption(key) || BESIDES.includes(key);
}

/**
 * Reads one schedule given as one flat object (see `ScheduleRequest`).
 *
 * @param where Names the place in an error's message, such as `"createMany[3]"`; empty for a call's only request.
 * @throws {SchedulerError} `invalid_option` when it is no object, or says not exactly once when it fires; `unknown_option`
 *   when it says so by a key that was mistyped.
 */
export function flatRequest(request: unknown, where: string): CreationRequest {
  const place = where === "" ? "schedule" : where;
  if (!isPlainObject(request)) throw invalidOption(place, request, "an object of task, input, when and options");
  const prefix = where === "" ? "" : `${where}.`;
  const timing = timingIn(request, prefix);
  if (timing === undefined) throw timeless(request, place, prefix);
  if (request.kind !== undefined && request.kind !== timing.kind) {
    throw invalidOption(`${prefix}kind`, request.kind, `${JSON.stringify(timing.kind)}, as ${timing.by} says, or none`);
  }
  return { task: request.task, timing, input: request.input, options: request, prefix, besides: BESIDES };
}

/** The error for a request that does not say when it fires, or says so by a key that was mistyped. */
function timeless(request: Readonly<Record<string, unknown>>, place: string, prefix: string): SchedulerError {
  const mistyped = Object.keys(request).find((key) =>
    !isReservedKey(key) && nearestName(key, TIMING_KEYS) !== undefined
  );
  if (mistyped !== undefined) return unknownOption(mistyped, TIMING_KEYS, prefix);
  return new SchedulerError(
    "invalid_option",
    `${place}: it does not say when; expected one of ${TIMING_KEYS.join(", ")}`,
    { details: { where: place } },
  );
}

/** Reads an array of requests. */
export function requestArray(requests: unknown, where: string, most: number): readonly unknown[] {
  if (Array.isArray(requests) && requests.length <= most) return requests;
  throw invalidOption(where, requests, `an array of at most ${most} schedules`);
}
