import { optionToWire, valueToWire } from "./api_json.ts";
import { SchedulerError } from "./errors.ts";
import type { Json } from "./json.ts";
import { invalidOption, isPlainObject } from "./option_errors.ts";

/** A call's parameters, or an object in them. */
export type Parameters = { readonly [key: string]: Json };

/** What stands before the options of a call, and is none of them. */
export const NO_OPTIONS: readonly string[] = ["task", "input", "at", "after", "every", "cron"];

/** The error for a key that would be taken for one of the call's own parameters. */
export function noOption(key: string, prefix: string): SchedulerError {
  return new SchedulerError("unknown_option", `${prefix}${key}: unknown option; it is none, and stands before them`, {
    details: { where: `${prefix}${key}`, key },
  });
}

/** An argument that is `undefined` was given all the same, so that the other end refuses it as itself. */
export function given(request: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(request).map(([key, value]) => [key, value ?? null]));
}

/** A single argument, whatever it is. */
export function argument(value: unknown, where: string): Json {
  return optionToWire(value, where) ?? null;
}

/** The members of an object of options, beside which the call's own parameters stand. */
export function readOptions(options: unknown, where: string, own: readonly string[]): Parameters {
  if (options === undefined) return {};
  if (!isPlainObject(options)) throw invalidOption(where, options, "an object of options");
  for (const key of Object.keys(options)) if (own.includes(key)) throw noOption(key, `${where}.`);
  return optionToWire(options, where) as Parameters;
}

/** An array of flat objects. */
export function requestsToWire(requests: unknown, where: string): Json[] {
  if (!Array.isArray(requests)) throw invalidOption(where, requests, "an array of schedules");
  return requests.map((request, i) => requestToWire(request, `${where}[${i}].`, `${where}[${i}]`));
}

/** A flat object of task, timing, input and options. */
export function requestToWire(request: unknown, prefix: string, where: string): Parameters {
  if (!isPlainObject(request)) throw invalidOption(where, request, "an object");
  const wire: Record<string, Json> = {};
  for (const [key, value] of Object.entries(request)) {
    const json = memberToWire(key, value, prefix);
    if (json !== undefined) Object.defineProperty(wire, key, { value: json, enumerable: true });
  }
  return wire;
}

function memberToWire(key: string, value: unknown, prefix: string): Json | undefined {
  if (key === "task") return taskToWire(value);
  if (key === "input" || key === "state") return valueToWire(value, key, `${prefix}${key}`);
  return optionToWire(value, `${prefix}${key}`);
}

/** A task by its name. */
export function taskToWire(task: unknown): Json {
  const name = typeof task === "object" && task !== null ? (task as { readonly name?: unknown }).name : task;
  return typeof name === "string" ? name : null;
}

/** One step of a transaction. */
export function stepToWire(step: unknown, where: string): Json {
  if (!isPlainObject(step)) throw invalidOption(where, step, "an object of what to do");
  const { create, to, ...rest } = step;
  return {
    ...optionToWire(rest, where) as Parameters,
    ...(create === undefined ? {} : { create: requestToWire(create, `${where}.`, where) }),
    ...(to === undefined ? {} : { to: requestToWire(to, `${where}.`, where) }),
  };
}
