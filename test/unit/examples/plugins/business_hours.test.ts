import { describe, expect, it } from "vitest";
import { businessHours, type CalendarOption } from "../../../../examples/plugins/business_hours/mod.ts";
import { createScheduler, defineTask, type Scheduler } from "../../../../mod.ts";
import { manualClock } from "../../../../src/testing/mod.ts";
import { STORES, world } from "../../support/schedulers.ts";

const OFFICE: CalendarOption = {
  timezone: "Europe/Berlin",
  days: ["mon", "tue", "wed", "thu", "fri"],
  hours: "09:00-17:00",
  except: ["2026-12-25"],
};

const beat = defineTask("beat", (_input, { scheduledAt }) => void scheduledAt);

/** A scheduler in virtual time, and the instants at which its one task ran. */
function office(start: string) {
  const clock = manualClock(start);
  const ran: string[] = [];
  const noted = defineTask("noted", () => void ran.push(new Date(clock.now()).toISOString().slice(0, 16)));
  const make = () => createScheduler({ clock, tasks: [noted], plugins: [businessHours()] });
  return { clock, ran, noted, make };
}

async function started<T extends Scheduler>(scheduler: T): Promise<T> {
  await scheduler.start();
  return scheduler;
}

describe("the plugin businessHours", () => {
  it("T2 skips points outside days and hours, in the zone's own time, and stays in phase", async () => {
    // Friday; the office closes at 17:00 in Berlin, 16:00 UTC.
    const { clock, ran, noted, make } = office("2026-01-09T14:30:00Z");
    const scheduler = await started(make());
    const made = await scheduler.every(noted, "1h", undefined, { calendar: OFFICE });
    await clock.advance("3d");
    expect(ran).toEqual(["2026-01-09T15:30", "2026-01-12T08:30", "2026-01-12T09:30", "2026-01-12T10:30", ...[
      "2026-01-12T11:30",
      "2026-01-12T12:30",
      "2026-01-12T13:30",
      "2026-01-12T14:30",
    ]]);
    const { missedCount, overlapCount } = await made.info();
    expect([missedCount, overlapCount]).toEqual([0, 0]);
    const { decisions } = await made.explain();
    expect(decisions.find(({ what }) => what === "skipped")).toMatchObject({ count: 64 });
    expect(decisions.map(({ text }) => text).join()).toContain("closed on 2026-01-09 at that time");
    await scheduler.close();
  });

  it("K4 opens by the zone's clocks on both sides of a change", async () => {
    const { clock, ran, noted, make } = office("2026-03-27T12:00:00Z");
    const scheduler = await started(make());
    await scheduler.cron("daily", "0 9 * * *", noted, undefined, { timezone: "Europe/Berlin", calendar: OFFICE });
    await clock.advance("5d");
    expect(ran).toEqual(["2026-03-30T07:00", "2026-03-31T07:00", "2026-04-01T07:00"]);
    await scheduler.close();
  });

  it("moves a deadline to the next opening where it is told to: a holiday before a weekend", async () => {
    const { clock, ran, noted, make } = office("2026-12-20T00:00:00Z");
    const scheduler = await started(make());
    const calendar: CalendarOption = { ...OFFICE, outside: "move" };
    const made = await scheduler.cron("monthly", "0 12 25 * *", noted, undefined, { calendar });
    expect(made.nextRun?.toISOString()).toBe("2026-12-28T08:00:00.000Z");
    await clock.advance("40d");
    expect(ran).toEqual(["2026-12-28T08:00", "2027-01-25T12:00"]);
    await scheduler.close();
  });

  it("T1 moves a one-shot, whatever the calendar says of others", async () => {
    const { clock, ran, noted, make } = office("2026-01-10T12:00:00Z");
    const scheduler = await started(make());
    await scheduler.after(noted, "1h", undefined, { calendar: OFFICE });
    await clock.advance("7d");
    expect(ran).toEqual(["2026-01-12T08:00"]);
    await scheduler.close();
  });

  it("J1 keeps a jittered deadline inside", async () => {
    const { clock, ran, noted, make } = office("2026-01-12T00:00:00Z");
    const scheduler = await started(make());
    await scheduler.cron("nine", "0 9 * * *", noted, undefined, {
      timezone: "Europe/Berlin",
      jitter: "2h",
      calendar: OFFICE,
    });
    await clock.advance("28d");
    expect(ran).toHaveLength(20);
    // 09:00 give or take two hours, but never before 09:00 in Berlin, 08:00 UTC.
    expect(ran.every((instant) => instant.slice(11) >= "08:00" && instant.slice(11) < "10:01")).toBe(true);
    await scheduler.close();
  });

  it("C2 does not make up outside for what was missed", async () => {
    const { clock, ran, noted, make } = office("2026-01-09T14:30:00Z");
    const scheduler = make();
    const made = await scheduler.every(noted, "1h", undefined, { calendar: OFFICE });
    await clock.advance("1d");
    await scheduler.start();
    await clock.advance("12h");
    expect(ran).toEqual([]);
    await clock.advance("2d");
    expect([ran[0], (await made.info()).nextRun !== null]).toEqual(["2026-01-12T08:30", true]);
    await scheduler.close();
  });

  it("ends with what a calendar without any date left leaves: nothing, and no search without end", async () => {
    const { noted, make } = office("2026-01-09T14:30:00Z");
    const scheduler = make();
    const days = Array.from(
      { length: 400 },
      (_, i) => new Date(Date.UTC(2026, 0, 5 + 7 * i)).toISOString().slice(0, 10),
    );
    const mondays: CalendarOption = { days: ["mon"], except: days };
    const made = await scheduler.every(noted, "1d", undefined, { calendar: mondays });
    // The first Monday after 400 that are excepted.
    expect(made.nextRun?.toISOString().slice(0, 10)).toBe("2033-09-05");
    await scheduler.close();
  });

  it.each<[object, string, RegExp]>([
    [{ days: [] }, "invalid_option", /^calendar\.days: .*at least one day/],
    [{ days: ["monday"] }, "invalid_option", /^calendar\.days\[0\]: "monday"/],
    [{ hours: "9-17" }, "invalid_option", /^calendar\.hours\[0\]: "9-17"/],
    [{ hours: "17:00-09:00" }, "invalid_option", /end after the beginning/],
    [{ hours: [] }, "invalid_option", /at least one opening/],
    [{ except: ["2026-02-30"] }, "invalid_option", /^calendar\.except\[0\]: "2026-02-30"/],
    [{ outside: "drop" }, "invalid_option", /^calendar\.outside/],
    [{ timezone: "Mars" }, "invalid_timezone", /^calendar\.timezone: "Mars"/],
    [{ day: ["mon"] }, "unknown_option", /^calendar\.day: .*"days"/],
  ])("I2 refuses %j", async (calendar, code, message) => {
    const scheduler = createScheduler({ tasks: [beat], plugins: [businessHours()] });
    const made = scheduler.every(beat, "1h", undefined, { calendar });
    await expect(made).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    await scheduler.close();
  });

  it("keeps several openings of a day, joined where they touch", async () => {
    const scheduler = createScheduler({ tasks: [beat], plugins: [businessHours()] });
    const hours = ["13:00-17:30", "08:00-12:00", "11:00-12:30", "23:00-24:00"];
    const made = await scheduler.every(beat, "1h", undefined, { calendar: { hours } });
    const { calendar } = (await made.info()).options as { readonly calendar: { readonly hours: number[][] } };
    expect(calendar.hours.map((opening) => opening.map((ms) => ms / 3_600_000))).toEqual([[8, 12.5], [13, 17.5], [
      23,
      24,
    ]]);
    await scheduler.close();
  });

  it.each(STORES)("is stored with the schedule, over %s", async (kind) => {
    const { clock, create, start } = world(kind, Date.parse("2026-01-09T14:30:00Z"));
    const plugins = [businessHours()];
    const { id } = await create({ tasks: [beat], plugins }).every(
      "beat",
      "1h",
      undefined,
      { calendar: OFFICE } as object,
    );
    const stranger = await start({ tasks: [beat] });
    await clock.advance("2h");
    expect((await stranger.explain(id)).waits[0]).toMatchObject({ for: "plugin", option: "calendar" });
    await stranger.close();
    const knowing = await start({ tasks: [beat], plugins });
    await clock.advance("1m");
    expect(await knowing.info(id)).toMatchObject({ missedCount: 1, nextRun: new Date("2026-01-12T08:30:00Z") });
  });
});
