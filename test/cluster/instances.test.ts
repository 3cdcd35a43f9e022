import process from "node:process";
import { describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask, type Scheduler } from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import type { ScheduleInfo } from "../../src/contract/mod.ts";
import { type Child, type Cluster, cluster, type JournalEntry, type SlowInput, until } from "./processes.ts";

const quick = defineTask("quick", () => {});
const slow = defineTask<SlowInput>("slow", () => {});
const hanging = defineTask("hanging", () => {});

/** A scheduler of the test's own process that creates and looks, and runs nothing. */
function looker({ file }: Cluster): Scheduler {
  const storage = sqlite({ path: file, synchronous: "normal" });
  const scheduler = createScheduler({ storage, tasks: [quick, slow, hanging] });
  onTestFinished(() => scheduler.close({ drain: 0 }));
  return scheduler;
}

async function retired(scheduler: Scheduler, ids: readonly string[]): Promise<ScheduleInfo[] | undefined> {
  for await (const _ of scheduler.list()) return undefined;
  return await Promise.all(ids.map((id) => scheduler.info(id)));
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}

const keep = { retention: "1d" };

describe("several processes on one SQLite file", { timeout: 90_000 }, () => {
  it("M1 B102: each of 60 points of one second runs once, over 8 processes", async () => {
    const one = cluster();
    const clock = { speed: 20, origin: Date.now() };
    await one.children(8, { clock, leaseMs: 600_000 });
    const scheduler = looker(one);
    const { id } = await scheduler.cron("second", "* * * * * *", quick, undefined, {
      // However slow the machine is: what comes late, or during a run, waits for its turn.
      catchup: { policy: "all", limit: 1_000 },
      overlap: { policy: "queue", limit: 60 },
      maxRuns: 60,
      retention: "300d",
    });
    await until("the schedule has ended", async () => (await scheduler.info(id)).retired);
    const points = one.journal().map(({ point }) => point).sort((a, b) => a - b);
    expect(points).toHaveLength(60);
    expect(points).toEqual(points.map((_, i) => points[0]! + i * 1_000));
    expect(await scheduler.info(id)).toMatchObject({
      retireReason: "ended",
      runCount: 60,
      faultCount: 0,
      missedCount: 0,
    });
  });

  it("M1 B128: 20,000 one-shots over 4 processes run exactly once each, without an error of the store", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const request = { task: quick, after: 0, ...keep, retention: "1d" } as const;
    for (let i = 0; i < 2; i++) await scheduler.createMany(Array.from({ length: 10_000 }, () => request));
    const children = await one.children(4);
    await until("all have run", async () => {
      for await (const _ of scheduler.list({ limit: 1 })) return false;
      return true;
    });
    const counts = countBy(one.journal(), ({ id }) => id);
    expect(counts.size).toBe(20_000);
    expect(Math.max(...counts.values())).toBe(1);
    expect(children.map(({ errors }) => errors())).toEqual(["", "", "", ""]);
  });

  it("M3 B097: killed again and again, every one-shot runs; twice only where a lease was lost; nothing is stuck", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const settings = { leaseMs: 700, concurrency: 4 };
    const children = await one.children(3, settings);
    const made = await scheduler.createMany(
      Array.from({ length: 100 }, () => ({ task: slow, after: 0, input: { ms: 400 }, maxLost: 100, ...keep })),
    );
    for (let kill = 0; kill < 4; kill++) {
      const [victim] = children.splice(0, 1);
      // In the middle of its runs, unless there are none left.
      const mine = ({ pid }: JournalEntry) => pid === victim!.process.pid;
      await until("it has started a run", () => one.journal().some(mine) || one.journal().length > 120);
      victim!.process.kill("SIGKILL");
      children.push(await one.child(settings));
    }
    let infos: ScheduleInfo[] | undefined;
    await until("all are over", async () => {
      infos = await retired(scheduler, made.map(({ id }) => id));
      return infos !== undefined;
    });
    const starts = countBy(one.journal().filter(({ what }) => what === "start"), ({ id }) => id);
    let losses = 0;
    for (const info of infos!) {
      expect(info).toMatchObject({ retireReason: "completed", running: [], consecutiveFaults: 0 });
      expect(info.runCount).toBe(1 + info.faultCount);
      expect(starts.get(info.id)).toBeGreaterThanOrEqual(1);
      expect(starts.get(info.id)).toBeLessThanOrEqual(info.runCount);
      const outcomes = (await scheduler.runs(info.id)).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["succeeded", ...Array(info.faultCount).fill("lost")]);
      losses += info.faultCount;
    }
    expect(losses).toBeGreaterThan(0);
  });

  it("M3 M8: a recurring schedule whose process is killed in a run goes on, in phase, on another", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const first = await one.child({ leaseMs: 500 });
    const { id } = await scheduler.every(slow, "200ms", { ms: 60_000 }, { maxRuns: 3, onLost: "fault", ...keep });
    const { nextRun } = await scheduler.info(id);
    await first.said((message) => message["started"] === id);
    first.process.kill("SIGKILL");
    await scheduler.update(id, { input: { ms: 0 } });
    await one.child({ leaseMs: 500 });
    await until("it has ended", async () => (await scheduler.info(id)).retired);
    const points = one.journal().filter(({ what }) => what === "start").map(({ point }) => point);
    expect(points).toHaveLength(3);
    expect(new Set(points).size).toBe(3);
    expect(points.map((point) => (point - nextRun!.getTime()) % 200)).toEqual([0, 0, 0]);
    expect(await scheduler.info(id)).toMatchObject({ faultCount: 1, runCount: 3, retireReason: "ended" });
  });

  async function takenOver(one: Cluster, scheduler: Scheduler, id: string, holder: Child): Promise<void> {
    await until("another has run it", async () => (await scheduler.info(id)).retired);
    const told = await holder.said((message) => message["event"] === "leaseLost" && message["id"] === id);
    expect(told).toMatchObject({ attempt: 1 });
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", runCount: 2, faultCount: 1 });
    expect((await scheduler.runs(id)).map(({ outcome }) => outcome)).toEqual(["succeeded", "lost"]);
    const pids = one.journal().filter(({ what }) => what === "start").map(({ pid }) => pid);
    expect(pids[0]).toBe(holder.process.pid);
    expect(new Set(pids).size).toBe(2);
  }

  it("M4 B092: a process frozen for longer than its lease cannot settle when it goes on", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const frozen = await one.child({ leaseMs: 600 });
    const { id } = await scheduler.after(slow, 0, { ms: 200 }, keep);
    await frozen.said((message) => message["started"] === id);
    process.kill(frozen.process.pid!, "SIGSTOP");
    await one.child({ leaseMs: 600 });
    await until("another has run it", async () => (await scheduler.info(id)).retired);
    process.kill(frozen.process.pid!, "SIGCONT");
    await takenOver(one, scheduler, id, frozen);
  });

  it("M4 M5 a handler that blocks the event loop for longer than the lease loses it, and its result is ignored", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const blocked = await one.child({ leaseMs: 400 });
    const { id } = await scheduler.after(slow, 0, { ms: 0, blocks: "until taken" }, keep);
    await until("it blocks", () => one.journal().length > 0);
    await one.child({ leaseMs: 400 });
    await takenOver(one, scheduler, id, blocked);
  });

  it("M5 a handler that blocks the event loop for less than the lease keeps it", async () => {
    const one = cluster();
    const scheduler = looker(one);
    await one.child({ leaseMs: 6_000 });
    const { id } = await scheduler.after(slow, 0, { ms: 1_500, blocks: "so long" }, keep);
    await until("it blocks", () => one.journal().length > 0);
    await one.child({ leaseMs: 6_000 });
    await until("it has ended", async () => (await scheduler.info(id)).retired);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", runCount: 1, faultCount: 0 });
  });

  it("T8 a clock that jumps ahead by an hour ends no live lease, on no process", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const clock = { speed: 1, origin: Date.now() };
    const [holder, other] = await one.children(2, { leaseMs: 2_000, clock });
    const { id } = await scheduler.after(slow, 0, { ms: 3_000 }, { retention: "30d" });
    await until("it runs", () => one.journal().length > 0);
    for (const child of [other!, holder!]) child.tell("jump 3600000");
    await Promise.all([holder, other].map((child) => child!.said((message) => "jumped" in message)));
    await until("it has ended", async () => (await scheduler.info(id)).retired);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", runCount: 1, faultCount: 0 });
  });

  it("L6 abortRun reaches a run in another process", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const holder = await one.child({ leaseMs: 900 });
    const { id } = await scheduler.after(hanging, 0, undefined, keep);
    await holder.said((message) => message["started"] === id);
    const [run] = await scheduler.running();
    expect(await scheduler.abortRun(run!.id)).toBe(true);
    expect(await holder.said((message) => message["aborted"] === id)).toMatchObject({ reason: "AbortError" });
    await until("it is settled", async () => (await scheduler.info(id)).retired);
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "failed", faultCount: 1 });
    expect(await scheduler.abortRun(run!.id)).toBe(false);
  });

  it("I3 a creation that resolved survives the SIGKILL of its process the next instant", async () => {
    const one = cluster();
    for (let round = 0; round < 3; round++) {
      const maker = await one.child({ starts: false });
      maker.tell("create 100000");
      await maker.said((message) => "made" in message);
      const enough = maker.messages.length + 50;
      await until("some were made", () => maker.messages.length >= enough);
      maker.process.kill("SIGKILL");
      expect(await maker.ended).toBe("SIGKILL");
      const scheduler = looker(one);
      const made = maker.messages.flatMap(({ made }) => typeof made === "string" ? [made] : []);
      expect(made.length).toBeGreaterThanOrEqual(50);
      const found = new Set<string>();
      for await (const { id } of scheduler.list({ limit: 1_000 })) found.add(id);
      expect(made.filter((id) => !found.has(id))).toEqual([]);
    }
  });
});
