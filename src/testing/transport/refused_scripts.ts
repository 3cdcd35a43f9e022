import { MAX_INPUT_BYTES, type ScheduleRequest } from "../../contract/mod.ts";
import { equal } from "../assert.ts";
import { NOBODYS, type Script, type Stage } from "./compare.ts";

/** What transports carry when a call is refused. */
export const refusedScripts: readonly Script[] = [
  { name: "I2 a creation that is refused says the same", play: creationsRefused },
  {
    name: "P2 L1 what belongs to somebody else, or is over, or never was, answers the same",
    play: callsRefused,
  },
  {
    name: "P4 an internal task and one that does not exist answer alike",
    async play({ as, note }) {
      for (const name of ["alice", "root"]) {
        const after = (task: string) => note(`after ${task}`, () => as(name).after(task, "1h"));
        const invoke = (task: string) => note(`invoke ${task}`, () => as(name).invoke(task));
        for (const call of [after, invoke]) equal(await call("hidden"), await call("absent"), `by ${name}`);
      }
    },
  },
  {
    name: "X2 after close every call answers closed",
    async play({ as, note, close }) {
      const made = await as("alice").every("quick", "1h");
      await close();
      await note("info", () => made.info());
      await note("list", () => as("alice").list().page());
      await note("at", () => as("alice").at("quick", 0));
      await note("nextRuns", () => as("alice").nextRuns({ every: "1h" }, 1));
      await note("transaction", () => as("alice").transaction([{ stop: made.id }]));
    },
  },
];

async function creationsRefused({ as, note }: Stage): Promise<void> {
  const alice = as("alice");
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const requests: readonly (readonly [object, string])[] = [
    [{ after: "1h", jitter: "5 parsecs" }, "no duration"],
    [{ after: "1h", jitter: Number.NaN }, "NaN for a duration"],
    [{ after: undefined }, "no time"],
    [{ every: 0 }, "no interval"],
    [{ at: "2026-02-30T00:00:00Z" }, "no date"],
    [{ at: new Date(Number.NaN) }, "an invalid date"],
    [{ at: "9999-12-31T23:59:59.999+12:00", after: "1h" }, "two times"],
    [{ after: "9999999w" }, "past the calendar"],
    [{ cron: "0 0 30 2 *" }, "no such day"],
    [{ cron: "@daily", timezone: "Mars/Olympus" }, "no zone"],
    [{ after: "1h", jiter: "5s" }, "a misspelt option"],
    [{ after: "1h", overlap: "both" }, "no policy"],
    [{ after: "1h", name: "" }, "no name"],
    [{ after: "1h", tags: "x" }, "no tags"],
    [{ after: "1h", owner: "bob" }, "another's"],
    [{ after: "1h", runAs: { id: "bob" } }, "for another"],
    [{ after: "1h", input: { when: new Date(0) } }, "a date in the input"],
    [{ after: "1h", input: [undefined] }, "undefined in the input"],
    [{ after: "1h", input: cyclic }, "a cycle in the input"],
    [{ after: "1h", input: { n: 1n } }, "a bigint in the input"],
    [{ after: "1h", input: "x".repeat(MAX_INPUT_BYTES) }, "a large input"],
    [{ after: "1h", state: "x".repeat(5_000) }, "a large state"],
    [{ after: "1h", state: new Map() }, "a map for a state"],
    [{ after: "1h", task: "absent" }, "no task"],
    [{ after: "1h", task: "private", input: { n: 1 }, key: "a", name: "b" }, "a name and a key"],
  ];
  for (const [request, what] of requests) {
    const whole = { task: "quick", ...request } as ScheduleRequest;
    await note(`createMany: ${what}`, () => alice.createMany([{ task: "quick", after: "1h" }, whole]));
  }
  await note("at: no time", () => alice.at("quick", undefined as never));
  await note("at: no task", () => alice.at(undefined as never, 0));
  await note("every: a misspelt option", () => alice.every("quick", "1h", undefined, { jiter: 1 } as object));
  await note("every: a time among the options", () => alice.every("quick", "1h", undefined, { at: 0 } as object));
  await note("every: options that are none", () => alice.every("quick", "1h", undefined, 7 as never));
  await note("cron: a name in the options", () => alice.cron("a", "@daily", "quick", 0, { name: "b" } as object));
  await note("cron: no name", () => alice.cron(undefined as never, "@daily", "quick"));
  await note("createMany: no array", () => alice.createMany("x" as never));
  await note("createMany: no object", () => alice.createMany([7 as never]));
  await note("sync: no group", () => alice.sync([], {} as never));
  await note("invoke: a date in the input", () => alice.invoke("echo", { when: new Date(0) }));
  await note("nextRuns: no time", () => alice.nextRuns({} as never, 1));
  await note("nextRuns: no number", () => alice.nextRuns({ every: "1h" }, "many" as never));
  await note("nothing was created", async () => (await alice.list().page()).schedules.length);
  await alice.after("quick", "1h", undefined, { key: "k" });
  await note("a key in use", () => alice.after("quick", "1h", undefined, { key: "k", onConflict: "error" }));
}

async function callsRefused({ as, note, clock }: Stage): Promise<void> {
  const live = await as("alice").every("quick", "1h");
  const over = await as("alice").after("quick", "1m");
  await clock.advance("1h");
  const [run] = await live.runs();
  for (const [whose, id] of [["alice's", live.id], ["over", over.id], ["nobody's", NOBODYS], ["no", "nope"]] as const) {
    const bob = as("bob");
    for (const call of ["info", "runs", "explain", "valid", "pause", "resume", "trigger", "stop"] as const) {
      await note(`${call} of ${whose} id`, () => bob[call](id));
    }
    await note(`update of ${whose} id`, () => bob.update(id, { every: "2h" }));
    await note(`a transaction with ${whose} id`, () => bob.transaction([{ stop: id }]));
  }
  await note("abortRun", () => as("bob").abortRun(run!.id));
  await note("list", () => as("bob").list({ owner: "alice" }).page());
  await note("list, a key that is none", () => as("bob").list({ ownr: "bob" } as object).page());
  await note("an id that is none", () => as("bob").info(7 as never));
  await note("stop, an option that is none", () => as("alice").stop(live.id, { abort: true } as object));
  await note("stopFor, an option that is none", () => as("alice").stopFor("room:1", { abort: true } as object));
  await note("stopFor, what is no option", () => as("alice").stopFor("room:1", { target: "room:2" } as object));
  await note("stopFor, no options", () => as("alice").stopFor("room:1", true as never));
  await note("update, what cannot change", () => live.update({ name: "x" } as object));
}
