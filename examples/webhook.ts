/**
 * A task whose handler is somewhere else: runs are posted, signed, to a small receiver, whose answer settles them.
 *
 *     node examples/webhook.ts
 *     deno run -A examples/webhook.ts
 *
 * The receiver is another program, in any language that can verify a Standard Webhooks signature; here it is in the same
 * process, on a port of the loopback interface. It ends by itself, after a second.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { again, createScheduler } from "../mod.ts";
import { webhookReceiver, webhookTask } from "../plugins/transports/http/mod.ts";
import { serve } from "./serve.ts";

// Both ends know it; in earnest it comes from the environment of each.
const secret = `whsec_${randomBytes(24).toString("base64")}`;

const receiver = new Hono();
receiver.onError((error, context) => context.text(error.message, 500));
receiver.post(
  "/hooks/ship",
  webhookReceiver({
    secret,
    run(input: { order: string }, { attempt, elapsed, id }) {
      // The id is the same for all attempts at a deadline: what makes a delivery that comes again the same one.
      console.log(`  receiver: order ${input.order}, attempt ${attempt} of the delivery …${id.slice(-6)}`);
      if (attempt === 1 && elapsed === 0) throw new Error("the warehouse is closed"); // answered 500: tried again
      if (elapsed === 0 || attempt > 1) return again("200ms"); // not packed yet: asks to be asked again
      return undefined;
    },
  }),
);
const server = await serve(receiver.fetch, { hostname: "127.0.0.1", port: 0 });

const ship = webhookTask<{ order: string }>("ship", {
  url: `${server.url}/hooks/ship`,
  secret,
  allowHosts: ["127.0.0.1"], // an address of a private network is refused unless it is named
  retry: { limit: 3, delay: "200ms" },
});
const scheduler = createScheduler({ tasks: [ship] });
scheduler.on("faulted", ({ fault, retryAt }) => {
  console.log(`  scheduler: ${fault.message}${retryAt === undefined ? "" : "; it is tried again"}`);
});
const over = new Promise<string>((resolve) => scheduler.on("retired", ({ reason }) => resolve(reason)));
await scheduler.start();
const schedule = await scheduler.after(ship, "100ms", { order: "42" });
console.log(`the schedule is over: ${await over}`);
for (const { attempt, outcome } of (await schedule.runs()).toReversed()) console.log(`attempt ${attempt}: ${outcome}`);

const forged = await fetch(`${server.url}/hooks/ship`, { method: "POST", body: '{"input":{"order":"1"}}' });
console.log(`what nobody has signed is answered ${forged.status}`);
await scheduler.close();
await server.close();
