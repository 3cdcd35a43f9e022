import { beforeAll, describe, expect, it } from "vitest";
import { createScheduler, defineTask, type Principal, type ScheduleClient, type Scheduler } from "../../../mod.ts";
import { connect } from "../../../plugins/transports/in_process/mod.ts";
import { Client, createClient } from "../../../src/client/mod.ts";
import { API_CALLS, type ApiCallName, type RemoteClient } from "../../../src/contract/mod.ts";
import { type ManualClock, manualClock } from "../../../src/testing/mod.ts";
import { recorder } from "../support/schedulers.ts";
import { memoryHost, task } from "./memory_host.ts";

const UNKNOWN = "01KDTW9M000000000000000000";

/** Who calls. A stranger's id differs from the owner's in what a careless comparison would let pass. */
const CALLERS = {
  system: undefined,
  admin: { id: "root", admin: true },
  owner: { id: "alice" },
  stranger: { id: "Alice" },
} as const satisfies Readonly<Record<string, Principal | undefined>>;
type Caller = keyof typeof CALLERS;

/** What a call is about: a schedule of the caller's own, somebody else's (carol's), or one that there is not. */
interface Subject {
  readonly id: string;
  readonly runId: string;
  readonly target: string;
  readonly owner: string;
  readonly task: string;
}

type Told = "yes" | "no" | "permission_denied" | "not_found" | "unknown_task" | "config_invalid";
type Answers = readonly [own: Told, foreign: Told, unknown: Told];

interface Row {
  readonly call: (client: ScheduleClient, subject: Subject) => unknown;
  /** What is done before, by the system. */
  readonly before?: (scheduler: Scheduler, subject: Subject) => Promise<unknown>;
  /** For principals that are no admins. */
  readonly plain: Answers;
  /** For admins; the system, too, unless told otherwise. */
  readonly admin: Answers;
  readonly system?: Answers;
}

/** Creating for somebody else is for the system alone (P3). */
const CREATING = {
  plain: ["yes", "permission_denied", "permission_denied"],
  admin: ["yes", "permission_denied", "permission_denied"],
  system: ["yes", "yes", "yes"],
} as const;
/** Changing: the owner or an admin; what is not there is a quiet false (P2, L1). */
const CHANGING = { plain: ["yes", "permission_denied", "no"], admin: ["yes", "yes", "no"] } as const;
/** Looking: the same, but an id that names nothing is an error (L3). */
const LOOKING = { plain: ["yes", "permission_denied", "not_found"], admin: ["yes", "yes", "not_found"] } as const;
const FOR_ANYBODY = { plain: ["yes", "yes", "no"], admin: ["yes", "yes", "no"] } as const;
const done = () => true;

/** Each call of a client, with what it answers to whom. The compiler wants a row for every one. */
const TABLE: Readonly<Record<Exclude<keyof ScheduleClient, "principal">, Row>> = {
  at: { ...CREATING, call: (client, { owner }) => client.at("quick", 9e12, 0, { owner }) },
  after: { ...CREATING, call: (client, { owner }) => client.after("quick", "1h", 0, { owner }) },
  every: { ...CREATING, call: (client, { owner }) => client.every("quick", "1h", 0, { owner }) },
  cron: { ...CREATING, call: (client, { owner }) => client.cron("n", "@daily", "quick", 0, { owner }) },
  createMany: {
    ...CREATING,
    call: (client, { owner }) => client.createMany([{ task: "quick", after: "1h", owner }]),
  },
  sync: {
    ...CREATING,
    call: (client, { owner }) => client.sync([{ name: "n", task: "quick", every: "1h", owner }], { group: "g" }),
  },
  valid: { ...FOR_ANYBODY, call: (client, { id }) => client.valid(id) },
  stop: { ...CHANGING, call: (client, { id }) => client.stop(id) },
  pause: { ...CHANGING, call: (client, { id }) => client.pause(id) },
  resume: {
    ...CHANGING,
    before: (scheduler, { id }) => scheduler.pause(id),
    call: (client, { id }) => client.resume(id),
  },
  trigger: { ...CHANGING, call: (client, { id }) => client.trigger(id) },
  abortRun: { ...CHANGING, call: (client, { runId }) => client.abortRun(runId) },
  transaction: { ...CHANGING, call: (client, { id }) => client.transaction((tx) => tx.stop(id)) },
  update: { ...LOOKING, call: (client, { id }) => client.update(id, { every: "3h" }) },
  info: { ...LOOKING, call: (client, { id }) => client.info(id) },
  explain: { ...LOOKING, call: (client, { id }) => client.explain(id) },
  runs: { ...LOOKING, call: (client, { id }) => client.runs(id) },
  running: {
    plain: ["yes", "no", "no"],
    admin: ["yes", "yes", "no"],
    call: async (client, { id }) => (await client.running()).some(({ scheduleId }) => scheduleId === id),
  },
  list: {
    plain: ["yes", "permission_denied", "permission_denied"],
    admin: ["yes", "yes", "no"],
    call: async (client, { owner }) => (await client.list({ owner }).page()).schedules.length > 0,
  },
  listFor: { ...FOR_ANYBODY, call: async (client, { target }) => (await client.listFor(target)).length > 0 },
  stopFor: {
    plain: ["yes", "no", "no"],
    admin: ["yes", "yes", "no"],
    call: async (client, { target }) => (await client.stopFor(target)) > 0,
  },
  tasks: {
    plain: ["yes", "no", "no"],
    admin: ["yes", "yes", "no"],
    call: async (client, { task }) => (await client.tasks()).some(({ name }) => name === task),
  },
  nextRuns: {
    plain: ["yes", "yes", "yes"],
    admin: ["yes", "yes", "yes"],
    call: async (client) => (await client.nextRuns({ every: "1h" }, 1)).length > 0,
  },
  invoke: {
    plain: ["yes", "unknown_task", "unknown_task"],
    admin: ["yes", "yes", "unknown_task"],
    call: (client, { task }) => client.invoke(task).then(done),
  },
  // This store has no transactions to be within; `within.test.ts` holds those that have to the rules of stop and update.
  within: {
    plain: ["config_invalid", "config_invalid", "config_invalid"],
    admin: ["config_invalid", "config_invalid", "config_invalid"],
    call: (client, { id }) => client.within({}).update(id, {}),
  },
};

const CALLS = Object.entries(TABLE) as readonly (readonly [keyof typeof TABLE, Row])[];
/** What is called otherwise over a transport, or not at all. */
const LOCAL_ONLY: readonly string[] = ["within", "transaction"];

function tasks(clock: ManualClock) {
  return [
    defineTask("quick", () => {}),
    defineTask("slow", (_input, { signal }) => clock.sleep("1d", { signal })),
    defineTask("carols", { run: () => {}, authorize: ({ id, admin }) => id === "carol" || admin === true }),
  ];
}

/** A schedule with a run in progress. */
async function subjectOf(scheduler: Scheduler, clock: ManualClock, owner: string, taskName: string): Promise<Subject> {
  const target = `of:${owner}`;
  const options = { owner, target, startAt: clock.now(), overlap: "queue" } as const;
  const { id } = await scheduler.every("slow", "2h", undefined, options);
  await clock.settled();
  const [run] = await scheduler.runs(id);
  return { id, runId: run!.id, target, owner, task: taskName };
}

async function told(call: () => unknown): Promise<Told> {
  try {
    const answer = await call();
    return answer === false ? "no" : "yes";
  } catch (error) {
    return (error as { readonly code: Told }).code;
  }
}

type Reach = (scheduler: Scheduler, principal: Principal | undefined) => ScheduleClient;

const WAYS: readonly (readonly [string, Reach])[] = [
  ["the scheduler", (scheduler, principal) => principal === undefined ? scheduler : scheduler.as(principal)],
  ["a transport", (scheduler, principal) => {
    const remote: RemoteClient = connect(scheduler, principal);
    return remote as unknown as ScheduleClient;
  }],
];

describe.each(WAYS)("permissions through %s", (way, reach) => {
  const rows = CALLS.filter(([name]) => way === "the scheduler" || !LOCAL_ONLY.includes(name));

  it.each(rows)("P1 P2 P3 P5 %s answers to each as it may", async (_, row) => {
    const observed: Partial<Record<Caller, readonly Told[]>> = {};
    for (const [caller, principal] of Object.entries(CALLERS) as [Caller, Principal | undefined][]) {
      const clock = manualClock("2026-01-01T00:00:00Z");
      const scheduler = createScheduler({ clock, tasks: tasks(clock), logger: recorder([]) });
      await scheduler.start();
      const own = await subjectOf(scheduler, clock, principal?.id ?? "system", "quick");
      const foreign = await subjectOf(scheduler, clock, "carol", "carols");
      const unknown = { id: UNKNOWN, runId: `${UNKNOWN}-1`, target: "of:none", owner: "none", task: "absent" };
      const client = reach(scheduler, principal);
      const answers: Told[] = [];
      for (const subject of [own, foreign, unknown]) {
        await row.before?.(scheduler, subject);
        answers.push(await told(() => row.call(client, subject)));
      }
      observed[caller] = answers;
      await scheduler.close({ drain: 0 });
    }
    const { plain, admin, system = admin } = row;
    expect(observed).toEqual({ system, admin, owner: plain, stranger: plain });
  });
});

describe("the table of permissions", () => {
  let members: readonly string[];
  beforeAll(() => {
    const found = new Set<string>();
    for (let from: object = Client.prototype; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
      for (const name of Object.getOwnPropertyNames(from)) found.add(name);
    }
    // `create` carries `at`, `after`, `every` and `cron` over a transport; `prepare` and `created` are no calls.
    members = [...found].filter((name) => !["constructor", "create", "prepare", "created"].includes(name));
  });

  it("P1 has a row for each call that a client has", () => {
    expect(members.toSorted()).toEqual(Object.keys(TABLE).toSorted());
  });

  it("P1 and over transports for each call that they carry", () => {
    const carried = Object.keys(API_CALLS).filter((name) => name !== "create");
    expect(carried.filter((name) => !Object.hasOwn(TABLE, name))).toEqual([]);
  });

  it.each(Object.keys(API_CALLS) as ApiCallName[])("P1 lets nobody at all make the call %s", async (name) => {
    const scheduler = createScheduler({ tasks: tasks(manualClock()) });
    const { id } = await scheduler.every("quick", "1h");
    for (const nobody of [undefined, null, {}, "alice", { id: "" }, { id: "system", admin: true }, { admin: true }]) {
      const call = scheduler.api.call(nobody as never, name, { id } as never);
      await expect(call).rejects.toMatchObject({ code: "invalid_option" });
      expect(() => scheduler.as(nobody as never)).toThrow(expect.objectContaining({ code: "invalid_option" }));
    }
    await scheduler.close();
  });
});

/** Every way to name a task. */
const NAMING: readonly (readonly [string, (client: ScheduleClient, name: string, rest: object) => unknown])[] = [
  ["at", (client, name, rest) => client.at(name, 0, rest, rest)],
  ["after", (client, name, rest) => client.after(name, "1h", rest, rest)],
  ["every", (client, name, rest) => client.every(name, "1h", rest, rest)],
  ["cron", (client, name, rest) => client.cron("n", "@daily", name, rest, rest)],
  ["createMany", (client, name, rest) => client.createMany([{ task: name, at: 0, input: rest }])],
  ["sync", (client, name, rest) => client.sync([{ name: "n", task: name, at: 0, input: rest }], { group: "g" })],
  ["transaction", (client, name, rest) => client.transaction((tx) => tx.at(name, 0, rest, rest))],
  ["invoke", (client, name, rest) => client.invoke(name, rest)],
];

describe("P4 an internal task and one that does not exist go the same way", () => {
  it.each(NAMING)("in %s: the same steps, the same words, and nothing else is looked at", async (_, call) => {
    const untouched = new Proxy({}, {
      ownKeys: () => {
        throw new Error("it was looked at");
      },
      get: () => {
        throw new Error("it was looked at");
      },
    });
    const way = async (name: string) => {
      const steps: string[] = [];
      const asked: string[] = [];
      const schema = {
        "~standard": {
          version: 1 as const,
          vendor: "t",
          validate: (value: unknown) => (asked.push("schema"), { value }),
        },
      };
      const authorize = () => (asked.push("authorize"), true);
      const host = await memoryHost([task("hidden", { internal: true, input: schema, authorize }), task("quick")]);
      const traced = new Proxy(host, {
        get(target, key) {
          steps.push(String(key));
          return Reflect.get(target, key, target);
        },
      });
      const client = createClient(traced, { id: "alice" });
      const error = await Promise.resolve(call(client, name, untouched)).then(() => undefined, (cause) => cause);
      const { code, message, details } = error;
      return {
        steps,
        asked,
        applied: host.applied,
        error: JSON.stringify({ code, message, details }).replaceAll(name, "?"),
      };
    };
    const [hidden, absent] = [await way("hidden"), await way("absent")];
    expect(hidden).toEqual(absent);
    expect(hidden.error).toContain("unknown_task");
    expect([hidden.asked, hidden.applied]).toEqual([[], 0]);
  });
});
