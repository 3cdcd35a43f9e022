import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask, type Scheduler } from "../../mod.ts";
import { kv } from "../../plugins/storage/kv/mod.ts";
import type { ScheduleInfo } from "../../src/contract/mod.ts";
import { openKv, scratchKv } from "../support/kv.ts";
import { type Child, type JournalEntry, launch, until } from "./processes.ts";

const quick = defineTask("quick", () => {});
const slow = defineTask<{ ms: number }>("slow", () => {});
const keep = { retention: "1d" } as const;

interface Cluster {
  readonly file: string;
  children(count: number, leaseMs?: number): Promise<Child[]>;
  journal(): JournalEntry[];
}

function cluster(): Cluster {
  const { file, remove } = scratchKv();
  onTestFinished(remove);
  const journal = `${file}.journal`;
  const child = async (leaseMs: number) => {
    const made = launch("kv_child.ts", { file, journal, leaseMs }, { deno: ["--unstable-kv"] });
    await made.said((message) => "ready" in message);
    return made;
  };
  return {
    file,
    children: (count, leaseMs = 30_000) => Promise.all(Array.from({ length: count }, () => child(leaseMs))),
    journal: () =>
      existsSync(journal)
        ? readFileSync(journal, "utf8").split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line))
        : [],
  };
}

/** A scheduler of the test's own process that creates and looks, and runs nothing. */
function looker({ file }: Cluster): Scheduler {
  const scheduler = createScheduler({ storage: kv(file), tasks: [quick, slow] });
  onTestFinished(() => scheduler.close({ drain: 0 }));
  return scheduler;
}

async function createMany(scheduler: Scheduler, count: number): Promise<void> {
  const requests = Array.from({ length: 100 }, () => ({ task: quick, after: 0, ...keep } as const));
  for (let made = 0; made < count; made += 100) await scheduler.createMany(requests);
}

async function allOver(scheduler: Scheduler): Promise<boolean> {
  for await (const _ of scheduler.list({ limit: 1 })) return false;
  return true;
}

function countBy(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

const starts = (one: Cluster) => one.journal().filter(({ what }) => what === "start");

describe("several processes on one KV file", { timeout: 150_000 }, () => {
  it("M1 B102 B137: 5,000 deadlines over 4 processes run exactly once each, without an error of the store; X3 then all end", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const children = await one.children(4);
    // They wait by now, and learn of it from another process.
    await createMany(scheduler, 5_000);
    await until("half of them have run", () => starts(one).length >= 2_500);
    await until("all have run", () => allOver(scheduler));
    const counts = countBy(starts(one).map(({ id }) => id));
    expect(counts.size).toBe(5_000);
    expect(Math.max(...counts.values())).toBe(1);
    expect(new Set(starts(one).map(({ pid }) => pid)).size).toBeGreaterThan(1);
    for (const child of children) child.tell("close");
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    expect(children.map(({ errors }) => errors())).toEqual(["", "", "", ""]);
    expect(children.flatMap(({ messages }) => messages.filter((message) => "storeError" in message))).toEqual([]);
  });

  it("M1 B137: instances that come and go beside others leave the file whole", async () => {
    const one = cluster();
    const children = await one.children(2);
    for (let i = 0; i < 40; i++) {
      const passing = createScheduler({ storage: kv(one.file), tasks: [quick] });
      await createMany(passing, 100);
      await passing.close();
    }
    const last = looker(one);
    await until("all have run", () => allOver(last));
    const counts = countBy(starts(one).map(({ id }) => id));
    expect([counts.size, Math.max(...counts.values())]).toEqual([4_000, 1]);
    for (const child of children) child.tell("close");
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(children.flatMap(({ messages }) => messages.filter((message) => "storeError" in message))).toEqual([]);
    const database = new DatabaseSync(one.file, { readOnly: true });
    expect(database.prepare("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    database.close();
  });

  it("M3: what a killed process was running is run again by others; twice only where a lease was lost; nothing is stuck", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const children = await one.children(3, 900);
    const made = await scheduler.createMany(
      Array.from({ length: 80 }, () => ({ task: slow, after: 0, input: { ms: 300 }, maxLost: 100, ...keep })),
    );
    for (let kill = 0; kill < 2; kill++) {
      const victim = children.shift()!;
      await until("it has started a run", () => starts(one).some(({ pid }) => pid === victim.process.pid));
      victim.process.kill("SIGKILL");
      children.push(...await one.children(1, 900));
    }
    await until("all are over", () => allOver(scheduler));
    const started = countBy(starts(one).map(({ id }) => id));
    let losses = 0;
    for (const { id } of made) {
      const info = await scheduler.info(id);
      expect(info).toMatchObject({ retireReason: "completed", running: [], consecutiveFaults: 0 });
      expect(info.runCount).toBe(1 + info.faultCount);
      expect(started.get(id)).toBeLessThanOrEqual(info.runCount);
      const outcomes = (await scheduler.runs(id)).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["succeeded", ...Array(info.faultCount).fill("lost")]);
      losses += info.faultCount;
    }
    expect(losses).toBeGreaterThan(0);
  });

  it("M4 B092: a process frozen for longer than its lease cannot settle when it goes on", async () => {
    const one = cluster();
    const scheduler = looker(one);
    const [frozen] = await one.children(1, 800);
    const { id } = await scheduler.after(slow, 0, { ms: 200 }, keep);
    await until("it runs", () => starts(one).length === 1);
    // Not by the child's own kill, which Deno lets a process have once only.
    process.kill(frozen!.process.pid!, "SIGSTOP");
    await one.children(1, 800);
    let info: ScheduleInfo | undefined;
    await until("another has run it", async () => (info = await scheduler.info(id)).retired);
    process.kill(frozen!.process.pid!, "SIGCONT");
    expect(await frozen!.said((message) => message["event"] === "leaseLost")).toMatchObject({ id, attempt: 1 });
    expect(await scheduler.info(id)).toEqual(info);
    expect(info).toMatchObject({ retireReason: "completed", runCount: 2, faultCount: 1 });
  });
});

describe("several handles on one KV file", { timeout: 120_000 }, () => {
  it("M1: 5,000 deadlines over 4 handles of one process run exactly once each", async () => {
    const { file, remove } = scratchKv();
    const ran: string[] = [];
    const task = defineTask("quick", (_input, { schedule }) => void ran.push(schedule.id));
    const handles = await Promise.all([1, 2, 3, 4].map(() => openKv(file)));
    const schedulers = handles.map((handle) =>
      createScheduler({ storage: kv({ kv: handle, pollInterval: 100 }), tasks: [task] })
    );
    onTestFinished(async () => {
      await Promise.all(schedulers.map((scheduler) => scheduler.close()));
      for (const handle of handles) handle.close();
      remove();
    });
    await Promise.all(schedulers.slice(1).map((scheduler) => scheduler.start()));
    await createMany(schedulers[0]!, 5_000);
    await until("half of them have run", () => ran.length >= 2_500);
    await until("all have run", () => allOver(schedulers[0]!));
    expect(ran.length).toBe(5_000);
    expect(new Set(ran).size).toBe(5_000);
  });
});
