import { z } from "@hono/zod-openapi";
import { SchedulerError } from "../../../../src/contract/mod.ts";
import type { HttpContext } from "../context.ts";
import { addOperation, type OpenApp } from "../operation.ts";
import { duration, json, queryNumber, utc } from "../schemas/leaves.ts";
import { answers } from "../schemas/parts.ts";
import type { WebhookRequest, Webhooks } from "../webhook/stored.ts";

const tag = "webhooks";
const path = "/v1/webhooks";
const byName = z.object({ name: z.string().openapi({ description: "The webhook's name." }) });

const info = z.object({
  name: z.string().openapi({ description: "The name of its task." }),
  url: z.string().openapi({ description: "Where runs are posted to." }),
  timeout: duration.optional(),
  retry: json.optional().openapi({ description: "What schedules that are made for it start from." }),
  version: z.int().openapi({ description: "Counts the secrets that it had." }),
  createdAt: utc,
  createdBy: z.string().openapi({ description: "The id of the principal that made it." }),
  rotatedAt: utc.optional(),
}).openapi("Webhook");

const withSecret = info.extend({
  secret: z.string().openapi({ description: "For its receiver; told now and never again." }),
}).openapi("WebhookWithSecret");

const request = z.looseObject({
  name: z.string().openapi({ description: "At most 150 characters; of no other task." }),
  url: z.string().openapi({ description: "Where runs are posted to, as Standard Webhooks says." }),
  timeout: duration.optional(),
  retry: z.looseObject({ limit: z.int() }).optional(),
}).openapi("WebhookRequest");

/** Webhook tasks that admins make; see `webhooks`. */
export function addWebhookRoutes(app: OpenApp, context: HttpContext, webhooks: Webhooks): void {
  addCreation(app, context, webhooks);
  addReading(app, context, webhooks);
  addChanges(app, context, webhooks);
}

function addCreation(app: OpenApp, context: HttpContext, webhooks: Webhooks): void {
  const { scheduler } = context;
  addOperation(app, context, {
    id: "createWebhook",
    method: "post",
    path,
    tag,
    summary: "Makes a task of which each run is a signed POST; an admin only",
    description: "409: there is a task of that name. 403 also for a URL at an address that is refused.",
    changes: true,
    body: request,
    example: { name: "notify", url: "https://hooks.example.com/orders", retry: { limit: 5, delay: "10s" } },
    where: "webhook",
    responses: answers(201, withSecret, "The webhook, with its secret.", {
      location: z.string().openapi({ description: "Its path." }),
    }),
    async handle({ c, body, principal }) {
      const made = await webhooks.create(scheduler, body as WebhookRequest, principal);
      return c.json(made, 201, {
        location: `${new URL(c.req.url).pathname.replace(/\/$/, "")}/${encodeURIComponent(made.name)}`,
      });
    },
  });
}

function addReading(app: OpenApp, context: HttpContext, webhooks: Webhooks): void {
  const { scheduler } = context;
  addOperation(app, context, {
    id: "listWebhooks",
    method: "get",
    path,
    tag,
    summary: "The webhooks, in the order in which they were made; an admin only",
    changes: false,
    query: z.looseObject({ limit: queryNumber.optional(), cursor: z.string().optional() }),
    where: "webhooks",
    responses: answers(
      200,
      z.object({ webhooks: z.array(info), cursor: z.string().optional() }).openapi("Webhooks"),
      "One page, without secrets.",
    ),
    async handle({ c, query, principal }) {
      return c.json(await webhooks.list(scheduler, query, principal));
    },
  });
  addOperation(app, context, {
    id: "getWebhook",
    method: "get",
    path: `${path}/{name}`,
    tag,
    summary: "One webhook, without its secret; an admin only",
    changes: false,
    params: byName,
    responses: answers(200, info, "The webhook."),
    async handle({ c, params, principal }) {
      return c.json(found(await webhooks.get(scheduler, params["name"]!, principal)));
    },
  });
}

function addChanges(app: OpenApp, context: HttpContext, webhooks: Webhooks): void {
  const { scheduler } = context;
  addOperation(app, context, {
    id: "rotateWebhookSecret",
    method: "post",
    path: `${path}/{name}/rotate`,
    tag,
    summary: "Gives a webhook a new secret; an admin only",
    description: "For a day deliveries are signed with the one before it as well.",
    changes: true,
    params: byName,
    responses: answers(200, withSecret, "The webhook, with its new secret."),
    async handle({ c, params, principal }) {
      return c.json(found(await webhooks.rotate(scheduler, params["name"]!, principal)));
    },
  });
  addOperation(app, context, {
    id: "deleteWebhook",
    method: "delete",
    path: `${path}/{name}`,
    tag,
    summary: "Deletes a webhook; an admin only",
    description:
      "Schedules for its task stay and wait until they are stopped, or there is a webhook of that name again.",
    changes: true,
    params: byName,
    responses: { 204: { description: "It is deleted." } },
    async handle({ c, params, principal }) {
      found(await webhooks.delete(scheduler, params["name"]!, principal) || undefined);
      return c.body(null, 204);
    },
  });
}

function found<T>(value: T | undefined): T {
  if (value !== undefined) return value;
  throw new SchedulerError("not_found", "webhook: there is none of this name");
}
