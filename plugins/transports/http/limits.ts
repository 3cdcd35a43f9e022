/**
 * Every bound of the HTTP transport and its reason.
 *
 * @module
 */

/** Bytes of one request's body: a list of ten thousand schedules with small inputs, or a hundred with the largest. */
export const DEFAULT_BODY_BYTES = 4 * 1024 * 1024;
/** The largest `maxBodyBytes`: a body is held in memory whole, several times over while it is read. */
export const MAX_BODY_BYTES = 256 * 1024 * 1024;
/** How long a client may take to send a body: on a slow line 4 MiB in this time is 140 KiB a second. */
export const BODY_TIMEOUT_MS = 30_000;
/** Nesting of a body: what an input may have, inside of a transaction's step and of its schedule. */
export const BODY_DEPTH_ABOVE_INPUT = 4;

/** Principals whose rate is remembered, some 100 bytes each; beyond, the one longest unseen begins anew. */
export const MAX_RATED_PRINCIPALS = 10_000;
/** The largest `rateLimit.limit`. */
export const MAX_RATE_LIMIT = 1_000_000;
/** The largest `rateLimit.window`: a principal that used it up waits so long. */
export const MAX_RATE_WINDOW_MS = 86_400_000;

/** Characters of an `Idempotency-Key`: as of any other key. */
export const MAX_IDEMPOTENCY_KEY = 200;

/** Names that `hosts` may hold, and origins that `cors` may: each request is compared with all of them. */
export const MAX_HOSTS = 100;

/** Random bytes of a token that is printed: it cannot be guessed. */
export const TOKEN_BYTES = 32;
/** Tokens that `bearerTokens` takes: each request is compared with all of them, so that the time tells nothing. */
export const MAX_TOKENS = 1_000;

/** How often the client makes a call that may be made again, the first time included. */
export const DEFAULT_ATTEMPTS = 4;
/** The largest `attempts`. */
export const MAX_ATTEMPTS = 100;
/** Backoff of the client: the first delay, doubled each time, of which half to all is waited. */
export const CLIENT_RETRY_MS = 100;
/** See {@linkcode CLIENT_RETRY_MS}; no delay is longer, whatever `Retry-After` says. */
export const CLIENT_RETRY_MAX_MS = 30_000;
/** How long the client waits for an answer by default: longer than any call but `invoke` takes. */
export const DEFAULT_CLIENT_TIMEOUT_MS = 60_000;
