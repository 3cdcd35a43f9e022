import { describe, expect, it } from "vitest";
import { noting } from "../support/noting.ts";
import { DAY, HOUR, MINUTE, SECOND, STORES, world } from "../support/schedulers.ts";

const iso = (text: string) => Date.parse(text);
const texts = (runs: readonly { readonly point: number }[]) =>
  runs.map(({ point }) => new Date(point).toISOString().slice(0, 16));

/** What the calendar says of a night in which the clocks change, as a schedule lives through it. */
describe.each(STORES)("nights in which the clocks change, on %s", (store) => {
  it.each([
    ["fall-back, every local half hour", "2026-10-24T22:00:00Z", "2026-10-25T03:45:00Z", "30 * * * *", [
      "2026-10-24T22:30",
      "2026-10-24T23:30",
      "2026-10-25T00:30",
      "2026-10-25T01:30",
      "2026-10-25T02:30",
      "2026-10-25T03:30",
    ]],
    ["fall-back, at 02:30", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z", "30 2 * * *", [
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]],
    ["spring-forward, at 02:30", "2026-03-27T12:00:00Z", "2026-03-31T12:00:00Z", "30 2 * * *", [
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30",
      "2026-03-31T00:30",
    ]],
  ])(
    "C4 K4 down over %s, all: each point once, as if nothing had been down",
    async (_title, from, back, cron, points) => {
      const made = world(store, iso(from));
      const noted = noting(made.clock);
      const creator = made.create({ tasks: [noted.task] });
      await creator.cron("night", cron, noted.task, undefined, { timezone: "Europe/Berlin", catchup: "all" });
      await made.clock.set(back);
      await made.start({ tasks: [noted.task] });
      await made.clock.settled();
      expect(texts(noted.runs)).toEqual(points);
    },
  );

  it("C2 K4 a laptop asleep over a weekend with a change: one run for the newest, on in local phase", async () => {
    const made = world(store, iso("2026-03-27T00:00:00Z"));
    const noted = noting(made.clock);
    const scheduler = await made.start({ tasks: [noted.task] });
    await scheduler.cron("morning", "0 9 * * *", noted.task, undefined, { timezone: "Europe/Berlin" });
    await made.clock.advance("12h");
    await made.clock.set("2026-03-30T12:00:00Z");
    await made.clock.advance(DAY);
    expect(texts(noted.runs)).toEqual(["2026-03-27T08:00", "2026-03-30T07:00", "2026-03-31T07:00"]);
    expect(noted.runs.map(({ missed }) => missed)).toEqual([0, 2, 0]);
  });

  it("O1 K4 a run that lasts into the next point: the gap's one firing stands where two points would", async () => {
    const made = world(store, iso("2026-03-28T23:45:00Z"));
    const noted = noting(made.clock, { lasts: () => "50m" });
    const scheduler = await made.start({ tasks: [noted.task] });
    const berlin = { timezone: "Europe/Berlin" };
    const night = await scheduler.cron("night", "0,30 1,2,3 * * *", noted.task, undefined, berlin);
    await made.clock.advance("5h");
    // 01:00 and 01:30 are 00:00Z and 00:30Z; 02:00, 02:30 and 03:00 are all 01:00Z; 03:30 is 01:30Z.
    expect(texts(noted.runs)).toEqual(["2026-03-29T00:00", "2026-03-29T01:00"]);
    expect((await night.info()).overlapCount).toBe(2);
  });

  it.each([
    ["Europe/Berlin", "2026-10-24T12:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T03:00:00Z"],
    ["Antarctica/Troll", "2026-10-24T12:00:00Z"],
    ["America/Havana", "2026-10-31T18:00:00Z"],
    ["Pacific/Apia", "2011-12-29T22:00:00Z"],
  ])("J2 K4 with jitter nearly as long as the interval each point fires once in %s", async (timezone, from) => {
    const made = world(store, iso(from));
    const noted = noting(made.clock);
    const scheduler = await made.start({ tasks: [noted.task] });
    await scheduler.cron("often", "*/10 * * * *", noted.task, undefined, { timezone, jitter: "9m" });
    await made.clock.advance("1d");
    const fired = noted.runs.map(({ point }) => (point - iso(from)) / (10 * MINUTE)).sort((a, b) => a - b);
    // The last point's deadline may lie past the day, and that of the one after it within it.
    expect(fired.slice(0, 143)).toEqual(Array.from({ length: 143 }, (_, i) => i + 1));
    expect(noted.runs.every(({ at, point }) => Math.abs(at - point) <= 9 * MINUTE + SECOND)).toBe(true);
  });

  it("L5 K4 paused over a change it goes on at the local time", async () => {
    const made = world(store, iso("2026-03-28T00:00:00Z"));
    const noted = noting(made.clock);
    const scheduler = await made.start({ tasks: [noted.task] });
    const berlin = { timezone: "Europe/Berlin" };
    const night = await scheduler.cron("night", "30 2 * * *", noted.task, undefined, berlin);
    await made.clock.advance(2 * HOUR);
    await night.pause();
    await made.clock.advance(2 * DAY);
    await night.resume();
    await made.clock.advance(DAY);
    expect(texts(noted.runs)).toEqual(["2026-03-28T01:30", "2026-03-31T00:30"]);
    expect(await night.info()).toMatchObject({ missedCount: 0, overlapCount: 0 });
  });
});
