import { z } from "@hono/zod-openapi";
import { invalidOption, plainOptions } from "../../../../src/contract/mod.ts";
import type { HttpContext } from "../context.ts";
import { readIdempotencyKey } from "../idempotency.ts";
import { addOperation, type OpenApp } from "../operation.ts";
import { noneOfName } from "../problem.ts";
import { respondCreated, respondInfo } from "../respond.ts";
import * as answer from "../schemas/answers.ts";
import { queryBoolean, queryInstant, queryNumber } from "../schemas/leaves.ts";
import { answers, idempotencyKey, placed, tagged } from "../schemas/parts.ts";
import { scheduleRequest } from "../schemas/requests.ts";

const tag = "schedules";

/** Creating and listing schedules. */
export function addScheduleRoutes(app: OpenApp, context: HttpContext): void {
  addCreate(app, context);
  addGetByName(app, context);
  addPutByName(app, context);
  addList(app, context);
  addForTarget(app, context);
}

const many = z.array(scheduleRequest);

/** A list has neither tag nor place. */
const maybePlaced = z.object(placed).partial().shape;

function addCreate(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "createSchedule",
    method: "post",
    path: "/v1/schedules",
    tag,
    summary: "Creates a schedule, or a list of them",
    description:
      "A list is created all or nothing, and answered as a list of schedules in short. 200 instead of 201: " +
      "nothing was made, a name or a key found a live schedule.",
    changes: true,
    headers: idempotencyKey,
    body: z.union([scheduleRequest, many]),
    example: { kind: "cron", task: "report", cron: "0 9 * * mon", timezone: "Europe/Berlin", input: { team: "sales" } },
    where: (body) => Array.isArray(body) ? "createMany" : "",
    responses: {
      ...answers(201, z.union([answer.info, z.array(answer.schedule)]), "What was made.", maybePlaced),
      ...answers(200, answer.info, "What the name or the key found.", placed),
    },
    async handle({ c, body, call }) {
      const key = readIdempotencyKey(c);
      if (Array.isArray(body)) return c.json(await call("createMany", { schedules: body, ...key }) as object, 201);
      return respondCreated(c, await call("create", { schedule: body, ...key }));
    },
  });
}

const byName = "/v1/schedules/by-name/{name}";

function addGetByName(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "getScheduleByName",
    method: "get",
    path: byName,
    tag,
    summary: "Everything about the caller's live schedule of that name",
    changes: false,
    params: z.object({ name: z.string() }),
    query: z.looseObject({
      owner: z.string().optional().openapi({ description: "Another than oneself: an admin only." }),
    }),
    responses: answers(200, answer.info, "The schedule.", tagged),
    async handle({ principal, params, query, call }) {
      const { owner = principal.id } = plainOptions(query, ["owner"], "by-name");
      const { schedules: [found] } = await call("list", { name: params.name, owner, limit: 1 });
      if (found === undefined) throw noneOfName(params.name!);
      return respondInfo(await call("info", { id: found.id }));
    },
  });
}

function addPutByName(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "putScheduleByName",
    method: "put",
    path: byName,
    tag,
    summary: "Makes a schedule of that name, or gives it a new definition",
    description: "Safe to repeat: with nothing changed, nothing changes.",
    changes: true,
    params: z.object({ name: z.string() }),
    body: scheduleRequest,
    example: { task: "report", every: "1h", input: { team: "sales" } },
    responses: {
      ...answers(201, answer.info, "It was made.", placed),
      ...answers(200, answer.info, "It was there.", placed),
    },
    async handle({ c, params: { name }, body, call }) {
      const given = (body as { readonly name?: unknown }).name;
      if (given !== undefined && given !== name) {
        throw invalidOption("name", given, `${JSON.stringify(name)}, the name in the path, or none`);
      }
      return respondCreated(c, await call("create", { schedule: { ...body as object, name } }));
    },
  });
}

function addList(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "listSchedules",
    method: "get",
    path: "/v1/schedules",
    tag,
    summary: "One page of live schedules",
    description: "An admin sees all, anybody else their own. All conditions must hold.",
    changes: false,
    query: z.looseObject({
      owner: z.string().optional().openapi({ description: "Another than oneself: an admin only." }),
      target: z.string().optional(),
      task: z.string().optional(),
      name: z.string().optional(),
      group: z.string().optional(),
      tag: z.string().optional(),
      dueBefore: queryInstant.optional().openapi({ description: "The next run lies before it." }),
      limit: queryNumber.optional().openapi({ description: "Schedules of a page, at most 1,000. Default 100." }),
      cursor: z.string().optional().openapi({ description: "Where the page before this one ended." }),
    }),
    responses: answers(200, answer.page, "In order of id."),
    async handle({ c, query, call }) {
      return c.json(await call("list", query) as object);
    },
  });
}

function addForTarget(app: OpenApp, context: HttpContext): void {
  const target = z.string().openapi({ description: "What the schedules are about.", example: "room:42" });
  const path = "/v1/schedules/for-target";
  addOperation(app, context, {
    id: "listSchedulesForTarget",
    method: "get",
    path,
    tag,
    summary: "The live schedules about a target, whoever owns them",
    changes: false,
    query: z.looseObject({ target }),
    responses: answers(200, answer.schedules, "In order of id."),
    async handle({ c, query, call }) {
      return c.json({ schedules: await call("listFor", query) });
    },
  });
  addOperation(app, context, {
    id: "stopSchedulesForTarget",
    method: "delete",
    path,
    tag,
    summary: "Stops the schedules about a target that the caller may stop",
    changes: true,
    query: z.looseObject({ target, abortRunning: queryBoolean.optional() }),
    responses: answers(200, z.object({ stopped: z.int() }), "How many were stopped."),
    async handle({ c, query, call }) {
      return c.json({ stopped: await call("stopFor", query) });
    },
  });
}
