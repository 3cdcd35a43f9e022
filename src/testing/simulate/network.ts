import {
  type AdvanceRequest,
  type AdvanceResult,
  type Change,
  type Clock,
  type DocumentQuery,
  type Group,
  type GroupResult,
  type LaneBacklog,
  type ScheduleDefinition,
  type ScheduleDocument,
  type Storage,
  StorageError,
  type StorageSupports,
} from "../../contract/mod.ts";
import { turn } from "../turn.ts";
import type { SimulatedHost } from "./host.ts";
import type { Random } from "./random.ts";
import { type CommitEntry, endedRuns, type TraceEntry, viewOf } from "./trace.ts";
import type { World } from "./world.ts";

/** How much goes wrong between processes and their store. */
export interface NetworkFaults {
  /** How often a message takes long, and how long at most, in milliseconds. */
  readonly slow: number;
  readonly slowMs: number;
  /** How often a call fails before it takes effect. */
  readonly fails: number;
  /** How often a call takes effect and its reply is lost. */
  readonly loses: number;
  /** How often a host dies at a call: before it takes effect, or before its reply. */
  readonly dies: number;
  /** How long a wake-up may take, in milliseconds, and how often it comes twice. */
  readonly hintMs: number;
  readonly hintTwice: number;
}

/** How long a host waits for a reply that does not come. */
const REPLY_TIMEOUT_MS = 2_000;

/** A message's way when nothing is wrong. */
export const QUICK_MS = 3;

interface Link {
  readonly host: SimulatedHost;
  readonly listeners: Set<() => void>;
  cutOff: boolean;
  /** Something was committed while it was cut off. */
  hinted: boolean;
}

type Write = Omit<CommitEntry, "type" | "at" | "host" | "request" | "definition"> & {
  readonly definition: ScheduleDefinition | undefined;
};

/** The network between processes and one store, with all that can go wrong on it; and who sees every commit. */
export class Network {
  readonly world: World;
  /** What the store's clock shows minus true time. */
  clockOffset = 0;
  readonly #random: Random;
  readonly #faults: NetworkFaults;
  readonly #trace: TraceEntry[];
  readonly #links: Link[] = [];
  readonly #ownClock: boolean;
  readonly #killed: (host: SimulatedHost) => void;
  readonly #definitions = new Map<string, string>();
  #requests = 0;
  #healed = false;

  constructor(
    parts: {
      readonly world: World;
      readonly random: Random;
      readonly faults: NetworkFaults;
      readonly trace: TraceEntry[];
      /** Whether the store's own clock decides, or that of whoever calls it. */
      readonly ownClock: boolean;
      readonly killed: (host: SimulatedHost) => void;
    },
  ) {
    this.world = parts.world;
    this.#random = parts.random;
    this.#faults = parts.faults;
    this.#trace = parts.trace;
    this.#ownClock = parts.ownClock;
    this.#killed = parts.killed;
  }

  /** A host's way to the store. */
  connect(host: SimulatedHost, inner: Storage): Storage {
    const link: Link = { host, listeners: new Set(), cutOff: false, hinted: false };
    this.#links.push(link);
    return new RemoteStorage(this, link, inner, this.#ownClock);
  }

  /** Cuts a host off from the store, or connects it again. */
  cut(host: SimulatedHost, isCut: boolean): void {
    const link = this.#links.find((one) => one.host === host);
    if (link === undefined) return;
    link.cutOff = isCut;
    // As drivers do whose connection came back: they cannot know what they have not heard.
    if (!isCut && link.hinted) this.#hint(link);
  }

  /** From now on nothing goes wrong any more. */
  heal(): void {
    this.#healed = true;
    for (const link of this.#links) this.cut(link.host, false);
  }

  /** The time that decides, for a call whose caller has it at `now`. */
  time(now: number): number {
    return this.#ownClock ? this.world.now + this.clockOffset : now;
  }

  /** Takes a call to the store and its reply back, if all goes well. */
  call<T>(link: Link, name: string, work: () => Promise<T>, writes: () => readonly Write[] = () => []): Promise<T> {
    const { host } = link;
    const request = ++this.#requests;
    if (!host.alive) return new Promise(() => {});
    return new Promise<T>((resolve, reject) => {
      const fail = (afterMs: number, applied: boolean) =>
        void host.post(this.world.now + afterMs, () => {
          this.#trace.push({
            type: "failure",
            at: this.world.now,
            host: host.name,
            request,
            call: name,
            applied,
          });
          reject(new StorageError(`simulated store: ${name} failed`));
        });
      const fate = this.#fate();
      this.world.post(this.world.now + this.#delay(), () => {
        if (link.cutOff) return fail(REPLY_TIMEOUT_MS, false);
        if (fate === "dies before" && host.alive) return this.#killed(host);
        if (fate === "fails") return fail(this.#delay(), false);
        this.world.outside(work()).then((value) => {
          this.#committed(link, request, writes());
          if (fate === "dies after" && host.alive) return this.#killed(host);
          if (fate === "loses" || link.cutOff) return fail(REPLY_TIMEOUT_MS, true);
          host.post(this.world.now + this.#delay(), () => resolve(value));
        }, (error) => void host.post(this.world.now + this.#delay(), () => reject(error)));
      });
    });
  }

  #fate(): "fails" | "loses" | "dies before" | "dies after" | undefined {
    const { fails, loses, dies } = this.#faults;
    const draw = this.#random.next();
    if (this.#healed) return undefined;
    if (draw < fails) return "fails";
    if (draw < fails + loses) return "loses";
    if (draw < fails + loses + dies / 2) return "dies before";
    return draw < fails + loses + dies ? "dies after" : undefined;
  }

  #delay(): number {
    const { slow, slowMs } = this.#faults;
    const isSlow = this.#random.chance(slow) && !this.#healed;
    return isSlow ? this.#random.int(QUICK_MS, slowMs) : this.#random.int(0, QUICK_MS);
  }

  #committed(link: Link, request: number, writes: readonly Write[]): void {
    for (const { definition, ...write } of writes) {
      const text = definition === undefined ? undefined : JSON.stringify(definition);
      const isNew = text !== undefined && this.#definitions.get(write.id) !== text;
      if (isNew) this.#definitions.set(write.id, text);
      this.#trace.push({
        type: "commit",
        at: this.world.now,
        host: link.host.name,
        request,
        ...write,
        ...(isNew ? { definition: definition! } : {}),
      });
    }
    if (writes.length === 0) return;
    for (const other of this.#links) if (other !== link) this.#hint(other);
  }

  /** Tells a host that something has changed: in any order, late, twice. */
  #hint(link: Link): void {
    if (!link.host.alive || link.listeners.size === 0) return;
    if (link.cutOff) {
      link.hinted = true;
      return;
    }
    link.hinted = false;
    const { hintMs, hintTwice } = this.#faults;
    const times = this.#random.chance(hintTwice) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      const delay = this.#random.int(0, this.#healed ? QUICK_MS : hintMs);
      link.host.post(this.world.now + delay, () => {
        if (link.cutOff) link.hinted = true;
        else for (const listener of [...link.listeners]) listener();
      });
    }
  }
}

/** The store as one host sees it. */
class RemoteStorage implements Storage {
  readonly name = "simulated";
  readonly supports: StorageSupports;
  readonly #network: Network;
  readonly #link: Link;
  readonly #inner: Storage;

  constructor(network: Network, link: Link, inner: Storage, ownClock: boolean) {
    this.#network = network;
    this.#link = link;
    this.#inner = inner;
    this.supports = { ...inner.supports, clock: ownClock, enlist: false, push: true };
  }

  open(): Promise<void> {
    const { world } = this.#network;
    // The store's side of the network: it neither stalls nor dies with the host.
    const clock: Clock = {
      now: () => world.now,
      monotonic: () => world.now,
      setTimer: (callback, delayMs) => world.post(world.now + delayMs, callback),
      defer: (callback) => void turn().then(callback),
    };
    const logger = { error() {}, warn() {}, info() {}, debug() {} };
    return world.outside(this.#inner.open({ clock, logger }));
  }

  async close(): Promise<void> {
    this.#link.listeners.clear();
    await this.#network.world.outside(this.#inner.close());
  }

  now(fallback: number): Promise<number> {
    return this.#call("now", () => Promise.resolve(this.#network.time(fallback)));
  }

  advance<T>(
    request: AdvanceRequest,
    step: (document: ScheduleDocument, now: number) => Change<T>,
  ): Promise<AdvanceResult<T>> {
    const writes = new Map<string, Write>();
    const noted = (document: ScheduleDocument, now: number) => {
      const change = step(document, now);
      const write = writeOf("advance", writes.size, document, change, now);
      if (write === undefined) writes.delete(document.id);
      else writes.set(document.id, write);
      return change;
    };
    const work = () => this.#inner.advance({ ...request, now: this.#network.time(request.now) }, noted);
    return this.#network.call(this.#link, "advance", work, () => [...writes.values()]);
  }

  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    const written: (Write | undefined)[][] = groups.map(() => []);
    const noted = groups.map((group, g) =>
      group.map((operation, o) => ({
        select: operation.select,
        decide: (current: ScheduleDocument | undefined, at: number) => {
          const change = operation.decide(current, at);
          written[g]![o] = writeOf("apply", g, current, change, at);
          return change;
        },
      }))
    );
    let results: readonly GroupResult<T>[] = [];
    const work = async () => results = await this.#inner.apply(noted, this.#network.time(now));
    return this.#network.call(
      this.#link,
      "apply",
      work,
      () => written.flatMap((group, g) => results[g]!.committed ? group.filter((one) => one !== undefined) : []),
    );
  }

  get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#call("get", () => this.#inner.get(id));
  }

  find(query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    return this.#call("find", () => this.#inner.find(query));
  }

  nextWake(lanes: readonly string[]): Promise<number | null> {
    return this.#call("nextWake", () => this.#inner.nextWake(lanes));
  }

  backlog(before: number, limit: number): Promise<readonly LaneBacklog[]> {
    return this.#call("backlog", () => this.#inner.backlog(this.#network.time(before), limit));
  }

  subscribe(listener: () => void): () => void {
    this.#link.listeners.add(listener);
    return () => void this.#link.listeners.delete(listener);
  }

  #call<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#network.call(this.#link, name, work);
  }
}

function writeOf(
  by: Write["by"],
  group: number,
  before: ScheduleDocument | undefined,
  { document, reject }: Change,
  now: number,
): Write | undefined {
  const { id } = before ?? document ?? {};
  if (document === undefined || reject !== undefined || id === undefined) return undefined;
  return {
    now,
    group,
    by,
    id,
    before: before === undefined ? null : viewOf(before),
    after: document === null ? null : viewOf(document),
    definition: document?.definition,
    ended: endedRuns(before, document),
  };
}
