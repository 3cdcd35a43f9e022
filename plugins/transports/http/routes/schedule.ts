import { z } from "@hono/zod-openapi";
import { isSchedulerError, SchedulerError } from "../../../../src/contract/mod.ts";
import type { HttpContext } from "../context.ts";
import { readIfMatch } from "../etag.ts";
import { infoToJson } from "../info_json.ts";
import { addOperation, type OpenApp, type OperationRequest } from "../operation.ts";
import { respondInfo } from "../respond.ts";
import * as answer from "../schemas/answers.ts";
import { queryBoolean } from "../schemas/leaves.ts";
import { answers, byId, ifMatch, tagged } from "../schemas/parts.ts";
import { updateRequest } from "../schemas/requests.ts";

const tag = "schedules";
const path = "/v1/schedules/{id}";

/** What concerns one schedule. */
export function addSingleRoutes(app: OpenApp, context: HttpContext): void {
  addReading(app, context);
  addUpdate(app, context);
  addStop(app, context);
  for (const [name, summary] of Object.entries(EVENTS)) {
    addEvent(app, context, name as keyof typeof EVENTS, summary);
  }
}

function addReading(app: OpenApp, context: HttpContext): void {
  const common = { method: "get", tag, changes: false, params: byId } as const;
  addOperation(app, context, {
    ...common,
    id: "getSchedule",
    path,
    summary: "Everything about one schedule",
    responses: answers(200, answer.info, "The schedule.", tagged),
    async handle({ params: { id }, call }) {
      return respondInfo(await call("info", { id }));
    },
  });
  addOperation(app, context, {
    ...common,
    id: "explainSchedule",
    path: `${path}/explain`,
    summary: "Why it fires or does not",
    responses: answers(200, answer.explanation, "As data, and in words."),
    async handle({ c, params: { id }, call }) {
      return c.json(await call("explain", { id }) as object);
    },
  });
  addOperation(app, context, {
    ...common,
    id: "listScheduleRuns",
    path: `${path}/runs`,
    summary: "Its latest runs",
    responses: answers(200, answer.runs, "The newest first."),
    async handle({ c, params: { id }, call }) {
      return c.json({ runs: await call("runs", { id }) });
    },
  });
  addOperation(app, context, {
    ...common,
    id: "validateSchedule",
    path: `${path}/valid`,
    summary: "Whether the id names a live schedule, of any owner",
    responses: answers(200, z.object({ valid: z.boolean() }), "Whether it does."),
    async handle({ c, params: { id }, call }) {
      return c.json({ valid: await call("valid", { id }) });
    },
  });
}

function addUpdate(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "updateSchedule",
    method: "patch",
    path,
    tag,
    summary: "Changes a live schedule, keeping id and counters",
    changes: true,
    params: byId,
    headers: ifMatch,
    body: updateRequest,
    example: { every: "2h" },
    responses: answers(200, answer.info, "The schedule as it is now.", tagged),
    async handle(request) {
      const { params, body, call } = request;
      const id = params.id!;
      return respondInfo(await call("update", { id, to: body, ...await readIfMatch(request, id) }));
    },
  });
}

function addStop(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "stopSchedule",
    method: "delete",
    path,
    tag,
    summary: "Ends a live schedule and removes it",
    description: "404: there is no live schedule of this id; of one that has retired, the record is removed. " +
      "409: it is a one-shot whose run has started.",
    changes: true,
    params: byId,
    query: z.looseObject({
      abortRunning: queryBoolean.optional().openapi({ description: "Abort runs in progress. Default `false`." }),
    }),
    headers: ifMatch,
    responses: { 204: { description: "It was stopped." } },
    async handle(request) {
      const { c, params, query, call } = request;
      const id = params.id!;
      if (await call("stop", { ...query, id, ...await readIfMatch(request, id) })) return c.body(null, 204);
      await call("info", { id });
      throw new SchedulerError("conflict", `schedule ${id}: its only run has started, which is past stopping`, {
        details: { id },
      });
    },
  });
}

const EVENTS = {
  pause: "Holds deadlines",
  resume: "Goes on after a pause, in phase",
  trigger: "Asks for one run now, beside the cadence",
} as const;

/** One that has ended meanwhile has no tag. */
const maybeTagged = z.object(tagged).partial().shape;

function addEvent(app: OpenApp, context: HttpContext, name: keyof typeof EVENTS, summary: string): void {
  addOperation(app, context, {
    id: `${name}Schedule`,
    method: "post",
    path: `${path}/${name}`,
    tag,
    summary,
    changes: true,
    ...(name === "trigger" ? { accumulates: true as const } : {}),
    params: byId,
    headers: ifMatch,
    responses: answers(200, answer.outcome, "Whether it did anything, and the schedule as it is now.", maybeTagged),
    handle: (request) => makeEvent(request, name),
  });
}

async function makeEvent(request: OperationRequest, name: keyof typeof EVENTS): Promise<Response> {
  const { c, params, call } = request;
  const id = params.id!;
  const done = await call(name, { id, ...await readIfMatch(request, id) });
  try {
    const info = await call("info", { id });
    return respondInfo(info, { body: { done, schedule: infoToJson(info) } });
  } catch (error) {
    // It may have ended meanwhile: what was done is told all the same.
    if (done && isSchedulerError(error, "not_found")) return c.json({ done });
    throw error;
  }
}
