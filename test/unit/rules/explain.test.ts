import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { defineTask, type Explanation, type Plugin, type Scheduler } from "../../../mod.ts";
import { durationWords, specWords } from "../../../src/client/explain_words.ts";
import { CONTRACT, type StoredSpec } from "../../../src/contract/mod.ts";
import { noting } from "../support/noting.ts";
import { cuttable, HOUR, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

const quick = defineTask("quick", () => {});
const at = (ms: number) => new Date(START + ms);

function waitsFor({ waits }: Explanation): readonly string[] {
  return waits.map((wait) => wait.for);
}

function decided({ decisions }: Explanation): readonly (readonly [string, number])[] {
  return decisions.map(({ what, count }) => [what, count]);
}

/** Every wait and every decision stands in the text, too. */
async function explained(scheduler: Scheduler, id: string): Promise<Explanation> {
  const explanation = await scheduler.explain(id);
  for (const { text } of [...explanation.waits, ...explanation.decisions]) expect(explanation.text).toContain(text);
  return explanation;
}

describe.each(STORES)("explain over %s", (kind) => {
  it("T2 J1 tells the deadline, and the point that it stands for", async () => {
    const { create, clock } = world(kind);
    const scheduler = create({ tasks: [quick] });
    const made = await scheduler.cron("hourly", "0 * * * *", quick, undefined, { jitter: { spread: "10m" } });
    const explanation = await explained(scheduler, made.id);
    expect(explanation).toMatchObject({ id: made.id, name: "hourly", at: new Date(clock.now()), lastRun: undefined });
    expect(explanation.waits).toEqual([
      {
        for: "deadline",
        until: made.nextRun,
        point: at(HOUR),
        text: expect.stringMatching(/which stands for .*, moved by its jitter$/),
      },
    ]);
    expect(await made.explain()).toEqual(explanation);
  });

  it("K3 T9 tells by which expression, in which zone and within which bounds it fires", async () => {
    const { create } = world(kind);
    const scheduler = create({ tasks: [quick] });
    const bounds = { timezone: "Europe/Berlin", dst: { gap: "skip" }, maxRuns: 3 } as const;
    const night = await scheduler.cron("night", "30 2 * * *", quick, undefined, bounds);
    const head =
      /^schedule \S+ "night" \(cron "30 2 \* \* \*" in Europe\/Berlin, dst\.gap "skip", maxRuns 3; task "quick"\) at /;
    expect((await explained(scheduler, night.id)).text).toMatch(head);
    const plain = await scheduler.cron("plain", "@daily", quick);
    expect((await explained(scheduler, plain.id)).text).toContain('(cron "@daily" in UTC; task "quick")');
  });

  it("M2 tells a schedule that is due on an instance that is not started, lacks the task, or is full", async () => {
    const { create, start, clock } = world(kind);
    const creator = create({ tasks: [quick] });
    const { id } = await creator.every(quick, "1h");
    await clock.advance("90m");
    const since = at(HOUR);
    expect((await explained(creator, id)).waits[0]).toMatchObject({ for: "instance", since, here: "stopped" });
    const stranger = await start({ tasks: [defineTask("other", () => {})] });
    const { waits, text } = await explained(stranger, id);
    expect(waits[0]).toMatchObject({ for: "instance", task: "quick", since, here: "absent" });
    expect(text).toContain('has the task "quick" and a free slot; this instance does not have the task');
  });

  it("M2 tells a schedule that is due while all slots are in use", async () => {
    const { start, clock } = world(kind);
    const slow = noting(clock, { lasts: () => "1h" });
    const scheduler = await start({ tasks: [slow.task], concurrency: 1 });
    await scheduler.after(slow.task, "1s");
    const late = await scheduler.after(slow.task, "10m");
    await clock.advance("30m");
    const { waits } = await explained(scheduler, late.id);
    expect(waits).toMatchObject([{ for: "instance", since: at(10 * MINUTE), here: "full" }]);
    expect(waits[0]!.text).toContain("its own concurrency, or the task's, is used up");
    await clock.advance("1h");
    // Its point was at 10 min; it started when the first run ended, an hour after its start.
    expect(decided(await explained(scheduler, late.id))).toEqual([["late", 1]]);
    const { decisions } = await scheduler.explain(late.id);
    expect(decisions[0]!.text).toBe(`started late for the point ${at(10 * MINUTE).toISOString()}, 50 min 1 s after it`);
  });

  it("O1 O2 M3 tells a run in progress with its lease, and what waits behind it", async () => {
    const { start, clock } = world(kind);
    const slow = noting(clock, { lasts: () => "1h" });
    const scheduler = await start({ tasks: [slow.task], leaseMs: 30_000 });
    const made = await scheduler.every(slow.task, "10m", undefined, { overlap: "queue" });
    await clock.advance("45m");
    const explanation = await explained(scheduler, made.id);
    const [run] = await scheduler.running();
    expect(waitsFor(explanation)).toEqual(["run", "turn", "deadline"]);
    expect(explanation.waits[0]).toMatchObject({ run: { id: run!.id, startedAt: at(10 * MINUTE) } });
    const { until } = explanation.waits[0] as { readonly until: Date };
    expect(until.getTime()).toBeGreaterThan(clock.now());
    expect(until.getTime()).toBeLessThanOrEqual(clock.now() + 30_000);
    expect(explanation.waits[1]).toMatchObject({ cause: "queued", point: at(20 * MINUTE) });
    expect(explanation.waits[2]).toMatchObject({ until: at(50 * MINUTE) });
    expect(decided(explanation)).toEqual([["ran", 1], ["queued", 1], ["overlapped", 2]]);
    expect(explanation.decisions[2]).toMatchObject({ point: at(40 * MINUTE), at: at(40 * MINUTE) });
    expect(explanation.decisions[2]!.text).toMatch(
      /^dropped 2 points, the latest .*: a run was in progress, and the queue behind it was full \(1\)$/,
    );
  });

  it("F4 tells when a fault is tried again, and what it was", async () => {
    const { start, clock } = world(kind);
    const failing = noting(clock, { faults: () => true });
    const scheduler = await start({ tasks: [failing.task] });
    const made = await scheduler.every(failing.task, "1h", undefined, {
      retry: { limit: 3, delay: "10m", backoff: 1 },
    });
    await clock.advance("75m");
    const explanation = await explained(scheduler, made.id);
    expect(explanation.waits).toMatchObject([
      { for: "retry", until: at(HOUR + 20 * MINUTE), attempt: 3 },
      { for: "deadline", until: at(2 * HOUR) },
    ]);
    expect(explanation.lastRun).toMatchObject({ outcome: "faulted", attempt: 2, fault: "Error: run 1 faults" });
    expect(explanation.waits[0]!.text).toMatch(/ for attempt 3 of 4 at the deadline /);
    expect(explanation.text).toMatch(/\(attempt 2 of 4\), ended at .*, faulted: Error: run 1 faults/);
    expect(explanation.decisions[0]!.text, "what began, and came to a fault").toMatch(/^started for the point /);
    expect(decided(explanation)).toEqual([["ran", 1], ["retry", 1]]);
  });

  it("L5 tells that it is paused, since when, and no deadline", async () => {
    const { start, clock } = world(kind);
    const scheduler = await start({ tasks: [quick] });
    const made = await scheduler.every(quick, "1h");
    await clock.advance("90m");
    await made.pause();
    await clock.advance("3h");
    const explanation = await explained(scheduler, made.id);
    expect(explanation.waits).toMatchObject([{ for: "resume", since: at(90 * MINUTE) }]);
    expect(decided(explanation)).toEqual([["ran", 1], ["paused", 1]]);
  });

  it("L3 L4 tells why it retired, and until when that can be asked", async () => {
    const { start, clock } = world(kind);
    const scheduler = await start({ tasks: [quick] });
    const made = await scheduler.after(quick, "1m", undefined, { retention: "1h" });
    await clock.advance("2m");
    const explanation = await explained(scheduler, made.id);
    const until = new Date(START + MINUTE + HOUR);
    expect(explanation.waits).toEqual([
      { for: "removal", until, reason: "completed", text: expect.stringMatching(/^retired \(completed\)/) },
    ]);
    expect(decided(explanation)).toEqual([["ran", 1], ["retired", 1]]);
    await clock.advance("2h");
    await expect(scheduler.explain(made.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("C2 C3 tells what was missed while nothing ran, after a restart too", async () => {
    const { start, create, clock } = world(kind);
    const first = await start({ tasks: [quick] });
    const made = await first.every(quick, "1h", undefined, { catchup: "skip" });
    await clock.advance("2h");
    await first.close();
    await clock.advance(5 * HOUR + 30 * MINUTE);
    const second = await start({ tasks: [quick] });
    await clock.settled();
    const explanation = await explained(second, made.id);
    expect(decided(explanation)).toEqual([["ran", 2], ["missed", 5]]);
    expect(explanation.decisions[1]).toMatchObject({ point: at(7 * HOUR) });
    expect(explanation.decisions[1]!.text).toMatch(
      /^missed 5 points, the latest .*: no instance took them in time \(none running, .*\), and catchup "skip" drops them$/,
    );
    await second.close();
    expect((await create().explain(made.id)).decisions).toEqual(explanation.decisions);
  });

  it("C3 tells a single missed point as one", async () => {
    const { start, create, clock } = world(kind);
    const { id } = await create({ tasks: [quick] }).every(quick, "1h", undefined, { catchup: "skip" });
    await clock.advance("90m");
    const scheduler = await start({ tasks: [quick] });
    await clock.settled();
    expect((await explained(scheduler, id)).decisions[0]!.text).toBe(
      `missed the point ${
        at(HOUR).toISOString()
      }: no instance took it in time (none running, asleep, no slot free, or ` +
        'the clock set ahead), and catchup "skip" drops it',
    );
  });

  it("C2 C4 tells what of the missed points had no run of its own, by the policy", async () => {
    const { start, create, clock } = world(kind);
    const creator = create({ tasks: [quick] });
    const all = { policy: "all", limit: 3, window: "2h" } as const;
    const some = await creator.every(quick, "1h", undefined, { catchup: all });
    const one = await creator.every(quick, "1h");
    await clock.advance(10 * HOUR + 30 * MINUTE);
    const scheduler = await start({ tasks: [quick] });
    await clock.settled();
    const missed = async (id: string) =>
      (await explained(scheduler, id)).decisions.find(({ what }) => what === "missed")?.text;
    expect(await missed(some.id)).toMatch(/and catchup "all" runs the newest 3 alone, none older than 2 h$/);
    expect(await missed(one.id)).toMatch(/and catchup "once" has one run stand for all that was missed$/);
  });

  it("C2 M2 does not say that nothing ran where an instance did, and had no slot free", async () => {
    const { start, clock } = world(kind);
    const slow = noting(clock, { lasts: (run) => run === 0 ? "10m" : 0 });
    const scheduler = await start({ tasks: [slow.task], concurrency: 1 });
    await scheduler.after(slow.task, "30s");
    const made = await scheduler.every(slow.task, "1m");
    await clock.advance("11m");
    const { decisions } = await explained(scheduler, made.id);
    expect(decisions[0]).toMatchObject({ what: "missed", count: 9 });
    expect(decisions[0]!.text).toContain("no instance took them in time (none running, asleep, no slot free, ");
  });

  it.each(["once", "all"] as const)(
    "L5 C4 tells an update as the cause of what is not run after it, %s",
    async (catchup) => {
      const { start, create, clock } = world(kind);
      const made = await create({ tasks: [quick] }).every(quick, "1h", undefined, { catchup });
      await clock.set(START + 5 * HOUR + 30 * MINUTE);
      await made.update({ every: "2h" });
      const scheduler = await start({ tasks: [quick] });
      await clock.advance("1h");
      const { decisions } = await explained(scheduler, made.id);
      expect(decisions.map(({ what }) => what)).toEqual(["missed", "updated"]);
      expect(decisions[0]!.text).toBe(
        `missed 5 points, the latest ${at(5 * HOUR).toISOString()}: ` +
          "what was still owed when the schedule was given another time is not run",
      );
    },
  );

  it("L5 O2 tells an update as the cause of what is not run after it, in the queue behind a run", async () => {
    const { start, clock } = world(kind);
    const slow = noting(clock, { lasts: () => "150s" });
    const scheduler = await start({ tasks: [slow.task] });
    const made = await scheduler.every(slow.task, "1m", undefined, { overlap: "queue" });
    await clock.advance("130s");
    await made.update({ every: "1h" });
    const { decisions } = await explained(scheduler, made.id);
    expect(decided(await scheduler.explain(made.id))).toEqual([["ran", 1], ["queued", 1], ["overlapped", 1], [
      "updated",
      1,
    ]]);
    expect(decisions[2]!.text).toMatch(/^dropped the point .*: what was still owed when .* another time is not run$/);
  });

  it("O4 tells a point that a newer one has replaced before it could start", async () => {
    const { start, clock } = world(kind);
    const stubborn = defineTask("stubborn", () => clock.sleep("150s"));
    const scheduler = await start({ tasks: [stubborn] });
    const made = await scheduler.every(stubborn, "1m", undefined, { overlap: "replace" });
    await clock.advance("190s");
    const { decisions } = await explained(scheduler, made.id);
    expect(decisions.map(({ what }) => what)).toEqual(["ran", "replaced", "overlapped"]);
    expect(decisions[2]!.text).toBe(
      `dropped the point ${at(2 * MINUTE).toISOString()}: a newer one took its place before it could start`,
    );
  });

  it("L5 O1 O2 tells a trigger that was dropped or waits as one, not as a point", async () => {
    const { start, clock } = world(kind);
    const slow = noting(clock, { lasts: () => "10m" });
    const scheduler = await start({ tasks: [slow.task] });
    const made = await scheduler.every(slow.task, "1h", undefined, { overlap: "queue" });
    await clock.advance("61m");
    expect([await made.trigger(), await made.trigger()]).toEqual([true, false]);
    const { decisions } = await explained(scheduler, made.id);
    const [first, second] = [0, 1].map((ms) => at(61 * MINUTE + ms).toISOString());
    expect(decisions.slice(1).map(({ text }) => text)).toEqual([
      `queued the trigger ${first}, behind a run in progress`,
      `dropped the trigger ${second}: a run was in progress, and the queue behind it was full (1)`,
    ]);
  });

  it("J1 tells how long before its point a run was late that jitter had set earlier still", async () => {
    const { create, clock, start } = world(kind);
    const earlier: Plugin = {
      name: "earlier",
      contract: CONTRACT,
      policy: { shift: ({ deadline }) => deadline - HOUR },
    };
    const made = await create({ tasks: [quick], plugins: [earlier] }).cron("daily", "@daily", quick);
    await clock.set(START + 23 * HOUR + 30 * SECOND);
    const scheduler = await start({ tasks: [quick], plugins: [earlier] });
    await clock.settled();
    const { decisions } = await explained(scheduler, made.id);
    expect(decisions.map(({ text }) => text)).toEqual([
      `started late for the point ${
        at(24 * HOUR).toISOString()
      }, 59 min 30 s before it: its deadline was earlier still`,
    ]);
  });

  it.each(["skip", "concurrent"] as const)(
    "C4 tells what is lined up behind a run of its line, overlap %s",
    async (overlap) => {
      const { start, create, clock } = world(kind);
      const slow = noting(clock, { lasts: () => "30m" });
      const made = await create({ tasks: [slow.task] }).every(slow.task, "1h", undefined, { overlap, catchup: "all" });
      await clock.set(START + 4 * HOUR + 10 * MINUTE);
      const scheduler = await start({ tasks: [slow.task] });
      await clock.advance("5m");
      const explanation = await explained(scheduler, made.id);
      expect(waitsFor(explanation)).toEqual(["run", "turn", "deadline"]);
      expect(explanation.waits[1]).toMatchObject({ cause: "catchup", point: at(2 * HOUR) });
    },
  );

  it("T8 tells that the clock was set back, where points have come that it now shows as to come", async () => {
    const { start, clock } = world(kind);
    const scheduler = await start({ tasks: [quick] });
    const made = await scheduler.every(quick, "1m");
    await clock.set(START + 5 * HOUR + 10 * SECOND);
    await clock.set(START + 30 * MINUTE);
    const { waits } = await explained(scheduler, made.id);
    expect(waits.map(({ text }) => text)).toEqual([
      `waits for its deadline, ${at(5 * HOUR + MINUTE).toISOString()}; the clock has been set back: it has shown ${
        at(5 * HOUR + 10 * SECOND).toISOString()
      }, and the points up to ${at(5 * HOUR).toISOString()} have come already`,
    ]);
    await clock.set(START + 5 * HOUR + 20 * SECOND);
    expect((await explained(scheduler, made.id)).waits[0]!.text).not.toContain("set back");
  });

  it("T8 C4 tells what a clock that was set back has lined up for a time to come", async () => {
    const { start, clock } = world(kind);
    const slow = noting(clock, { lasts: () => "10m" });
    const scheduler = await start({ tasks: [slow.task] });
    const made = await scheduler.every(slow.task, "1h", undefined, { catchup: "all" });
    await clock.set(START + 4 * HOUR + 10 * MINUTE);
    await clock.set(START + 30 * MINUTE);
    await clock.advance("20m");
    const explanation = await explained(scheduler, made.id);
    expect(waitsFor(explanation)).toEqual(["turn", "deadline"]);
    expect(explanation.waits[0]).toMatchObject({ cause: "catchup", point: at(2 * HOUR) });
    expect(explanation.waits[0]!.text).toMatch(/waits for that time to come again: the clock has been set back$/);
  });

  it("T9 tells the bound that ended it", async () => {
    const { start, clock } = world(kind);
    const scheduler = await start({ tasks: [quick] });
    const often = await scheduler.every(quick, "10s", undefined, { maxRuns: 2, endAt: START + HOUR });
    const long = await scheduler.every(quick, "10s", undefined, { maxRuns: 9, endAt: START + 20 * SECOND });
    await clock.advance("30s");
    const text = async (id: string) => (await explained(scheduler, id)).waits[0]!.text;
    expect(await text(often.id)).toMatch(/^retired \(ended\): it has fired as often as its maxRuns allows \(2\); /);
    expect(await text(long.id)).toContain(`retired (ended): its endAt is ${at(20 * SECOND).toISOString()}; `);
  });

  it("I2 tells an option that no plugin of this instance owns", async () => {
    const { start, create, clock } = world(kind);
    const coloured: Plugin<{ readonly colour?: string }> = {
      name: "coloured",
      contract: CONTRACT,
      options: { colour: { parse: (value) => value } },
    };
    const creator = create({ tasks: [quick], plugins: [coloured] });
    const { id } = await creator.every(quick, "1h", undefined, { colour: "red" } as object);
    const scheduler = await start({ tasks: [quick] });
    await clock.advance("61m");
    const explanation = await explained(scheduler, id);
    expect(explanation.waits[0]).toMatchObject({ for: "plugin", option: "colour", since: at(HOUR) });
    expect(explanation.decisions.at(-1)).toMatchObject({ what: "unknown_policy", detail: "colour" });
    expect((await explained(creator, id)).waits[0]).toMatchObject({ for: "instance", here: "stopped" });
  });

  it("M3 tells a run whose instance gives no sign of life, and then that it was lost", async () => {
    const { start, create, handle, clock } = world(kind);
    const stuck = noting(clock, { lasts: () => "1h" });
    const { storage, cut } = cuttable(handle());
    const first = await start({ tasks: [stuck.task], leaseMs: 10_000, storage });
    const made = await first.after(stuck.task, "1s");
    await clock.advance("2s");
    cut();
    await clock.advance("30s");
    const other = create({ tasks: [stuck.task] });
    const explanation = await explained(other, made.id);
    expect(waitsFor(explanation)).toEqual(["run"]);
    expect((explanation.waits[0] as { until: Date }).until.getTime()).toBeLessThan(clock.now());
    expect(explanation.text).toContain("gave no sign of life");
    await other.start();
    await clock.advance("1s");
    expect(decided(await explained(other, made.id))).toEqual([["ran", 1], ["lost", 1], ["ran", 1]]);
  });

  it("P2 answers the owner and an admin alone", async () => {
    const { create } = world(kind);
    const scheduler = create({ tasks: [quick] });
    const alice = scheduler.as({ id: "alice" });
    const made = await alice.every(quick, "1h");
    expect(await alice.explain(made.id)).toEqual(await scheduler.explain(made.id));
    await expect(scheduler.as({ id: "bob" }).explain(made.id)).rejects.toMatchObject({ code: "permission_denied" });
    await expect(alice.explain("nope")).rejects.toMatchObject({ code: "not_found" });
  });

  it("V1 keeps at most twelve decisions, whatever happens", async () => {
    const { start, clock } = world(kind);
    const scheduler = await start({ tasks: [quick] });
    const made = await scheduler.every(quick, "1m");
    for (let i = 0; i < 20; i++) {
      await clock.advance("1m");
      await made.trigger();
      await clock.advance(SECOND);
    }
    const { decisions } = await explained(scheduler, made.id);
    expect(decisions).toHaveLength(12);
    expect(decisions.at(-1)).toMatchObject({ what: "triggered" });
  });
});

it("tells what is wrong with a document that was damaged in its store", async () => {
  const { start, file, clock } = world("sqlite");
  const scheduler = await start({ tasks: [quick] });
  const { id } = await scheduler.every(quick, "1h");
  const database = new DatabaseSync(file!);
  database.exec("UPDATE ostinato_schedules SET definition = 'nonsense'");
  database.close();
  await clock.advance("2h");
  const { waits } = await explained(scheduler, id);
  expect(waits).toMatchObject([{ for: "repair", error: expect.any(String) }]);
});

it.each([
  [0, "0 ms"],
  [0.4, "0 ms"],
  [999, "999 ms"],
  [1_500, "1 s 500 ms"],
  [60_000, "1 min"],
  [14_135_000, "3 h 55 min"],
  [90_000_000, "1 d 1 h"],
  [86_400_001, "1 d"],
])("V1 %d ms are told as %s", (ms, words) => {
  expect(durationWords(ms)).toBe(words);
});

it.each<[StoredSpec, string]>([
  [{ kind: "at", at: START }, `at ${at(0).toISOString()}`],
  [{ kind: "every", every: 93_784_005, anchor: 0 }, "every 1 d 2 h 3 min 4 s 5 ms"],
  [
    { kind: "every", every: HOUR, anchor: 0, startAt: START, endAt: START + HOUR },
    `every 1 h, startAt ${at(0).toISOString()}, endAt ${at(HOUR).toISOString()}`,
  ],
  [
    { kind: "cron", cron: "0 2 * * *", timezone: "UTC", dst: { fold: "both" }, maxRuns: 1 },
    'cron "0 2 * * *" in UTC, dst.fold "both", maxRuns 1',
  ],
])("T9 K5 %j is told as %s", (spec, words) => {
  expect(specWords(spec)).toBe(words);
});
