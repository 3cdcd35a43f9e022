/**
 * Every bound of the scheduler and its reason. Nothing loops, batches, queues, stores or retries without one of these.
 *
 * @module
 */

/** The latest deadline, 9999-12-31T23:59:59.999Z: the last instant that ISO 8601 writes with four digits of year (T6). */
export const MAX_DEADLINE = 253_402_300_799_999;

/** The longest delay that a runtime's timer holds (2^31-1 ms); a longer one fires at once on Node and Deno (T7). */
export const MAX_TIMER_MS = 2_147_483_647;

/** The default resolution, in milliseconds: below it, timers of both runtimes are not dependable. */
export const DEFAULT_TICK_MS = 10;

/** A task's input, serialised, in bytes: leaves a document room inside Deno KV's 64 KiB a value (S4). */
export const MAX_INPUT_BYTES = 32 * 1024;

/** A schedule's state, serialised, in bytes (S3). */
export const MAX_STATE_BYTES = 4 * 1024;

/** Nesting of an input or a state: deeper values exhaust the stack of JSON parsers elsewhere. */
export const MAX_JSON_DEPTH = 100;

/** Characters in a name, key, target, group, tag, task name or principal id: keys of stores end at 2 KiB. */
export const MAX_NAME_LENGTH = 200;

/** Tags on one schedule: each costs an index entry. */
export const MAX_TAGS = 20;

/** Length of a cron expression: the longest useful one, every value listed, is under this. */
export const MAX_CRON_LENGTH = 1_000;

/** Cadences of cron expressions kept ready, about 1 KiB each: most processes have fewer different ones. */
export const MAX_CRON_CACHE = 2_000;
/** Parsed items of cron fields (`1-5`, `10-50/20`) kept, for the same reason. */
export const MAX_CRON_ITEMS = 2_000;

/**
 * How far a search for the next or the last point goes. Calendars repeat after 400 years and zones follow yearly
 * rules from 2110 at the latest, so what is not found in so many years never comes: an hour that the zone skips on every such day.
 */
export const MAX_CRON_SEARCH_MS = 600 * 365.2425 * 86_400_000;

/** Time zones whose tables are kept: the IANA database has about 600 names, aliases included. */
export const MAX_ZONES = 1_000;
/** Eighths of years of one zone kept in its table, some 150 bytes each: all that differ, from 1800 to 2137. */
export const MAX_ZONE_PARTS = 2_800;
/** Intl formatters kept for reading zones: each costs tens of KiB, and a zone asks it again only for a part of a year not yet read. */
export const MAX_ZONE_FORMATTERS = 8;

/** Text kept of an error's name, message and cause, and of its stack: enough to find it, small enough to store. */
export const MAX_FAULT_MESSAGE = 1_000;
/** See {@linkcode MAX_FAULT_MESSAGE}. */
export const MAX_FAULT_STACK = 4_000;
/** See {@linkcode MAX_FAULT_MESSAGE}; in the history of runs, where there may be many. */
export const MAX_HISTORY_MESSAGE = 300;
/** Causes of causes that are followed: a chain may be a cycle. */
export const MAX_CAUSE_DEPTH = 5;

/** The longest history of runs that a schedule may ask for: it is stored inside the document. */
export const MAX_HISTORY = 100;
/** The history of runs of a schedule that does not ask otherwise (V4). */
export const DEFAULT_HISTORY = 20;

/** Latest decisions kept in a document: what a person reads to see why it did not fire. */
export const MAX_DECISIONS = 12;

/** Points, retries and reruns that may wait at one schedule: they are stored inside the document. */
export const MAX_WAITING = 100;

/** Runs of one schedule beside one another under `concurrent`: they are stored inside the document. */
export const MAX_CONCURRENT_RUNS = 100;

/** The `limit` of catchup `all` where none is given: what a person means by some, and no burst. */
export const DEFAULT_CATCHUP_LIMIT = 100;

/** The `limit` of overlap `queue` where none is given: the one point that O2 speaks of. */
export const DEFAULT_QUEUE_LIMIT = 1;

/** The largest `limit` of catchup `all`: beyond it a person wants a batch, not runs. */
export const MAX_CATCHUP_LIMIT = 100_000;

/** The largest `maxLost`: a deadline that took more instances with it than this will take the next one too (M3). */
export const MAX_LOST = 100;

/**
 * Losses of one deadline from which on it starts again at a random instant within a third of a lease, and no longer at
 * once: runs that are claimed together would else be lost together each time, and retire with the one among them that ends
 * their process. One loss is an accident as a rule, a second one rarely is (M3).
 */
export const SPREAD_LOSSES = 2;
/** The part of a lease: time enough for most runs to be over before the next begins, and less than the loss itself took. */
export const SPREAD_LEASE = 1 / 3;

/** The largest retry limit. */
export const MAX_RETRIES = 1_000;

/** The grace after which a point counts as missed is never more than this by default (C1). */
export const MAX_DEFAULT_GRACE_MS = 60_000;

/** How long a handler may ignore its signal after a timeout, or after a close's drain time, before its slot is taken (F5, X1). */
export const ABORT_GRACE_MS = 5_000;

/**
 * How long closing waits, at each step, for a store that neither does what it is asked nor refuses it: its network may be
 * gone without a word. The leases of what is not handed back then run out by themselves (X1).
 */
export const RELEASE_MS = 5_000;

/**
 * Milliseconds for which a call inside the application's transaction waits for the store to be opened: long enough for
 * that, and what is in its way may be the transaction itself, which then has to end (U4).
 */
export const MAX_ENLIST_OPEN_MS = 5_000;

/** Documents that one `advance` takes: a batch's transaction stays in the order of ten milliseconds. */
export const MAX_ADVANCE = 1_000;

/** Outcomes that wait until what is due has been claimed: enough for a burst, few enough to be written in one go. */
export const MAX_HELD_SETTLEMENTS = 1_000;
/** Milliseconds for which they wait: where claiming never pauses, schedules would else stay as if they were running. */
export const MAX_HELD_MS = 50;

/** Groups that one commit holds, for the same reason. */
export const MAX_GROUPS = 5_000;

/**
 * Operations in one group, so in one unit of work, one `createMany` or one `sync`: a group is applied in one piece, in
 * memory and in one commit, whose transaction then lasts in the order of a second.
 */
export const MAX_OPERATIONS = 10_000;

/** How long a creation with an idempotency key is remembered: whoever tries again does so within a day. */
export const IDEMPOTENCY_MS = 86_400_000;
/** Schedules of one creation with an idempotency key: their ids are kept in one document, with room to spare in 32 KiB. */
export const MAX_IDEMPOTENT_CREATIONS = 1_000;

/** Rows of one page of a list. */
export const MAX_PAGE = 1_000;
/** Rows of one page of a list unless asked otherwise. */
export const DEFAULT_PAGE = 100;

/** Deadlines that one `nextRuns` answers: it works them out at once, on the caller's time (K6). */
export const MAX_NEXT_RUNS = 10_000;

/**
 * Text of stored documents, in characters, that a driver keeps decoded: some ten thousand schedules, several times as
 * many bytes.
 */
export const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;

/** Definitions of recurring schedules that a driver keeps parsed, some 2 KiB each. */
export const MAX_CACHED_DEFINITIONS = 20_000;

/** What one commit of Deno KV holds: keys that are checked, keys that are changed, bytes of both with their values. */
export const MAX_KV_CHECKS = 100;
/** Keys that a commit through the package `@deno/kv` may check (0.14.0), and the least that any handle is known to take. */
export const MAX_KV_CHECKS_ELSEWHERE = 10;
/** See {@linkcode MAX_KV_CHECKS}. */
export const MAX_KV_MUTATIONS = 1_000;
/** See {@linkcode MAX_KV_CHECKS}. */
export const MAX_KV_COMMIT_BYTES = 800 * 1024;
/** Bytes of one value of Deno KV. */
export const MAX_KV_VALUE_BYTES = 64 * 1024;
/** Bytes of a document as it is created in Deno KV, serialised: the users of KV know that size. */
export const MAX_KV_DOCUMENT_BYTES: number = MAX_KV_VALUE_BYTES;
/**
 * Values that a document may take in Deno KV: it grows by what its runs leave in it (100 runs, their history, a fault:
 * below 400 KiB in all), must still fit into one commit, and is read in one snapshot of {@linkcode MAX_KV_READ_KEYS}.
 */
export const MAX_KV_PARTS = 9;
/** Changes in one unit of work in Deno KV: each checks a key at least. */
export const MAX_KV_OPERATIONS: number = MAX_KV_CHECKS;
/** Keys that Deno KV reads in one snapshot. */
export const MAX_KV_READ_KEYS = 10;
/** Entries that Deno KV lists in one call; and what several instances choose from while they claim side by side. */
export const MAX_KV_LIST_BATCH = 500;
/**
 * Documents that share an entry of when they wake in Deno KV: it then costs each a hundredth of what its own would, and is
 * no more than 4 KiB to read where only one of them is left.
 */
export const MAX_KV_SHARED_WAKE = 100;
/** Such entries, and lists of live documents, that a handle knows without reading them: those of some 25,000 runs. */
export const MAX_KV_KNOWN_WAKES = 500;
/** How often a commit is made anew because another instance was faster: some seconds in all. */
export const MAX_KV_ATTEMPTS = 50;
/** The same where documents are claimed: what others have taken meanwhile need not be fought for. */
export const MAX_KV_CLAIM_ATTEMPTS = 4;

/**
 * Pages of an SQLite file that its connection keeps, in KiB: a burst of {@linkcode MAX_ADVANCE} documents lies on as many
 * pages of 4 KiB, beside those of the indexes, and is written twice, when it is claimed and when it is settled.
 */
export const SQLITE_CACHE_KIB = 8_192;

/**
 * Bytes of the log beside an SQLite file that are kept once it has been carried over: several times what commits leave
 * between two checkpoints. A reader that lasts, such as a backup, lets it grow by all that is written meanwhile.
 */
export const SQLITE_LOG_BYTES: number = 16 * 1024 * 1024;

/** How long a driver waits for another connection's lock before it gives up, unless told otherwise: what SQLite's users are used to. */
export const DEFAULT_BUSY_TIMEOUT_MS = 5_000;

/** Shortest time between two looks whether another process has changed the store: at most four a second. */
export const STORE_LOOK_MS = 250;
/** Pauses between the looks that follow a report of a write: its commit, whose flush a busy disk may hold up for seconds, is seen after it. */
export const STORE_LOOKS_MS: readonly number[] = [STORE_LOOK_MS, 1_000, 5_000];
/** Time between two looks at the files themselves where writes are reported: a report may be lost, and no other need follow it. */
export const STORE_QUIET_LOOK_MS = 10_000;

/** Longest sleep between two looks at the clock: how late a stepped clock, or a machine that slept, is noticed (T8). No store is asked. */
export const CLOCK_CHECK_MS = 1_000;
/** Jumps of the clock shorter than this are left to the leases' own slack, and are not spoken of. */
export const NOTICED_JUMP_MS = 1_000;

/** Lease times that may be configured: below, renewing costs more than it gives; above, a crash blocks for too long. */
export const MIN_LEASE_MS = 100;
/** See {@linkcode MIN_LEASE_MS}. */
export const MAX_LEASE_MS = 3_600_000;

/** Backoff of calls to a store that failed: first delay, longest delay (M6). */
export const STORE_RETRY_MS = 100;
/** See {@linkcode STORE_RETRY_MS}. */
export const STORE_RETRY_MAX_MS = 5_000;

/** How long an instance leaves a schedule whose policy it does not know, so that it does not find it again at once. */
export const UNKNOWN_POLICY_RECHECK_MS = 5_000;

/** How often overdue deadlines that no instance can run are looked for, and after how long one counts (M2). */
export const UNCLAIMED_CHECK_MS = 60_000;
/** See {@linkcode UNCLAIMED_CHECK_MS}. */
export const UNCLAIMED_AFTER_MS = 5_000;

/** Due schedules that `backlog` counts of one task unless asked otherwise: enough for a gauge. */
export const DEFAULT_BACKLOG_COUNT = 1_000;
/** The most that it counts: every one is an entry of an index that is read. */
export const MAX_BACKLOG_COUNT = 100_000;
/** Tasks kept in the store that an instance knows: each is a lane that it looks into. */
export const MAX_KEPT_TASKS = 10_000;
/** Shortest time between two looks at the tasks that are kept in the store: others' changes come by the thousand. */
export const TASKS_LOOK_MS = 1_000;

/** A commit that takes longer than so many milliseconds waits for a flush of a disk: others are worth waiting for then. */
export const SLOW_COMMIT_MS = 1;

/** The largest number of runs that an instance may execute together. */
export const MAX_CONCURRENCY = 10_000;

/** The longest duration: anything longer passes {@linkcode MAX_DEADLINE} from any instant since 1970. */
export const MAX_DURATION_MS: number = MAX_DEADLINE;
