import { createRoute, type OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import {
  type ApiCallName,
  type ApiCalls,
  type Principal,
  type SchedulerApi,
  unknownOption,
} from "../../../src/contract/mod.ts";
import { readJson } from "./body.ts";
import type { HttpCall, HttpContext } from "./context.ts";
import { repeated, schemaError } from "./issues.ts";
import { connectionOf } from "./loopback.ts";
import { refusal } from "./problem.ts";
import { problemResponses } from "./schemas/problem.ts";
import { checkNoBody, checkPromises } from "./untaken.ts";

/** The app that operations are added to; it gathers their description as well. */
export type OpenApp = OpenAPIHono;

/** What a handler gets: what the schemas have accepted. The calls check it again, and by the scheduler's own rules. */
export interface OperationRequest {
  readonly c: HttpCall;
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** `undefined` where nothing was sent, and where nothing is taken. */
  readonly body: unknown;
  /** Makes a call of the scheduler for the principal. */
  call<Name extends ApiCallName>(name: Name, parameters: object): Promise<ApiCalls[Name]["answer"]>;
}

/** One operation: its description, which is also what its requests are held to, and its handler. */
export interface Operation {
  /** Its name in the document. */
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With parameters as `{name}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Whether it changes anything; then `readOnly` refuses it. */
  readonly changes: boolean;
  /** Does once more what it does when it is asked for again, so that no `Idempotency-Key` makes it safe to repeat. */
  readonly accumulates?: true;
  readonly params?: z.ZodObject;
  /** Without one, any parameter is refused. */
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** Without one, a body is refused. */
  readonly body?: z.ZodType;
  /** A body that is accepted, for the document. */
  readonly example?: unknown;
  /** What the body, or the query, is called in errors; see `schemaError`. */
  readonly where?: string | ((body: unknown) => string);
  readonly responses: RouteConfig["responses"];
  handle(request: OperationRequest): Promise<Response>;
}

/** Adds an operation to the app and to its document. */
export function addOperation(app: OpenApp, { scheduler, settings, guard }: HttpContext, operation: Operation): void {
  const route = describe(operation);
  app.openAPIRegistry.registerPath(route);
  app.on(operation.method.toUpperCase(), route.getRoutingPath(), async (c) => {
    const principal = await guard(c);
    if (operation.changes && settings.readOnly) {
      throw refusal(403, "permission_denied", "this server is read-only; expected a request that changes nothing");
    }
    checkPromises(operation, c);
    const api = scheduler.api as SchedulerApi;
    return await operation.handle({
      c,
      principal,
      params: c.req.param(),
      query: readQuery(operation, c),
      body: await readBody(operation, c, settings.maxBodyBytes),
      call: (name, parameters) => api.call(principal, name, parameters as never),
    });
  });
}

/** Keys that the schema does not have go on to the scheduler's call, which refuses them by their place there. */
function readQuery({ query, where }: Operation, c: HttpCall): Readonly<Record<string, unknown>> {
  const given = givenQuery(c.req.url);
  if (query === undefined) {
    for (const key of Object.keys(given)) throw unknownOption(key, []);
    return {};
  }
  const read = query.safeParse(given);
  if (!read.success) {
    const key = String(read.error.issues[0]?.path[0]);
    if (Array.isArray(given[key])) throw repeated(key, given[key].length);
    throw schemaError(read.error, given, typeof where === "string" ? where : "");
  }
  const { data } = read;
  return Object.fromEntries(Object.keys(given).map((key) => [key, Object.hasOwn(data, key) ? data[key] : given[key]]));
}

function givenQuery(url: string): Readonly<Record<string, string | readonly string[]>> {
  if (!url.includes("?")) return {};
  const { searchParams } = new URL(url);
  return Object.fromEntries([...new Set(searchParams.keys())].map((key) => {
    const values = searchParams.getAll(key);
    return [key, values.length === 1 ? values[0]! : values];
  }));
}

/**
 * Hands on what arrived and not the schema's copy of it, from which a key such as `__proto__` would be missing (B146).
 */
async function readBody({ method, body, where = "" }: Operation, c: HttpCall, maxBytes: number): Promise<unknown> {
  if (method === "get") return undefined;
  const given = await readJson(c.req.raw, maxBytes, connectionOf(c.env) !== undefined);
  if (body === undefined) return checkNoBody(given);
  const read = body.safeParse(given);
  if (!read.success) throw schemaError(read.error, given, typeof where === "function" ? where(given) : where);
  return given;
}

function describe(operation: Operation): RouteConfig & { getRoutingPath(): string } {
  const { id, method, path, tag, summary, description, params, query, headers, body, example, responses } = operation;
  const content = { "application/json": { schema: body, ...(example === undefined ? {} : { example }) } };
  return createRoute({
    operationId: id,
    method,
    path,
    tags: [tag],
    summary,
    security: [{ token: [] }],
    ...(description === undefined ? {} : { description }),
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body: { content, required: !body.safeParse(undefined).success } }),
    },
    responses: { ...responses, ...problemResponses() },
  } as RouteConfig);
}
