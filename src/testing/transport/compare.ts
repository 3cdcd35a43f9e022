import { type AnyTask, isSchedulerError, type Principal, type RemoteClient } from "../../contract/mod.ts";
import { equal } from "../assert.ts";
import { type ManualClock, manualClock } from "../manual_clock.ts";
import { directCaller } from "./direct_caller.ts";
import type { TransportCase, TransportHarness, TransportWorld } from "./types.ts";

/** What a script works with; the same over a transport and without. */
export interface Stage {
  /** The calls of a principal: `"root"` is an admin, any other name its own. */
  as(name: string): RemoteClient;
  readonly clock: ManualClock;
  /** Makes a call, writes down what it answered, or the error, and answers what it wrote. */
  note(what: string, call: () => unknown): Promise<unknown>;
  /** Closes the scheduler. */
  close(): Promise<void>;
}

/** A story told in calls. */
export interface Script {
  readonly name: string;
  play(stage: Stage): Promise<void>;
}

/** An id that no schedule has. */
export const NOBODYS = "01KDTW9M000000000000000000";

const PRINCIPALS: readonly Principal[] = [{ id: "alice" }, { id: "bob" }, { id: "root", admin: true }];
const START = "2026-01-01T00:00:00Z";

/** A case that plays a script by the scheduler's own calls and over the transport: both must tell the same. */
export function compared(script: Script): TransportCase {
  return {
    name: script.name,
    async run(harness) {
      const direct = await played(script, harness, (world, who) => directCaller(world.direct(who)));
      const remote = await played(script, harness, (world, who) => world.remote(who));
      for (const [i, { what, told }] of direct.entries()) equal(remote[i]?.told, told, `${script.name}: ${what}`);
      equal(remote.length, direct.length, `${script.name}: calls that were noted`);
    },
  };
}

interface Note {
  readonly what: string;
  readonly told: unknown;
}

async function played(
  script: Script,
  harness: TransportHarness,
  reach: (world: TransportWorld, principal: Principal) => RemoteClient | Promise<RemoteClient>,
): Promise<readonly Note[]> {
  const clock = manualClock(START);
  const world = await harness.open({ tasks: standardTasks(clock), clock });
  try {
    const clients = new Map<string, RemoteClient>();
    for (const principal of PRINCIPALS) clients.set(principal.id, await reach(world, principal));
    const notes: Note[] = [];
    const note = async (what: string, call: () => unknown) => {
      const told = await outcome(call);
      notes.push({ what, told });
      return told;
    };
    await script.play({ as: (name) => clients.get(name)!, clock, note, close: () => world.close() });
    const plain = nameless();
    return notes.map(({ what, told }) => ({ what, told: plain(told) }));
  } finally {
    await world.close();
    await world.end?.();
  }
}

async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return { answer: tagged(await call()) };
  } catch (error) {
    if (!isSchedulerError(error)) return { thrown: (error as Error).name, message: (error as Error).message };
    const { name, code, retryable, details, message } = error;
    return { error: code, name, retryable, where: details.where, isTold: message.length > 0 };
  }
}

/** A value in which an instant cannot be taken for a text, and a schedule is what can be read of it. */
function tagged(value: unknown): unknown {
  if (value instanceof Date) return { instant: value.toISOString() };
  if (Array.isArray(value)) return value.map(tagged);
  if (typeof value !== "object" || value === null) return value;
  if (typeof (value as { explain?: unknown }).explain === "function") {
    const { id, name, kind, task, nextRun } = value as Record<string, unknown>;
    return { schedule: tagged({ id, name, kind, task, nextRun }) };
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, tagged(member)]));
}

/** Replaces each id by when it first came up, since no two schedulers give the same ones. */
function nameless(): (value: unknown) => unknown {
  const names = new Map<string, string>();
  const named = (id: string) => {
    if (!names.has(id)) names.set(id, `#${names.size}`);
    return names.get(id)!;
  };
  return (value) => {
    const text = JSON.stringify(value) ?? "null";
    return JSON.parse(text.replace(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, named));
  };
}

function standardTasks(clock: ManualClock): readonly AnyTask[] {
  return [
    { name: "quick", run: () => {} },
    { name: "echo", run: (input, { caller }) => ({ input, caller, at: new Date(clock.now()) }) },
    { name: "nothing", run: () => undefined },
    {
      name: "failing",
      run: () => {
        throw new RangeError("out of luck");
      },
    },
    { name: "slow", run: (_input, { signal }) => clock.sleep("1h", { signal }) },
    { name: "hidden", internal: true, run: () => "secret" },
    { name: "private", authorize: ({ id }) => id === "alice", run: ({ n }: { n: number }) => n + 1 },
  ];
}
