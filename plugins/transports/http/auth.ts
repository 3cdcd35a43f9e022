import type { MiddlewareHandler } from "hono";
import { type Principal, show, SYSTEM_ID } from "../../../src/contract/mod.ts";
import type { Guard, HttpCall } from "./context.ts";
import { type Connection, connectionOf, isLocalName, isLoopback } from "./loopback.ts";
import type { Authenticate, HttpSettings } from "./options.ts";
import { isPrincipalId } from "./principal.ts";
import { refusal } from "./problem.ts";
import type { RateLimiter } from "./rate_limit.ts";
import { bearerTokens, newToken } from "./token.ts";

/** Whoever has the token that was printed: an admin, but not the system, whose internal tasks stay hidden. */
const LOCAL: Principal = { id: "local", admin: true };

/** Refuses requests by where they come from, whoever makes them. */
export function checkSource(settings: HttpSettings): MiddlewareHandler {
  return (c, next) => {
    checkConnection(c, settings);
    checkOrigin(c, settings);
    return next();
  };
}

/**
 * Refuses connections that the app does not answer: without `authenticate` any that is not of this machine, and always
 * those of this machine that call it by a name that a foreign page may have chosen (DNS rebinding).
 */
function checkConnection(c: HttpCall, { authenticate, hosts }: HttpSettings): void {
  const connection = connectionOf(c.env);
  const isOpen = authenticate === undefined;
  if (isOpen && connection !== undefined && !isLocal(connection)) {
    const detail = "without authenticate this server answers on the loopback interface only";
    throw refusal(403, "permission_denied", detail);
  }
  const name = hostOf(c.req.raw);
  const isChecked = isOpen || (connection !== undefined && isLoopback(connection.remote));
  if (isChecked && !isLocalName(name) && !hosts.includes(name)) {
    const detail = `${show(name)} is not a name of this server; the option hosts of http names further ones`;
    throw refusal(421, "permission_denied", detail);
  }
}

function isLocal(connection: Connection): boolean {
  const local = connection.local();
  return isLoopback(connection.remote) && (local === undefined || isLoopback(local));
}

let lastHost = { host: "", name: "" };

/** The name that the client called the server by; most call it by the same one. */
function hostOf(request: Request): string {
  const host = request.headers.get("host");
  if (host !== null && host === lastHost.host) return lastHost.name;
  const url = host === null ? request.url : `http://${host}`;
  const name = URL.canParse(url) ? new URL(url).hostname : "";
  if (host !== null) lastHost = { host, name };
  return name;
}

/**
 * Refuses a request that changes something and that a page of another origin made: what a browser knows the user by must
 * not serve others.
 */
function checkOrigin(c: HttpCall, { origins = [] }: HttpSettings): void {
  const origin = c.req.header("origin");
  if (origin === undefined || SAFE_METHODS.includes(c.req.method)) return;
  if (origins.includes("*") || origins.includes(origin.toLowerCase())) return;
  const own = c.req.header("host") ?? new URL(c.req.url).host;
  if (URL.canParse(origin) && new URL(origin).host === own) return;
  throw refusal(403, "permission_denied", `pages of ${show(origin)} may not call; the option cors says whose may`);
}

const SAFE_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/** Lets pass whom `authenticate` knows, as far as the principal's rate allows. */
export function createGuard(
  system: Principal,
  settings: HttpSettings,
  limiter: RateLimiter | undefined,
): Guard {
  const authenticate = settings.authenticate ?? printedToken(settings);
  return async (c) => {
    const found = await authenticate(c.req.raw);
    if (found === null || found === undefined) throw unauthenticated();
    const principal = checked(found, system);
    limiter?.take(principal.id);
    return principal;
  };
}

function unauthenticated() {
  const detail =
    'the request has no credentials that are known here; expected a header such as "Authorization: Bearer …"';
  return refusal(401, "unauthenticated", detail, { "www-authenticate": 'Bearer realm="scheduler"' });
}

/** A mistake of `authenticate` is the server's, not the client's. */
function checked(found: unknown, system: Principal): Principal {
  if (found === system) return system;
  const { id, admin } = (typeof found === "object" ? found : {}) as { readonly id?: unknown; readonly admin?: unknown };
  if (isPrincipalId(id) && id !== SYSTEM_ID && (admin === undefined || typeof admin === "boolean")) {
    return { id, ...(admin === true ? { admin } : {}) };
  }
  throw new TypeError("http: authenticate answered no principal; expected { id, admin? } or null");
}

function printedToken({ logger }: HttpSettings): Authenticate {
  const token = newToken();
  logger.info(`http: no authenticate is given; this machine alone may call, with "Authorization: Bearer ${token}"`);
  return bearerTokens({ [token]: LOCAL });
}
