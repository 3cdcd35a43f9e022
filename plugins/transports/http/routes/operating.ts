import { z } from "@hono/zod-openapi";
import type { HttpContext } from "../context.ts";
import { eventFilter } from "../event_filter.ts";
import { EventStreams, type StreamRefusal } from "../event_stream.ts";
import { healthz, readyz } from "../health.ts";
import { Metrics } from "../metrics.ts";
import { addOperation, type OpenApp, type OperationRequest } from "../operation.ts";
import { type Refusal, refusal } from "../problem.ts";
import { StoreLook } from "../store_look.ts";

/** What operators and observers ask: `/healthz`, `/readyz`, `/metrics`, `/v1/events`. */
export function addOperatingRoutes(app: OpenApp, context: HttpContext): void {
  const { scheduler, settings, guard } = context;
  const look = new StoreLook(scheduler, settings.ready.maxDue + 1);
  const metrics = new Metrics(scheduler, look);
  // Open to whoever may connect, since probes send no token.
  app.get("/healthz", healthz);
  app.get("/readyz", () => readyz(look, settings.ready));
  app.get("/metrics", async (c) => {
    const { admin } = await guard(c);
    if (admin !== true) throw refusal(403, "permission_denied", "metrics: they are for admins");
    return await metrics.scrape();
  });
  addEvents(app, context);
}

function addEvents(app: OpenApp, context: HttpContext): void {
  const streams = new EventStreams(context.scheduler, context.settings.events);
  addOperation(app, context, {
    id: "streamEvents",
    method: "get",
    path: "/v1/events",
    tag: "events",
    summary: "What happens, as server-sent events",
    description: "The events of this instance, of the caller's own schedules; an admin gets all. A reader that comes " +
      "back with `Last-Event-ID` gets what it missed; an event `gap` says that some of it is not known any more, so that " +
      "what was read before may be out of date: `overrun` where too much happened meanwhile, `other_instance` where the " +
      "id is of another instance or of an earlier start.",
    changes: false,
    query: z.looseObject({
      event: text("Names of events, with commas between them. Default: all."),
      schedule: text("Of this schedule only, by id."),
      task: text("Of this task only."),
    }),
    headers: z.object({
      "last-event-id": z.string().optional().openapi({ description: "The id of the last event that was received." }),
    }),
    responses: {
      200: { description: "The stream.", content: { "text/event-stream": { schema: z.string() } } },
    },
    handle: (request) => Promise.resolve(stream(streams, request)),
  });
}

/** A parameter of the query, which `eventFilter` reads. */
function text(description: string) {
  return z.union([z.string(), z.array(z.string())]).optional().openapi({ type: "string", description });
}

/** Proxies are not to gather the stream, nor to squeeze it. */
const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

function stream(streams: EventStreams, { c, principal }: OperationRequest): Response {
  const filter = eventFilter(new URL(c.req.url).searchParams);
  // Hono answers HEAD by GET and drops the body, unread: a stream would stay.
  if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
  const opened = streams.open({ principal, filter, lastId: c.req.header("last-event-id") });
  if (typeof opened === "string") throw refused(opened);
  return c.body(opened, 200, HEADERS);
}

function refused(why: StreamRefusal): Refusal {
  const later = { "retry-after": "10" };
  if (why === "closed") return refusal(503, "closed", "the scheduler is closed");
  return why === "streams"
    ? refusal(503, "rate_limited", "events: as many streams are open as this server has room for", later, true)
    : refusal(429, "rate_limited", "events: as many streams of this principal are open as one may have", later, true);
}
