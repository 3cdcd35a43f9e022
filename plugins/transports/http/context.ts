import type { Context, Hono } from "hono";
import type { Principal } from "../../../src/contract/mod.ts";
import type { HttpSettings } from "./options.ts";
import type { ServedScheduler } from "./served.ts";

/**
 * What every part of the app is made from. Errors that a part throws become problem documents; headers, the check of the
 * connection and CORS are set around all parts.
 */
export interface HttpContext {
  readonly scheduler: ServedScheduler;
  readonly settings: HttpSettings;
  /**
   * Answers for whom a request is: whom `authenticate` knows, whose rate it counts against. It refuses everybody else, so
   * that whatever is not to be open begins with it.
   */
  readonly guard: Guard;
}

/** See `guard` of {@linkcode HttpContext}. */
export type Guard = (c: HttpCall) => Promise<Principal>;

/** The scheduler's app: any Hono app, so that it fits wherever one does. */
export type HttpApp = Hono;

/** A request within the app. */
export type HttpCall = Context;
