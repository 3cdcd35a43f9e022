/**
 * Every error code of the scheduler, with what it means. A code never changes its meaning; messages may.
 */
export const ERROR_CODES = {
  unknown_task: "No task of that name may be used here.",
  unknown_option: "An option key that no plugin owns.",
  invalid_option: "An option whose value is not of the accepted form.",
  invalid_input: "An input that the task's schema refuses, or that JSON would change.",
  input_too_large: "An input over 32 KiB serialised.",
  state_too_large: "A state over 4 KiB serialised.",
  invalid_time: "Not an instant.",
  invalid_duration: "Not a duration.",
  invalid_cron: "A cron expression that is malformed or that no date satisfies.",
  invalid_timezone: "Not an IANA time zone name.",
  deadline_out_of_range: "A deadline after 9999-12-31T23:59:59.999Z.",
  not_found: "No schedule of that id.",
  permission_denied: "A schedule, or an authority, of somebody else.",
  unauthenticated: "The server does not know who is asking.",
  rate_limited: "Too many requests of this principal; later ones are answered again.",
  conflict: "The change does not fit the state it meets.",
  no_caller: "The run was not invoked by a client.",
  closed: "The scheduler is closed.",
  lease_lost: "The run's lease ran out and the run is no longer this instance's.",
  store_unavailable: "The store did not answer, or refused to write.",
  store_too_new: "The store was written by a newer version of the scheduler.",
  unreachable: "The server did not answer, or something else than a scheduler did.",
  config_invalid: "The scheduler's configuration does not fit together.",
} as const;

/** One of the stable error codes; see {@linkcode ERROR_CODES}. */
export type SchedulerErrorCode = keyof typeof ERROR_CODES;

/** What an error carries besides its code and message. */
export interface SchedulerErrorOptions {
  /** Facts for programs: the offending path, the given value, the nearest known key, … */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Whether the same call may succeed later without any change. Default `false`. */
  readonly retryable?: boolean;
  /** The error underneath, if any. */
  readonly cause?: unknown;
}

/**
 * The one error class of the scheduler. Recognise it by `code`, not by `instanceof`: two copies of the
 * package in one program have two classes and the same codes.
 *
 * @example
 * ```ts
 * import { SchedulerError } from "@ostinato/scheduler";
 *
 * const error = new SchedulerError("invalid_duration", 'jitter: "5 parsecs" is not a duration');
 * console.log(error.code, error.retryable); // invalid_duration false
 * ```
 */
export class SchedulerError extends Error {
  /** Always `"SchedulerError"`. */
  override readonly name = "SchedulerError";
  /** The stable code. */
  readonly code: SchedulerErrorCode;
  /** Facts for programs. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;

  /** Makes an error of a code; the message says what was given, what was expected and where. */
  constructor(code: SchedulerErrorCode, message: string, options: SchedulerErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.retryable = options.retryable ?? false;
  }
}

/**
 * Whether a value is a scheduler's error, of any copy of the package, and of the given code if one is given.
 *
 * @example
 * ```ts
 * import { createScheduler, isSchedulerError } from "@ostinato/scheduler";
 *
 * await using scheduler = createScheduler();
 * try {
 *   await scheduler.info("01JGFJJZ00QWERTYQWERTYQWER");
 * } catch (error) {
 *   console.log(isSchedulerError(error, "not_found")); // true
 * }
 * ```
 */
export function isSchedulerError(value: unknown, code?: SchedulerErrorCode): value is SchedulerError {
  if (typeof value !== "object" || value === null) return false;
  const known = (value as { code?: unknown }).code;
  return typeof known === "string" && Object.hasOwn(ERROR_CODES, known) && (code === undefined || known === code);
}

/** Shows a value in an error message: short, on one line, never throwing, never calling the value's own code. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (value === null || typeof value !== "object") return typeof value === "function" ? "a function" : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid Date" : value.toISOString();
  if (value instanceof Promise) return "a promise";
  return Array.isArray(value) ? `an array of ${value.length}` : "an object";
}
