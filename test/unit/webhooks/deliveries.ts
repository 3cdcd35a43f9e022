import type { Json, Principal, RunContext } from "../../../mod.ts";
import type { WebhookTaskOptions } from "../../../plugins/transports/http/webhook/task.ts";
import { webhookTask } from "../../../plugins/transports/http/webhook/task.ts";

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const POINT = Date.UTC(2030, 0, 1);

/** A run's context, and what its handler said of the schedule. */
export interface Ran {
  readonly context: RunContext;
  readonly retired: string[];
}

export function contextOf(
  { signal = new AbortController().signal, caller, state }: {
    readonly signal?: AbortSignal;
    readonly caller?: Principal;
    readonly state?: Json;
  } = {},
): Ran {
  const retired: string[] = [];
  const context: RunContext = {
    scheduledAt: new Date(POINT),
    elapsed: 5_000,
    attempt: 2,
    runId: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y-2",
    state,
    target: "room:1",
    missed: 3,
    signal,
    schedule: { id: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y", name: "nightly", kind: "cron" },
    owner: "alice",
    runAs: "bob",
    caller,
    requireCaller: () => caller!,
    schedules: undefined as never,
    logger: console,
    retire: (reason) => void retired.push(reason),
  };
  return { context, retired };
}

/** Delivers one run to a port of this machine; answers what the handler answered, or what it threw. */
export async function deliverTo(
  port: number,
  options: Partial<WebhookTaskOptions> = {},
  ran: Ran = contextOf(),
): Promise<unknown> {
  const task = webhookTask("notify", {
    url: `http://127.0.0.1:${port}/hook?key=path-secret`,
    secret: SECRET,
    allowHosts: ["127.0.0.1"],
    ...options,
  });
  try {
    return await task.run({ order: "42" }, ran.context);
  } catch (error) {
    return error;
  }
}
