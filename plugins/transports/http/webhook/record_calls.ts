import {
  isSchedulerError,
  type Principal,
  type ScheduleInfo,
  type SchedulerApi,
  type Wire,
} from "../../../../src/contract/mod.ts";
import { isWebhookName, RECORDS } from "./record.ts";

/** A scheduler whose webhooks are to be changed. */
export interface WebhookScheduler {
  /** The system: code that embeds the scheduler. */
  readonly principal: Principal;
  /** What carries out calls. */
  // deno-lint-ignore no-explicit-any
  readonly api: SchedulerApi<any>;
}

/** The record of a webhook; `undefined` where there is none of the name. */
export async function recordOf(scheduler: WebhookScheduler, name: unknown): Promise<Wire<ScheduleInfo> | undefined> {
  if (!isWebhookName(name)) return undefined;
  const filter = { task: RECORDS.name, tag: name, limit: 1 };
  const { schedules } = await scheduler.api.call(scheduler.principal, "list", filter);
  return schedules[0] && await recordById(scheduler, schedules[0].id);
}

/** `undefined` for one that was deleted a moment ago. */
export async function recordById(scheduler: WebhookScheduler, id: string): Promise<Wire<ScheduleInfo> | undefined> {
  try {
    return await scheduler.api.call(scheduler.principal, "info", { id });
  } catch (error) {
    if (isSchedulerError(error, "not_found")) return undefined;
    throw error;
  }
}
