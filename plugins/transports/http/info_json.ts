import type { Json, ScheduleInfo, Wire } from "../../../src/contract/mod.ts";

type Info = Wire<ScheduleInfo>;

const INSTANTS = ["at", "anchor", "startAt", "endAt"];

/**
 * What is answered of a schedule: instants inside of it are text as well, and a fault's stack stays here. Whether it was
 * made is for the status to tell.
 */
export function infoToJson(info: Info & { readonly created?: boolean }): Json {
  // JSON leaves out what is `undefined`: taking a few members out of so many costs more than one copy of all.
  return {
    ...info,
    created: undefined,
    spec: mapInstants(info.spec, (ms) => new Date(ms as number).toISOString()),
    lastFault: info.lastFault === undefined ? undefined : faultToJson(info.lastFault),
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
  const mapped: Record<string, unknown> = { ...spec };
  for (const key of INSTANTS) if (mapped[key] !== undefined) mapped[key] = map(mapped[key]);
  return mapped;
}
