import { serve } from "../../../../examples/serve.ts";
import { createScheduler, defineTask, type Scheduler } from "../../../../mod.ts";
import { bearerTokens, http } from "../../../../plugins/transports/http/mod.ts";
import type { Storage } from "../../../../src/contract/mod.ts";
import { silent } from "../tools.ts";

export const TOKEN = "bench";
export const OWNER = { id: "bench", admin: true };
export const task = defineTask("bench", () => {});
export const input = { orderId: "42" };

export interface Served {
  readonly scheduler: Scheduler;
  readonly target: { readonly url: string; readonly token: string };
  close(): Promise<void>;
}

/** A scheduler that creates, and prints nothing. */
export function schedulerOn(storage: Storage): Scheduler {
  return createScheduler({ storage, tasks: [task], logger: silent });
}

/** A scheduler behind a server of this process. */
export async function served(storage: Storage): Promise<Served> {
  const scheduler = schedulerOn(storage);
  const app = http(scheduler, {
    authenticate: bearerTokens({ [TOKEN]: OWNER, nobody: { id: "nobody" } }),
    events: { streamsOfOne: 100_000, streams: 100_000 },
    logger: silent,
  });
  const server = await serve(app.fetch, { hostname: "127.0.0.1", port: 0 });
  return {
    scheduler,
    target: { url: server.url, token: TOKEN },
    async close() {
      await scheduler.close();
      await server.close();
    },
  };
}
