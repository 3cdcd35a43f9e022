import {
  type Duration,
  invalidOption,
  MAX_TIMER_MS,
  parseDuration,
  plainOptions,
  wholeNumber,
} from "../../../../src/contract/mod.ts";
import { refusedValue, showSecret, showUrl } from "../refused_value.ts";
import { DEFAULT_ATTEMPTS, DEFAULT_CLIENT_TIMEOUT_MS, MAX_ATTEMPTS } from "../limits.ts";

/** What {@linkcode httpClient} takes. */
export interface HttpClientOptions {
  /** Sent as `Authorization: Bearer …`; a function is asked before each request, so that tokens may expire. */
  readonly token?: string | (() => string | Promise<string>);
  /** Aborts whatever this client is doing, with the signal's reason. A client costs nothing: make one for each signal. */
  readonly signal?: AbortSignal;
  /**
   * How often a call that may be made again is made in all, when the server cannot be reached or says that it cannot now.
   * Default 4, at most 100.
   */
  readonly attempts?: number;
  /** How long each attempt may take; 0 means for ever. Default 60 s, and for `invoke` for ever. */
  readonly timeout?: Duration;
  /** What makes requests. Default: the runtime's `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** The options, checked. */
export interface HttpClientSettings {
  /** The server's address, without a slash at the end. */
  readonly base: string;
  readonly token: () => string | undefined | Promise<string | undefined>;
  readonly signal: AbortSignal | undefined;
  readonly attempts: number;
  readonly timeoutMs: number;
  /** The timeout of calls that take as long as somebody's handler. */
  readonly invokeTimeoutMs: number;
  readonly fetch: (request: Request) => Promise<Response>;
}

const KEYS = ["token", "signal", "attempts", "timeout", "fetch"] as const;

/**
 * Checks the address and the options.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option` or `invalid_duration`, naming the key.
 */
export function readClientOptions(url: unknown, options: unknown): HttpClientSettings {
  const { token, signal, attempts = DEFAULT_ATTEMPTS, timeout, fetch } = plainOptions(options, KEYS, "httpClient");
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidOption("httpClient.signal", signal, "an AbortSignal");
  }
  if (fetch !== undefined && typeof fetch !== "function") throw invalidOption("httpClient.fetch", fetch, "a function");
  const timeoutMs = timeout === undefined ? undefined : readTimeout(timeout);
  return {
    base: readBase(url),
    token: readToken(token),
    signal,
    attempts: wholeNumber(attempts, 1, MAX_ATTEMPTS, "httpClient.attempts"),
    timeoutMs: timeoutMs ?? DEFAULT_CLIENT_TIMEOUT_MS,
    invokeTimeoutMs: timeoutMs ?? 0,
    fetch: (fetch ?? ((request: Request) => globalThis.fetch(request))) as HttpClientSettings["fetch"],
  };
}

function readTimeout(value: unknown): number {
  const ms = parseDuration(value as Duration, "httpClient.timeout");
  return wholeNumber(Math.ceil(ms), 0, MAX_TIMER_MS, "httpClient.timeout");
}

function readBase(value: unknown): string {
  const text = value instanceof URL ? value.href : value;
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  const fits = url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" &&
    url.username === "" && url.password === "";
  if (fits) return url.href.replace(/\/+$/, "");
  throw refusedValue("httpClient.url", showUrl(value), 'an address such as "https://schedules.example.com/base"');
}

function readToken(value: unknown): HttpClientSettings["token"] {
  if (value === undefined) return () => undefined;
  if (typeof value === "function") {
    return async () => {
      const token: unknown = await value();
      return token === undefined ? undefined : checkToken(token);
    };
  }
  const token = checkToken(value);
  return () => token;
}

/** What `fetch` would say of a wrong token shows it. */
function checkToken(value: unknown): string {
  if (typeof value === "string" && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  const expected = "a token in ASCII without spaces around it, or a function that answers one";
  throw refusedValue("httpClient.token", showSecret(value), expected);
}
