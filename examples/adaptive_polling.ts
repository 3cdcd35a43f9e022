/**
 * Adaptive polling: a handler that says when it wants to look again. Often while something happens, seldom while nothing
 * does, and not at all once it is over.
 *
 *     node examples/adaptive_polling.ts
 *     deno run -A examples/adaptive_polling.ts
 *
 * Between two looks nothing exists but a row in the store: no loop, no timer of its own, no memory. A chain survives a
 * restart of its process, and is one schedule under one id, however long it gets. It ends by itself, after some seconds.
 *
 * @module
 */
import { again, createScheduler, defineTask } from "../mod.ts";

/** A remote export that somebody else makes: it stands still, then moves fast, then is done. */
const begun = Date.now();
function progress(): number {
  const seconds = (Date.now() - begun) / 1_000;
  return Math.min(100, Math.max(0, Math.floor((seconds - 1.5) * 80)));
}

const FAST_MS = 100;
const SLOW_MS = 800;
let seen = 0;
let delay = FAST_MS;

const poll = defineTask("poll", (_input, ctx) => {
  const percent = progress();
  const moved = percent !== seen;
  seen = percent;
  delay = moved ? FAST_MS : Math.min(SLOW_MS, delay * 2);
  const next = percent === 100 ? "done" : `looks again in ${delay} ms`;
  console.log(`${String(Math.round(ctx.elapsed)).padStart(5)} ms later: ${String(percent).padStart(3)} %, ${next}`);
  return percent === 100 ? undefined : again(delay);
});

const scheduler = createScheduler({ tasks: [poll] });
const over = new Promise<string>((resolve) => scheduler.on("retired", ({ reason }) => resolve(reason)));
await scheduler.start();
const chain = await scheduler.after(poll, FAST_MS);
console.log(`the chain is over: ${await over}, after ${(await chain.info()).runCount} looks under one id`);
await scheduler.close();
