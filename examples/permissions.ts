/**
 * Schedules that belong to users: each sees and changes their own, within what each task allows.
 *
 *     node examples/permissions.ts
 *     deno run -A examples/permissions.ts
 *
 * `scheduler.as(principal)` is all that a transport does, too: who the principal is, is for the application to know. Time
 * is moved by hand, so it ends at once.
 *
 * @module
 */
import { createScheduler, defineTask, isSchedulerError, type Principal } from "../mod.ts";
import { manualClock } from "../src/testing/mod.ts";

const clock = manualClock("2026-01-05T08:00:00Z");
const PLANS: Readonly<Record<string, readonly string[]>> = { alice: ["sales", "stock"], bob: ["stock"] };

const report = defineTask("report", {
  // Asked when a schedule is made and again when it fires: whoever loses a plan loses its reports.
  authorize: (principal, input: { readonly topic: string }) =>
    principal.id === "support" || PLANS[principal.id]?.includes(input.topic) === true,
  run: (input, ctx) => console.log(`  ${input.topic} for ${ctx.caller?.id ?? ctx.runAs}, made under ${ctx.owner}`),
});
const purge = defineTask("purge", { internal: true, run: () => console.log("  purged") });

const scheduler = createScheduler({
  clock,
  tasks: [report, purge],
  // Support may have runs act for customers.
  canRunAs: (principal, runAs) => principal.id === "support" && runAs in PLANS,
});
const as = (id: string, more: Partial<Principal> = {}) => scheduler.as({ id, ...more });

/** Says what a call came to. */
async function attempt(what: string, call: () => Promise<unknown>): Promise<void> {
  try {
    console.log(`${what}: ${String(await call())}`);
  } catch (error) {
    if (!isSchedulerError(error)) throw error;
    console.log(`${what}: ${error.code}`);
  }
}

await scheduler.start();
const mine = await as("alice").cron("morning", "0 9 * * mon-fri", report, { topic: "sales" });
await as("bob").cron("morning", "0 9 * * mon-fri", report, { topic: "stock" }); // names are each owner's own
await attempt("bob asks for what is not in his plan", () => as("bob").every(report, "1h", { topic: "sales" }));
await attempt("bob asks for an internal task", () => as("bob").after(purge, 0));
await attempt("bob asks for a task that there is not", () => as("bob").after("nonsense", 0)); // the same answer
await attempt("bob stops alice's", () => as("bob").stop(mine.id));
await attempt("bob looks at alice's", () => as("bob").info(mine.id));
await attempt(
  "bob has his run as alice",
  () => as("bob").after(report, 0, { topic: "stock" }, { runAs: { id: "alice" } }),
);
for (const client of [as("alice"), as("bob"), as("carol", { admin: true })]) {
  const { schedules } = await client.list().page();
  console.log(`${client.principal.id} sees ${schedules.length}`);
}

console.log("at nine:");
await clock.advance("1h");
console.log("by a caller, at once:");
await as("alice").invoke(report, { topic: "stock" });
console.log("by support, on behalf of bob:");
await as("support").after(report, 0, { topic: "stock" }, { runAs: { id: "bob" } });
await clock.settled();
await attempt("carol stops alice's", () => as("carol", { admin: true }).stop(mine.id));
await scheduler.close();
