/**
 * Deno KV, and processes that are not always up: two isolates share a store, and each runs what is due when something
 * wakes it. Nothing is started; `tick` does what is due, waits for it, and says when it is to be woken next.
 *
 *     deno run -A examples/deno_kv.ts
 *     node examples/deno_kv.ts            (with the package @deno/kv)
 *
 * On Deno Deploy the store is `kv(await Deno.openKv())`, and a request to `/tick` once a minute does the waking: see
 * examples/guides/deno_deploy.md. Here it is a file. It ends by itself, after a second.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScheduler, defineTask, type Scheduler } from "../mod.ts";
import { kv } from "../plugins/storage/kv/mod.ts";

const directory = mkdtempSync(join(tmpdir(), "deno-kv-"));

/** One isolate: the same program, another process or another region. */
function isolate(name: string): Scheduler {
  const greet = defineTask("greet", (input: { name: string }) => console.log(`${name} greets ${input.name}`));
  return createScheduler({ storage: kv(join(directory, "schedules.kv")), tasks: [greet] });
}

const frankfurt = isolate("frankfurt");
await frankfurt.createMany(["ann", "bob", "cem", "dora", "eve"].map((name) => ({
  task: "greet",
  input: { name },
  after: 0,
})));
await frankfurt.cron("report", "0 9 * * *", "greet", { name: "everybody" }, { timezone: "Europe/Berlin" });

// Both are woken at once: each deadline runs in one of them.
const tokyo = isolate("tokyo");
const wakes = await Promise.all([frankfurt.tick({ budget: "20s" }), tokyo.tick({ budget: "20s" })]);
for (const wake of wakes) {
  console.log(`done; to be woken again in ${Math.ceil((wake!.getTime() - Date.now()) / 1_000)} s`);
}

const runs: string[] = [];
for await (const { name, nextRun } of tokyo.list()) runs.push(`${name} at ${hour(nextRun!)} in Berlin`);
console.log(`what is left: ${runs.join(", ")}`);

function hour(at: Date): string {
  return new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "Europe/Berlin" }).format(at);
}

await Promise.all([frankfurt.close(), tokyo.close()]);
rmSync(directory, { recursive: true, force: true });
