/**
 * Every bound of what operators and observers ask of the HTTP transport, and its reason.
 *
 * @module
 */

/** Due schedules from which on an instance says that it is not ready, unless told otherwise: minutes of work for most. */
export const DEFAULT_MAX_DUE = 10_000;
/** How long `/readyz` waits for the store, in milliseconds: most probes give up after one to ten seconds. */
export const READY_TIMEOUT_MS = 2_000;
/** For how long an answer of the store serves whoever asks for it: probes and scrapes by the second ask it once. */
export const LOOK_FRESH_MS = 1_000;
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
