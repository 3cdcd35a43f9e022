import { EVENT_NAMES, type SchedulerEventName, type SchedulerEvents, type Storage } from "../../contract/mod.ts";
import { composeScheduler, type Scheduler } from "../../scheduler.ts";
import { makeTasks } from "./handlers.ts";
import { Network } from "./network.ts";
import { SimulatedHost, type WallClock } from "./host.ts";
import { Random } from "./random.ts";
import { type FaultKind, type Settings, settingsOf, START, tasksOf } from "./scenario.ts";
import type { HostEntry, TraceEntry } from "./trace.ts";
import type { Instance } from "./users.ts";
import { World } from "./world.ts";

/** How far the clocks of machines may differ. */
const MAX_SKEW_MS = 600_000;

/** How long after a failed start it is tried again. */
const START_AGAIN_MS = 1_000;

/** What a cluster is made of. */
export interface ClusterParts {
  readonly seed: number;
  readonly instances: number;
  readonly faults: ReadonlySet<FaultKind>;
  /** Makes a handle on the one store. */
  readonly handle: () => Storage;
}

interface Up extends Instance {
  readonly scheduler: Scheduler;
}

/** A whole cluster in virtual time: processes with their schedulers and clocks, and the store that they share. */
export class Cluster {
  readonly world: World = new World(START);
  readonly trace: TraceEntry[] = [];
  readonly settings: Settings;
  readonly random: Random;
  readonly #parts: ClusterParts;
  readonly #network: Network;
  /** The machine's clock, where all instances share one. */
  readonly #machine: WallClock = { offset: 0 };
  /** The most that it has been ahead: records may be kept until then. */
  #fastest = 0;
  readonly #chance: Random;
  readonly #ids: Random;
  readonly #up: (Up | undefined)[] = [];
  readonly #lives: number[] = [];
  readonly #all: SimulatedHost[] = [];
  #leftTimers = 0;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.random = new Random(`seed ${parts.seed}`);
    const settings = settingsOf(this.random.fork("settings"), parts.faults);
    this.settings = parts.handle().supports.clock ? { ...settings, ownClock: true } : settings;
    this.#chance = this.random.fork("chance");
    this.#ids = this.random.fork("ids");
    this.#network = new Network({
      world: this.world,
      random: this.random.fork("network"),
      faults: this.settings.network,
      trace: this.trace,
      ownClock: this.settings.ownClock,
      killed: (host) => this.#killed(host),
    });
  }

  /** A random instance that is up. */
  instance(random: Random): Instance | undefined {
    const up = this.instances();
    return up.length === 0 ? undefined : random.pick(up);
  }

  /** The instances that are up. */
  instances(): readonly Instance[] {
    return this.#up.filter((one) => one !== undefined);
  }

  /** Starts an instance in a new host, unless it is up. */
  start(index: number): void {
    if (this.#up[index] !== undefined) return;
    const life = this.#lives[index] = (this.#lives[index] ?? 0) + 1;
    const random = this.random.fork(`host ${index}.${life}`);
    const skew = this.#parts.faults.has("skew") ? random.int(-MAX_SKEW_MS, MAX_SKEW_MS) : 0;
    const wall = this.settings.ownClock ? { offset: skew } : this.#machine;
    const host = new SimulatedHost(this.world, index, life, wall, this.settings.watched);
    const names = tasksOf(this.random.fork(`tasks ${index}`), index);
    const handlers = { host, random: this.random.fork("handlers"), trace: this.trace, now: () => this.world.now };
    const scheduler = composeScheduler({
      storage: this.#network.connect(host, this.#parts.handle()),
      tasks: makeTasks(names, handlers),
      clock: host.clock,
      leaseMs: this.settings.leaseMs,
      concurrency: 50,
      logger: { error() {}, warn() {}, info() {}, debug() {} },
    }, {
      random: () => this.#chance.next(),
      newId: () => this.#ids.ulid(host.clock.now()),
    });
    for (const name of EVENT_NAMES) {
      scheduler.on(name, (event) => this.#told(host, name, event));
    }
    this.#all.push(host);
    this.#note(host, "up", { tasks: names });
    this.#up[index] = { host, scheduler, tasks: names };
    this.#begin(host, scheduler);
  }

  /** Starts a scheduler, again and again until its store answers, as whatever supervises a host does. */
  #begin(host: SimulatedHost, scheduler: Scheduler): void {
    scheduler.start().catch(() => void host.clock.setTimer(() => this.#begin(host, scheduler), START_AGAIN_MS));
  }

  /** Kills an instance where it stands, and starts another in its place after a while. */
  kill(index: number, downMs: number): void {
    const up = this.#up[index];
    if (up === undefined) return;
    up.host.kill();
    this.#up[index] = undefined;
    this.#note(up.host, "killed");
    this.world.post(this.world.now + downMs, () => this.start(index));
  }

  #killed(host: SimulatedHost): void {
    const downMs = this.#chance.scale(1_000, 60_000);
    if (this.#up[host.index]?.host === host) return this.kill(host.index, downMs);
    host.kill();
    this.#note(host, "killed");
    this.world.post(this.world.now + downMs, () => this.start(host.index));
  }

  /** Closes an instance as a deployment does, and starts another in its place. */
  restart(index: number, drainMs: number): void {
    const up = this.#up[index];
    if (up === undefined) return;
    this.#up[index] = undefined;
    this.#note(up.host, "closing", { ms: drainMs });
    this.#close(up, drainMs, () => this.start(index));
  }

  #close({ scheduler, host }: Up, drainMs: number, closed = () => {}): void {
    void scheduler.close({ drain: drainMs }).then(() => {
      this.#note(host, "closed");
      // What is deferred comes to its end by itself.
      this.world.post(this.world.now + 1, () => {
        this.#leftTimers += host.pending;
      });
      closed();
    });
  }

  stall(index: number, ms: number): void {
    const host = this.#up[index]?.host;
    if (host === undefined || host.isStalled) return;
    host.stall(ms);
    this.#note(host, "stalled", { ms });
    host.post(this.world.now + ms, () => this.#note(host, "goes on"));
  }

  cut(index: number, ms: number): void {
    const host = this.#up[index]?.host;
    if (host === undefined) return;
    this.#network.cut(host, true);
    this.#note(host, "cut off");
    this.world.post(this.world.now + ms, () => {
      this.#network.cut(host, false);
      if (host.alive) this.#note(host, "connected");
    });
  }

  /** Sets the clock of an instance's machine, which all of them share where the store has none of its own. */
  jump(index: number, ms: number): void {
    const up = this.#up[index];
    if (up === undefined) return;
    up.host.wall.offset += ms;
    this.#fastest = Math.max(this.#fastest, this.#machine.offset);
    const reached = this.settings.ownClock ? [up.host] : this.#all.filter(({ alive }) => alive);
    if (!this.settings.ownClock) {
      this.trace.push({ type: "store clock", at: this.world.now, offset: this.#machine.offset });
    }
    for (const host of reached) {
      this.#note(host, "clock set", { ms });
      host.jumped();
    }
  }

  /** From now on nothing goes wrong any more, no clock is behind what it has shown, and every instance is up. */
  heal(): void {
    this.#network.heal();
    const up = this.#up.findIndex((one) => one !== undefined);
    const behind = this.#fastest - this.#machine.offset;
    if (!this.settings.ownClock && behind > 0 && up !== -1) this.jump(up, behind);
    for (let index = 0; index < this.#parts.instances; index++) this.start(index);
  }

  /** Closes every instance. */
  close(): void {
    for (const up of this.#up) if (up !== undefined) this.#close(up, 1_000);
  }

  /** Timers and deferred calls that instances left behind when they were closed. */
  get leftTimers(): number {
    return this.#leftTimers;
  }

  #told<Name extends SchedulerEventName>(host: SimulatedHost, name: Name, event: SchedulerEvents[Name]): void {
    const { schedule, run, count } = event as {
      readonly schedule?: { readonly id: string };
      readonly run?: { readonly id: string };
      readonly count?: number;
    };
    this.trace.push({
      type: "event",
      at: this.world.now,
      host: host.name,
      name,
      ...(schedule === undefined ? {} : { id: schedule.id }),
      ...(run === undefined ? {} : { run: run.id }),
      ...(count === undefined ? {} : { count }),
    });
  }

  #note(host: SimulatedHost, what: HostEntry["what"], more: Partial<HostEntry> = {}): void {
    this.trace.push({ type: "host", at: this.world.now, host: host.name, what, ...more });
  }
}
