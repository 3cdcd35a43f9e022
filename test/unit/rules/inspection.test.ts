import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import type { SchedulerEventName, SchedulerEvents } from "../../../src/contract/mod.ts";
import { cuttable, MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

const quick = defineTask("quick", () => {});
const failing = defineTask("failing", () => Promise.reject(new Error("no")));

describe.each(STORES)("inspection over %s", (kind) => {
  it("V1 info tells everything about a schedule, and every option in force", async () => {
    const { clock, create } = world(kind);
    const scheduler = create({ tasks: [quick] });
    const { id } = await scheduler.as({ id: "alice" }).cron("night", "0 2 * * *", quick, { a: 1 }, {
      timezone: "Europe/Berlin",
      target: "room:1",
      tags: ["x", "y"],
      group: "g",
      state: { s: 1 },
      timeout: "1m",
      catchup: { policy: "all", limit: 10, window: "2d" },
      overlap: { policy: "queue", limit: 3 },
      jitter: { spread: "5s" },
      retry: { limit: 2 },
      maxFaults: 7,
      history: 5,
      retention: "2m",
      onLost: "fault",
      maxLost: 2,
      maxRuns: 9,
      endAt: START + 40 * 86_400_000,
    });
    const info = await scheduler.info(id);
    expect(info).toMatchObject({
      id,
      name: "night",
      kind: "cron",
      task: "quick",
      target: "room:1",
      tags: ["x", "y"],
      group: "g",
      input: { a: 1 },
      state: { s: 1 },
      owner: "alice",
      authority: { id: "alice" },
      runAs: "alice",
      spec: { kind: "cron", cron: "0 2 * * *", timezone: "Europe/Berlin", maxRuns: 9 },
      createdAt: new Date(clock.now()),
      lastRun: null,
      runCount: 0,
      faultCount: 0,
      consecutiveFaults: 0,
      missedCount: 0,
      overlapCount: 0,
      running: [],
      intervalClamped: false,
      paused: false,
      retired: false,
      adaptive: false,
      persist: true,
      timeout: MINUTE,
      onLost: "fault",
      maxLost: 2,
      retention: 2 * MINUTE,
      history: 5,
      timezone: "Europe/Berlin",
      maxRuns: 9,
      catchup: { policy: "all", limit: 10, window: 2 * 86_400_000 },
      overlap: { policy: "queue", limit: 3 },
      jitter: { spread: 5 * SECOND },
      retry: { limit: 2 },
      maxFaults: 7,
    });
    expect(info.nextRun!.getTime() - Date.UTC(2026, 0, 1, 1)).toBeGreaterThanOrEqual(0);
    expect(info.nextRun!.getTime() - Date.UTC(2026, 0, 1, 1)).toBeLessThanOrEqual(5 * SECOND);
    for (
      const unset of [
        "lastFault",
        "lastDurationMs",
        "meanDurationMs",
        "p99DurationMs",
        "retireReason",
        "parked",
      ] as const
    ) expect(info[unset]).toBeUndefined();
  });

  it("V1 info tells what is in force where nothing was said", async () => {
    const { create } = world(kind);
    const scheduler = create({ tasks: [quick] });
    expect(await (await scheduler.every(quick, "1ms")).info()).toMatchObject({
      intervalClamped: true,
      catchup: "once",
      overlap: "skip",
      jitter: 0,
      retry: undefined,
      maxFaults: 50,
      onLost: "rerun",
      maxLost: 3,
      retention: MINUTE,
      history: 20,
      adaptive: false,
      timeout: undefined,
      name: undefined,
      owner: "system",
      runAs: "system",
    });
    expect((await (await scheduler.after(quick, "1m")).info()).adaptive).toBe(true);
  });

  it("V1 running tells runs in progress, the oldest first", async () => {
    const { clock, start } = world(kind);
    const slow = defineTask("slow", () => clock.sleep("1m"));
    const scheduler = await start({ tasks: [slow] });
    const { id } = await scheduler.every(slow, "10s", undefined, { overlap: "concurrent" });
    await clock.advance("35s");
    const { running, lastRun } = await scheduler.info(id);
    expect(running.map(({ scheduledAt }) => (scheduledAt.getTime() - START) / SECOND)).toEqual([10, 20, 30]);
    expect(running.map(({ outcome, attempt, scheduleId }) => [outcome, attempt, scheduleId]))
      .toEqual(Array(3).fill(["running", 1, id]));
    expect(lastRun).toEqual(new Date(START + 30 * SECOND));
  });

  it("V1 V2 tells the last, the mean and the p99 duration, over a lifetime and across restarts", async () => {
    const { clock, start, create } = world(kind);
    let run = 0;
    const task = defineTask("task", () => clock.sleep(++run % 50 === 0 ? "8s" : "100ms"));
    for (let restart = 0; restart < 2; restart++) {
      const scheduler = await start({ tasks: [task] });
      await scheduler.every(task, "10s", undefined, { name: "beat", startAt: START });
      await clock.advance("1000s");
      await scheduler.close();
    }
    const [beat] = (await create().list({ name: "beat" }).page()).schedules;
    const info = await beat!.info();
    expect(info.runCount).toBeGreaterThanOrEqual(200);
    expect(info.meanDurationMs).toBeCloseTo((196 * 100 + 4 * 8_000) / 200, -1);
    expect(Math.abs(info.p99DurationMs! - 8_000)).toBeLessThanOrEqual(400);
    expect([100, 8_000]).toContain(info.lastDurationMs);
  });

  it("V1 P2 info of somebody else's schedule is refused, and of none not_found", async () => {
    const { create } = world(kind);
    const scheduler = create({ tasks: [quick] });
    const { id } = await scheduler.as({ id: "alice" }).every(quick, "1m");
    await expect(scheduler.as({ id: "bob" }).info(id)).rejects.toMatchObject({ code: "permission_denied" });
    await expect(scheduler.as({ id: "bob" }).runs(id)).rejects.toMatchObject({ code: "permission_denied" });
    expect((await scheduler.as({ id: "root", admin: true }).info(id)).owner).toBe("alice");
    await expect(scheduler.info("01ARZ3NDEKTSV4RRFFQ69G5FAV")).rejects.toMatchObject({ code: "not_found" });
  });

  it("V3 pages through all, once each, while schedules come and go", async () => {
    const { create } = world(kind);
    const scheduler = create({ tasks: [quick] });
    const made: string[] = [];
    for (let i = 0; i < 30; i++) made.push((await scheduler.every(quick, "1h", { i })).id);
    made.sort();
    const seen: string[] = [];
    let cursor: string | undefined;
    let page = 0;
    do {
      const answer = await scheduler.list({ limit: 7, ...(cursor === undefined ? {} : { cursor }) }).page();
      seen.push(...answer.schedules.map(({ id }) => id));
      cursor = answer.cursor;
      // Those seen and those to come are stopped, and new ones made, between the pages.
      if (page++ === 0) {
        await scheduler.stop(made[0]!);
        await scheduler.stop(made[20]!);
      }
    } while (cursor !== undefined);
    expect(seen).toEqual(made.filter((id) => id !== made[20]));
    const iterated = [];
    for await (const { id } of scheduler.list({ limit: 4 })) iterated.push(id);
    expect(iterated).toEqual(made.filter((_, i) => i !== 0 && i !== 20));
  });

  it("V3 lists by owner, target, task, name, group, tag and what is due, all conditions together", async () => {
    const { create } = world(kind);
    const scheduler = create({ tasks: [quick, failing] });
    const alice = scheduler.as({ id: "alice" });
    const a = await alice.every(quick, "1m", undefined, { target: "t", tags: ["x"], name: "a", group: "g" });
    const b = await scheduler.every(failing, "2m", undefined, { target: "t", tags: ["x", "y"] });
    const c = await scheduler.after(quick, "1d", undefined, { tags: ["y"] });
    const ids = async (filter: Parameters<typeof scheduler.list>[0]) =>
      (await scheduler.list(filter).page()).schedules.map(({ id }) => id).sort();
    const of = (...schedules: { id: string }[]) => schedules.map(({ id }) => id).sort();
    expect(await ids({})).toEqual(of(a, b, c));
    expect(await ids({ owner: "alice" })).toEqual(of(a));
    expect(await ids({ owner: "system" })).toEqual(of(b, c));
    expect(await ids({ target: "t" })).toEqual(of(a, b));
    expect(await ids({ task: "quick" })).toEqual(of(a, c));
    expect(await ids({ name: "a" })).toEqual(of(a));
    expect(await ids({ group: "g" })).toEqual(of(a));
    expect(await ids({ tag: "y" })).toEqual(of(b, c));
    expect(await ids({ dueBefore: START + 2 * MINUTE })).toEqual(of(a));
    expect(await ids({ dueBefore: START + 2 * MINUTE + 1 })).toEqual(of(a, b));
    expect(await ids({ target: "t", tag: "y", task: "failing" })).toEqual(of(b));
    expect(await ids({ target: "t", tag: "y", task: "quick" })).toEqual([]);
    expect((await alice.list().page()).schedules.map(({ id }) => id)).toEqual([a.id]);
  });

  it("V4 runs tells the last 20 by default, faults included, the newest first, or as many as history says", async () => {
    const { clock, start } = world(kind);
    let run = 0;
    const task = defineTask("task", async () => {
      await clock.sleep("2s");
      if (++run % 2 === 0) throw new Error(`run ${run}`);
    });
    const scheduler = await start({ tasks: [task] });
    const byDefault = await scheduler.every(task, "10s");
    const short = await scheduler.every(task, "10s", undefined, { history: 3 });
    const none = await scheduler.every(task, "10s", undefined, { history: 0 });
    await clock.advance("255s");
    const runs = await byDefault.runs();
    expect(runs.map(({ scheduledAt }) => (scheduledAt.getTime() - START) / SECOND))
      .toEqual(Array.from({ length: 20 }, (_, i) => 250 - 10 * i));
    const [newest] = runs;
    expect(newest).toEqual({
      id: newest!.id,
      scheduleId: byDefault.id,
      scheduledAt: new Date(START + 250 * SECOND),
      startedAt: new Date(START + 250 * SECOND),
      endedAt: new Date(START + 252 * SECOND),
      attempt: 1,
      outcome: newest!.outcome,
      instance: expect.any(String),
      ...(newest!.fault === undefined ? {} : { fault: newest!.fault }),
    });
    const faults = (await Promise.all([byDefault, short].map((schedule) => schedule.runs()))).flat()
      .filter(({ outcome }) => outcome === "faulted");
    expect(faults.length).toBeGreaterThan(5);
    for (const { fault } of faults) expect(fault).toMatch(/^Error: run \d+$/);
    expect(await short.runs()).toHaveLength(3);
    expect(await none.runs()).toEqual([]);
    await clock.advance("6s");
    expect((await none.runs()).map(({ outcome }) => outcome)).toEqual(["running"]);
  });

  it("V4 running lists the runs in progress on all instances: an admin all, others their own", async () => {
    const { clock, start } = world(kind);
    const slow = defineTask("slow", () => clock.sleep("1m"));
    const one = await start({ tasks: [slow], concurrency: 1 });
    await one.as({ id: "alice" }).at(slow, START);
    await clock.settled();
    const two = await start({ tasks: [slow], concurrency: 1 });
    await two.as({ id: "bob" }).at(slow, START);
    await two.after(slow, "1h");
    await clock.settled();
    const all = await one.running();
    expect(all).toHaveLength(2);
    expect(new Set(all.map(({ instance }) => instance)).size).toBe(2);
    expect(await one.as({ id: "alice" }).running()).toHaveLength(1);
    expect(await two.as({ id: "alice" }).running()).toEqual(await one.as({ id: "alice" }).running());
    expect(await one.as({ id: "carol" }).running()).toEqual([]);
    expect(await two.as({ id: "root", admin: true }).running()).toHaveLength(2);
    await clock.advance("1m");
    expect(await one.running()).toEqual([]);
  });

  it("V5 tells each kind of event, with what happened", async () => {
    const { clock, start, handle, create } = world(kind);
    const absent = defineTask("absent", () => {});
    const slow = defineTask("slow", () => clock.sleep("25s"));
    const store = cuttable(handle());
    await create({ tasks: [absent] }).at(absent, START);
    const scheduler = await start({ tasks: [quick, failing, slow], storage: store.storage });
    const events: { [Name in SchedulerEventName]?: SchedulerEvents[Name][] } = {};
    const names: SchedulerEventName[] = [
      "created",
      "updated",
      "stopped",
      "retired",
      "started",
      "succeeded",
      "faulted",
      "missed",
      "overlapped",
      "unclaimed",
      "storeError",
    ];
    for (const name of names) scheduler.on(name, (event) => ((events[name] ??= []) as unknown[]).push(event));
    const beat = await scheduler.every(quick, "10s", undefined, { name: "beat" });
    await scheduler.every(slow, "10s", undefined, { name: "slow" });
    await scheduler.after(failing, "5s", undefined, { name: "failing", retry: { limit: 1, delay: "1s" } });
    await beat.update({ history: 3 });
    await clock.advance("32s");
    store.cut();
    await clock.advance("28s");
    store.mend();
    await clock.advance("10s");
    await scheduler.stop(beat.id);
    const of = <Name extends SchedulerEventName>(name: Name) => events[name] as SchedulerEvents[Name][];
    expect(of("created").map(({ schedule }) => schedule.name)).toEqual(["beat", "slow", "failing"]);
    expect(of("updated")).toMatchObject([{ schedule: { id: beat.id, kind: "every", task: "quick" } }]);
    expect(of("stopped")).toMatchObject([{ schedule: { id: beat.id } }]);
    expect(of("retired")).toMatchObject([{ schedule: { name: "failing", nextRun: null }, reason: "failed" }]);
    expect(of("started")[0]).toMatchObject({
      schedule: { name: "failing" },
      run: { attempt: 1, scheduledAt: new Date(START + 5 * SECOND), latenessMs: 0 },
    });
    expect(of("succeeded")[0]).toMatchObject({
      schedule: { name: "beat" },
      run: { outcome: "succeeded", durationMs: 0 },
    });
    expect(of("faulted").map(({ run, retryAt }) => [run.attempt, retryAt])).toEqual([
      [1, new Date(START + 6 * SECOND)],
      [2, undefined],
    ]);
    expect(of("faulted")[0]!.fault).toMatchObject({ name: "Error", message: "no" });
    expect(of("overlapped").filter(({ schedule }) => schedule.name === "slow").length).toBeGreaterThan(0);
    expect(of("missed").some(({ schedule, count }) => schedule.name === "beat" && count === 2)).toBe(true);
    expect(of("unclaimed")[0]).toMatchObject({ task: "absent", due: 1 });
    expect(of("storeError").length).toBeGreaterThan(0);
  });

  it("V5 a listener is told until it unsubscribes; the same function may listen twice", async () => {
    const { clock, start } = world(kind);
    const scheduler = await start({ tasks: [quick] });
    let told = 0;
    const listener = () => void told++;
    const off = [scheduler.on("succeeded", listener), scheduler.on("succeeded", listener)];
    await scheduler.every(quick, "1s");
    await clock.advance("1s");
    expect(told).toBe(2);
    off[0]!();
    off[0]!();
    await clock.advance("1s");
    expect(told).toBe(3);
    off[1]!();
    await clock.advance("1s");
    expect(told).toBe(3);
    expect(() => scheduler.on("finished" as never, listener)).toThrow(/one of created/);
    expect(() => scheduler.on("succeeded", undefined as never)).toThrow(/a function/);
  });

  it("V5 B155: 10,000 runs with a timeout leave no timer, no listener and no memory of themselves", async () => {
    const { clock, start } = world(kind);
    const warnings: Error[] = [];
    const warn = (warning: Error) => void warnings.push(warning);
    process.on("warning", warn);
    onTestFinished(() => void process.off("warning", warn));
    let runs = 0;
    let timers = 0;
    const counting = Object.assign(Object.create(clock), {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      defer: (callback: () => void) => clock.defer(callback),
      busy: () => clock.busy!(),
      pass: clock.pass!.bind(clock),
      onJump: clock.onJump!.bind(clock),
      setTimer(callback: () => void, delayMs: number) {
        timers++;
        let over = false;
        const end = () => {
          if (!over) timers--;
          over = true;
        };
        const cancel = clock.setTimer(() => {
          end();
          callback();
        }, delayMs);
        return () => {
          end();
          cancel();
        };
      },
    });
    const task = defineTask("task", {
      timeout: "1m",
      run(_input, { signal }) {
        signal.addEventListener("abort", () => {});
        runs++;
      },
    });
    const scheduler = await start({ tasks: [task], clock: counting });
    const request = { task, after: "1s", retention: 0 } as const;
    await scheduler.createMany(Array.from({ length: 10_000 }, () => request));
    await clock.advance("5s");
    expect(runs).toBe(10_000);
    expect(timers).toBeLessThan(10);
    expect(await scheduler.running()).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

describe("a damaged store", () => {
  function damaged() {
    const one = world("sqlite");
    const gates: (() => void)[] = [];
    const slow = defineTask("slow", () => new Promise<void>((resolve) => gates.push(resolve)));
    const database = new DatabaseSync(one.file!);
    const edit = (id: string, column: "definition" | "progress", change: (value: string) => string) => {
      const select = database.prepare(`select ${column} as value from ostinato_schedules where id = ?`);
      const { value } = select.get(id) as { value: string };
      database.prepare(`update ostinato_schedules set ${column} = ? where id = ?`).run(change(value), id);
    };
    onTestFinished(() => database.close());
    return { ...one, slow, open: () => gates.splice(0).forEach((gate) => gate()), edit };
  }

  it.each(
    [
      ["is no JSON", "progress", () => "{"],
      ["is of another shape", "definition", () => '{"task":"quick"}'],
      ["has an interval of 0", "definition", (text: string) => text.replace('"every":60000', '"every":0')],
      [
        "has an expression that is none",
        "definition",
        (text: string) =>
          text.replace(/"spec":\{[^}]*\}/, '"spec":{"kind":"cron","cron":"not a cron","timezone":"UTC"}'),
      ],
    ] as const,
  )("V1 B061: a document that %s is parked with an event and an error in info; the others go on", async (
    _what,
    column,
    change,
  ) => {
    const { clock, create, start, edit, messages } = damaged();
    const maker = create({ tasks: [quick] });
    const bad = await maker.every(quick, "1m");
    const good = await maker.every(quick, "1m");
    edit(bad.id, column, change);
    const scheduler = await start({ tasks: [quick] });
    const parked: SchedulerEvents["parked"][] = [];
    scheduler.on("parked", (event) => parked.push(event));
    await clock.advance("3m");
    expect(parked).toMatchObject([{ id: bad.id, task: "quick", error: expect.any(String) }]);
    expect(messages.filter(({ text }) => text.includes(bad.id)).length).toBeLessThanOrEqual(1);
    expect((await scheduler.info(bad.id)).parked).toBe(parked[0]!.error);
    expect(await scheduler.info(good.id)).toMatchObject({ runCount: 3, parked: undefined });
    expect(await scheduler.stop(bad.id)).toBe(true);
    await expect(scheduler.info(bad.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("V1 a document damaged during its run is parked at the settlement, which holds up no other", async () => {
    const { clock, start, slow, open, edit } = damaged();
    const scheduler = await start({ tasks: [slow] });
    const parked: SchedulerEvents["parked"][] = [];
    scheduler.on("parked", (event) => parked.push(event));
    const bad = await scheduler.every(slow, "1m");
    const good = await scheduler.every(slow, "1m");
    await clock.advance("1m");
    edit(
      bad.id,
      "definition",
      (text) => text.replace(/"spec":\{[^}]*\}/, '"spec":{"kind":"cron","cron":"not a cron","timezone":"UTC"}'),
    );
    // A point that passed during the run has to be accounted for with what the document now says.
    await clock.advance("1s");
    edit(bad.id, "progress", (text) => text.replace(/"next":\{[^}]*\}/, `"next":{"point":${START},"at":${START}}`));
    open();
    await clock.advance("1s");
    expect((await scheduler.info(good.id)).running).toEqual([]);
    expect(await scheduler.runs(good.id)).toMatchObject([{ outcome: "succeeded" }]);
    expect(parked).toMatchObject([{ id: bad.id }]);
    expect(await scheduler.info(bad.id)).toMatchObject({ parked: parked[0]!.error, running: [] });
  });

  it("I2 M6 a disk that is full: creations fail clearly, runs in progress end and settle once there is room", async () => {
    const { clock, start, file } = world("sqlite");
    const database = new DatabaseSync(file!);
    onTestFinished(() => database.close());
    const ended: number[] = [];
    const slow = defineTask("slow", async () => {
      await clock.sleep("5s");
      ended.push(clock.now());
    });
    const scheduler = await start({ tasks: [quick, slow], storage: sqlite({ database }) });
    const { id } = await scheduler.after(slow, 0, undefined, { retention: "1d" });
    await clock.settled();
    // As many pages as there are: not one more can be had.
    const { page_count } = database.prepare("pragma page_count").get() as { page_count: number };
    database.exec(`pragma max_page_count = ${page_count}`);
    const refused: unknown[] = [];
    for (let i = 0; i < 50; i++) {
      await scheduler.after(quick, "1h", "x".repeat(30_000)).catch((error: unknown) => refused.push(error));
    }
    expect(refused.length).toBeGreaterThan(40);
    expect(refused[0]).toMatchObject({
      code: "store_unavailable",
      retryable: true,
      message: expect.stringMatching(/^sqlite: writing schedules: .*full/),
    });
    await clock.advance("6s");
    expect(ended).toEqual([START + 5 * SECOND]);
    database.exec("pragma max_page_count = 1000000");
    await clock.advance("10s");
    expect(await scheduler.info(id)).toMatchObject({ retireReason: "completed", runCount: 1, faultCount: 0 });
    await scheduler.after(quick, "1h", "x".repeat(30_000));
  });
});
