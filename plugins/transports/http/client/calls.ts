import {
  type ApiCallName,
  type ApiCalls,
  invalidOption,
  type Json,
  MAX_IDEMPOTENT_CREATIONS,
  unknownOption,
} from "../../../../src/contract/mod.ts";
import { infoFromJson } from "../info_json.ts";
import { newToken } from "../token.ts";
import { ANSWERS } from "./answers.ts";
import type { Exchange, Reply } from "./exchange.ts";
import { queryOf } from "./query.ts";

type Parameters = { readonly [key: string]: Json };

/** What is asked for; whether it is what was answered, `ANSWERS` says. */
type Request = Omit<Exchange, "fits">;

/** How a call travels. */
interface Carrier<Answer> {
  request(parameters: Parameters): Request;
  read(reply: Reply): Answer;
}

/** How each call travels. */
export const CARRIERS: { readonly [Name in ApiCallName]: Carrier<ApiCalls[Name]["answer"]> } = {
  create: {
    request: ({ schedule }) => creation(schedule),
    read: ({ status, json }) => ({ ...infoFromJson(json), created: status === 201 }),
  },
  createMany: { request: ({ schedules }) => creation(schedules), read: ({ json }) => json as never },
  sync: { request: (parameters) => post("/v1/sync", parameters, true), read: member("schedules") },
  transaction: { request: ({ steps }) => post("/v1/transactions", steps), read: ({ json }) => json as never },
  update: {
    request: ({ id, to, ...options }) => ({
      method: "PATCH",
      path: pathOf(id),
      body: to,
      repeatable: true,
      ...change(options, "update"),
    }),
    read: ({ json }) => infoFromJson(json),
  },
  stop: {
    request: ({ id, ifRevision, ...query }) => ({
      method: "DELETE",
      path: pathOf(id) + queryOf(query, "stop."),
      repeatable: true,
      ...ifMatch(ifRevision, "stop"),
    }),
    read: () => true,
  },
  pause: event("pause", true),
  resume: event("resume", true),
  trigger: event("trigger", false),
  abortRun: {
    request: ({ runId }) => post(`/v1/runs/${segment(runId, "runId", "a run's id, as text")}/abort`, undefined, true),
    read: () => true,
  },
  stopFor: {
    request: (query) => ({ method: "DELETE", path: `/v1/schedules/for-target${queryOf(query)}`, repeatable: true }),
    read: member("stopped"),
  },
  invoke: {
    request: (parameters) => ({ ...post("/v1/invoke", parameters), unhurried: true }),
    read: ({ json }) => (json as { readonly output?: Json }).output,
  },
  valid: { request: ({ id }) => get(`${pathOf(id)}/valid`), read: member("valid") },
  info: { request: ({ id }) => get(pathOf(id)), read: ({ json }) => infoFromJson(json) },
  explain: { request: ({ id }) => get(`${pathOf(id)}/explain`), read: ({ json }) => json as never },
  runs: { request: ({ id }) => get(`${pathOf(id)}/runs`), read: member("runs") },
  running: { request: () => get("/v1/runs"), read: member("runs") },
  list: { request: (query) => get(`/v1/schedules${queryOf(query, "list.")}`), read: ({ json }) => json as never },
  listFor: { request: (query) => get(`/v1/schedules/for-target${queryOf(query)}`), read: member("schedules") },
  tasks: { request: () => get("/v1/tasks"), read: member("tasks") },
  nextRuns: { request: (parameters) => post("/v1/next-runs", parameters, true), read: member("nextRuns") },
};

/** A call as a request. */
export function callRequest(name: ApiCallName, parameters: Parameters): Exchange {
  return { ...CARRIERS[name].request(parameters), fits: (reply) => ANSWERS[name](reply, parameters) };
}

/** The part of an answer that a call is about. */
function member<Answer>(name: string): (reply: Reply) => Answer {
  return ({ json }) => (json as Readonly<Record<string, unknown>>)[name] as Answer;
}

function get(path: string): Request {
  return { method: "GET", path, repeatable: true };
}

function post(path: string, body: unknown, repeatable = false): Request {
  return { method: "POST", path, repeatable, ...(body === undefined ? {} : { body }) };
}

/** With a key, a creation may be made again: the server makes it once. It remembers only so many at a time. */
function creation(body: unknown): Request {
  if (Array.isArray(body) && body.length > MAX_IDEMPOTENT_CREATIONS) return post("/v1/schedules", body);
  return { ...post("/v1/schedules", body, true), headers: { "idempotency-key": newToken() } };
}

function event(name: "pause" | "resume" | "trigger", repeatable: boolean): Carrier<boolean> {
  return {
    request: ({ id, ...options }) => ({
      ...post(`${pathOf(id)}/${name}`, undefined, repeatable),
      ...change(options, name),
    }),
    read: member("done"),
  };
}

/** An option that travels in no header is refused here, as it would be there. */
function change({ ifRevision, ...others }: Parameters, where: string): Partial<Request> {
  for (const key of Object.keys(others)) throw unknownOption(key, ["ifRevision"], `${where}.`);
  return ifMatch(ifRevision, where);
}

function ifMatch(ifRevision: Json | undefined, where: string): Partial<Request> {
  if (ifRevision === undefined) return {};
  if (typeof ifRevision === "string" && /^[\x21\x23-\x7e]{1,100}$/.test(ifRevision)) {
    // Made again, it would be refused for what it has done itself.
    return { headers: { "if-match": `"${ifRevision}"` }, repeatable: false };
  }
  throw invalidOption(`${where}.ifRevision`, ifRevision, "the revision that info told, as text");
}

function pathOf(id: Json | undefined): string {
  return `/v1/schedules/${segment(id, "id", "a schedule's id, as text")}`;
}

/** What a URL would swallow, and is no id anyway, is asked for as one that is none. */
function segment(value: Json | undefined, where: string, expected: string): string {
  if (typeof value !== "string") throw invalidOption(where, value, expected);
  return /^\.{0,2}$/.test(value) ? "-" : encodeURIComponent(value.toWellFormed());
}
