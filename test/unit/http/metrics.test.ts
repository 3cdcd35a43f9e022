import { describe, expect, it } from "vitest";
import { defineTask, type Scheduler } from "../../../mod.ts";
import { Metrics } from "../../../plugins/transports/http/metrics.ts";
import { MAX_TASK_LABELS } from "../../../plugins/transports/http/limits.ts";
import { StoreLook } from "../../../plugins/transports/http/store_look.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import type { ObservedEvent } from "../../../src/contract/mod.ts";
import { parseMetrics, valuesOf } from "../../support/prometheus.ts";
import { cuttable, MINUTE, SECOND, START, world } from "../support/schedulers.ts";

const quick = defineTask("quick", () => {});
const bad = defineTask("bad", () => Promise.reject(new Error("no")));

const scrape = async (metrics: Metrics): Promise<string> => await (await metrics.scrape()).text();
const metricsOf = (scheduler: Scheduler) => new Metrics(scheduler, new StoreLook(scheduler, 1_000));

describe("metrics", () => {
  it("count runs by task and outcome, with how late they were and how long they took", async () => {
    const { clock, start } = world("memory");
    const slow = defineTask("slow", { timeout: "2s", run: (_input, { signal }) => clock.sleep("10s", { signal }) });
    const long = defineTask("long", () => clock.sleep("700ms"));
    const scheduler = await start({ tasks: [quick, bad, slow, long] });
    const metrics = metricsOf(scheduler);
    await scheduler.at(quick, START - 4 * SECOND);
    await scheduler.every(quick, "1s", undefined, { maxRuns: 2 });
    await scheduler.at(bad, START, undefined, { retry: { limit: 2, delay: "1s" } });
    await scheduler.at(slow, START);
    await scheduler.at(long, START);
    await clock.advance(MINUTE);
    const text = await scrape(metrics);
    expect(valuesOf(text, "ostinato_runs_total")).toEqual({
      "quick,succeeded": 3,
      "bad,faulted": 3,
      "slow,timeout": 1,
      "long,succeeded": 1,
    });
    const lateness = valuesOf(text, "ostinato_run_lateness_seconds_bucket");
    expect([lateness["quick,0.005"], lateness["quick,2.5"], lateness["quick,5"], lateness["quick,+Inf"]])
      .toEqual([2, 2, 3, 3]);
    expect(valuesOf(text, "ostinato_run_lateness_seconds_sum")["quick"]).toBe(4);
    const duration = valuesOf(text, "ostinato_run_duration_seconds_bucket");
    expect([duration["long,0.5"], duration["long,1"], duration["long,3600"], duration["long,+Inf"]])
      .toEqual([0, 1, 1, 1]);
    expect(valuesOf(text, "ostinato_run_duration_seconds_sum")["long"]).toBe(0.7);
    expect(valuesOf(text, "ostinato_run_duration_seconds_count"))
      .toEqual({ quick: 3, bad: 3, slow: 1, long: 1 });
  });

  it("count what was missed, overlapped and lost, and leases lost", async () => {
    const { clock, create, start } = world("sqlite");
    const stuck = defineTask("stuck", () => new Promise(() => {}));
    await create({ tasks: [quick, stuck] }).every(quick, "1m", undefined, { catchup: "skip" });
    await clock.set(START + 10 * MINUTE + 45 * SECOND);
    const scheduler = await start({ tasks: [quick, stuck], leaseMs: 1_000 });
    const metrics = metricsOf(scheduler);
    const { id } = await scheduler.every(stuck, "10s");
    await clock.advance("35s");
    let text = await scrape(metrics);
    expect(valuesOf(text, "ostinato_missed_points_total")).toEqual({ quick: 10, stuck: 0 });
    expect(valuesOf(text, "ostinato_overlapped_points_total")).toEqual({ quick: 0, stuck: 2 });
    expect(valuesOf(text, "ostinato_leases_lost_total"), "from a task's first event on").toEqual({
      quick: 0,
      stuck: 0,
    });
    await scheduler.stop(id, { abortRunning: true });
    const lost = { schedule: { task: "stuck" }, run: {} } as never;
    const told: ((observed: ObservedEvent) => unknown)[] = [];
    const other = new Metrics({ observe: (observer) => (told.push(observer), () => {}) }, new StoreLook(scheduler, 10));
    for (const name of ["lost", "leaseLost"] as const) told[0]!({ name, event: lost });
    text = await scrape(other);
    expect(valuesOf(text, "ostinato_runs_total")).toEqual({ "stuck,lost": 1 });
    expect(valuesOf(text, "ostinato_leases_lost_total")).toEqual({ stuck: 1 });
  });

  it("M2 tell what is due, since when, and what nobody here can run", async () => {
    const { clock, create } = world("memory");
    const storage = memory();
    const other = create({ storage: storage.handle(), tasks: [quick, bad] });
    await other.at(quick, START - MINUTE);
    await other.at(quick, START - SECOND);
    await other.at(bad, START - 2 * SECOND);
    const text = await scrape(metricsOf(create({ storage: storage.handle(), tasks: [quick], clock })));
    expect(valuesOf(text, "ostinato_store_up")).toEqual({ "": 1 });
    expect(valuesOf(text, "ostinato_due_schedules")).toEqual({ quick: 2 });
    expect(valuesOf(text, "ostinato_unclaimed_schedules")).toEqual({ bad: 1 });
    expect(valuesOf(text, "ostinato_oldest_overdue_seconds")).toEqual({ quick: 60, bad: 2 });
  });

  it("M6 go on while the store is away, and count its errors", async () => {
    const { clock, create } = world("memory");
    const { storage, cut } = cuttable(memory());
    const scheduler = create({ storage, tasks: [quick] });
    const metrics = metricsOf(scheduler);
    await scheduler.start();
    await scheduler.after(quick, "1s");
    expect(valuesOf(await scrape(metrics), "ostinato_store_errors_total")).toEqual({
      advance: 0,
      settle: 0,
      renew: 0,
      backlog: 0,
    });
    cut();
    await clock.advance("2s");
    const text = await scrape(new Metrics(scheduler, new StoreLook(scheduler, 1)));
    expect(valuesOf(text, "ostinato_store_up")).toEqual({ "": 0 });
    expect(text).not.toContain("ostinato_due_schedules");
    expect(valuesOf(await scrape(metrics), "ostinato_store_errors_total")["advance"]).toBeGreaterThan(0);
  });

  it("keep their labels few and well written, whatever tasks are called", async () => {
    const hostile = [
      'a"b',
      "back\\slash",
      "line\nbreak",
      "{x}",
      'x,y="z"',
      "é😀",
      "__proto__",
      " ",
    ];
    const many = Array.from({ length: MAX_TASK_LABELS }, (_, i) => `task-${i}`);
    const tasks = [...hostile, ...many].map((name) => defineTask(name, () => {}));
    const { clock, create } = world("memory");
    const scheduler = create({ tasks });
    const metrics = metricsOf(scheduler);
    for (const task of tasks) await scheduler.at(task, START);
    const due = valuesOf(await scrape(metricsOf(scheduler)), "ostinato_due_schedules");
    expect([Object.keys(due).length, due["other"]]).toEqual([MAX_TASK_LABELS + 1, hostile.length]);
    await scheduler.start();
    await clock.advance(SECOND);
    const text = await scrape(metrics);
    const runs = parseMetrics(text).get("ostinato_runs_total")!.metrics.map(({ labels }) => labels!["task"]);
    expect(runs).toHaveLength(MAX_TASK_LABELS + 1);
    expect(new Set(runs).size, "no series twice").toBe(runs.length);
    expect(runs).toEqual(expect.arrayContaining(hostile));
    expect(valuesOf(text, "ostinato_runs_total")["other,succeeded"]).toBe(hostile.length);
  });

  it("are what Prometheus reads: each metric with help and type, all lines well formed", async () => {
    const { clock, start } = world("memory");
    const scheduler = await start({ tasks: [quick] });
    const metrics = metricsOf(scheduler);
    await scheduler.at(quick, START);
    await clock.advance(SECOND);
    const response = await metrics.scrape();
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    expect(text.endsWith("\n")).toBe(true);
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(
        /^(?:# HELP \w+ .+|# TYPE \w+ (?:counter|gauge|histogram)|\w+(?:\{(?:\w+="(?:[^"\\\n]|\\[\\n"])*",?)+\})? (?:[+-]?Inf|[\d.e+-]+))$/,
      );
    }
    const heads = [...text.matchAll(/^# HELP (\w+) .+\n# TYPE (\w+) (\w+)$/gm)];
    expect(heads).toHaveLength(11);
    expect(text.match(/^#/gm)).toHaveLength(22);
    for (const [, helped, name, type] of heads) {
      expect(helped).toBe(name);
      expect(name).toMatch(type === "counter" ? /^ostinato_\w+_total$/ : /^ostinato_(?!\w*_total$)\w+$/);
    }
  });
});
