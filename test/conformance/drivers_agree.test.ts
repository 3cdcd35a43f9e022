import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kv } from "../../plugins/storage/kv/mod.ts";
import { memory } from "../../plugins/storage/memory/mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import {
  type Operation,
  type ScheduleDocument,
  SchedulerError,
  type Selector,
  type Storage,
} from "../../src/contract/mod.ts";
import { count, document, id, moved, retired, started } from "../../src/testing/storage/documents.ts";
import { openKv } from "../support/kv.ts";
import { context } from "./storage_suite.ts";

const TEXTS = ["a", "b", "a\u0000", "\ud800"];
const LANES = ["work", "mail", ""];
const small = fc.nat(11);
const text = fc.constantFrom(...TEXTS);

const selector: fc.Arbitrary<Selector> = fc.oneof(
  fc.constant(null),
  small.map((n) => ({ id: id(n) })),
  fc.record({ owner: text, name: text }),
  fc.record({ owner: text, key: text }),
);
const parts = fc.record({
  owner: text,
  task: fc.constantFrom("work", "mail"),
  name: text,
  key: text,
  target: text,
  group: text,
  tags: fc.array(text, { maxLength: 2 }),
}, { requiredKeys: ["owner", "task"] });
const change = fc.oneof(
  fc.record({ what: fc.constant("put" as const), n: small, wakeAt: fc.nat(50), parts }),
  fc.record({ what: fc.constantFrom("start", "retire", "remove", "pause", "look", "reject"), wakeAt: fc.nat(50) }),
);
type ChangePlan = typeof change extends fc.Arbitrary<infer T> ? T : never;
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      groups: fc.array(fc.array(fc.tuple(selector, change), { minLength: 1, maxLength: 3 }), { maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ advance: fc.subarray(LANES), now: fc.nat(60) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      find: fc.record({
        owner: text,
        task: fc.constantFrom("work", "mail"),
        name: text,
        target: text,
        group: text,
        tag: text,
        dueBefore: fc.nat(50),
        retired: fc.constant(true as const),
        after: small.map(id),
      }, { requiredKeys: [] }),
      limit: fc.integer({ min: 1, max: 12 }),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

function decided([select, plan]: readonly [Selector, ChangePlan]): Operation<unknown> {
  return {
    select,
    decide(current, now) {
      const value = [current, now];
      if (plan.what === "reject") return { value, reject: new SchedulerError("conflict", "as planned") };
      if (plan.what === "look") return { value };
      if (plan.what === "put") return { value, document: put(current, plan as Extract<ChangePlan, { n: number }>) };
      if (current === undefined) return { value, document: null };
      return { value, document: changed(current, plan.what, plan.wakeAt) };
    },
  };
}

function put(current: ScheduleDocument | undefined, plan: Extract<ChangePlan, { n: number }>): ScheduleDocument {
  const made = document(plan.n, plan.wakeAt, { definition: plan.parts });
  return current === undefined ? made : { ...made, id: current.id };
}

function changed(current: ScheduleDocument, what: string, wakeAt: number): ScheduleDocument | null {
  if (what === "start") return started(current, wakeAt);
  if (what === "retire") return retired(current, wakeAt);
  if (what === "pause") return moved(current, { wakeAt: null, pausedAt: wakeAt });
  return null;
}

/** What a store answers to an action, without what drivers may differ in. */
async function answer(storage: Storage, action: Action): Promise<unknown> {
  if ("groups" in action) {
    const results = await storage.apply(action.groups.map((group) => group.map(decided)), 7);
    return results.map((result) => result.committed ? result : result.reason.code);
  }
  if ("find" in action) return await storage.find({ ...action.find, limit: action.limit });
  const result = await storage.advance({ lanes: action.advance, limit: 100, now: action.now }, (current, now) => ({
    document: started(current, now + 10),
    value: current,
  }));
  const values = [...result.values].sort((a, b) => a.id < b.id ? -1 : 1);
  return { ...result, values };
}

async function everything(storage: Storage): Promise<unknown> {
  const lanes = [...await storage.backlog(30, 5)].sort((a, b) => a.task < b.task ? -1 : 1);
  return [await storage.find({ limit: 100, retired: true }), await storage.nextWake(LANES), lanes];
}

/** A database in memory, and how to make a handle on it. */
interface Subject {
  handle(): Storage;
  close(): void;
}

// deno-lint-ignore require-await
async function inSqlite(): Promise<Subject> {
  const database = new DatabaseSync(":memory:");
  return { handle: () => sqlite({ database }), close: () => database.close() };
}

async function inKv(): Promise<Subject> {
  const database = await openKv(":memory:");
  return { handle: () => kv(database), close: () => void database.close() };
}

describe("drivers", () => {
  it.each([["sqlite", 150, inSqlite], ["kv", 50, inKv]] as const)(
    "%s answers like memory, whatever is asked of them by two handles in turn",
    { timeout: 60_000 },
    async (_name, numRuns, open) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(action, fc.boolean()), { minLength: 1, maxLength: 25 }), async (actions) => {
          const subject = await open();
          const inMemory = memory();
          const stores = count(2).map(() => [subject.handle(), inMemory.handle()] as const);
          for (const pair of stores) for (const storage of pair) await storage.open(context);
          for (const [action, second] of actions) {
            const [ours, model] = stores[second ? 1 : 0]!;
            expect(await answer(ours, action)).toEqual(await answer(model, action));
          }
          expect(await everything(stores[0]![0])).toEqual(await everything(stores[1]![1]));
          for (const pair of stores) for (const storage of pair) await storage.close();
          subject.close();
        }),
        { numRuns },
      );
    },
  );
});
