import { type Storage, StorageError } from "../../contract/mod.ts";
import type { SimulatedHost } from "./host.ts";
import type { Random } from "./random.ts";
import { RemoteStorage, type Write } from "./remote_storage.ts";
import type { TraceEntry } from "./trace.ts";
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

/** A host's way to the store. */
export interface Link {
  readonly host: SimulatedHost;
  readonly listeners: Set<() => void>;
  cutOff: boolean;
  /** Something was committed while it was cut off. */
  hinted: boolean;
}

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
