import {
  type Duration,
  invalidOption,
  isPlainObject,
  type Logger,
  parseDuration,
  plainOptions,
  type Principal,
  wholeNumber,
} from "../../../src/contract/mod.ts";
import { type EventStreamOptions, type EventStreamRules, eventStreamRules } from "./event_stream.ts";
import { type ReadyOptions, type ReadyRules, readyRules } from "./health.ts";
import { refusedValue, showUrl } from "./refused_value.ts";
import type { Webhooks } from "./webhook/stored.ts";
import { DEFAULT_BODY_BYTES, MAX_BODY_BYTES, MAX_HOSTS, MAX_RATE_LIMIT, MAX_RATE_WINDOW_MS } from "./limits.ts";

/** Says who is asking, or `null` for nobody; may answer a promise. What it throws is logged and refuses with 500. */
export type Authenticate = (request: Request) => Principal | null | undefined | Promise<Principal | null | undefined>;

/** What {@linkcode http} takes. */
export interface HttpOptions {
  /**
   * Says who is asking. Without it the app answers only over the loopback interface, and only to whoever sends the token
   * that it prints, as an admin.
   */
  readonly authenticate?: Authenticate;
  /** Refuses every call that changes something, with `permission_denied`. Default `false`. */
  readonly readOnly?: boolean;
  /** Bytes that a request's body may have, whatever its headers say. Default 4 MiB, at most 256 MiB. */
  readonly maxBodyBytes?: number;
  /** Requests that each principal may make within a window; more are answered 429. Default: no limit. */
  readonly rateLimit?: {
    /** How many, from 1 to 1,000,000; also how many at once after a pause. */
    readonly limit: number;
    /** Within which time, from 1 ms to a day. Default `"1s"`. */
    readonly window?: Duration;
  };
  /** Origins whose pages may call: `"https://app.example.com"`, or `"*"` for any. Default: none. */
  readonly cors?: { readonly origin: string | readonly string[] };
  /**
   * Names besides `localhost` by which a request over the loopback interface may call this server: those that a reverse
   * proxy on the same machine passes on. Any other is refused with 421, against DNS rebinding. Default: none.
   */
  readonly hosts?: readonly string[];
  /** When `/readyz` says that the instance is ready. */
  readonly ready?: ReadyOptions;
  /** Bounds of the event streams at `/v1/events`. */
  readonly events?: EventStreamOptions;
  /** Lets admins make webhook tasks under `/v1/webhooks`: the plugin of the scheduler, as `webhooks` answered it. Default: none. */
  readonly webhooks?: Webhooks;
  /** Where the token is printed and what failed here is told. Default `console`. */
  readonly logger?: Logger;
}

/** The options, checked. */
export interface HttpSettings {
  readonly authenticate: Authenticate | undefined;
  readonly readOnly: boolean;
  readonly maxBodyBytes: number;
  readonly rateLimit: { readonly limit: number; readonly windowMs: number } | undefined;
  /** `undefined` where CORS is off. */
  readonly origins: readonly string[] | undefined;
  readonly hosts: readonly string[];
  readonly webhooks: Webhooks | undefined;
  readonly ready: ReadyRules;
  readonly events: EventStreamRules;
  readonly logger: Logger;
}

const KEYS = [
  "authenticate",
  "readOnly",
  "maxBodyBytes",
  "rateLimit",
  "cors",
  "hosts",
  "ready",
  "events",
  "webhooks",
  "logger",
] as const;

/**
 * Checks the options.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option` or `invalid_duration`, naming the key.
 */
export function readHttpOptions(options: unknown): HttpSettings {
  const given = plainOptions(options, KEYS, "http");
  const { authenticate, readOnly = false, maxBodyBytes = DEFAULT_BODY_BYTES, logger = console } = given;
  if (authenticate !== undefined && typeof authenticate !== "function") {
    throw invalidOption(
      "http.authenticate",
      authenticate,
      "a function of the request that answers a principal or null",
    );
  }
  if (typeof readOnly !== "boolean") throw invalidOption("http.readOnly", readOnly, "a boolean");
  return {
    authenticate: authenticate as Authenticate | undefined,
    readOnly,
    maxBodyBytes: wholeNumber(maxBodyBytes, 1, MAX_BODY_BYTES, "http.maxBodyBytes"),
    rateLimit: given.rateLimit === undefined ? undefined : readRate(given.rateLimit),
    origins: given.cors === undefined ? undefined : readOrigins(given.cors),
    hosts: given.hosts === undefined ? [] : readHosts(given.hosts),
    ready: readyRules(given.ready as ReadyOptions | undefined),
    events: eventStreamRules(given.events as EventStreamOptions | undefined),
    webhooks: readWebhooks(given.webhooks),
    logger: readLogger(logger),
  };
}

function readWebhooks(value: unknown): Webhooks | undefined {
  const isOne = ["create", "list", "get", "rotate", "delete"].every((method) =>
    typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[method] === "function"
  );
  if (value === undefined || isOne) return value as Webhooks | undefined;
  throw invalidOption("http.webhooks", value, "what webhooks answers");
}

function readRate(value: unknown): HttpSettings["rateLimit"] {
  const { limit, window = "1s" } = plainOptions(value, ["limit", "window"], "http.rateLimit");
  const windowMs = parseDuration(window as Duration, "http.rateLimit.window");
  return {
    limit: wholeNumber(limit, 1, MAX_RATE_LIMIT, "http.rateLimit.limit"),
    windowMs: wholeNumber(windowMs, 1, MAX_RATE_WINDOW_MS, "http.rateLimit.window"),
  };
}

function readOrigins(value: unknown): readonly string[] {
  const { origin } = plainOptions(value, ["origin"], "http.cors");
  const expected = '"*" or origins such as "https://app.example.com"';
  const origins = textList(typeof origin === "string" ? [origin] : origin, "http.cors.origin", expected);
  for (const one of origins) {
    if (one !== "*" && !isOrigin(one)) throw invalidOption("http.cors.origin", one, expected);
  }
  return origins;
}

function readHosts(value: unknown): readonly string[] {
  const expected = 'names such as "schedules.example.com"';
  return textList(value, "http.hosts", expected).map((text, i) => {
    const name = hostName(text);
    if (name !== undefined) return name;
    throw refusedValue(`http.hosts[${i}]`, showUrl(text), 'a name alone, such as "schedules.example.com"');
  });
}

/** A host's name as URLs write it, which is how that of a request is read. */
function hostName(text: string): string | undefined {
  const isAddress = /^\[?[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*\]?$/.test(text);
  const url = `http://${isAddress && !text.startsWith("[") ? `[${text}]` : text}`;
  if (!isAddress && /[\s/\\:?#@]/.test(text) || !URL.canParse(url)) return undefined;
  return new URL(url).hostname;
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function textList(value: unknown, where: string, expected: string): readonly string[] {
  const isList = Array.isArray(value) && value.length <= MAX_HOSTS;
  if (isList && value.every((one) => typeof one === "string" && one !== "")) {
    return value.map((one) => one.toLowerCase());
  }
  throw invalidOption(where, value, `at most ${MAX_HOSTS} ${expected}`);
}

function readLogger(value: unknown): Logger {
  const isLogger = (isPlainObject(value) || typeof value === "object" && value !== null) &&
    (["error", "warn", "info", "debug"] as const).every((level) => typeof (value as Logger)[level] === "function");
  if (isLogger) return value as Logger;
  throw invalidOption("http.logger", value, "an object with error, warn, info and debug");
}
