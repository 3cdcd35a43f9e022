import { describe, expect, it } from "vitest";
import {
  type AnyPlugin,
  createScheduler,
  defineTask,
  type Plugin,
  type RunContext,
  type Scheduler,
} from "../../../mod.ts";
import { CONTRACT, type Storage } from "../../../src/contract/mod.ts";
import { MINUTE, SECOND, START, STORES, world } from "../support/schedulers.ts";

const records = defineTask("records", { internal: true, run: () => {} });
const FAR = "9000-01-01T00:00:00Z";

/** Tasks that note their runs, kept as records. */
function noting(who: string, noted: string[]): Plugin {
  return {
    name: "noting",
    contract: CONTRACT,
    tasks: {
      records,
      taskOf({ definition }, current) {
        if (definition.input === "damaged") throw new Error("unreadable");
        return defineTask(definition.tags![0]!, async (_input, { schedule }: RunContext) => {
          noted.push(`${who} ${(await current())?.definition.input ?? "gone"} ${schedule.kind}`);
        });
      },
    },
  };
}

const keep = (scheduler: Scheduler, name: string, input: unknown = "one") =>
  scheduler.at(records, FAR, input as never, { tags: [name], key: `task:${name}`, onConflict: "error" });

describe.each(STORES)("tasks kept in the store, over %s", (kind) => {
  // Word of a file's changes takes real time, which virtual time does not wait for; test/conformance/webhooks.test.ts does.
  const whereHeardAtOnce = it.runIf(kind === "memory");

  it("I2 a creation finds one that was made a moment ago, by another instance too, and an unknown one is still refused", async () => {
    const { clock, start } = world(kind);
    const noted: string[] = [];
    const [one, other] = [
      await start({ plugins: [noting("one", noted)] }),
      await start({ plugins: [noting("other", noted)] }),
    ];
    await keep(one, "greet");
    const { id } = await other.as({ id: "alice" }).after("greet", "10s");
    expect((await other.info(id)).task).toBe("greet");
    await expect(other.after("great", "10s")).rejects.toMatchObject({ code: "unknown_task" });
    await expect(other.as({ id: "alice" }).after("records", "10s")).rejects.toMatchObject({ code: "unknown_task" });
    await other.transaction((tx) => tx.after("greet", "20s"));
    await other.invoke("greet");
    await clock.advance("1m");
    expect(noted).toHaveLength(3);
    for (const note of noted) expect(note).toMatch(/^(one|other) one at$/);
  });

  whereHeardAtOnce(
    "M1 M2 an instance that never heard the name runs its schedules once the others are gone, and after a restart",
    async () => {
      const { clock, start } = world(kind);
      const noted: string[] = [];
      const elsewhere = await start({ plugins: [noting("elsewhere", noted)] });
      const maker = await start({ plugins: [noting("maker", noted)] });
      await keep(maker, "greet");
      await maker.every("greet", "10m");
      await maker.close();
      await clock.advance("11m");
      expect(noted).toEqual(["elsewhere one every"]);
      await elsewhere.close();
      await start({ plugins: [noting("next", noted)] });
      await clock.advance("10m");
      expect(noted).toEqual(["elsewhere one every", "next one every"]);
    },
  );

  it("M2 an instance without the source leaves the records and their tasks alone", async () => {
    const { clock, start } = world(kind);
    const noted: string[] = [];
    const maker = await start({ plugins: [noting("maker", noted)] });
    await keep(maker, "greet");
    const { id } = await maker.after("greet", "1m");
    await maker.close();
    const plain = await start();
    await clock.advance("10m");
    expect(await plain.info(id)).toMatchObject({ runCount: 0, retired: false });
    expect((await plain.explain(id)).waits).toContainEqual(expect.objectContaining({ for: "instance", task: "greet" }));
  });

  whereHeardAtOnce("runs go by the record as it is now, and wait once it is gone", async () => {
    const { clock, start } = world(kind);
    const noted: string[] = [];
    const one = await start({ plugins: [noting("one", noted)] });
    const other = await start({ plugins: [noting("other", noted)] });
    const record = await keep(one, "greet");
    const { id } = await one.every("greet", "10m");
    await clock.advance("11m");
    await other.update(record.id, { input: "two" });
    await clock.advance("10m");
    expect(noted.map((note) => note.replace(/^\w+ /, ""))).toEqual(["one every", "two every"]);
    await other.stop(record.id);
    await clock.advance("10m");
    expect(noted).toHaveLength(2);
    await expect(one.after("greet", 0)).rejects.toMatchObject({ code: "unknown_task" });
    await keep(other, "greet", "three");
    await clock.advance("20m");
    // What waited for the task, and the two points since.
    expect(noted.slice(2).map((note) => note.replace(/^\w+ /, ""))).toEqual(Array(3).fill("three every"));
    expect((await one.info(id)).faultCount).toBe(0);
  });

  it("a tick, which hears nothing of others in between, knows them too", async () => {
    const { clock, create } = world(kind);
    const noted: string[] = [];
    const woken = create({ plugins: [noting("woken", noted)] });
    await woken.tick();
    const maker = create({ plugins: [noting("maker", noted)] });
    await keep(maker, "greet");
    await maker.after("greet", "10s");
    await clock.advance("11s");
    await woken.tick();
    expect(noted).toEqual(["woken one at"]);
  });

  it("a task in code goes before a record of its name, and a record that cannot be read harms nothing", async () => {
    const { clock, start, messages } = world(kind);
    const noted: string[] = [];
    const greet = defineTask("greet", () => void noted.push("code"));
    const scheduler = await start({ plugins: [noting("one", noted)], tasks: [greet] });
    for (const name of ["greet", "broken", "sound"]) {
      await keep(scheduler, name, name === "broken" ? "damaged" : "one");
    }
    await scheduler.after("greet", "10s");
    await scheduler.after("sound", "20s");
    await expect(scheduler.after("broken", "10s")).rejects.toMatchObject({ code: "unknown_task" });
    await clock.advance("1m");
    expect(noted).toEqual(["code", "one one at"]);
    expect(messages.map(({ text }) => text)).toContainEqual(expect.stringContaining('"broken" could not be made'));
  });

  whereHeardAtOnce("M6 a store that fails while records are read is asked again", async () => {
    const { clock, handle, create } = world(kind);
    const noted: string[] = [];
    let failures = 0;
    const inner = handle();
    const flaky: Storage = new Proxy(inner, {
      get(target, key) {
        const found = Reflect.get(target, key);
        if (key !== "find") return typeof found === "function" ? found.bind(target) : found;
        return (query: never) => failures-- > 0 ? Promise.reject(new Error("cut")) : target.find(query);
      },
    });
    const scheduler = create({ storage: flaky, plugins: [noting("one", noted)] });
    failures = 1;
    await expect(scheduler.start()).rejects.toThrow("cut");
    await scheduler.start();
    await keep(scheduler, "greet");
    await clock.advance("5s");
    await scheduler.every("greet", "1m");
    const maker = create({ plugins: [noting("maker", noted)] });
    failures = 3;
    await keep(maker, "second");
    await maker.after("second", "30s");
    await maker.close();
    await clock.advance(MINUTE + SECOND);
    expect(noted.sort()).toEqual(["one one at", "one one every"]);
    expect(clock.now()).toBe(START + 5 * SECOND + MINUTE + SECOND);
  });
});

it.each([
  [{}, "tasks: an object given; expected records and taskOf"],
  [null, "tasks: null given; expected records and taskOf"],
  [{ taskOf: () => undefined }, "tasks.records: undefined given; expected what defineTask answers"],
  [
    { taskOf: () => undefined, records: defineTask("open", () => {}) },
    'tasks.records: the task "open" is not internal, so anybody could write records',
  ],
] as [object | null, string][])("config_invalid names what is wrong with a source: %j", (tasks, problem) => {
  const plugin = { name: "mine", contract: CONTRACT, tasks } as AnyPlugin;
  expect(() => createScheduler({ plugins: [plugin] })).toThrow(problem);
});
