import { isSchedulerError, type Json, type ScheduleRequest, type TransactionClient } from "../../contract/mod.ts";
import type { Scheduler } from "../../scheduler.ts";
import type { SimulatedHost } from "./host.ts";
import type { Random } from "./random.ts";
import { requestOf, type TaskName, updateOf } from "./scenario.ts";
import type { TraceEntry } from "./trace.ts";

/** An instance that is up, as users find it. */
export interface Instance {
  readonly host: SimulatedHost;
  readonly scheduler: Scheduler;
  readonly tasks: readonly TaskName[];
}

/** What users are made of. */
export interface UserParts {
  readonly random: Random;
  readonly hours: number;
  readonly trace: TraceEntry[];
  readonly now: () => number;
  /** A random instance that is up, if any is. */
  readonly instance: (random: Random) => Instance | undefined;
}

/** Names and keys that users choose from, few enough to meet each other. */
const NAMES = 6;
const KEYS = 4;

/** Schedules that users still remember: the latest ones, so that many of them live. */
const REMEMBERED = 40;

/** What a call is given, and what it comes to. */
interface Work {
  readonly what: string;
  readonly args: unknown;
  readonly make: () => Promise<unknown>;
  /** Ids that it was told inside. */
  readonly inside?: readonly string[];
}

/** People and programs that call the schedulers, each time another one, and write down what they are told. */
export class Users {
  readonly #parts: UserParts;
  readonly #known: string[] = [];
  #calls = 0;

  constructor(parts: UserParts) {
    this.#parts = parts;
  }

  /** Creates a schedule: the `index`-th of the simulation. */
  create(index: number): void {
    this.#call(this.#parts.random.fork(`create ${index}`), (random, instance) => this.#creation(random, instance));
  }

  /** Does something. */
  act(index: number): void {
    this.#call(this.#parts.random.fork(`act ${index}`), (random, instance) => this.#action(random, instance));
  }

  /** Makes a call on an instance and writes down what it is told. */
  make(instance: Instance, work: Work): void {
    const { trace, now } = this.#parts;
    const call = ++this.#calls;
    const host = instance.host.name;
    const { what } = work;
    trace.push({ type: "call", at: now(), host, call, what, args: plain(work.args) });
    const told = (outcome: { readonly answer?: Json; readonly error?: string }) => {
      const inside = work.inside === undefined || work.inside.length === 0 ? {} : { inside: [...work.inside] };
      trace.push({ type: "answer", at: now(), host, call, what, ...outcome, ...inside });
    };
    work.make().then(
      (answer) => {
        this.#remember(answer, work.inside ?? []);
        told({ answer: plain(answer) });
      },
      (error) => told({ error: isSchedulerError(error) ? error.code : String(error) }),
    );
  }

  #call(random: Random, choose: (random: Random, instance: Instance) => Work): void {
    const instance = this.#parts.instance(random);
    if (instance !== undefined) this.make(instance, choose(random, instance));
  }

  #remember(answer: unknown, inside: readonly string[]): void {
    const list = Array.isArray(answer) ? answer : [answer];
    this.#known.push(...list.filter((one) => typeof one === "string"), ...inside);
    if (this.#known.length > REMEMBERED) this.#known.splice(0, this.#known.length - REMEMBERED);
  }

  #creation(random: Random, instance: Instance): Work {
    const request = this.#request(random, instance);
    const { scheduler } = instance;
    const kind = random.weighted([[4, "alone"], [2, "named"], [2, "keyed"]] as const);
    if (kind === "alone") return this.#made("create", scheduler, [request]);
    return kind === "named"
      ? this.#made("upsert", scheduler, [{ ...request, name: `name ${random.int(1, NAMES)}` }])
      : this.#made("create", scheduler, [
        { ...request, key: `key ${random.int(1, KEYS)}`, onConflict: random.pick(["keep", "replace", "error"]) },
      ]);
  }

  #request(random: Random, { tasks, host }: Instance): ScheduleRequest {
    return requestOf(random, tasks, this.#parts.hours, host.clock.now());
  }

  #made(what: string, client: Scheduler, requests: readonly ScheduleRequest[]): Work {
    return { what, args: requests, make: async () => (await client.createMany(requests)).map(({ id }) => id) };
  }

  #action(random: Random, instance: Instance): Work {
    const { scheduler, host } = instance;
    const id = this.#known.length === 0 ? "00000000000000000000000000" : random.pick(this.#known);
    const on = (what: string, make: () => Promise<unknown>, more: object = {}): Work => ({
      what,
      args: { id, ...more },
      make,
    });
    const update = updateOf(random, this.#parts.hours, host.clock.now());
    const abortRunning = random.chance(0.4);
    return random.weighted<() => Work>([
      [4, () => this.#creation(random, instance)],
      [3, () => on("update", async () => void await scheduler.update(id, update), { update })],
      [3, () => on("pause", () => scheduler.pause(id))],
      [4, () => on("resume", () => scheduler.resume(id))],
      [3, () => on("trigger", () => scheduler.trigger(id))],
      [2, () => on("stop", () => scheduler.stop(id, { abortRunning }), { abortRunning })],
      [2, () => on("valid", () => scheduler.valid(id))],
      [1, () => on("explain", async () => void await scheduler.explain(id))],
      [1, () => ({ what: "abort", args: {}, make: () => abortSome(random, scheduler) })],
      [3, () => this.#unit(random, instance)],
      [1, () => this.#sync(random, instance)],
    ])();
  }

  #unit(random: Random, instance: Instance): Work {
    const inside: string[] = [];
    const requests = Array.from({ length: random.int(1, 3) }, () => this.#request(random, instance));
    const [rollsBack, stops] = [random.chance(0.3), random.chance(0.3)];
    const target = this.#known.length > 0 && random.chance(0.5) ? random.pick(this.#known) : undefined;
    const unit = async (tx: TransactionClient) => {
      for (const request of requests) inside.push((await tx.createMany([request]))[0]!.id);
      if (stops) await tx.stop(inside.pop()!);
      if (target !== undefined) await random.pick([() => tx.stop(target), () => tx.pause(target)])();
      if (rollsBack) throw new RolledBack();
      return [...inside];
    };
    return { what: "transaction", args: { rollsBack }, inside, make: () => instance.scheduler.transaction(unit) };
  }

  #sync(random: Random, instance: Instance): Work {
    const declared = Array.from({ length: random.int(0, 3) }, (_, i) => ({
      ...this.#request(random, instance),
      name: `member ${i}`,
    }));
    return {
      what: "sync",
      args: declared,
      make: async () => (await instance.scheduler.sync(declared, { group: "declared" })).map(({ id }) => id),
    };
  }
}

/** What a user throws to roll a unit of work back. */
class RolledBack extends Error {
  override toString(): string {
    return "rolled back";
  }
}

async function abortSome(random: Random, scheduler: Scheduler): Promise<unknown> {
  const running = await scheduler.running();
  return running.length === 0 ? false : await scheduler.abortRun(random.pick(running).id);
}

/** A copy that a trace may keep. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json;
}
