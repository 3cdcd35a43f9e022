import type { MiddlewareHandler } from "hono";

/** An answer is data for its caller alone: never a page, a script or a frame, and nothing to keep. */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Sets the security headers that an answer does not have. */
export function secured(headers: Headers): void {
  for (const [name, value] of Object.entries(HEADERS)) if (!headers.has(name)) headers.set(name, value);
}

const whole = new WeakSet<Response>();

/** A JSON answer that has its headers from the start: servers write it the shortest way, as long as nobody touches them. */
export function securedJson(value: unknown, status: number, headers: Readonly<Record<string, string>>): Response {
  const all = { ...HEADERS, "content-type": "application/json", ...headers };
  const response = new Response(JSON.stringify(value), { status, headers: all });
  whole.add(response);
  return response;
}

/** Sets the security headers on every answer. */
export const secure: MiddlewareHandler = async (c, next) => {
  await next();
  if (!whole.has(c.res)) secured(c.res.headers);
};
