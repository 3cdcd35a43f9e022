import { type Duration, isPlainObject, MAX_NAME_LENGTH, parseDuration, show } from "../../../../src/contract/mod.ts";
import { retryAfterMs } from "../retry_after.ts";
import { MAX_EXCERPT, MAX_RETRY_AFTER_MS } from "./limits.ts";
import type { PostResponse } from "./post.ts";
import { WebhookError } from "./webhook_error.ts";

/** What a receiver says of the runs to come, in the body of a 2xx. */
export interface WebhookAnswer {
  /** A delay, as a handler's `again(delay)`. */
  readonly again?: Duration;
  /** A reason, as a handler's `ctx.retire(reason)`. */
  readonly retire?: string;
}

/**
 * What a response settles its run with.
 *
 * @param now For a `Retry-After` that is a date, in milliseconds.
 * @throws {WebhookError} what is a fault, with what it says of further attempts.
 */
export function answerOf(response: PostResponse, origin: string, now: number): WebhookAnswer {
  const { status } = response;
  if (status >= 200 && status < 300) return acceptedAnswer(response, `POST ${origin}`);
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  const retry = isFinal ? false : retryAfterMs(response.retryAfter, now, MAX_RETRY_AFTER_MS);
  const told = `POST ${origin}: ${status} ${response.statusText}`.trimEnd();
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  throw new WebhookError(`${told}${redirect}${excerpt(response.body)}`, {
    status,
    ...(retry === undefined ? {} : { retry }),
  });
}

function acceptedAnswer({ status, contentType, body }: PostResponse, what: string): WebhookAnswer {
  // The work is done: to ask for it once more would not mend the answer.
  const nonsense = (said: string) =>
    new WebhookError(`${what}: ${status} with ${said}; the work was accepted and is not asked for again`, {
      status,
      retry: false,
    });
  const text = new TextDecoder().decode(body).trim();
  const given = text === "" ? undefined : parsed(text, contentType, nonsense);
  // A receiver that knows nothing of all this may say what it likes, such as "ok".
  if (!isPlainObject(given)) return {};
  const { again, retire } = given;
  if (again !== undefined && !isDelay(again)) throw nonsense(`"again": ${show(again)}, which is not a duration`);
  if (retire !== undefined && !isReason(retire)) {
    throw nonsense(`"retire": ${show(retire)}, which is not text of 1 to ${MAX_NAME_LENGTH} characters`);
  }
  return { ...(again === undefined ? {} : { again }), ...(retire === undefined ? {} : { retire }) };
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;

function parsed(text: string, contentType: string | undefined, nonsense: (said: string) => Error): unknown {
  const saysJson = contentType === undefined ? text.startsWith("{") : JSON_TYPE.test(contentType);
  if (!saysJson && !text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    if (saysJson) throw nonsense("a body that is not JSON");
    return undefined;
  }
}

function isDelay(value: unknown): value is Duration {
  try {
    parseDuration(value as Duration);
    return true;
  } catch {
    return false;
  }
}

/** Whether text may be a reason to retire with. */
export function isReason(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME_LENGTH && value.isWellFormed() &&
    !value.includes("\u0000");
}

/** The beginning of a body, on one line. */
function excerpt(body: Uint8Array): string {
  const text = new TextDecoder().decode(body).replaceAll(/[\p{C}\s]+/gu, " ").trim();
  return text === "" ? "" : `: ${text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}...` : text}`;
}
