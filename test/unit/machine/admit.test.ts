import { describe, expect, it } from "vitest";
import { CONTRACT, type Plugin } from "../../../src/contract/mod.ts";
import { createScheduler, defineTask } from "../../../mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";

const silent = { error() {}, warn() {}, info() {}, debug() {} };
const HOUR = 3_600_000;

/** Refuses the hours from 18 to 8, one point at a time. */
const daytime: Plugin = {
  name: "daytime",
  contract: CONTRACT,
  policy: {
    admit: ({ point }) => {
      const hour = new Date(point).getUTCHours();
      return hour >= 8 && hour < 18 ? "run" : { skip: "night" };
    },
  },
};

function started(start: string) {
  const clock = manualClock(start);
  const seen: string[] = [];
  const missed: number[] = [];
  const note = defineTask("note", (_input, ctx) => {
    seen.push(ctx.scheduledAt.toISOString().slice(0, 16));
    missed.push(ctx.missed);
  });
  return {
    clock,
    seen,
    missed,
    note,
    scheduler: createScheduler({ clock, tasks: [note], plugins: [daytime], logger: silent }),
  };
}

describe("points that a policy refuses", () => {
  it("T2 are passed over, and the cadence stays in phase", async () => {
    const { clock, seen, note, scheduler } = started("2026-01-01T16:30:00Z");
    await scheduler.start();
    await scheduler.cron("hourly", "0 * * * *", note);
    await clock.advance(17 * HOUR);
    expect(seen).toEqual(["2026-01-01T17:00", "2026-01-02T08:00", "2026-01-02T09:00"]);
    await scheduler.close();
  });

  it("C2 do not stand for what was missed: the newest that may run does", async () => {
    const { clock, seen, missed, note, scheduler } = started("2026-01-01T10:30:00Z");
    await scheduler.cron("hourly", "0 * * * *", note);
    await clock.set("2026-01-01T23:30:00Z");
    await scheduler.start();
    await clock.settled();
    // 11:00 to 17:00 passed, and the night's points after them.
    expect(seen).toEqual(["2026-01-01T17:00"]);
    expect(missed).toEqual([6]);
    await clock.advance(9 * HOUR);
    expect(seen.at(-1)).toBe("2026-01-02T08:00");
    await scheduler.close();
  });

  it("C4 all: have no run among those that are made up for", async () => {
    const { clock, seen, note, scheduler } = started("2026-01-01T15:30:00Z");
    await scheduler.cron("hourly", "0 * * * *", note, undefined, { catchup: "all" });
    await clock.set("2026-01-02T09:30:00Z");
    await scheduler.start();
    await clock.settled();
    expect(seen).toEqual(["2026-01-01T16:00", "2026-01-01T17:00", "2026-01-02T08:00", "2026-01-02T09:00"]);
    await scheduler.close();
  });

  it("V1 the newest of a stretch that was refused at once is told", async () => {
    const clock = manualClock("2026-01-01T16:30:00Z");
    const morning = Date.parse("2026-01-02T08:00:00Z");
    const atOnce: Plugin = {
      name: "at-once",
      contract: CONTRACT,
      policy: { admit: ({ point }) => point < morning ? { skip: "night", until: morning } : "run" },
    };
    const note = defineTask("note", () => {});
    await using scheduler = createScheduler({ clock, tasks: [note], plugins: [atOnce], logger: silent });
    const made = await scheduler.cron("hourly", "0 * * * *", note);
    const { decisions, waits } = await made.explain();
    expect(waits).toMatchObject([{ point: new Date(morning) }]);
    expect(decisions).toMatchObject([{ what: "skipped", count: 15, point: new Date(morning - HOUR), detail: "night" }]);
  });

  it("T2 are looked through again after a thousand of them", async () => {
    const { clock, seen, note, scheduler } = started("2026-01-01T17:59:30Z");
    await scheduler.start();
    await scheduler.every(note, "10s", undefined, { maxRuns: 5 });
    await clock.advance(14 * HOUR + 60_000);
    expect(seen).toEqual([
      "2026-01-01T17:59",
      "2026-01-01T17:59",
      "2026-01-02T08:00",
      "2026-01-02T08:00",
      "2026-01-02T08:00",
    ]);
    await scheduler.close();
  });
});

describe("what a policy says of a success", () => {
  it("L4 may retire the schedule", async () => {
    const clock = manualClock("2026-01-01T00:00:00Z");
    const once: Plugin = {
      name: "until-success",
      contract: CONTRACT,
      policy: { settled: ({ outcome }) => outcome === "succeeded" ? { retire: "done" } : undefined },
    };
    let runs = 0;
    const task = defineTask("task", () => {
      if (++runs < 3) throw new Error("not yet");
    });
    const scheduler = createScheduler({ clock, tasks: [task], plugins: [once], logger: silent });
    await scheduler.start();
    const schedule = await scheduler.every(task, "1m");
    await clock.advance("3m");
    expect(await schedule.info()).toMatchObject({ retired: true, retireReason: "done", runCount: 3, faultCount: 2 });
    await scheduler.close();
  });
});
