import {
  FaultError,
  type InputSchema,
  invalidOption,
  isPlainObject,
  type Json,
  MAX_NAME_LENGTH,
  parseInstant,
  type Principal,
  type RunSchedule,
  type SchemaResult,
} from "../../../../src/contract/mod.ts";
import { isReason, type WebhookAnswer } from "./answer.ts";
import type { WebhookPayload } from "./delivery.ts";
import { Rejected, type VerifiedDelivery } from "./verify.ts";

/** What the handler of a {@linkcode webhookReceiver} is told besides the input: the run, as its scheduler tells of it. */
export interface ReceivedContext {
  /** The same for all attempts at one deadline: the idempotency key. */
  readonly id: string;
  /** The task's name. */
  readonly task: string;
  /** The deadline that the run stands for. */
  readonly scheduledAt: Date;
  /** Milliseconds since the schedule's previous run started; 0 the first time. */
  readonly elapsed: number;
  /** 1 for the first run of a deadline. */
  readonly attempt: number;
  /** The run's id; another one for each attempt. */
  readonly runId: string;
  /** The value given at creation. */
  readonly state: Json | undefined;
  /** What the schedule is about. */
  readonly target: string | undefined;
  /** Missed points folded into this run. */
  readonly missed: number;
  /** Aborts when the sender hangs up: after its timeout, or when its run is aborted. */
  readonly signal: AbortSignal;
  /** The schedule that the run belongs to. */
  readonly schedule: RunSchedule;
  /** The id of the schedule's owner. */
  readonly owner: string;
  /** Whom the run acts for. */
  readonly runAs: string;
  /** The client that invoked the run; `undefined` for a scheduled one. */
  readonly caller: Principal | undefined;
  /** Ends the schedule with this run, for a reason of at most 200 characters. Errors: `invalid_option`. */
  retire(reason: string): void;
}

/** The context of a handler, and what the handler said by it. */
export interface Receiving {
  readonly context: ReceivedContext;
  /** What `retire` was given. */
  answer: Pick<WebhookAnswer, "retire">;
}

/** @throws {Rejected} for a body that no webhook task has sent. */
export function receive({ id, body }: VerifiedDelivery, request: Request): Receiving {
  const { run, timestamp, type } = readPayload(body);
  const { schedule, state, target, caller, id: runId, ...rest } = run;
  const receiving: Receiving = {
    answer: {},
    context: {
      ...rest,
      id,
      task: type,
      scheduledAt: new Date(parseInstant(timestamp, "timestamp")),
      runId,
      state,
      target,
      caller,
      schedule: { ...schedule, name: schedule.name },
      // Deno has something to say to whoever asks for it.
      get signal() {
        return request.signal;
      },
      retire(reason) {
        if (!isReason(reason)) throw invalidOption("retire", reason, `text of 1 to ${MAX_NAME_LENGTH} characters`);
        receiving.answer = { retire: reason };
      },
    },
  };
  return receiving;
}

function readPayload(body: unknown): WebhookPayload {
  const given = body as Partial<WebhookPayload>;
  const isPayload = isPlainObject(body) && typeof given.type === "string" && typeof given.timestamp === "string" &&
    isPlainObject(given.run) && isPlainObject(given.run.schedule) && typeof given.run.schedule.id === "string";
  if (isPayload) return given as WebhookPayload;
  throw new Rejected(400, "the body is not a run's: expected type, timestamp, data and run");
}

/**
 * What the schema makes of the input.
 *
 * @throws {FaultError} not to be tried again, when it refuses.
 */
export async function readReceived(schema: InputSchema | undefined, body: unknown): Promise<unknown> {
  const { data } = body as WebhookPayload;
  if (schema === undefined) return data;
  const result: SchemaResult<unknown> = await schema["~standard"].validate(data);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, 10).map(({ message, path = [] }) => {
    const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
    return `${["input", ...keys].join(".")}: ${message}`;
  });
  throw new FaultError(issues.join("; "), { retry: false });
}
