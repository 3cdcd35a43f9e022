import { describe, expect, it } from "vitest";
import { noting } from "../support/noting.ts";
import { SECOND, START, world } from "../support/schedulers.ts";

const iso = (text: string) => Date.parse(text);

describe("nextRuns", () => {
  it("K6 answers the next deadlines of any spec, as a schedule made then would have them, and stores nothing", async () => {
    const made = world("memory");
    const { task } = noting(made.clock);
    const scheduler = await made.start({ tasks: [task] });
    const seconds = (dates: Date[]) => dates.map((date) => (date.getTime() - START) / SECOND);
    expect(seconds(scheduler.nextRuns({ every: "1m" }, 3))).toEqual([60, 120, 180]);
    expect(seconds(scheduler.nextRuns({ every: "1m", startAt: START - 1_000 }, 2))).toEqual([59, 119]);
    expect(seconds(scheduler.nextRuns({ every: "1m", startAt: START }, 2))).toEqual([0, 60]);
    expect(seconds(scheduler.nextRuns({ every: "1m", maxRuns: 2 }, 5))).toEqual([60, 120]);
    expect(seconds(scheduler.nextRuns({ every: "1m", endAt: START + 120_000 }, 5))).toEqual([60, 120]);
    expect(seconds(scheduler.nextRuns({ at: START + 5_000 }, 5))).toEqual([5]);
    expect(seconds(scheduler.nextRuns({ after: "5s" }, 5))).toEqual([5]);
    expect(seconds(scheduler.nextRuns({ cron: "*/20 * * * * *" }, 3, { from: START + 20_000 }))).toEqual([40, 60, 80]);
    expect(scheduler.nextRuns({ every: "1m" }, 0)).toEqual([]);
    expect((await scheduler.list().page()).schedules).toEqual([]);
    const spec = { every: "7s", startAt: START - 3_000, endAt: START + 60_000 } as const;
    const { nextRun } = await scheduler.createMany([{ task, ...spec }]).then(([only]) => only!);
    expect(nextRun).toEqual(scheduler.nextRuns(spec, 1)[0]);
  });

  it("K6 B033 a cron with a zone, after a restart between two points: nothing runs at the start", async () => {
    const made = world("sqlite", iso("2017-06-19T16:59:00Z"));
    const noted = noting(made.clock);
    const first = await made.start({ tasks: [noted.task] });
    await first.cron("evening", "0 19 * * *", noted.task, undefined, { timezone: "Europe/Paris" });
    await made.clock.advance("2m");
    expect(noted.runs).toHaveLength(1);
    await first.close();
    await made.clock.set("2017-06-20T09:21:00Z");
    const second = await made.start({ tasks: [noted.task] });
    const again = await second.cron("evening", "0 19 * * *", noted.task, undefined, { timezone: "Europe/Paris" });
    await made.clock.advance("1m");
    expect(noted.runs).toHaveLength(1);
    expect(again.nextRun).toEqual(new Date("2017-06-20T17:00:00Z"));
    expect(second.nextRuns({ cron: "0 19 * * *", timezone: "Europe/Paris" }, 1)).toEqual([again.nextRun]);
  });
});
