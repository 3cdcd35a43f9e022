import type { Json, Principal, RunContext, ScheduleKind } from "../../../../src/contract/mod.ts";
import { answerOf, type WebhookAnswer } from "./answer.ts";
import { post } from "./post.ts";
import { signatureOf, signedContent, type SigningKey, utf8 } from "./signing.ts";
import type { CheckedDestinations } from "./target.ts";

/** What a delivery carries, as JSON: the form that Standard Webhooks recommends, with the run beside it. */
export interface WebhookPayload {
  /** The task's name. */
  readonly type: string;
  /** The deadline that the run stands for, as ISO 8601 text in UTC. */
  readonly timestamp: string;
  /** The input; absent when the run has none. */
  readonly data?: unknown;
  /** What else a handler is told of its run. */
  readonly run: WebhookRun;
}

/** A run as a delivery tells of it: see `RunContext`. */
export interface WebhookRun {
  /** The run's id; another one for each attempt. */
  readonly id: string;
  /** The schedule that the run belongs to. */
  readonly schedule: { readonly id: string; readonly name?: string; readonly kind: ScheduleKind };
  /** 1 for the first run of a deadline. */
  readonly attempt: number;
  /** Missed points folded into it. */
  readonly missed: number;
  /** Milliseconds since the schedule's previous run started. */
  readonly elapsed: number;
  /** The value given at creation. */
  readonly state?: Json;
  /** What the schedule is about. */
  readonly target?: string;
  /** The id of the schedule's owner. */
  readonly owner: string;
  /** Whom the run acts for. */
  readonly runAs: string;
  /** The client that invoked it; absent for a scheduled run. */
  readonly caller?: Principal;
}

/** Where and how a task is delivered. */
export interface Delivery {
  readonly url: URL;
  readonly keys: readonly SigningKey[];
  readonly destinations: CheckedDestinations;
  readonly timeoutMs: number;
}

/**
 * The id of all attempts at one deadline: what the receiver tells a repetition by. No part of it holds a dot, which
 * separates the parts of what is signed.
 */
export function deliveryId({ schedule, scheduledAt }: Pick<RunContext, "schedule" | "scheduledAt">): string {
  return `${schedule.id}_${scheduledAt.getTime()}`;
}

/** Delivers a run, and answers what its receiver says. */
export async function deliver(
  { url, keys, destinations, timeoutMs }: Delivery,
  task: string,
  input: unknown,
  context: RunContext,
): Promise<WebhookAnswer> {
  const body = JSON.stringify(payloadOf(task, input, context));
  const id = deliveryId(context);
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = {
    "content-type": "application/json",
    "accept": "application/json",
    "user-agent": "ostinato-scheduler",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": await signatureOf(keys, signedContent(id, timestamp, utf8(body))),
  };
  const { signal } = context;
  return answerOf(await post({ url, destinations, headers, body, timeoutMs, signal }), url.origin, Date.now());
}

function payloadOf(task: string, data: unknown, context: RunContext): WebhookPayload {
  const { scheduledAt, runId, schedule, attempt, missed, elapsed, state, target, owner, runAs, caller } = context;
  const { id, name, kind } = schedule;
  return {
    type: task,
    timestamp: scheduledAt.toISOString(),
    data,
    run: {
      id: runId,
      schedule: { id, ...(name === undefined ? {} : { name }), kind },
      attempt,
      missed,
      elapsed,
      ...(state === undefined ? {} : { state }),
      ...(target === undefined ? {} : { target }),
      owner,
      runAs,
      ...(caller === undefined ? {} : { caller }),
    },
  };
}
