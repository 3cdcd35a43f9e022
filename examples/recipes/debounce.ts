/**
 * Recipe: debounce. However many edits come in, the document is written once, when it has been left alone for 2 s.
 *
 *     node examples/recipes/debounce.ts
 *     deno run -A examples/recipes/debounce.ts
 *
 * Time is moved by hand, so it ends at once. With the machine's clock leave `clock` out.
 *
 * @module
 */
import { createScheduler, defineTask } from "../../mod.ts";
import { manualClock } from "../../src/testing/mod.ts";

const clock = manualClock("2026-01-01T09:00:00Z");
const drafts = new Map<string, string>();

const flush = defineTask("flush", (input: { document: string }, ctx) => {
  console.log(`${time(ctx.scheduledAt)}  wrote ${input.document}: "${drafts.get(input.document)}"`);
  drafts.delete(input.document);
});
const scheduler = createScheduler({ clock, tasks: [flush] });

async function edit(document: string, text: string): Promise<void> {
  drafts.set(document, text);
  console.log(`${time(new Date(clock.now()))}  edit  ${document}: "${text}"`);
  await scheduler.after(flush, "2s", { document }, {
    key: `flush:${document}`, // one pending flush for each document …
    onConflict: "replace", // … which every edit puts off anew
    persist: false, // drafts live in this process, so their flush does too: no write to the store for each edit
  });
}

function time(at: Date): string {
  return at.toISOString().slice(11, 23);
}

await scheduler.start();
for (const text of ["D", "De", "Dea", "Dear", "Dear all"]) {
  await edit("letter", text);
  await clock.advance("400ms");
}
await edit("notes", "milk");
await clock.advance("5s");
await edit("letter", "Dear all, thanks");
await clock.advance("5s");
await scheduler.close();
