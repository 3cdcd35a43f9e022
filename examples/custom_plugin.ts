/**
 * Plugins of one's own, in use: business hours as an option, every decision as a line of JSON, and a middleware that is
 * written here.
 *
 *     node examples/custom_plugin.ts
 *     deno run -A examples/custom_plugin.ts
 *
 * How such plugins are written is told step by step in examples/plugins/README.md. Time is moved by hand, so it ends at
 * once.
 *
 * @module
 */
import { createScheduler, defineTask } from "../mod.ts";
import { CONTRACT, type Plugin } from "../src/contract/mod.ts";
import { manualClock } from "../src/testing/mod.ts";
import { businessHours } from "./plugins/business_hours/mod.ts";
import { decisionLog } from "./plugins/decision_log/mod.ts";

const clock = manualClock("2026-12-23T00:00:00Z");

/** Counts what the runs of each task cost. Runs around every handler; what it answers is the run's outcome. */
function meter(costs: Map<string, number>): Plugin {
  return {
    name: "meter",
    contract: CONTRACT,
    async wrapRun({ task }, next) {
      const begun = clock.monotonic();
      try {
        return await next();
      } finally {
        costs.set(task, (costs.get(task) ?? 0) + clock.monotonic() - begun);
      }
    },
  };
}

const restock = defineTask("restock", () => clock.sleep("90s"));
const costs = new Map<string, number>();
const decisions: string[] = [];
const scheduler = createScheduler({
  clock,
  tasks: [restock],
  plugins: [
    businessHours(),
    decisionLog({ now: () => clock.now(), write: (line) => decisions.push(line) }),
    meter(costs),
  ],
});
await scheduler.start();
const shop = await scheduler.cron("restock", "0 9 * * *", restock, undefined, {
  timezone: "Europe/Berlin",
  // The option that the plugin owns: typed, checked at creation, and stored with the schedule.
  calendar: {
    timezone: "Europe/Berlin",
    days: ["mon", "tue", "wed", "thu", "fri"],
    hours: "08:00-18:00",
    except: ["2026-12-25"],
  },
});
await clock.advance("7d");
for (const { scheduledAt } of (await shop.runs()).toReversed()) console.log(`ran ${scheduledAt.toISOString()}`);
console.log((await shop.explain()).text);
console.log(`the runs of restock took ${costs.get("restock")! / 1_000} s in all`);
console.log(`${decisions.length} decisions were logged, the first: ${decisions[0]}`);
await scheduler.close();
