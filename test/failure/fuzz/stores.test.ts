import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask, type Scheduler } from "../../../mod.ts";
import { kv } from "../../../plugins/storage/kv/mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import {
  checkDocument,
  isSchedulerError,
  readProgress,
  type ScheduleDefinition,
  type ScheduleDocument,
  type ScheduleProgress,
  type Storage,
} from "../../../src/contract/mod.ts";
import { faultyStore, type ManualClock, manualClock } from "../../../src/testing/mod.ts";
import { damageDocument } from "../../support/kv.ts";
import { scratch } from "../../unit/support/schedulers.ts";
import { SILENT } from "../crash/life.ts";
import { corpus, damaged, type Stored, TAKEN } from "./corpus.ts";
import { SCALE, SEED } from "./fuzzing.ts";

/** Damaged documents in one store, beside healthy ones. */
const DAMAGED = 40;
const HEALTHY = 5;

/** Calls of the store for each document that is due, an hour long: what spins makes thousands. */
const CALLS_PER_DOCUMENT = 200;

let documents: readonly Stored[];
beforeAll(async () => void (documents = await corpus()));

interface Damageable {
  readonly storage: Storage;
  /** Puts another text where a document has one. */
  damage(id: string, what: "definition" | "progress", text: string): Promise<void>;
}

const STORES: Readonly<Record<string, () => Damageable>> = {
  "a SQLite file": () => {
    const file = join(scratch(), "schedules.db");
    return {
      storage: sqlite({ path: file, synchronous: "normal" }),
      damage(id, what, text) {
        const database = new DatabaseSync(file);
        database.prepare(`update ostinato_schedules set ${what} = ? where id = ?`).run(text, id);
        database.close();
        return Promise.resolve();
      },
    };
  },
  "a KV file": () => {
    const file = join(scratch(), "schedules.kv");
    return { storage: kv(file), damage: (id, what, text) => damageDocument(file, id, what, text) };
  },
  // Nothing damages what is in memory: it holds what every other store would have let through.
  memory: () => {
    const storage = memory();
    return { storage, damage: (id, what, text) => replaced(storage, id, what, text) };
  },
};

async function replaced(storage: Storage, id: string, what: "definition" | "progress", text: string): Promise<void> {
  let value: unknown;
  try {
    value = what === "definition" ? JSON.parse(text) : readProgress(text);
  } catch {
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const change = (current: ScheduleDocument) =>
    what === "definition"
      ? { ...current, definition: { ...current.definition, ...value } as ScheduleDefinition }
      : { ...current, progress: { ...current.progress, ...value } as ScheduleProgress };
  const decide = (current: ScheduleDocument | undefined) => ({ document: checkDocument(change(current!)), value: 0 });
  await answers(storage.apply([[{ select: { id }, decide }]], TAKEN));
}

/** Real documents as they were, without the names that only one of them can have. */
function originals(): Map<string, ScheduleDocument> {
  return new Map(documents.map(({ id, definition, progress }) => {
    const { name: _, key: __, ...rest } = JSON.parse(definition) as ScheduleDefinition;
    return [id, { id, definition: rest, progress: readProgress(progress) as ScheduleProgress }];
  }));
}

async function hurt(one: Damageable, stored: readonly Stored[], clock: ManualClock): Promise<string[]> {
  const whole = originals();
  const ids = [...new Map(stored.map((document) => [document.id, document])).keys()];
  await one.storage.open({ clock, logger: SILENT });
  for (const id of ids) {
    await one.storage.apply([[{ select: null, decide: () => ({ document: whole.get(id)!, value: 0 }) }]], TAKEN);
  }
  for (const { id, definition, progress } of stored) {
    await one.damage(id, "definition", definition);
    await one.damage(id, "progress", progress);
  }
  return ids;
}

/** A call that answers, or refuses in the scheduler's own words. */
async function answers<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isSchedulerError(error)) return undefined;
    throw error;
  }
}

async function look(scheduler: Scheduler, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await answers(scheduler.info(id));
    await answers(scheduler.runs(id));
    await answers(scheduler.explain(id));
    await answers(scheduler.valid(id));
  }
  for await (const _ of scheduler.list({ limit: 7 }));
  await scheduler.running();
}

describe.each(Object.entries(STORES))("fuzzing: a damaged store, %s", (name, make) => {
  it("B061 V1: what cannot be used is parked or refused, the others go on, nothing spins, all of it can be stopped", async () => {
    const batches = fc.array(damaged(documents), { minLength: DAMAGED, maxLength: DAMAGED });
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(fc.noShrink(batches), async (stored) => {
        const clock = manualClock(TAKEN);
        const one = make();
        const ids = await hurt(one, stored, clock);
        tried += ids.length;
        const { storage, calls } = faultyStore(opened(one.storage), { at: 0, reply: "fails" });
        let healthy = 0;
        const tasks = [
          defineTask("healthy", () => void healthy++),
          ...["work", "long", "faulty", "chain"].map((task) => defineTask(task, () => {})),
        ];
        const scheduler = createScheduler({ clock, storage, tasks, logger: SILENT });
        const errors: unknown[] = [];
        scheduler.on("storeError", ({ error }) => errors.push(error));
        for (let n = 0; n < HEALTHY; n++) await scheduler.every("healthy", "1m");
        await scheduler.start();
        await clock.advance("10m");
        await look(scheduler, ids);
        expect(healthy).toBe(10 * HEALTHY);
        expect(errors).toEqual([]);
        expect(calls()).toBeLessThan((ids.length + HEALTHY) * CALLS_PER_DOCUMENT);
        for (const id of ids) await scheduler.stop(id);
        await clock.advance("2m");
        // A one-shot that is running is past stopping (L2): for as long as its lease says that it runs, or nobody can say;
        // and then it retires as any other.
        const left = (await storage.find({ limit: 1_000, retired: true }))
          .filter(({ definition: { task }, progress: { runs, stopping, retired } }) =>
            !(stopping === true && retired !== undefined) &&
            !runs.some(({ leaseUntil }) => leaseUntil > clock.now() || !tasks.some(({ name }) => name === task))
          );
        expect(left.map(({ definition }) => definition.task)).toEqual(Array(HEALTHY).fill("healthy"));
        await scheduler.close();
      }),
      { numRuns: 5 * SCALE, ...SEED },
    );
    console.log(`fuzz: damaged documents in ${name}: ${tried} inputs`);
  });
});

/** A store that is open already, for a scheduler to open. */
function opened(storage: Storage): Storage {
  onTestFinished(() => storage.close());
  return new Proxy(storage, {
    get(target, key) {
      if (key === "open") return () => Promise.resolve();
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
