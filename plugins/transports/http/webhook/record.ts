import {
  type Duration,
  type Instant,
  isPlainObject,
  type JsonObject,
  MAX_NAME_LENGTH,
  parseInstant,
  type RetryOption,
  type ScheduleInfo,
  type Task,
  type Wire,
} from "../../../../src/contract/mod.ts";
import { MAX_WEBHOOK_NAME } from "./limits.ts";

/** The task whose schedules are the records of webhooks; they never come due. */
export const RECORDS: Task = Object.freeze({ name: "ostinato.webhooks", internal: true, run: () => {} });

/** When a record would come due: no machine that runs this will see it. */
export const NEVER = "9000-01-01T00:00:00.000Z";

/** A webhook that is kept in the store. Its secret is not: it is worked out of the record's id and version. */
export interface WebhookInfo {
  /** The name of its task. */
  readonly name: string;
  /** Where runs are posted to. */
  readonly url: string;
  /** How long a delivery may take. */
  readonly timeout?: Duration;
  /** What schedules that are made for it start from. */
  readonly retry?: RetryOption;
  /** Counts the secrets that it had, from 1. */
  readonly version: number;
  /** When it was made, as ISO 8601 text in UTC. */
  readonly createdAt: string;
  /** The id of the principal that made it. */
  readonly createdBy: string;
  /** When it got the secret that it has, if that is not its first. */
  readonly rotatedAt?: string;
}

/** What a record keeps as its input. */
export type WebhookRecord = Pick<WebhookInfo, "url" | "timeout" | "version" | "createdBy" | "rotatedAt">;

/** By which a record is unique. */
export function recordKey(name: string): string {
  return `webhook:${name}`;
}

/** Whether text may name a webhook. */
export function isWebhookName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= Math.min(MAX_WEBHOOK_NAME, MAX_NAME_LENGTH) &&
    value.isWellFormed() && !value.includes("\u0000");
}

/** Reads what a record keeps; `undefined` for what is none. */
export function readRecord(input: unknown): WebhookRecord | undefined {
  const given = input as WebhookRecord;
  const isRecord = isPlainObject(input) && typeof given.url === "string" && Number.isInteger(given.version) &&
    typeof given.createdBy === "string";
  return isRecord ? given : undefined;
}

/** What is told of a webhook. */
export function infoOf({ input, tags, createdAt, options }: Wire<ScheduleInfo>): WebhookInfo | undefined {
  const record = readRecord(input);
  const name = tags[0];
  if (record === undefined || name === undefined) return undefined;
  const { retry } = options as JsonObject & { readonly retry?: RetryOption };
  const { url, timeout, version, createdBy, rotatedAt } = record;
  return {
    name,
    url,
    ...(timeout === undefined ? {} : { timeout }),
    ...(retry === undefined || retry === null ? {} : { retry }),
    version,
    createdAt: new Date(parseInstant(createdAt as Instant)).toISOString(),
    createdBy,
    ...(rotatedAt === undefined ? {} : { rotatedAt }),
  };
}
