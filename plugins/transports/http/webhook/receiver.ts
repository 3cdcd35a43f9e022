import {
  AGAIN,
  type Again,
  type Duration,
  type InputSchema,
  invalidOption,
  parseDuration,
  plainOptions,
  RETRY,
  SchedulerError,
} from "../../../../src/contract/mod.ts";
import type { WebhookAnswer } from "./answer.ts";
import { DEFAULT_TOLERANCE_MS, MAX_TOLERANCE_MS } from "./limits.ts";
import { readReceived, receive, type ReceivedContext } from "./received.ts";
import { type DeliveryStore, RememberedDeliveries } from "./remembered.ts";
import { readSecrets, type SigningKey } from "./signing.ts";
import { isSchema } from "./task.ts";
import { Rejected, type VerifiedDelivery, verifyDelivery } from "./verify.ts";

/** What {@linkcode webhookReceiver} takes. */
export interface WebhookReceiverOptions<Input = unknown, Output = Input> {
  /** The secret of the webhook task; several while one is being replaced. */
  readonly secret: string | readonly string[];
  /** Validates the input; a refusal is answered 422, which is not tried again. Default: any JSON value. */
  readonly input?: InputSchema<Input, Output>;
  /**
   * The handler. What it returns and throws means what it means in a task: `again(delay)` sets the next deadline, a
   * `FaultError` says whether to try again, and anything else that is thrown goes to the app's `onError`, whose 500 is
   * tried again as `retry` says.
   */
  readonly run: (input: Output, context: ReceivedContext) => unknown;
  /** How far the timestamp may be from this machine's clock, up to an hour. Default `"5m"`. */
  readonly tolerance?: Duration;
  /**
   * Where answers are kept, so that a delivery that comes again is not carried out again. Default: the latest 10,000 in
   * memory, of this receiver alone.
   */
  readonly deliveries?: DeliveryStore;
}

/** A request as Hono hands it to a handler. */
export interface ReceivedRequest {
  /** Hono's request. */
  readonly req: {
    /** The request of the platform, whose body nobody has read. */
    readonly raw: Request;
  };
}

interface Settings {
  readonly keys: readonly SigningKey[];
  readonly schema: InputSchema | undefined;
  readonly run: (input: never, context: ReceivedContext) => unknown;
  readonly toleranceMs: number;
  readonly deliveries: DeliveryStore;
}

const KEYS = ["secret", "input", "run", "tolerance", "deliveries"] as const;

/**
 * The other end of a webhook task, as a handler for Hono: verifies that one of the secrets has signed the request within the
 * tolerance, calls the handler with the input and what the run is told, and answers what the task understands. A delivery
 * that was carried out is not carried out again: it gets the answer that it got, and one that comes twice at once shares a
 * run. A handler that threw is called again with the next attempt.
 *
 * It reads the body as it arrives, up to 128 KiB, so nothing before it may have read it. Refusals are problem documents:
 * 400, 401, 413 or 422, none of which a webhook task tries again.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option` or `invalid_duration`; none tells the secret.
 * @example
 * ```ts
 * import { again } from "@ostinato/scheduler";
 * import { webhookReceiver } from "@ostinato/scheduler/http";
 * import { Hono } from "hono";
 *
 * const app = new Hono();
 * app.post(
 *   "/hooks/notify",
 *   webhookReceiver({
 *     secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
 *     run(input: { order: string }, { attempt }) {
 *       console.log(input.order, attempt);
 *       return again("1h");
 *     },
 *   }),
 * );
 * console.log((await app.request("/hooks/notify", { method: "POST" })).status); // 400
 * ```
 */
export function webhookReceiver<Input = unknown, Output = Input>(
  options: WebhookReceiverOptions<Input, Output>,
): (context: ReceivedRequest) => Promise<Response> {
  const settings = readOptions(options);
  const underWay = new Map<string, Promise<WebhookAnswer>>();
  return async ({ req: { raw } }) => {
    if (raw.bodyUsed) {
      throw new SchedulerError("config_invalid", "webhookReceiver: the body was read before, so it cannot be verified");
    }
    try {
      const delivery = await verifyDelivery(raw, settings.keys, settings.toleranceMs);
      return Response.json(await settle(settings, underWay, delivery, raw));
    } catch (error) {
      return refusalOf(error);
    }
  };
}

function readOptions(options: unknown): Settings {
  const where = "webhookReceiver";
  const { secret, input, run, tolerance, deliveries = new RememberedDeliveries() } = plainOptions(options, KEYS, where);
  const toleranceMs = parseDuration((tolerance ?? DEFAULT_TOLERANCE_MS) as Duration, `${where}.tolerance`);
  if (toleranceMs > MAX_TOLERANCE_MS) throw invalidOption(`${where}.tolerance`, tolerance, "at most an hour");
  if (typeof run !== "function") throw invalidOption(`${where}.run`, run, "a function");
  if (input !== undefined && !isSchema(input)) throw invalidOption(`${where}.input`, input, "a Standard Schema");
  const { get, set } = deliveries as Partial<DeliveryStore>;
  if (typeof get !== "function" || typeof set !== "function") {
    throw invalidOption(`${where}.deliveries`, deliveries, "an object with get and set");
  }
  return {
    keys: readSecrets(secret, `${where}.secret`),
    schema: input as InputSchema | undefined,
    run: run as Settings["run"],
    toleranceMs,
    deliveries: deliveries as DeliveryStore,
  };
}

/** The answer to a delivery, which is carried out once. */
async function settle(
  settings: Settings,
  underWay: Map<string, Promise<WebhookAnswer>>,
  delivery: VerifiedDelivery,
  request: Request,
): Promise<WebhookAnswer> {
  const { id } = delivery;
  let answer = underWay.get(id);
  if (answer === undefined) {
    answer = carryOutOnce(settings, delivery, request).finally(() => underWay.delete(id));
    underWay.set(id, answer);
  }
  return await answer;
}

async function carryOutOnce(
  { deliveries, schema, run }: Settings,
  delivery: VerifiedDelivery,
  request: Request,
): Promise<WebhookAnswer> {
  const before = await deliveries.get(delivery.id);
  if (before !== undefined) return before;
  const receiving = receive(delivery, request);
  const input = await readReceived(schema, delivery.body);
  const value = await run(input as never, receiving.context);
  const answer = { ...againOf(value), ...receiving.answer };
  await deliveries.set(delivery.id, answer);
  return answer;
}

function againOf(value: unknown): WebhookAnswer {
  if (typeof value !== "object" || value === null || !(AGAIN in value)) return {};
  return { again: parseDuration((value as Again)[AGAIN], "again") };
}

const TITLES = {
  400: "Bad Request",
  401: "Unauthorized",
  413: "Content Too Large",
  422: "Unprocessable Content",
  503: "Service Unavailable",
} as const;

/** What is thrown on purpose is answered; the rest is for the app's `onError`. */
function refusalOf(error: unknown): Response {
  if (error instanceof Rejected) return problem(error.status, error.message);
  const retry = isFault(error) ? error[RETRY] : undefined;
  if (retry === false) return problem(422, (error as Error).message);
  if (typeof retry !== "number") throw error;
  return problem(503, (error as Error).message, { "retry-after": String(Math.ceil(retry / 1_000)) });
}

function isFault(error: unknown): error is { readonly [RETRY]?: unknown } {
  return typeof error === "object" && error !== null && RETRY in error;
}

function problem(
  status: keyof typeof TITLES,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = { type: "about:blank", title: TITLES[status], status, detail };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}
