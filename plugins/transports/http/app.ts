import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { checkSource, createGuard } from "./auth.ts";
import type { HttpApp, HttpCall, HttpContext } from "./context.ts";
import { addDocument } from "./openapi.ts";
import type { OpenApp } from "./operation.ts";
import { type HttpOptions, readHttpOptions } from "./options.ts";
import { problemResponse, type Refusal, refusal } from "./problem.ts";
import { RateLimiter } from "./rate_limit.ts";
import { addCallRoutes } from "./routes/calls.ts";
import { addOperatingRoutes } from "./routes/operating.ts";
import { addSingleRoutes } from "./routes/schedule.ts";
import { addScheduleRoutes } from "./routes/schedules.ts";
import { addWebhookRoutes } from "./routes/webhooks.ts";
import { secure, secured } from "./secure.ts";
import { checkScheduler, type ServedScheduler } from "./served.ts";

/** What the app answers; whatever else there is beside it in a user's app is none of its business. */
const OWN_PATHS = ["/v1/*", "/healthz", "/readyz", "/metrics"];

/**
 * The scheduler over HTTP, as a Hono app: its `fetch` goes to `Deno.serve` or to `serve` of `@hono/node-server`, or it is
 * mounted in another Hono app at any path, with `app.route("/schedules", http(scheduler))`. It listens on no port by
 * itself, starts nothing and closes nothing: `start` and `close` of the scheduler stay with whoever made it.
 *
 * Under `/v1` there is a REST interface in JSON, described by `/v1/openapi.json`. Each request acts for the principal
 * whom `authenticate` answers, with what `Scheduler.as` lets that principal do; somebody else's schedule is answered 404,
 * like one that there is not. Errors are problem documents (RFC 9457) with the scheduler's codes. Instances that share a
 * store may serve side by side: `ETag` and `If-Match`, and `Idempotency-Key`, hold across them and through restarts.
 *
 * Beside it stand `/healthz` and `/readyz` for probes, which need no credentials, `/metrics` in Prometheus' text format, for
 * admins, and `/v1/events`, what happens on this instance as server-sent events.
 *
 * Without `authenticate` nobody is let in from outside: requests have to come over the loopback interface, by one of its
 * names, with a token that is printed once.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option` or `invalid_duration`, naming the key.
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { http } from "@ostinato/scheduler/http";
 *
 * const beat = defineTask("beat", () => {});
 * await using scheduler = createScheduler({ tasks: [beat] });
 * const app = http(scheduler, {
 *   authenticate: (request) => request.headers.get("authorization") === "Bearer secret" ? { id: "alice" } : null,
 * });
 * const answer = await app.request("/v1/schedules", {
 *   method: "POST",
 *   headers: { "authorization": "Bearer secret", "content-type": "application/json" },
 *   body: JSON.stringify({ kind: "every", task: "beat", every: "1m" }),
 * });
 * console.log(answer.status, (await answer.json()).owner); // 201 alice
 * ```
 */
export function http<Extra extends object = object>(
  scheduler: ServedScheduler<Extra>,
  options: HttpOptions = {},
): HttpApp {
  checkScheduler(scheduler);
  const settings = readHttpOptions(options);
  const { rateLimit, logger, origins } = settings;
  const limiter = rateLimit === undefined ? undefined : new RateLimiter(rateLimit);
  const guard = createGuard(scheduler.principal, settings, limiter);
  const context: HttpContext = { scheduler: scheduler as unknown as ServedScheduler, settings, guard };

  const app: OpenApp = new OpenAPIHono();
  app.onError((error) => problemResponse(error, logger));
  app.notFound((c) => {
    const response = problemResponse(noSuchPath(c), logger);
    secured(response.headers);
    return response;
  });
  for (const path of OWN_PATHS) {
    app.use(path, secure);
    if (origins !== undefined) app.use(path, corsFor(origins));
    app.use(path, checkSource(settings));
  }
  addScheduleRoutes(app, context);
  addSingleRoutes(app, context);
  addCallRoutes(app, context);
  addOperatingRoutes(app, context);
  if (settings.webhooks !== undefined) addWebhookRoutes(app, context, settings.webhooks);
  addDocument(app, context);
  addRest(app);
  return app as unknown as HttpApp;
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
  app.all("/v1/*", (c) => {
    throw noSuchPath(c);
  });
}

function noSuchPath(c: HttpCall): Refusal {
  return refusal(404, "not_found", `${c.req.method} ${new URL(c.req.url).pathname.slice(0, 200)}: no such path`);
}
