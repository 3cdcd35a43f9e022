import {
  errorFromWire,
  isPlainObject,
  isSchedulerError,
  SchedulerError,
  type WireError,
} from "../../../../src/contract/mod.ts";
import { CLIENT_RETRY_MAX_MS, CLIENT_RETRY_MS } from "../limits.ts";
import { retryAfterMs } from "../retry_after.ts";
import type { HttpClientSettings } from "./options.ts";

/** A request to be made. */
export interface Exchange {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Behind the server's address, encoded. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether making it twice is like making it once. */
  readonly repeatable: boolean;
  /** It takes as long as somebody's handler. */
  readonly unhurried?: true;
  /** Whether an answer is a scheduler's to this request. */
  fits(reply: Reply): boolean;
}

/** What came back. */
export interface Reply {
  readonly status: number;
  /** `undefined` where there is no body. */
  readonly json: unknown;
}

/** An error that a request ended in, with the status if there was an answer. */
export class ExchangeError extends Error {
  readonly status: number | undefined;
  readonly error: Error;
  /** For how long the server wants not to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(error: Error, status?: number, retryAfterMs?: number) {
    super(error.message, { cause: error });
    this.error = error;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Makes a request, again where that is harmless and may help.
 *
 * @throws {ExchangeError} Once no further attempt is to be made; the signal's reason when it aborts.
 */
export async function exchange(settings: HttpClientSettings, request: Exchange): Promise<Reply> {
  for (let attempt = 1;; attempt++) {
    settings.signal?.throwIfAborted();
    try {
      return await attemptOnce(settings, request);
    } catch (error) {
      settings.signal?.throwIfAborted();
      if (!(error instanceof ExchangeError) || attempt >= settings.attempts || !mayRepeat(request, error)) throw error;
      await pause(delayMs(attempt, error), settings.signal);
    }
  }
}

const BUSY = [502, 503, 504];

/** A request that came over the rate was not carried out, whatever it was. */
function mayRepeat({ repeatable }: Exchange, { status, error }: ExchangeError): boolean {
  if (status === 429) return true;
  if (!repeatable) return false;
  return status === undefined || (BUSY.includes(status) && isPassing(error as Partial<SchedulerError>));
}

/** One instance that is closed, as in a deployment, says nothing of the next one that a proxy chooses. */
function isPassing({ code, retryable }: Partial<SchedulerError>): boolean {
  return retryable === true || code === "closed";
}

function delayMs(attempt: number, { retryAfterMs = 0 }: ExchangeError): number {
  const backoff = Math.min(CLIENT_RETRY_MS * 2 ** (attempt - 1), CLIENT_RETRY_MAX_MS) * (0.5 + Math.random() / 2);
  return Math.min(Math.max(backoff, retryAfterMs), CLIENT_RETRY_MAX_MS);
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => resolve();
  signal?.addEventListener("abort", stop);
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener("abort", stop);
}

async function attemptOnce(settings: HttpClientSettings, request: Exchange): Promise<Reply> {
  const url = settings.base + request.path;
  const limit = timeLimit(settings, request);
  try {
    const response = await settings.fetch(await requestOf(settings, request, url, limit.signal));
    if (isRedirect(response)) throw redirected(response, url);
    const text = await response.text();
    if (!response.ok) throw failed(response, text, url);
    const reply = { status: response.status, json: text === "" ? undefined : parsed(response, text, url) };
    if (!request.fits(reply)) throw new ExchangeError(foreign(response, text, url, false), response.status);
    return reply;
  } catch (error) {
    if (error instanceof ExchangeError || settings.signal?.aborted === true) throw error;
    // Of a token that was asked for.
    if (isSchedulerError(error, "invalid_option")) throw error;
    throw new ExchangeError(unreachable(url, request, error));
  } finally {
    limit.end();
  }
}

/** A signal that aborts with the client's own, or when the attempt has taken too long. */
function timeLimit(
  { signal, timeoutMs, invokeTimeoutMs }: HttpClientSettings,
  { unhurried }: Exchange,
): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const ms = unhurried === true ? invokeTimeoutMs : timeoutMs;
  const late = () => controller.abort(new DOMException(`no answer within ${ms} ms`, "TimeoutError"));
  const timer = ms > 0 ? setTimeout(late, ms) : undefined;
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    },
  };
}

async function requestOf(
  { token }: HttpClientSettings,
  { method, body, headers }: Exchange,
  url: string,
  signal: AbortSignal,
): Promise<Request> {
  const known = await token();
  return new Request(url, {
    method,
    signal,
    // A redirect would carry the call, and perhaps the token, to somebody else. It is told of, and not followed.
    redirect: "manual",
    headers: {
      accept: "application/json",
      ...(known === undefined ? {} : { authorization: `Bearer ${known}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function unreachable(url: string, { repeatable }: Exchange, cause: unknown): SchedulerError {
  const doubt = repeatable ? "" : "; whether it was carried out is not known";
  return new SchedulerError("unreachable", `${url}: no answer: ${reasonOf(cause)}${doubt}`, {
    details: { url },
    retryable: true,
    cause,
  });
}

/** Runtimes hide why a connection failed in the causes of a bare "fetch failed". */
function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let one = error; one instanceof Error && reasons.length < 4; one = one.cause) {
    const { message, code } = one as Error & { readonly code?: unknown };
    const reason = message !== "" ? message : String(code ?? one.name);
    if (!reasons.includes(reason)) reasons.push(reason);
  }
  return reasons.length === 0 ? String(error) : reasons.join(": ");
}

function parsed(response: Response, text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ExchangeError(foreign(response, text, url, false, cause), response.status);
  }
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** A browser tells neither the status of a redirect nor its headers. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || REDIRECTS.includes(status);
}

function redirected(response: Response, url: string): ExchangeError {
  void response.body?.cancel().catch(() => {});
  const { status, headers } = response;
  const place = headers.get("location");
  const origin = place !== null && URL.canParse(place, url) ? new URL(place, url).origin : undefined;
  // Of a scheme that has no origin the URL says "null".
  const to = origin === undefined || origin === "null" ? "elsewhere" : `to ${origin}`;
  const told = status === 0 ? "the answer" : `status ${status}`;
  const message = `${url}: ${told} redirects ${to}, and redirects are refused; expected a scheduler's answer`;
  const details = { url, status, ...(to === "elsewhere" ? {} : { origin }) };
  return new ExchangeError(new SchedulerError("unreachable", message, { details }), status);
}

/** The error of an answer that is none of ours: of a proxy, or of another server. */
function foreign(
  { status, headers }: Response,
  text: string,
  url: string,
  retryable: boolean,
  cause?: unknown,
): SchedulerError {
  const type = text === "" ? "no body" : headers.get("content-type") ?? "a body without a content type";
  const message = `${url}: something else than a scheduler answered: status ${status} with ${type}; ` +
    "expected a scheduler's answer";
  return new SchedulerError("unreachable", message, {
    details: { url, status },
    retryable,
    ...(cause === undefined ? {} : { cause }),
  });
}

function failed(response: Response, text: string, url: string): ExchangeError {
  const { status, headers } = response;
  const afterMs = retryAfterMs(headers.get("retry-after"), Date.now(), CLIENT_RETRY_MAX_MS);
  const problem = headers.get("content-type")?.startsWith("application/problem+json") ? readProblem(text) : undefined;
  const error = problem === undefined ? foreign(response, text, url, BUSY.includes(status)) : errorFromWire(problem);
  return new ExchangeError(error, status, afterMs);
}

/** A problem document as the error that it tells; `undefined` for one that tells none of ours. */
function readProblem(text: string): WireError | undefined {
  let problem: unknown;
  try {
    problem = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(problem) || typeof problem.detail !== "string") return undefined;
  const { name, code, detail, details, retryable } = problem;
  if (typeof name !== "string" && typeof code !== "string") return undefined;
  return { name: name ?? "SchedulerError", message: detail, code, details, retryable } as WireError;
}
