/**
 * The transport over HTTP: a scheduler as a Hono app, and a client for it.
 *
 * @module
 */
export { http } from "./app.ts";
export type { HttpApp } from "./context.ts";
export type { EventStreamOptions } from "./event_stream.ts";
export type { ReadyOptions } from "./health.ts";
export type { Authenticate, HttpOptions } from "./options.ts";
export type { Problem } from "./problem.ts";
export type { ServedScheduler } from "./served.ts";
export { bearerTokens } from "./token.ts";
export { httpClient } from "./client/http_client.ts";
export type { HttpClientOptions } from "./client/options.ts";
