/**
 * Plays lives side by side, each up to its crash point, from which on nothing of it passes any more. Once all are there
 * it says so, and is killed.
 *
 * @module
 */
import { appendFileSync } from "node:fs";
import process from "node:process";
import type { CrashChild } from "./crash_suite.ts";
import { type Entry, play, schedulerOf, SUCCESSES } from "./life.ts";
import { CrashPoint } from "./point.ts";
import { stores } from "./stores.ts";

const { store, level, fate, leaseMs, lives } = JSON.parse(process.argv[2]!) as CrashChild;

async function live({ at, place, journal }: CrashChild["lives"][number]): Promise<string | null> {
  const point = new CrashPoint(at, fate);
  // A handler that goes on after its process has died does nothing.
  const note = (entry: Entry) => void (point.isDead || appendFileSync(journal, `${JSON.stringify(entry)}\n`));
  const { storage } = await stores[store].open(place, level, point);
  const life = schedulerOf({ storage, leaseMs, note });
  let successes = 0;
  const whole = new Promise<void>((resolve) => {
    life.scheduler.on("succeeded", () => void (++successes === SUCCESSES && resolve()));
  });
  const played = play(life, note).then(() => whole);
  // Whatever a dead process throws is its own business.
  await Promise.race([point.died, played.catch((error) => point.isDead ? undefined : Promise.reject(error))]);
  return point.struck ?? null;
}

const struck = await Promise.all(lives.map(live));
process.stdout.write(`${JSON.stringify({ struck })}\n`);
setInterval(() => {}, 1_000);
