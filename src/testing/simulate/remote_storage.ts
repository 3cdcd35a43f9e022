import type {
  AdvanceRequest,
  AdvanceResult,
  Change,
  Clock,
  DocumentQuery,
  Group,
  GroupResult,
  LaneBacklog,
  ScheduleDefinition,
  ScheduleDocument,
  Storage,
  StorageSupports,
} from "../../contract/mod.ts";
import { turn } from "../turn.ts";
import type { Link, Network } from "./network.ts";
import { type CommitEntry, endedRuns, viewOf } from "./trace.ts";

/** What a call of the store will have written, for the trace. */
export type Write = Omit<CommitEntry, "type" | "at" | "host" | "request" | "definition"> & {
  readonly definition: ScheduleDefinition | undefined;
};

/** The store as one host sees it. */
export class RemoteStorage implements Storage {
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
