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
/** Characters of a token, for the same reason. */
export const MAX_TOKEN_LENGTH = 1_000;

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

/** Due schedules from which on an instance says that it is not ready, unless told otherwise: minutes of work for most. */
export const DEFAULT_MAX_DUE = 10_000;
/** How long `/readyz` waits for the store, in milliseconds: most probes give up after one to ten seconds. */
export const READY_TIMEOUT_MS = 2_000;
/** For how long an answer of the store serves whoever asks for it: probes and scrapes by the second ask it once. */
export const LOOK_FRESH_MS = 1_000;
/** Entity tags of one `If-Match`: a client that keeps several answers of a schedule names few. */
export const MAX_ENTITY_TAGS = 100;

/** After so long a look that was never answered is given up, and the next one asks anew. */
export const LOOK_PATIENCE_MS = 30_000;

/** Task names that are labels of their own; further ones share `other`, so that no scrape grows without end. */
export const MAX_TASK_LABELS = 100;
/** How long a scrape waits for the store, in milliseconds: Prometheus gives up after ten seconds. */
export const SCRAPE_TIMEOUT_MS = 5_000;

/** Events that an instance keeps for streams that come back: at ten runs a second, some minutes of them. */
export const KEPT_EVENTS = 10_000;
/** Event streams at once on an instance, unless told otherwise: each costs some KiB and a socket. */
export const MAX_STREAMS = 10_000;
/** Event streams at once of one principal, unless told otherwise: it may be a gateway with many browsers behind it. */
export const MAX_STREAMS_OF_ONE = 1_000;
/** Bytes of one piece that a stream is given; what is left follows once it has taken that. */
export const MAX_PIECE_BYTES = 64 * 1024;
/** Between two signs of life of a silent stream, in milliseconds: proxies cut what is silent for a minute, some for half. */
export const HEARTBEAT_MS = 15_000;
/** A reader that has taken nothing for so long is disconnected; it may come back and resume. */
export const STALL_MS = 60_000;
/** A stream ends after so long, and its reader comes back, so that whoever lost access does not read on for ever. */
export const MAX_STREAM_AGE_MS = 3_600_000;
/** Streams served at one go: some milliseconds of work, as late as a run may be for it. */
export const STREAMS_AT_ONCE = 100;
/** A rest after each go, as so many times as long as it took: readers never take more than a fifth of the thread. */
export const REST_FACTOR = 4;
/** The shortest rest: what happens meanwhile goes out together. */
export const MIN_REST_MS = 10;
/** How long a reader waits before it comes back, in milliseconds: what `retry` tells it. */
export const RETRY_MS = 2_000;
