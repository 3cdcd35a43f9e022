/**
 * Tests of an application that schedules, on a clock that the test moves: weeks pass in milliseconds, in order, and each
 * run is at its exact time. `node:test` here; any other runner does as well.
 *
 *     node --test examples/testing/reminders.test.ts
 *     deno test -A examples/testing/reminders.test.ts
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createScheduler, type Scheduler } from "../../mod.ts";
import { type ManualClock, manualClock } from "../../src/testing/mod.ts";
import { remind, remindTask, type Send } from "./reminders.ts";

interface World {
  readonly clock: ManualClock;
  readonly scheduler: Scheduler;
  /** What was sent, and when. */
  readonly sent: string[];
}

/** A scheduler in memory on a clock that stands still at the first of March, a line to it, and its end. */
async function inMarch(body: (world: World) => Promise<void>, deliver: Send = async () => {}): Promise<void> {
  const clock = manualClock("2026-03-01T00:00:00Z");
  const sent: string[] = [];
  const task = remindTask(async (to, text) => {
    await deliver(to, text);
    sent.push(`${new Date(clock.now()).toISOString()} ${to}: ${text}`);
  });
  const silent = { error() {}, warn() {}, info() {}, debug() {} };
  const scheduler = createScheduler({ clock, tasks: [task], logger: silent });
  await scheduler.start();
  try {
    await body({ clock, scheduler, sent });
  } finally {
    await scheduler.close();
  }
}

const DENTIST = { id: "7", to: "ann", what: "dentist", date: "2026-03-30", timezone: "Europe/Berlin" };

test("reminds at six on the evening before, in summer time since that morning", () =>
  inMarch(async ({ clock, scheduler, sent }) => {
    assert.equal((await remind(scheduler, DENTIST)).toISOString(), "2026-03-29T16:00:00.000Z");
    await clock.advance("4w");
    assert.deepEqual(sent, []);
    await clock.advance("1d");
    assert.deepEqual(sent, ["2026-03-29T16:00:00.000Z ann: tomorrow: dentist"]);
  }));

test("an appointment that is moved is reminded of once, on its new day", () =>
  inMarch(async ({ clock, scheduler, sent }) => {
    await remind(scheduler, DENTIST);
    await clock.advance("1w");
    await remind(scheduler, { ...DENTIST, date: "2026-03-20" });
    await clock.advance("8w");
    assert.deepEqual(sent, ["2026-03-19T17:00:00.000Z ann: tomorrow: dentist"]);
  }));

test("a message that does not go out is tried again after one minute, and after five", () => {
  let failures = 2;
  const deliver = () => failures-- > 0 ? Promise.reject(new Error("no route to host")) : Promise.resolve();
  return inMarch(async ({ clock, scheduler, sent }) => {
    const { id } = await scheduler.at("remind", "2026-03-02T00:00:00Z", { to: "ann", what: "tea" });
    await clock.advance("1d");
    await clock.advance("6m");
    assert.deepEqual(sent, ["2026-03-02T00:06:00.000Z ann: tomorrow: tea"]);
    assert.deepEqual((await scheduler.runs(id)).map(({ attempt, outcome }) => `${attempt} ${outcome}`), [
      "3 succeeded",
      "2 faulted",
      "1 faulted",
    ]);
  }, deliver);
});

test("what came due while nothing ran is sent at the next start", () =>
  inMarch(async ({ clock, scheduler, sent }) => {
    await remind(scheduler, DENTIST);
    await clock.set("2026-03-29T21:00:00Z"); // the machine slept
    assert.deepEqual(sent, ["2026-03-29T21:00:00.000Z ann: tomorrow: dentist"]);
  }));
