import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { checkConnection, checkOrigin, createGuard } from "./auth.ts";
import type { HttpApp, HttpContext, HttpEnv } from "./context.ts";
import { addDocument } from "./openapi.ts";
import type { OpenApp } from "./operation.ts";
import { type HttpOptions, readHttpOptions } from "./options.ts";
import { problemResponse, refusal } from "./problem.ts";
import { RateLimiter } from "./rate_limit.ts";
import { addCallRoutes } from "./routes/calls.ts";
import { addSingleRoutes } from "./routes/schedule.ts";
import { addScheduleRoutes } from "./routes/schedules.ts";
import { addWebhookRoutes } from "./routes/webhooks.ts";
import { secure } from "./secure.ts";
import type { ServedScheduler } from "./served.ts";

/**
 * The scheduler over HTTP, as a Hono app.
 */
export function http<Extra extends object = object>(
  scheduler: ServedScheduler<Extra>,
  options: HttpOptions = {},
): HttpApp {
  const settings = readHttpOptions(options);
  const { rateLimit, logger, origins } = settings;
  const limiter = rateLimit === undefined ? undefined : new RateLimiter(rateLimit);
  const guard = createGuard(scheduler.principal, settings, limiter);
  const context: HttpContext = { scheduler: scheduler as unknown as ServedScheduler, settings, guard };

  const app: OpenApp = new OpenAPIHono<HttpEnv>();
  app.onError((error) => problemResponse(error, logger));
  app.use(secure);
  if (origins !== undefined) app.use(corsFor(origins));
  app.use(checkConnection(settings), checkOrigin(settings));
  // Further parts are mounted here, each made from the context and in a file of its own; see HttpContext:
  //   app.route("/", healthRoutes(context));   health.ts: /healthz, /readyz
  //   app.route("/", metricsRoutes(context));  metrics.ts: /metrics
  //   app.route("/", eventRoutes(context));    event_stream.ts: /v1/events
  addScheduleRoutes(app, context);
  addSingleRoutes(app, context);
  addCallRoutes(app, context);
  if (settings.webhooks !== undefined) addWebhookRoutes(app, context, settings.webhooks);
  addDocument(app, context);
  addRest(app);
  return app;
}

function corsFor(origins: readonly string[]) {
  return cors({
    origin: origins.includes("*") ? "*" : [...origins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    allowHeaders: ["authorization", "content-type", "idempotency-key", "if-match", "last-event-id"],
    exposeHeaders: ["etag", "location", "retry-after"],
    maxAge: 600,
  });
}

/** What no route has answered: another method of a path that there is, or no such path. */
function addRest(app: OpenApp): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method !== "ALL") methods.set(path, (methods.get(path) ?? new Set()).add(method));
  }
  for (const [path, known] of methods) {
    const allow = [...known, ...(known.has("GET") ? ["HEAD"] : []), "OPTIONS"].sort().join(", ");
    app.all(path, (c) => {
      if (c.req.method === "OPTIONS") return c.body(null, 204, { allow });
      throw refusal(405, "invalid_option", `${c.req.method}: not a method of this path; expected ${allow}`, { allow });
    });
  }
  app.all("*", (c) => {
    throw refusal(404, "not_found", `${c.req.method} ${new URL(c.req.url).pathname.slice(0, 200)}: no such path`);
  });
}
