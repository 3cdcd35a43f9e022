import { type ApiCallName, isPlainObject, type Json } from "../../../../src/contract/mod.ts";
import type { Reply } from "./exchange.ts";

type Shape = (value: unknown) => boolean;
type Parameters = { readonly [key: string]: Json };

const text: Shape = (value) => typeof value === "string";
const number: Shape = (value) => typeof value === "number";
const truth: Shape = (value) => typeof value === "boolean";
const instant: Shape = (value) => typeof value === "string" && !Number.isNaN(Date.parse(value));

function listOf(member: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(member);
}

function objectOf(members: Readonly<Record<string, Shape>>): Shape {
  const shapes = Object.entries(members);
  return (value) => isPlainObject(value) && shapes.every(([key, fits]) => fits(value[key]));
}

function optional(shape: Shape): Shape {
  return (value) => value === undefined || shape(value);
}

const nextRun: Shape = (value) => value === null || instant(value);
const brief = { id: text, name: optional(text), kind: text, task: text, nextRun };
const schedule = objectOf(brief);
const run = objectOf({ id: text, scheduleId: text, outcome: text });
const decision = objectOf({ what: text });
// Of a damaged record a scheduler tells what is left: no more is asked for than is read.
const info = objectOf({
  ...brief,
  revision: text,
  owner: text,
  spec: objectOf({ kind: text }),
  lastFault: optional(isPlainObject),
  running: listOf(run),
  decisions: listOf(decision),
});
const wait: Shape = (value) =>
  isPlainObject(value) && text(value.for) && text(value.text) && (value.for !== "run" || run(value.run));
const explanation = objectOf({
  id: text,
  at: instant,
  waits: listOf(wait),
  decisions: listOf(decision),
  lastRun: optional(run),
  text,
});

type Fits = (reply: Reply, parameters: Parameters) => boolean;

function json(shape: Shape): Fits {
  return ({ json }) => shape(json);
}

/** A list with an answer for each thing that was asked for. */
function oneForEach(member: Shape, asked: string, listIn: (json: unknown) => unknown = (json) => json): Fits {
  const isList = listOf(member);
  return ({ json }, { [asked]: things }) => {
    const list = listIn(json);
    return isList(list) && (list as readonly unknown[]).length === (things as readonly Json[]).length;
  };
}

const nothing: Fits = ({ status }) => status === 204;
const event = json(objectOf({ done: truth }));
const runs = json(objectOf({ runs: listOf(run) }));

/** Whether an answer is one that a scheduler gives to the call, as far as the client reads it. */
export const ANSWERS: Readonly<Record<ApiCallName, Fits>> = {
  create: json(info),
  createMany: oneForEach(schedule, "schedules"),
  sync: oneForEach(schedule, "schedules", (json) => isPlainObject(json) ? json.schedules : undefined),
  transaction: oneForEach((value) => truth(value) || schedule(value), "steps"),
  update: json(info),
  stop: nothing,
  pause: event,
  resume: event,
  trigger: event,
  abortRun: nothing,
  stopFor: json(objectOf({ stopped: number })),
  invoke: json((value) => isPlainObject(value) && Object.keys(value).every((key) => key === "output")),
  valid: json(objectOf({ valid: truth })),
  info: json(info),
  explain: json(explanation),
  runs,
  running: runs,
  list: json(objectOf({ schedules: listOf(schedule), cursor: optional(text) })),
  listFor: json(objectOf({ schedules: listOf(schedule) })),
  tasks: json(objectOf({ tasks: listOf(objectOf({ name: text })) })),
  nextRuns: json(objectOf({ nextRuns: listOf(instant) })),
};
