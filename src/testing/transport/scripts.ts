import { NOBODYS, type Script } from "./compare.ts";

/** What transports carry when all goes well. */
export const scripts: readonly Script[] = [
  {
    name: "creations of every kind answer the schedule, and info the same to the last field",
    async play({ as, note }) {
      const alice = as("alice");
      await note("at", () => alice.at("quick", new Date("2026-02-01T00:00:00Z"), { a: [1, null] }));
      await note("at, an instant of Temporal", () => alice.at("quick", { epochMilliseconds: 1_800_000_000_000 }));
      await note("after", () => alice.after({ name: "quick", run: () => {} }, "10m", undefined, { key: "k" }));
      await note("after, the same key", () => alice.after("quick", "20m", undefined, { key: "k" }));
      await note("every", () =>
        alice.every("quick", 60_000, "text", {
          name: "beat",
          startAt: new Date("2026-01-01T12:00:00Z"),
          endAt: "2026-03-01T00:00:00+01:00",
          retry: { limit: 2, delay: "5s" },
          overlap: { policy: "queue", limit: 2 },
          tags: ["a", "b"],
          target: "room:7",
          state: { deep: [{ n: 1.5 }] },
          retention: "2h",
        }));
      await note(
        "cron",
        () => alice.cron("night", "0 2 * * *", "quick", {}, { timezone: "Europe/Berlin", maxRuns: 3 }),
      );
      await note("cron, again", () => alice.cron("night", "0 3 * * *", "quick"));
      await note("createMany", () =>
        alice.createMany([
          { task: "quick", input: 1, at: "2026-05-01T00:00:00Z" },
          { task: "quick", every: "1h", name: "hourly" },
        ]));
      for (const schedule of (await alice.list().page()).schedules) await note("info", () => schedule.info());
    },
  },
  {
    name: "S4 an input arrives as it was given, whatever JSON it is",
    async play({ as, note }) {
      const inputs: readonly unknown[] = [
        undefined,
        null,
        0,
        "",
        "x\u0000y \ud800 \u2028 😀",
        JSON.parse('{"__proto__":{"a":1},"constructor":2,"":[]}'),
        { n: 12_345_678_901_234_567_890, small: 5e-324 },
        "é".repeat(16_000),
      ];
      for (const input of inputs) {
        await note("invoke", async () => JSON.stringify(await as("alice").invoke("echo", input)));
        const made = await as("alice").after("quick", "1h", input);
        await note("info", async () => JSON.stringify((await made.info()).input) ?? "none");
      }
    },
  },
  {
    name: "L1 L5 changes answer whether they did something, and say what came of it",
    async play({ as, note }) {
      const made = await as("alice").every("quick", "1h");
      await note("pause", () => made.pause());
      await note("paused", () => made.info());
      await note("pause, again", () => made.pause());
      await note("resume", () => made.resume());
      await note("trigger", () => made.trigger());
      await note("update", () => made.update({ every: "2h", input: { a: 1 }, maxFaults: 7, endAt: new Date(2e12) }));
      await note("updated", () => made.info());
      await note("valid", () => as("bob").valid(made.id));
      await note("stop", () => made.stop({ abortRunning: true }));
      await note("stop, again", () => made.stop());
      await note("valid, no more", () => as("bob").valid(made.id));
    },
  },
  {
    name: "L5 a change that expects a revision is refused once it was another",
    async play({ as, note }) {
      const made = await as("alice").every("quick", "1h");
      const { revision } = await made.info();
      await note("trigger", () => made.trigger({ ifRevision: revision }));
      await note("update", () => made.update({ every: "2h" }, { ifRevision: revision }));
      for (const call of ["pause", "resume", "trigger", "stop"] as const) {
        await note(`${call}, too late`, () => made[call]({ ifRevision: revision }));
        await note(`${call}, no revision`, () => made[call]({ ifRevision: 7 } as object));
        await note(`${call}, no option`, () => made[call]({ ifRevison: revision } as object));
      }
      await note("update, too late", () => made.update({ every: "3h" }, { ifRevision: revision }));
      await note("update, of another", () => as("bob").update(made.id, {}, { ifRevision: revision }));
      await note("pause", async () => made.pause({ ifRevision: (await made.info()).revision }));
      await note("stop, of none", () => made.stop({ ifRevision: "none" }));
      await note("stop", async () => made.stop({ ifRevision: (await made.info()).revision }));
      await note("stop, over", () => made.stop({ ifRevision: revision }));
    },
  },
  {
    name: "P4 the tasks that one may use are told",
    async play({ as, note }) {
      for (const name of ["alice", "bob", "root"]) await note(name, () => as(name).tasks());
    },
  },
  {
    name: "V4 L6 runs are told as they go, and can be aborted",
    async play({ as, note, clock }) {
      const alice = as("alice");
      const slow = await alice.every("slow", "2h", undefined, { startAt: clock.now(), overlap: "queue" });
      const failing = await alice.every("failing", "30m", undefined, { retry: { limit: 1, delay: "1m" } });
      await clock.advance("30m");
      await note("running", () => alice.running());
      await note("running, all", () => as("root").running());
      await note("running, none", () => as("bob").running());
      await note("explain", () => slow.explain());
      const [run] = await slow.runs();
      await note("abortRun", () => alice.abortRun(run!.id));
      await clock.advance("45m");
      await note("abortRun, over", () => alice.abortRun(run!.id));
      for (const schedule of [slow, failing]) {
        await note("runs", () => schedule.runs());
        await note("info", async () => ({ ...await schedule.info(), lastFault: undefined }));
        await note("explain", async () => ({ ...await schedule.explain(), text: undefined }));
      }
    },
  },
  {
    name: "V3 I6 lists page, filter and iterate alike",
    async play({ as, note }) {
      const target = { target: "room:1", tags: ["x"] };
      for (let i = 0; i < 7; i++) await as(i < 5 ? "alice" : "bob").every("quick", `${i + 1}h`, i, i % 2 ? target : {});
      const first = await as("alice").list({ limit: 2 }).page();
      await note("first page", () => first);
      await note("second page", () => as("alice").list({ limit: 2, cursor: first.cursor! }).page());
      await note("all, by twos", () => all(as("alice").list({ limit: 2 })));
      await note("all of everybody", () => all(as("root").list({ limit: 3 })));
      await note("another's, as an admin", () => all(as("root").list({ owner: "bob" })));
      await note(
        "filtered",
        () => all(as("alice").list({ tag: "x", task: "quick", dueBefore: "2026-01-01T03:00:00Z" })),
      );
      await note("listFor", () => as("bob").listFor("room:1"));
      await note("stopFor", () => as("bob").stopFor("room:1"));
      await note("stopFor, an admin", () => as("root").stopFor("room:1", { abortRunning: false }));
      await note("listFor, none", () => as("bob").listFor("room:1"));
    },
  },
  {
    name: "N4 sync registers a set and stops what left it",
    async play({ as, note }) {
      const one = { name: "one", task: "quick", every: "1h" };
      const two = { name: "two", task: "quick", cron: "@daily", input: { n: 1 } };
      await note("sync", () => as("alice").sync([one, two], { group: "g" }));
      await note("sync, one less", () => as("alice").sync([two], { group: "g" }));
      await note("left", () => all(as("alice").list({ group: "g" })));
      await note("sync, a wrong one", () => as("alice").sync([one, { ...two, cron: "x" }], { group: "g" }));
    },
  },
  {
    name: "U1 U2 a transaction is made whole or not at all",
    async play({ as, note, clock }) {
      const alice = as("alice");
      const old = await alice.every("quick", "1h");
      await note("steps of every kind", () =>
        alice.transaction([
          { create: { task: "quick", after: "10m", input: { when: "soon" } } },
          { update: old.id, to: { every: "3h" } },
          { pause: old.id },
          { trigger: old.id },
          { resume: old.id },
          { stop: old.id, abortRunning: true },
          { stop: NOBODYS },
        ]));
      await note("left", () => all(alice.list()));
      const kept = await alice.every("quick", "1h");
      const wrong = [{ stop: kept.id }, { create: { task: "no such task", at: clock.now() } }];
      await note("a step that fails", () => alice.transaction(wrong).catch((error) => Promise.reject(coded(error))));
      await note("nothing happened", () => alice.valid(kept.id));
      await note("no step at all", () => alice.transaction([]));
    },
  },
  {
    name: "S6 P5 invoke answers what the handler returns, to the caller, and throws what it throws",
    async play({ as, note }) {
      await note("an object", async () => JSON.stringify(await as("alice").invoke("echo", { a: 1 })));
      await note("nothing", () => as("alice").invoke("nothing"));
      await note("allowed", () => as("alice").invoke("private", { n: 1 }));
      await note("refused", () => as("bob").invoke("private", { n: 1 }));
      await note("thrown", () => as("alice").invoke("failing"));
    },
  },
  {
    name: "K6 nextRuns answers instants without storing anything",
    async play({ as, note }) {
      const from = "2026-03-28T00:00:00Z";
      const spec = { cron: "30 2 * * *", timezone: "Europe/Berlin" };
      await note("cron", () => as("alice").nextRuns(spec, 3, { from }));
      await note("every", () => as("alice").nextRuns({ every: "90m", startAt: new Date(0), maxRuns: 2 }, 5));
      await note("at", () => as("alice").nextRuns({ at: new Date("2027-01-01T00:00:00Z") }, 5));
      await note("none", () => as("alice").nextRuns(spec, 0));
    },
  },
];

/** The error without its place, which the two ways name differently: a list has numbers, a function has none. */
function coded(error: unknown): Error {
  return new Error((error as { readonly code: string }).code);
}

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) found.push(one);
  return found;
}
