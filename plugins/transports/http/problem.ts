import { HTTPException } from "hono/http-exception";
import {
  errorToWire,
  isSchedulerError,
  type Json,
  type Logger,
  SchedulerError,
  type SchedulerErrorCode,
  show,
} from "../../../src/contract/mod.ts";

/** The status of each code. */
export const STATUS: Readonly<Record<SchedulerErrorCode, number>> = {
  unknown_task: 404,
  unknown_option: 400,
  invalid_option: 400,
  invalid_input: 400,
  input_too_large: 413,
  state_too_large: 413,
  invalid_time: 400,
  invalid_duration: 400,
  invalid_cron: 400,
  invalid_timezone: 400,
  deadline_out_of_range: 400,
  not_found: 404,
  permission_denied: 403,
  unauthenticated: 401,
  rate_limited: 429,
  conflict: 409,
  no_caller: 409,
  closed: 503,
  lease_lost: 409,
  store_unavailable: 503,
  store_too_new: 500,
  config_invalid: 500,
  unreachable: 503,
};

/** An RFC 9457 problem document. */
export interface Problem {
  /** Always `"about:blank"`: `code` says what it is. */
  readonly type: string;
  /** The status in words. */
  readonly title: string;
  /** The status. */
  readonly status: number;
  /** What was given, what was expected, and where. */
  readonly detail: string;
  /** The scheduler's code; absent for what a handler threw, and for a fault of the server. */
  readonly code?: SchedulerErrorCode;
  /** Facts for programs. */
  readonly details?: Json;
  /** Whether the same request may succeed later without any change. */
  readonly retryable?: boolean;
  /** The name of the error that a handler threw. */
  readonly name?: string;
}

/** An error with the status and the headers that it is answered with, where its code alone does not say. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: SchedulerError;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, error: SchedulerError, headers: Readonly<Record<string, string>> = {}) {
    super(error.message);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

/** Refuses a request with a status and a code. */
export function refusal(
  status: number,
  code: SchedulerErrorCode,
  message: string,
  headers?: Readonly<Record<string, string>>,
  retryable = false,
): Refusal {
  return new Refusal(status, new SchedulerError(code, message, { retryable }), headers);
}

/** What a task's handler threw while a client invoked it. */
export class TaskFailure extends Error {
  constructor(cause: unknown) {
    super("the task failed", { cause });
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  421: "Misdirected Request",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** The answer to a request that failed. What is no error of the scheduler's is told to the logger, and to nobody else. */
export function problemResponse(error: unknown, logger: Logger): Response {
  if (error instanceof Refusal) return respond(error.status, problemOf(error.error, error.status), error.headers);
  if (error instanceof TaskFailure) return taskProblem(error.cause);
  if (isSchedulerError(error)) {
    const status = statusOf(error);
    const headers: Record<string, string> = status === 503 && error.retryable ? { "retry-after": "1" } : {};
    return respond(status, problemOf(hidden(error), status), headers);
  }
  if (error instanceof HTTPException) {
    const { status } = error;
    return respond(status, { type: "about:blank", title: titleOf(status), status, detail: error.message });
  }
  logger.error("http: a request failed", error);
  const detail = "an error of the server, which its log tells of";
  return respond(500, { type: "about:blank", title: titleOf(500), status: 500, detail });
}

/** An `If-Match` that did not hold is a conflict with a status of its own. */
function statusOf(error: SchedulerError): number {
  if (isHidden(error)) return 404;
  if (error.code === "conflict" && Object.hasOwn(error.details ?? {}, "revision")) return 412;
  return STATUS[error.code];
}

/** A schedule that the caller may not see is answered like one that there is not. */
function isHidden({ code, details }: SchedulerError): boolean {
  return code === "permission_denied" && typeof details?.id === "string" && details.where === undefined;
}

function hidden(error: SchedulerError): SchedulerError {
  return isHidden(error) ? notFound(error.details.id) : error;
}

/** The error for an id that names no schedule that the caller may see: to the letter what the scheduler says of none. */
export function notFound(id: unknown): SchedulerError {
  const message = `schedule ${String(id).slice(0, 80)}: there is none of this id; ` +
    "what has retired is kept for its retention, 60 s unless set, and what was stopped is not";
  return new SchedulerError("not_found", message, { details: { id } });
}

/** The error for a name by which the caller has no schedule. */
export function noneOfName(name: string): SchedulerError {
  return new SchedulerError("not_found", `schedule ${show(name)}: there is none of this name`, { details: { name } });
}

function problemOf(error: SchedulerError, status: number): Problem {
  const { code, message, details, retryable } = errorToWire(error);
  return {
    type: "about:blank",
    title: titleOf(status),
    status,
    detail: message,
    ...(code === undefined ? {} : { code }),
    ...(details === undefined ? {} : { details }),
    retryable: retryable === true,
  };
}

/** The handler's own error, as the caller would see it in the process: by its name and message, or by its code. */
function taskProblem(error: unknown): Response {
  const title = "The task failed";
  if (isSchedulerError(error)) return respond(500, { ...problemOf(error, 500), title });
  const { name, message } = errorToWire(error);
  return respond(500, { type: "about:blank", title, status: 500, detail: message, name });
}

function titleOf(status: number): string {
  return TITLES[status] ?? "Error";
}

function respond(status: number, problem: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(problem), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}
