import { z } from "@hono/zod-openapi";
import { isSchedulerError, SchedulerError } from "../../../../src/contract/mod.ts";
import type { HttpContext } from "../context.ts";
import { addOperation, type OpenApp } from "../operation.ts";
import { notFound, TaskFailure } from "../problem.ts";
import * as answer from "../schemas/answers.ts";
import { duration, json, utc, utcOrNull } from "../schemas/leaves.ts";
import { answers } from "../schemas/parts.ts";
import { nextRunsRequest, scheduleRequest, transactionStep } from "../schemas/requests.ts";

/** What concerns more than one schedule, or none. */
export function addCallRoutes(app: OpenApp, context: HttpContext): void {
  addSets(app, context);
  addRuns(app, context);
  addTasks(app, context);
  addNextRuns(app, context);
  addTick(app, context);
}

function addSets(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "syncSchedules",
    method: "post",
    path: "/v1/sync",
    tag: "schedules",
    summary: "Registers a declared set, and stops the members of its group that are no longer declared",
    changes: true,
    body: z.looseObject({ group: z.string(), schedules: z.array(scheduleRequest) }),
    example: { group: "billing", schedules: [{ name: "invoices", task: "report", cron: "@daily" }] },
    where: "sync",
    responses: answers(200, answer.schedules, "The declared ones, in order."),
    async handle({ c, body, call }) {
      return c.json({ schedules: await call("sync", body as object) });
    },
  });
  addOperation(app, context, {
    id: "transaction",
    method: "post",
    path: "/v1/transactions",
    tag: "schedules",
    summary: "Makes several changes, all or nothing",
    changes: true,
    accumulates: true,
    body: z.array(transactionStep),
    example: [{ create: { task: "report", after: "10m" } }],
    where: "transaction",
    responses: answers(
      200,
      z.array(z.union([answer.schedule, z.boolean()])),
      "A schedule for each creation and update; for the rest, whether it did anything.",
    ),
    async handle({ c, body, call }) {
      return c.json(await call("transaction", { steps: body }) as object);
    },
  });
}

function addRuns(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "listRunning",
    method: "get",
    path: "/v1/runs",
    tag: "runs",
    summary: "The runs in progress, on all instances",
    description: "An admin sees all, anybody else those of their own schedules.",
    changes: false,
    responses: answers(200, answer.runs, "The runs in progress."),
    async handle({ c, call }) {
      return c.json({ runs: await call("running", {}) });
    },
  });
  addOperation(app, context, {
    id: "abortRun",
    method: "post",
    path: "/v1/runs/{id}/abort",
    tag: "runs",
    summary: "Aborts a run, on whichever instance it is",
    description: "404: there is no run in progress of this id.",
    changes: true,
    params: z.object({ id: z.string().openapi({ description: "The run's id." }) }),
    responses: { 204: { description: "It is to be aborted." } },
    async handle({ c, params: { id }, call }) {
      const done = await call("abortRun", { runId: id }).catch((error) => {
        if (isSchedulerError(error, "permission_denied")) return false;
        throw error;
      });
      if (!done) throw notFound(id);
      return c.body(null, 204);
    },
  });
}

function addTasks(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "listTasks",
    method: "get",
    path: "/v1/tasks",
    tag: "tasks",
    summary: "The tasks that the caller may use",
    changes: false,
    responses: answers(200, answer.tasks, "In order of name."),
    async handle({ c, call }) {
      return c.json({ tasks: await call("tasks", {}) });
    },
  });
  addOperation(app, context, {
    id: "invokeTask",
    method: "post",
    path: "/v1/invoke",
    tag: "tasks",
    summary: "Runs a task now and answers what its handler returns",
    changes: true,
    accumulates: true,
    body: z.looseObject({ task: z.string(), input: json.optional() }),
    example: { task: "report", input: { team: "sales" } },
    responses: answers(200, z.object({ output: json.optional() }), "What the handler returned, if it is JSON."),
    async handle({ c, body, call }) {
      try {
        return c.json({ output: await call("invoke", body as object) });
      } catch (error) {
        throw isSchedulerError(error) && !isElsewhere(error) ? error : new TaskFailure(error);
      }
    },
  });
}

/**
 * Whether an error tells of an exchange that the handler had with another server. Its status would say of this one that it
 * was refused, so that clients would make it again, which was carried out.
 */
function isElsewhere({ code }: SchedulerError): boolean {
  return code === "rate_limited" || code === "unauthenticated" || code === "unreachable";
}

function addNextRuns(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "nextRuns",
    method: "post",
    path: "/v1/next-runs",
    tag: "schedules",
    summary: "The next deadlines of a spec, without storing it",
    changes: false,
    body: nextRunsRequest,
    example: { spec: { cron: "30 2 * * *", timezone: "America/New_York" }, count: 5 },
    responses: answers(200, z.object({ nextRuns: z.array(utc) }), "In order."),
    async handle({ c, body, call }) {
      return c.json({ nextRuns: await call("nextRuns", body as object) });
    },
  });
}

function addTick(app: OpenApp, context: HttpContext): void {
  addOperation(app, context, {
    id: "tick",
    method: "post",
    path: "/v1/tick",
    tag: "runs",
    summary: "Runs what is due now, for servers that sleep between requests; an admin only",
    changes: true,
    body: z.looseObject({ budget: duration.optional() }).optional(),
    example: { budget: "20s" },
    responses: answers(200, z.object({ next: utcOrNull }), "When something is due next."),
    async handle({ c, principal, body }) {
      if (principal.admin !== true) throw new SchedulerError("permission_denied", "tick: an admin only");
      const next = await context.scheduler.tick(body as object | undefined);
      return c.json({ next: next?.toISOString() ?? null });
    },
  });
}
