import { join } from "node:path";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Clock, ScheduleDocument, Storage } from "../../../src/contract/mod.ts";
import { systemClock } from "../../../src/system.ts";
import { type ManualClock, manualClock } from "../../../src/testing/mod.ts";
import { launch } from "../../cluster/processes.ts";
import { scratch } from "../../unit/support/schedulers.ts";
import { type Entry, play, schedulerOf, started } from "./life.ts";
import { CrashPoint, DEATHS, ERRORS, type Fate, type Level } from "./point.ts";
import { documents, holdsAfterwards, holdsAtOnce, isOver } from "./promises.ts";
import { type StoreName, stores } from "./stores.ts";

/**
 * Rounds of every crash point, since interleavings differ from one to the next. Without it one round, in which the
 * process dies after every write only: that leaves every state that any other death leaves.
 */
const ROUNDS = process.env["CRASH_ROUNDS"];

/** Lives that are played side by side. */
const BATCH = 30;

/** What a driver's lives differ in. */
export interface CrashSetup {
  readonly store: StoreName;
  /** A lease of that length is over before the next instance looks, unless the store has a clock of its own. */
  readonly leaseMs: number;
  /** A place of its own for each life. */
  place(folder: string, life: number): string;
}

/** What a child process is told: which lives to play until each of them is dead. */
export interface CrashChild {
  readonly store: StoreName;
  readonly level: Level;
  readonly fate: Fate;
  readonly leaseMs: number;
  readonly lives: readonly { readonly at: number; readonly place: string; readonly journal: string }[];
}

/** Tries every crash point of a life: each call of the store, and each write that the driver makes. */
export function crashSuite(name: string, setup: CrashSetup): void {
  describe(`crash points on ${name}`, { timeout: 600_000 }, () => {
    for (const level of ["store", "write"] as const) {
      const what = level === "store" ? "call of the store" : "write";
      for (const fate of ERRORS) {
        it(`I3 U1 U3 M3 M4 M6: whichever ${what} ${fate === "fails" ? "fails" : "loses its reply"}, every promise holds`, async () => {
          await everyPoint(`${name}, ${what} ${fate}`, (first) => failingLives(setup, level, fate, first));
        });
      }
      for (const fate of DEATHS) {
        if (ROUNDS === undefined && !(level === "write" && fate === "dies after")) continue;
        it(`I3 U1 U3 M3 M4 M8: the process ${fate} whichever ${what}, every promise holds`, async () => {
          await everyPoint(`${name}, ${fate} ${what}`, (first) => dyingLives(setup, level, fate, first));
        });
      }
    }
  });
}

/** Plays batch after batch, until one comes to lives that no point strikes any more. */
async function everyPoint(what: string, batch: (first: number) => Promise<number>): Promise<void> {
  for (let round = 0; round < Number(ROUNDS ?? 1); round++) {
    let struck = 0;
    for (let first = 1, last = BATCH; last === BATCH; first += BATCH) struck += last = await batch(first);
    console.log(`${what}: ${struck} points`);
    expect(struck, "points of a life").toBeGreaterThan(10);
  }
}

const numbers = (first: number) => Array.from({ length: BATCH }, (_, i) => first + i);

/** Each life has one failing call; the same instance goes on. Answers how many were struck. */
async function failingLives(setup: CrashSetup, level: Level, fate: Fate, first: number): Promise<number> {
  const folder = scratch();
  const lives = numbers(first).map(async (at) => {
    const { store } = setup;
    const place = setup.place(folder, at);
    const journal: Entry[] = [];
    const note = (entry: Entry) => void journal.push(entry);
    const point = new CrashPoint(at, fate);
    const { storage, dispose } = await stores[store].open(place, level, point);
    // A store with a clock of its own takes real time.
    const clock = storage.supports.clock ? undefined : manualClock("2026-06-01T00:00:00Z");
    // Nothing is late in a test's own time, and points that pass during a lost lease each cost a write.
    const leaseMs = clock === undefined ? setup.leaseMs : 1_000;
    const life = schedulerOf({ storage, leaseMs, note, ...(clock === undefined ? {} : { clock }) });
    await told(`${setup.store}: call ${at} of the ${level} ${fate}`, point, async () => {
      await play(life, note);
      await clock?.advance("10s");
      await recovered(setup, place, journal, clock, note);
      await life.scheduler.close({ drain: 0 });
    });
    await dispose();
    await stores[store].remove(place);
    return point.struck === undefined ? 0 : 1;
  });
  return sum(await Promise.all(lives));
}

/** Plays lives in a process that is killed once each of them has come to its point. Answers how many were struck. */
async function dyingLives(setup: CrashSetup, level: Level, fate: Fate, first: number): Promise<number> {
  const folder = scratch();
  const { store, leaseMs } = setup;
  const lives = numbers(first).map((at) => ({
    at,
    place: setup.place(folder, at),
    journal: join(folder, `${at}.journal`),
  }));
  const argument: CrashChild = { store, level, fate, leaseMs, lives };
  const child = launch("../failure/crash/child.ts", argument, { deno: ["--unstable-kv"] });
  const { struck } = await child.said((message) => "struck" in message) as { struck: (string | null)[] };
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  await Promise.all(lives.map(async ({ place, journal, at }, i) => {
    const entries = readJournal(journal);
    const note = (entry: Entry) => void entries.push(entry);
    const point = { struck: struck[i] ?? undefined };
    await told(`${store}: the process ${fate} call ${at} of the ${level}`, point, async () => {
      await recovered(setup, place, entries, laterClock(), note);
    });
    await stores[store].remove(place);
  }));
  return struck.filter((one) => one !== null).length;
}

/** Opens the store anew, looks, lets another instance run what is owed, looks again, and clears up. */
async function recovered(
  { store, leaseMs }: CrashSetup,
  place: string,
  journal: Entry[],
  clock: Clock | undefined,
  note: (entry: Entry) => void,
): Promise<void> {
  const { storage, dispose } = await stores[store].open(place, "store", new CrashPoint(0, "fails"));
  const { scheduler } = schedulerOf({ storage, leaseMs, note, ...(clock === undefined ? {} : { clock }) });
  await scheduler.valid("");
  holdsAtOnce(await documents(storage), journal);
  await started(scheduler);
  const found = await allOver(storage, clock);
  holdsAfterwards(found, journal);
  await Promise.all(found.map(({ id }) => scheduler.stop(id)));
  await scheduler.close();
  await dispose();
  expect(await stores[store].leftovers(place), "no leftovers").toEqual([]);
}

/** Waits until nothing is owed. A list is no snapshot: it has to say so twice. */
async function allOver(storage: Storage, clock: Clock | undefined): Promise<readonly ScheduleDocument[]> {
  for (let before = -1;;) {
    if (clock !== undefined && "advance" in clock) await (clock as ManualClock).advance("10s");
    else await new Promise((resolve) => setTimeout(resolve, 100));
    const found = await documents(storage);
    const over = isOver(found);
    if (over && found.length === before) return found;
    before = over ? found.length : -1;
  }
}

/** The machine's clock, set to a time at which every lease has run out. */
function laterClock(): Clock {
  const real = systemClock();
  return { ...real, now: () => real.now() + 600_000 };
}

function readJournal(file: string): Entry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

async function told(what: string, point: { readonly struck: string | undefined }, work: () => Promise<void>) {
  try {
    await work();
  } catch (cause) {
    throw new Error(`${what} (${point.struck}): ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

function sum(all: readonly number[]): number {
  return all.reduce((a, b) => a + b, 0);
}
