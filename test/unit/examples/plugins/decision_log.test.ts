import { describe, expect, it } from "vitest";
import { decisionLog } from "../../../../examples/plugins/decision_log/mod.ts";
import { defineTask, type SchedulerConfig } from "../../../../mod.ts";
import { noting } from "../../support/noting.ts";
import { cuttable, HOUR, STORES, world } from "../../support/schedulers.ts";

interface Line {
  readonly at: string;
  readonly decision: string;
  readonly [key: string]: unknown;
}

/** A log's lines, and the schedulers that write it. */
function logged(kind: typeof STORES[number]) {
  const place = world(kind);
  const lines: Line[] = [];
  const plugins = [decisionLog({ write: (line) => lines.push(JSON.parse(line)), now: () => place.clock.now() })];
  const create = (config: SchedulerConfig) => place.create({ plugins, ...config });
  const count = (decision: string) => lines.filter((line) => line.decision === decision).length;
  return { ...place, create, lines, count, told: () => lines.map(({ decision }) => decision) };
}

describe.each(STORES)("the listener decisionLog over %s", (kind) => {
  it("V5 writes a line for each decision, with its time, its schedule and what there is to know", async () => {
    const { clock, create, lines, told } = logged(kind);
    const failing = noting(clock, { faults: (run) => run === 0 });
    const scheduler = create({ tasks: [failing.task] });
    await scheduler.start();
    const retry = { limit: 1, delay: "1m" };
    const { id } = await scheduler.after(failing.task, "1h", undefined, { retry, tags: ["x"] });
    await clock.advance("2h");
    expect(told()).toEqual(["created", "started", "faulted", "started", "succeeded", "retired"]);
    const schedule = { id, task: "noting" };
    expect(lines[0]).toMatchObject({ at: "2026-01-01T00:00:00.000Z", schedule });
    expect(lines[2]).toMatchObject({
      at: "2026-01-01T01:00:00.000Z",
      schedule,
      run: { attempt: 1, scheduledAt: "2026-01-01T01:00:00.000Z" },
      fault: { message: "run 0 faults" },
      retryAt: "2026-01-01T01:01:00.000Z",
    });
    expect(JSON.stringify(lines)).not.toContain('"stack"');
    expect(lines[5]).toMatchObject({ reason: "completed" });
  });

  it("C2 O1 tells of as many missed and overlapped points as are counted", async () => {
    const { clock, create, lines } = logged(kind);
    const slow = noting(clock, { lasts: (run) => run === 0 ? "150m" : 0 });
    const scheduler = create({ tasks: [slow.task] });
    const made = await scheduler.every(slow.task, "1h");
    await clock.advance("10h");
    await scheduler.start();
    await clock.advance("5h");
    const total = (decision: string) =>
      lines.filter((line) => line.decision === decision).reduce((sum, line) => sum + (line.count as number), 0);
    const { missedCount, overlapCount } = await made.info();
    expect([total("missed"), total("overlapped")]).toEqual([missedCount, overlapCount]);
    expect([missedCount, overlapCount]).toEqual([9, 2]);
  });

  it("M3 tells on the instance that notices that a run was lost", async () => {
    const { clock, create, handle, count } = logged(kind);
    const stuck = noting(clock, { lasts: () => "3h" });
    const { storage, cut } = cuttable(handle());
    const first = create({ tasks: [stuck.task], storage, leaseMs: 10_000, plugins: [] });
    await first.start();
    await first.after(stuck.task, "1s");
    await clock.advance("2s");
    cut();
    await clock.advance(HOUR);
    await create({ tasks: [stuck.task] }).start();
    await clock.advance("1s");
    expect([count("lost"), count("started")]).toEqual([1, 1]);
  });

  it("V5 harms nothing where it cannot write", async () => {
    const { clock, start, messages } = world(kind);
    const full = decisionLog({
      write: () => {
        throw new Error("no space left");
      },
      now: () => clock.now(),
    });
    const quick = defineTask("quick", () => {});
    const scheduler = await start({ tasks: [quick], plugins: [full] });
    const made = await scheduler.every(quick, "1h");
    await clock.advance("3h");
    expect((await made.info()).runCount).toBe(3);
    expect(messages.filter(({ text }) => text.includes("listener"))).toHaveLength(7);
  });
});
