import type { Context, Hono, MiddlewareHandler } from "hono";
import type { Principal } from "../../../src/contract/mod.ts";
import type { HttpSettings } from "./options.ts";
import type { ServedScheduler } from "./served.ts";

/** What the app keeps beside a request. */
export interface HttpEnv {
  /** Set by `guard`. */
  Variables: {
    /** Who is asking. */
    principal: Principal;
  };
}

/**
 * What every part of the app is made from. Errors that a part throws become problem documents; headers, the check of the
 * connection and CORS are set around all parts.
 */
export interface HttpContext {
  readonly scheduler: ServedScheduler;
  readonly settings: HttpSettings;
  /**
   * Lets a request pass for whom `authenticate` knows, and for nobody else: it sets the variable `principal`, and counts
   * against the principal's rate. What is to be open stands before it.
   */
  readonly guard: MiddlewareHandler<HttpEnv>;
}

/** The scheduler's app: any Hono app, so that it fits wherever one does. */
export type HttpApp = Hono;

/** A request within the app. */
export type HttpCall = Context<HttpEnv>;
