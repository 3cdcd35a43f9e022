import { afterEach, describe, expect, it, vi } from "vitest";
import { defineTask, type Principal } from "../../../mod.ts";
import { eventFilter } from "../../../plugins/transports/http/event_filter.ts";
import {
  type EventStreamOptions,
  eventStreamRules,
  EventStreams,
} from "../../../plugins/transports/http/event_stream.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { SseReader } from "../../support/sse.ts";
import { cuttable, START, world } from "../support/schedulers.ts";

const work = defineTask("work", () => {});
const bad = defineTask("bad", () => {
  throw new Error("out of paper");
});
const ADMIN: Principal = { id: "root", admin: true };
const ALICE: Principal = { id: "alice" };

function setUp(options: EventStreamOptions = {}, storage = memory()) {
  const w = world("memory");
  const scheduler = w.create({ storage, tasks: [work, bad] });
  const streams = new EventStreams(scheduler, eventStreamRules(options));
  const open = (principal: Principal, query = "", lastId?: string) => {
    const stream = streams.open({ principal, filter: eventFilter(new URLSearchParams(query)), lastId });
    if (typeof stream === "string") throw new Error(`refused: ${stream}`);
    return new SseReader(stream);
  };
  /** A stream whose reader has had its greeting. */
  const begin = async (principal: Principal, query = "", lastId?: string) => {
    const reader = open(principal, query, lastId);
    await reader.read();
    return reader;
  };
  return { ...w, scheduler, streams, open, begin };
}

/** Creates and stops one-shots far off: two events each. */
async function happen({ scheduler }: Pick<ReturnType<typeof setUp>, "scheduler">, owner: string, count: number) {
  for (let i = 0; i < count; i++) await (await scheduler.as({ id: owner }).after(work, "1h")).stop();
}

afterEach(() => void vi.useRealTimers());

describe("event streams", () => {
  it("P2 show each principal the events of its own schedules, and an admin all", async () => {
    const world = setUp();
    const [admin, alice, bob] = await Promise.all([world.begin(ADMIN), world.begin(ALICE), world.begin({ id: "bob" })]);
    const { id } = await world.scheduler.as(ALICE).at(work, START);
    await happen(world, "bob", 1);
    await world.scheduler.start();
    await world.clock.advance(0);
    expect(await alice.names(4)).toEqual(["created", "started", "succeeded", "retired"]);
    expect(await admin.names(6)).toEqual(["created", "created", "stopped", "started", "succeeded", "retired"]);
    expect(await bob.names(2)).toEqual(["created", "stopped"]);
    await world.scheduler.as(ALICE).after(work, "1h", undefined, { target: "room:1" });
    expect(await alice.next()).toMatchObject({
      event: "created",
      data: { schedule: { owner: "alice", kind: "at", task: "work", target: "room:1" } },
    });
    await world.scheduler.close();
    expect([await alice.next(), await bob.next()], "they end with the scheduler").toEqual([undefined, undefined]);
    expect(id).toHaveLength(26);
  });

  it("show admins alone what is about no schedule, and nobody a stack or a message of the store", async () => {
    const { storage, cut, mend } = cuttable(memory());
    const { scheduler, clock, begin } = setUp({}, storage as ReturnType<typeof memory>);
    const [admin, alice] = await Promise.all([begin(ADMIN, "event=storeError,faulted"), begin(ALICE)]);
    await scheduler.start();
    await scheduler.as(ALICE).at(bad, START + 1_000);
    await clock.advance("500ms");
    cut();
    await clock.advance("1s");
    mend();
    await clock.advance("10s");
    let fault = await admin.next();
    expect(fault).toMatchObject({ event: "storeError" });
    for (; fault?.event === "storeError"; fault = await admin.next()) {
      expect(fault.data).toEqual({ operation: "advance", code: "store_unavailable" });
    }
    const at = expect.stringMatching(/^2026-01-01T00:00:\d\d\.\d{3}Z$/); // as every instant over HTTP
    expect(fault!.data).toMatchObject({ fault: { name: "Error", message: "out of paper", at } });
    expect(Object.keys((fault!.data as { fault: object }).fault)).toEqual(["name", "message", "at"]);
    expect(await alice.names(3)).toEqual(["created", "started", "faulted"]);
  });

  it("resume after the id that a reader had last, without a doubled or a lost event", async () => {
    const world = setUp();
    const reader = await world.begin(ALICE);
    expect(reader.retryMs).toBe(2_000);
    const greeted = reader.lastId;
    await happen(world, "alice", 2);
    const first = await reader.next();
    await reader.cancel();
    await happen(world, "bob", 5);
    await happen(world, "alice", 1);
    const again = world.open(ALICE, "", first!.id);
    expect(await again.names(5)).toEqual(["stopped", "created", "stopped", "created", "stopped"]);
    const all = world.open(ALICE, "", greeted);
    expect(await all.names(6)).toEqual(["created", "stopped", "created", "stopped", "created", "stopped"]);
  });

  it("say that events were lost: more than are kept, or another instance's", async () => {
    const world = setUp({ keep: 4 });
    const reader = await world.begin(ADMIN);
    const { lastId } = reader;
    await reader.cancel();
    await happen(world, "alice", 3);
    const late = world.open(ADMIN, "", lastId);
    expect(await late.next()).toMatchObject({ event: "gap", data: { reason: "overrun" } });
    expect(await late.names(4)).toEqual(["created", "stopped", "created", "stopped"]);
    for (const id of ["ffffffff-3", `${lastId!.split("-")[0]}-999`, "x", "", "1-1\nevent: x", "9".repeat(10_000)]) {
      const other = world.open(ADMIN, "", id);
      expect(await other.next(), id.slice(0, 20)).toMatchObject({ event: "gap", data: { reason: "other_instance" } });
      await other.cancel();
    }
  });

  it("P2 have ids that tell nobody how much happens that is not theirs, nor in which order", async () => {
    const world = setUp({ keep: 50 });
    const ids: string[] = [];
    const reader = await world.begin(ALICE);
    ids.push(reader.lastId!);
    for (const others of [0, 1, 7, 30]) {
      await happen(world, "bob", others);
      await happen(world, "alice", 1);
      ids.push((await reader.next())!.id!, (await reader.next())!.id!);
    }
    const [lives, marks] = [0, 1].map((part) => ids.map((id) => id.split("-")[part]!));
    expect([new Set(lives).size, new Set(marks).size]).toEqual([1, 9]);
    for (const mark of marks!) expect(mark).toMatch(/^[0-9a-f]{16}$/);
    const forgotten = world.open(ALICE, "", ids[0]);
    expect(await forgotten.next()).toMatchObject({ event: "gap", data: { reason: "overrun" } });
    const kept = world.open(ALICE, "", ids.at(-2));
    expect((await kept.next())!.id).toBe(ids.at(-1));
  });

  it("keep nothing for a reader that is slow: it is told of the gap and goes on with what is kept", async () => {
    const world = setUp({ keep: 10 });
    const slow = await world.begin(ADMIN);
    const quick = await world.begin(ADMIN);
    await happen(world, "alice", 1);
    expect(await quick.names(2)).toEqual(["created", "stopped"]);
    await happen(world, "alice", 100);
    const names = await slow.names(11);
    expect(names[0], "it had taken nothing but the greeting").toBe("gap");
    expect(names.slice(1)).toEqual(Array.from({ length: 5 }, () => ["created", "stopped"]).flat());
    expect(await quick.names(1)).toEqual(["gap"]);
  });

  it("are about the events, the schedule and the task that are asked for", async () => {
    const world = setUp();
    const { id } = await world.scheduler.as(ALICE).after(work, "1h");
    const [stopped, one, task] = await Promise.all([
      world.begin(ADMIN, "event=stopped,retired&event=lost"),
      world.begin(ALICE, `schedule=${id}`),
      world.begin(ADMIN, "task=bad"),
    ]);
    await happen(world, "alice", 1);
    await world.scheduler.stop(id);
    await world.scheduler.as(ALICE).after(bad, "1h");
    expect(await stopped.names(2)).toEqual(["stopped", "stopped"]);
    expect(await one.next()).toMatchObject({ event: "stopped", data: { schedule: { id } } });
    expect(await task.next()).toMatchObject({ event: "created", data: { schedule: { task: "bad" } } });
  });

  it.each([
    ["event=strated", "invalid_option"],
    ["event=closed", "invalid_option"],
    ["event=__proto__", "invalid_option"],
    ["evnet=started", "unknown_option"],
    ["schedule=", "invalid_option"],
    ["schedule=a&schedule=b", "invalid_option"],
    [`task=${"x".repeat(201)}`, "invalid_option"],
  ])("refuse %s", (query, code) => {
    expect(() => eventFilter(new URLSearchParams(query))).toThrowError(expect.objectContaining({ code }));
  });

  it.each([{ keep: 0 }, { streams: 1.5 }, { streamsOfOne: "9" }, { kepe: 3 }])("refuse the options %o", (options) => {
    expect(() => eventStreamRules(options as EventStreamOptions)).toThrowError(/http\.events/);
  });

  it("are limited in all and for each principal, and one that ends makes room", async () => {
    const { streams, begin, scheduler } = setUp({ streams: 3, streamsOfOne: 2 });
    const ask = (principal: Principal) => streams.open({ principal, filter: {}, lastId: undefined });
    const first = await begin(ALICE);
    await begin(ALICE);
    expect(ask(ALICE)).toBe("streamsOfOne");
    await begin({ id: "bob" });
    expect(ask({ id: "carol" })).toBe("streams");
    await first.cancel();
    expect(streams.size).toBe(2);
    await begin({ id: "carol" });
    await scheduler.close();
    expect([streams.size, ask(ALICE)]).toEqual([0, "closed"]);
  });
});

describe("event streams in time", () => {
  it("give a sign of life that moves the id on, so that a silent reader loses nothing that is not its own", async () => {
    vi.useFakeTimers();
    const world = setUp({ keep: 4 });
    const alice = await world.begin(ALICE);
    const { lastId } = alice;
    const beat = alice.read();
    await happen(world, "bob", 10);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await beat).toBe(true);
    expect(alice.lastId).not.toBe(lastId);
    await alice.cancel();
    const again = world.open(ALICE, "", alice.lastId);
    await happen(world, "alice", 1);
    expect(await again.names(2), "no gap").toEqual(["created", "stopped"]);
    await again.cancel();
    expect(vi.getTimerCount(), "no stream, no timer, once the last rest is over").toBeLessThanOrEqual(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("drop a reader that takes nothing for a minute, also one that never began to read", async () => {
    vi.useFakeTimers();
    const { streams, open, begin } = setUp();
    const [stuck, waiting] = [open(ALICE), await begin(ALICE)];
    const beats = waiting.next();
    await vi.advanceTimersByTimeAsync(70_000);
    expect(streams.size).toBe(1);
    await expect(stuck.next()).rejects.toThrow("took nothing");
    await waiting.cancel();
    await beats;
  });

  it("end after an hour, so that the reader authenticates again", async () => {
    vi.useFakeTimers();
    const { streams, begin } = setUp();
    const reader = await begin(ALICE);
    const end = reader.next();
    await vi.advanceTimersByTimeAsync(3_700_000);
    expect(await end).toBeUndefined();
    expect([streams.size, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it("have no timer of their own, and are served a few at a time with rests between", async () => {
    vi.useFakeTimers();
    const world = setUp();
    const readers = await Promise.all(Array.from({ length: 1_000 }, () => world.begin(ADMIN)));
    expect(vi.getTimerCount(), "signs of life").toBe(1);
    let served = 0;
    for (const reader of readers) void reader.read().then((more) => void (served += Number(more)));
    await happen(world, "alice", 1);
    expect(vi.getTimerCount()).toBe(2);
    const steps: number[] = [];
    while (served < readers.length) {
      const before = served;
      await vi.advanceTimersToNextTimerAsync();
      if (served > before) steps.push(served - before);
    }
    expect(steps).toEqual(Array.from({ length: 10 }, () => 100));
  });
});
