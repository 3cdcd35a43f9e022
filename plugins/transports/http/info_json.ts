import type { Json, ScheduleInfo, Wire } from "../../../src/contract/mod.ts";

type Info = Wire<ScheduleInfo>;

const INSTANTS = ["at", "anchor", "startAt", "endAt"];

/**
 * What is answered of a schedule: instants inside of it are text as well, and a fault's stack stays here. Whether it was
 * made is for the status to tell.
 */
export function infoToJson(info: Info & { readonly created?: boolean }): Json {
  const { spec, lastFault } = info;
  // One copy of the whole, in which JSON leaves out what is `undefined`: taking members out of so many costs more.
  return {
    ...info,
    created: undefined,
    spec: mapInstants(spec, (ms) => new Date(ms as number).toISOString()),
    lastFault: lastFault === undefined ? undefined : faultToJson(lastFault),
  } as unknown as Json;
}

/** The reverse, at the client. */
export function infoFromJson(json: unknown): Info {
  const { spec, lastFault, ...rest } = json as Info;
  const fault = lastFault === undefined ? {} : { lastFault: { ...lastFault, at: Date.parse(String(lastFault.at)) } };
  return { ...rest, spec: mapInstants(spec, (text) => Date.parse(text as string)), ...fault } as Info;
}

function faultToJson({ name, message, cause, at }: NonNullable<Info["lastFault"]>): Json {
  return { name, message, ...(cause === undefined ? {} : { cause }), at: new Date(at).toISOString() };
}

function mapInstants(spec: object, map: (instant: unknown) => unknown): object {
  return Object.fromEntries(
    Object.entries(spec).map(([key, value]) => [key, INSTANTS.includes(key) ? map(value) : value]),
  );
}
