/**
 * The transport over HTTP: a scheduler as a Hono app, and a client for it.
 *
 * @module
 */
export { http } from "./app.ts";
export type { HttpApp } from "./context.ts";
export type { EventStreamOptions } from "./event_stream.ts";
export type { ReadyOptions } from "./health.ts";
export type { Authenticate, HttpOptions } from "./options.ts";
export type { Problem } from "./problem.ts";
export type { ServedScheduler } from "./served.ts";
export { bearerTokens } from "./token.ts";
export { httpClient } from "./client/http_client.ts";
export type { HttpClientOptions } from "./client/options.ts";
export type { WebhookAnswer } from "./webhook/answer.ts";
export type { WebhookPayload, WebhookRun } from "./webhook/delivery.ts";
export type { ReceivedContext } from "./webhook/received.ts";
export { type ReceivedRequest, webhookReceiver, type WebhookReceiverOptions } from "./webhook/receiver.ts";
export type { WebhookInfo } from "./webhook/record.ts";
export type { DeliveryStore } from "./webhook/remembered.ts";
export type { WebhookScheduler } from "./webhook/record_calls.ts";
export {
  type WebhookPage,
  type WebhookRequest,
  Webhooks,
  webhooks,
  type WebhooksOptions,
  type WebhookWithSecret,
} from "./webhook/stored.ts";
export type { Destinations, Lookup } from "./webhook/target.ts";
export { webhookTask, type WebhookTaskOptions } from "./webhook/task.ts";
export { WebhookError } from "./webhook/webhook_error.ts";
