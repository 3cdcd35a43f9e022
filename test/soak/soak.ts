/**
 * Runs a realistic mix on a SQLite file for a while, and holds that nothing grows: memory, handles, the file, lateness.
 *
 *     npm run soak                    ten minutes
 *     npm run soak -- --minutes 1
 *
 * Exits with 1 where something grew.
 *
 * @module
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Scheduler } from "../../mod.ts";
import { startMix } from "./mix.ts";
import { type Figure, judge, type Sample } from "./figures.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const minutes = Number(values.minutes);
if (!(minutes >= 0.25 && minutes <= 10_000)) throw new Error(`--minutes ${values.minutes}; expected 0.25 to 10000`);

const collect = (globalThis as { gc?: () => void }).gc;
if (collect === undefined) throw new Error("start it with --expose-gc, as `npm run soak` does");

/** Samples of a run: enough for a slope, few enough that collecting garbage for them is not the work. */
const SAMPLES = 60;
/** The share of the run in which caches fill and code is compiled; nothing of it is judged. */
const WARMING = 1 / 3;

/** Open files and sockets, where the system tells; the runtime's own resources otherwise. */
function handles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return process.getActiveResourcesInfo?.().length ?? 0;
  }
}

function fileSize(file: string): number {
  return ["", "-wal"].reduce((sum, suffix) => sum + (statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0), 0);
}

async function sample(scheduler: Scheduler, file: string, mix: Awaited<ReturnType<typeof startMix>>): Promise<Sample> {
  // Twice: what finalisers let go of is only free after the second.
  collect!();
  await new Promise((resolve) => setTimeout(resolve, 0));
  collect!();
  const { latenessMs, runs } = mix.take();
  let live = 0;
  for await (const _ of scheduler.list({ limit: 1_000 })) live++;
  return {
    heapBytes: process.memoryUsage().heapUsed,
    handles: handles(),
    fileBytes: fileSize(file),
    latenessMs,
    live,
    runs,
  };
}

const folder = mkdtempSync(join(tmpdir(), "ostinato-soak-"));
const file = join(folder, "schedules.db");
let grown: readonly Figure[] = [];
try {
  const mix = await startMix(file);
  const samples: Sample[] = [];
  const period = minutes * 60_000 / SAMPLES;
  for (let n = 0; n < SAMPLES; n++) {
    await new Promise((resolve) => setTimeout(resolve, period));
    samples.push(await sample(mix.scheduler, file, mix));
  }
  await mix.close();
  const judged = judge(samples.slice(Math.floor(SAMPLES * WARMING)));
  const runtime = "Deno" in globalThis ? "Deno" : `Node ${process.version}`;
  console.log(`soak: ${minutes} minutes on ${runtime}, ${mix.totals()}`);
  for (const { name, text, grew } of judged) console.log(`  ${name.padEnd(9)} ${text}${grew ? "   GREW" : ""}`);
  grown = [
    ...judged.filter(({ grew }) => grew),
    ...mix.complaints().map((text) => ({ name: "mix", text, grew: true })),
  ];
  for (const { name, text } of grown) console.error(`soak: ${name}: ${text}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = grown.length > 0 ? 1 : 0;
