import {
  CONTRACT,
  type Duration,
  invalidOption,
  isSchedulerError,
  plainOptions,
  type Plugin,
  type Principal,
  type RetryOption,
  type ScheduleInfo,
  SchedulerError,
  show,
  type TaskSource,
  wholeNumber,
  type Wire,
} from "../../../../src/contract/mod.ts";
import { MAX_WEBHOOK_NAME, MAX_WEBHOOK_PAGE } from "./limits.ts";
import { infoOf, isWebhookName, NEVER, readRecord, recordKey, RECORDS, type WebhookInfo } from "./record.ts";
import { recordById, recordOf, type WebhookScheduler } from "./record_calls.ts";
import { deriveSecret, readSecrets, type SigningKey } from "./signing.ts";
import { labelOf, storedTask } from "./stored_task.ts";
import {
  addressesOf,
  type CheckedDestinations,
  DESTINATION_KEYS,
  type Destinations,
  readDestinations,
  readUrl,
} from "./target.ts";
import { readTimeout } from "./task.ts";

/** What {@linkcode webhooks} takes. */
export interface WebhooksOptions extends Destinations {
  /**
   * What the secret of each webhook is derived from, as of `webhookTask`: `"whsec_"` and base64. The same on all instances.
   * Of several the first gives the secrets, and the others sign as well, so that it can be replaced.
   */
  readonly secret: string | readonly string[];
}

/** A webhook to make. */
export interface WebhookRequest {
  /** The name of its task: at most 150 characters, of no task in code and no other webhook. */
  readonly name: string;
  /** Where runs are posted to: see `webhookTask`. */
  readonly url: string;
  /** How long a delivery may take, up to 10 min. Default `"30s"`. */
  readonly timeout?: Duration;
  /** What schedules that are made for it start from, as the task's `retry`. Default none. */
  readonly retry?: RetryOption;
}

/** One page of webhooks. */
export interface WebhookPage {
  /** In the order in which they were made. */
  readonly webhooks: readonly WebhookInfo[];
  /** For the next page; absent on the last one. */
  readonly cursor?: string;
}

/** A webhook with the secret that its receiver is to have. This is told once. */
export interface WebhookWithSecret extends WebhookInfo {
  /** As Standard Webhooks writes it. */
  readonly secret: string;
}

/**
 * Webhook tasks that are made while everything runs, and kept in the scheduler's store: every instance that has this plugin
 * runs them, also after a restart. See {@linkcode webhooks}.
 */
export class Webhooks implements Plugin {
  /** Always `"webhooks"`. */
  readonly name = "webhooks";
  /** The contract that it was written for. */
  readonly contract: number = CONTRACT;
  /** Where the tasks come from. */
  readonly tasks: TaskSource;
  readonly #masters: readonly SigningKey[];
  readonly #destinations: CheckedDestinations;

  /** See {@linkcode webhooks}. */
  constructor(options: WebhooksOptions) {
    const { secret, ...destinations } = plainOptions(options, ["secret", ...DESTINATION_KEYS], "webhooks");
    this.#masters = readSecrets(secret, "webhooks.secret");
    this.#destinations = readDestinations(destinations, "webhooks");
    const using = { masters: this.#masters, destinations: this.#destinations };
    this.tasks = { records: RECORDS, taskOf: (record, current) => storedTask(record, current, using) };
  }

  /**
   * Makes a webhook: from then on schedules can be made for a task of its name, on any instance. The URL and the addresses of
   * its host are checked now, and at each connection again.
   *
   * @param principal Who asks; an admin. Default: the system.
   * @throws {SchedulerError} `permission_denied` for anybody else, and for an address that is refused; `conflict` for a name
   * that is in use; `unknown_option`, `invalid_option`, `invalid_duration`.
   */
  async create(
    scheduler: WebhookScheduler,
    request: WebhookRequest,
    principal: Principal = scheduler.principal,
  ): Promise<WebhookWithSecret> {
    checkAdmin(principal);
    const { name, url, timeout, retry } = plainOptions(request, ["name", "url", "timeout", "retry"], "webhook");
    if (!isWebhookName(name)) throw invalidOption("webhook.name", name, `text of 1 to ${MAX_WEBHOOK_NAME} characters`);
    if (timeout !== undefined) readTimeout(timeout as Duration, "webhook.timeout");
    const { href } = await this.#reachable(url);
    await this.#checkFree(scheduler, name);
    const input = {
      url: href,
      ...(timeout === undefined ? {} : { timeout: timeout as Duration }),
      version: 1,
      createdBy: principal.id,
    };
    const schedule = {
      task: RECORDS.name,
      at: NEVER,
      input,
      tags: [name],
      key: recordKey(name),
      onConflict: "error",
      ...(retry === undefined ? {} : { retry }),
    };
    try {
      const { id } = await scheduler.api.call(scheduler.principal, "create", { schedule });
      return await this.#withSecret(await recordById(scheduler, id), id);
    } catch (error) {
      throw isSchedulerError(error, "conflict") ? inUse(name) : error;
    }
  }

  /**
   * A page of the webhooks, without their secrets.
   *
   * @param principal Who asks; an admin. Default: the system.
   * @throws {SchedulerError} `permission_denied`, `unknown_option`, `invalid_option`.
   */
  async list(
    scheduler: WebhookScheduler,
    options: { readonly limit?: number; readonly cursor?: string } = {},
    principal: Principal = scheduler.principal,
  ): Promise<WebhookPage> {
    checkAdmin(principal);
    const { limit = MAX_WEBHOOK_PAGE, cursor } = plainOptions(options, ["limit", "cursor"], "webhooks");
    const filter = {
      task: RECORDS.name,
      limit: wholeNumber(limit, 1, MAX_WEBHOOK_PAGE, "webhooks.limit"),
      ...(cursor === undefined ? {} : { cursor: cursor as string }),
    };
    const { schedules, cursor: next } = await scheduler.api.call(scheduler.principal, "list", filter);
    const infos = await Promise.all(schedules.map(({ id }) => recordById(scheduler, id)));
    const webhooks = infos.map((info) => info && infoOf(info)).filter((info) => info !== undefined);
    return next === undefined ? { webhooks } : { webhooks, cursor: next };
  }

  /**
   * One webhook, without its secret; `undefined` where there is none of the name.
   *
   * @param principal Who asks; an admin. Default: the system.
   * @throws {SchedulerError} `permission_denied`
   */
  async get(
    scheduler: WebhookScheduler,
    name: string,
    principal: Principal = scheduler.principal,
  ): Promise<WebhookInfo | undefined> {
    checkAdmin(principal);
    const record = await recordOf(scheduler, name);
    return record && infoOf(record);
  }

  /**
   * Gives a webhook a new secret; for a day deliveries are signed with the one before it as well. `undefined` where there is
   * none of the name.
   *
   * @param principal Who asks; an admin. Default: the system.
   * @throws {SchedulerError} `permission_denied`; `conflict` where it was changed at the same time.
   */
  async rotate(
    scheduler: WebhookScheduler,
    name: string,
    principal: Principal = scheduler.principal,
  ): Promise<WebhookWithSecret | undefined> {
    checkAdmin(principal);
    const record = await recordOf(scheduler, name);
    const kept = readRecord(record?.input);
    if (record === undefined || kept === undefined) return undefined;
    const input = { ...kept, version: kept.version + 1, rotatedAt: new Date().toISOString() };
    const { id, revision: ifRevision } = record;
    await scheduler.api.call(scheduler.principal, "update", { id, to: { input }, ifRevision });
    return await this.#withSecret({ ...record, input }, id);
  }

  /**
   * Deletes a webhook; answers false where there is none of the name. Schedules for its task stay and wait, until they are
   * stopped or a webhook of that name is made again, which has another secret.
   *
   * @param principal Who asks; an admin. Default: the system.
   * @throws {SchedulerError} `permission_denied`
   */
  async delete(
    scheduler: WebhookScheduler,
    name: string,
    principal: Principal = scheduler.principal,
  ): Promise<boolean> {
    checkAdmin(principal);
    const record = await recordOf(scheduler, name);
    return record !== undefined && await scheduler.api.call(scheduler.principal, "stop", { id: record.id });
  }

  async #reachable(url: unknown): Promise<URL> {
    const where = "webhook.url";
    const read = readUrl(url, this.#destinations, where);
    try {
      await addressesOf(read, this.#destinations, where);
    } catch (error) {
      if (isSchedulerError(error)) throw error;
      throw new SchedulerError(
        "invalid_option",
        `${where}: the addresses of ${show(read.hostname)} are not to be found`,
        {
          cause: error,
          retryable: true,
        },
      );
    }
    return read;
  }

  /** A task in code would go before the webhook, on this instance at least. */
  async #checkFree(scheduler: WebhookScheduler, name: string): Promise<void> {
    const tasks = await scheduler.api.call(scheduler.principal, "tasks", {});
    if (tasks.some((task) => task.name === name)) throw inUse(name);
  }

  async #withSecret(record: Wire<ScheduleInfo> | undefined, id: string): Promise<WebhookWithSecret> {
    const info = record && infoOf(record);
    if (info === undefined) throw new SchedulerError("not_found", "webhook: it was deleted meanwhile");
    return { ...info, secret: await deriveSecret(this.#masters[0]!, labelOf(id, info.version)) };
  }
}

/**
 * Lets admins make webhook tasks while everything runs: by the methods of what this answers, and over HTTP, under
 * `/v1/webhooks`, where `http` is given it as `webhooks`. They are kept in the scheduler's store, as schedules of an internal
 * task that never come due. No secret is stored: that of each webhook is derived from one of the service's, and told once.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option`; none tells the secret.
 * @example
 * ```ts
 * import { createScheduler } from "@ostinato/scheduler";
 * import { webhooks } from "@ostinato/scheduler/http";
 *
 * const hooks = webhooks({
 *   secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", // from the environment, in earnest
 *   lookup: () => Promise.resolve(["93.184.215.14"]),
 * });
 * await using scheduler = createScheduler({ plugins: [hooks] });
 * const { secret, version } = await hooks.create(scheduler, { name: "notify", url: "https://hooks.example.com/orders" });
 * console.log(secret.slice(0, 6), version); // whsec_ 1
 * await scheduler.after("notify", "1h", { order: "42" });
 * ```
 */
export function webhooks(options: WebhooksOptions): Webhooks {
  return new Webhooks(options);
}

function checkAdmin({ admin }: Principal): void {
  if (admin !== true) throw new SchedulerError("permission_denied", "webhooks: an admin only");
}

function inUse(name: string): SchedulerError {
  return new SchedulerError("conflict", `webhook.name: ${show(name)} is the name of a task already`, {
    details: { where: "webhook.name" },
  });
}
