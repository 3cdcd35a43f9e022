import { describe, expect, it } from "vitest";
import { defineTask, type ObservedEvent } from "../../../mod.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { cuttable, DAY, MINUTE, START, STORES, world } from "../support/schedulers.ts";

const work = defineTask("work", () => {});
const mail = defineTask("mail", () => {});

describe.each(STORES)("what waits, over %s", (kind) => {
  it("backlog tells what is due of each task and since when, in the store and in the process", async () => {
    const w = world(kind);
    const scheduler = w.create({ tasks: [work, mail] });
    expect(await scheduler.backlog()).toEqual({ at: new Date(START), tasks: [] });
    await scheduler.at(work, START - MINUTE);
    await scheduler.at(work, START - 2 * MINUTE, undefined, { persist: false });
    await scheduler.at(work, START + MINUTE);
    await scheduler.at(mail, START + DAY);
    const held = await scheduler.at(mail, START - DAY);
    await held.pause();
    expect((await scheduler.backlog()).tasks).toEqual([
      { task: "mail", registered: true, due: 0, oldest: null },
      { task: "work", registered: true, due: 2, oldest: new Date(START - 2 * MINUTE) },
    ]);
    await w.clock.set(START + MINUTE);
    const { at, tasks } = await scheduler.backlog({ limit: 2 });
    expect([at, tasks[1]!.due], "counted to its limit").toEqual([new Date(START + MINUTE), 2]);
  });

  it("M2 backlog tells which tasks this instance lacks", async () => {
    const w = world(kind);
    await w.create({ tasks: [work] }).at(work, START);
    const [waiting] = (await w.create({ tasks: [mail] }).backlog()).tasks;
    expect(waiting).toEqual({ task: "work", registered: false, due: 1, oldest: new Date(START) });
  });

  it("backlog is empty once everything has run, records of what is over included", async () => {
    const w = world(kind);
    const scheduler = await w.start({ tasks: [work] });
    await scheduler.at(work, START);
    await w.clock.advance(2 * MINUTE);
    expect((await scheduler.backlog()).tasks).toEqual([]);
  });
});

it("backlog refuses what it does not know, answers with the store's failure, and is closed with the scheduler", async () => {
  const { storage, cut, mend } = cuttable(memory());
  const scheduler = world("memory").create({ storage, tasks: [work] });
  await expect(scheduler.backlog({ limit: 0 })).rejects.toMatchObject({ code: "invalid_option" });
  await expect(scheduler.backlog({ limti: 1 } as object)).rejects.toMatchObject({ code: "unknown_option" });
  await scheduler.backlog();
  cut();
  await expect(scheduler.backlog()).rejects.toMatchObject({ code: "store_unavailable" });
  mend();
  await scheduler.close();
  await expect(scheduler.backlog()).rejects.toMatchObject({ code: "closed" });
});

it("V5 an observer is told of every event, the last when the scheduler is closed, and harms nothing", async () => {
  const w = world("memory");
  const scheduler = await w.start({ tasks: [work] });
  const seen: ObservedEvent[] = [];
  const end = scheduler.observe((observed) => void seen.push(observed));
  scheduler.observe(() => {
    throw new Error("a bad observer");
  });
  const { id } = await scheduler.at(work, START);
  await w.clock.advance(0);
  expect(seen.map(({ name }) => name)).toEqual(["created", "started", "succeeded", "retired"]);
  expect(seen.every(({ event }) => "schedule" in event && event.schedule.id === id)).toBe(true);
  end();
  await scheduler.after(work, "1h");
  expect(seen).toHaveLength(4);
  const closed: unknown[] = [];
  scheduler.on("closed", (event) => closed.push(event));
  await Promise.all([scheduler.close(), scheduler.close()]);
  expect(closed).toEqual([{}]);
  expect(w.messages.filter(({ text }) => text.startsWith('a listener of "created" threw'))).toHaveLength(2);
});

it("F1 a fault that is observed and that nobody listens to is logged all the same", async () => {
  const w = world("memory");
  const bad = defineTask("bad", () => {
    throw new Error("out of paper");
  });
  const scheduler = await w.start({ tasks: [bad] });
  const names: string[] = [];
  scheduler.observe(({ name }) => void names.push(name));
  await scheduler.at(bad, START);
  await w.clock.advance(0);
  expect(names).toContain("faulted");
  expect(w.messages.map(({ text }) => text).join()).toContain("out of paper");
  scheduler.on("faulted", () => {});
  w.messages.length = 0;
  await scheduler.at(bad, START);
  await w.clock.advance(0);
  expect(w.messages.map(({ text }) => text).join(), "now somebody listens").not.toContain("out of paper");
});

it("L4 a schedule that retires by its faults is logged where nobody listens, one that is through is not", async () => {
  const w = world("memory");
  const bad = defineTask("bad", () => {
    throw new Error("out of paper");
  });
  const scheduler = await w.start({ tasks: [bad, work] });
  const ends = () =>
    w.messages.filter(({ text }) => text.includes("has retired")).map(({ text }) => text.split(": ")[1]);
  await scheduler.every(bad, "1m", undefined, { name: "poll", maxFaults: 2 });
  await w.clock.advance("1m");
  await scheduler.at(work, START);
  await w.clock.advance(0);
  expect(ends()).toEqual([]);
  await w.clock.advance("1m");
  await scheduler.at(bad, START);
  await w.clock.advance(0);
  expect(ends()).toEqual(["max_faults", "failed"]);
  expect(w.messages.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^schedule \w{26} of poll has retired/),
  );
  scheduler.on("retired", () => {});
  await scheduler.at(bad, START);
  await w.clock.advance(0);
  expect(ends(), "now somebody listens").toHaveLength(2);
});

it("M6 a store that goes away is logged whole once, then in a line for each attempt, and once when it is back", async () => {
  const w = world("memory");
  const { storage, cut, mend } = cuttable(memory());
  const scheduler = await w.start({ storage, tasks: [work] });
  await scheduler.every(work, "10s");
  for (let round = 0; round < 2; round++) {
    w.messages.length = 0;
    cut();
    await w.clock.advance("2m");
    mend();
    await w.clock.advance("2m");
    const [first, ...others] = w.messages;
    const last = others.pop();
    expect([first!.level, first!.details.length, last!.details.length]).toEqual(["warn", 1, 0]);
    expect(others.length).toBeGreaterThan(1);
    for (const { text, details } of others) {
      expect(text).toMatch(/^the store failed to \w+ again \(\d+ times by now\): /);
      expect([text.includes("\n"), details.length]).toEqual([false, 0]);
    }
    expect(last!.text).toBe(`the store answers again; ${others.length + 1} calls had failed`);
  }
});
