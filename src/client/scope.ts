import {
  type GroupResult,
  invalidOption,
  MAX_ENLIST_OPEN_MS,
  type Operation,
  type ScheduleDocument,
  SchedulerError,
} from "../contract/mod.ts";
import type { ClientHost, Done, Place } from "./host.ts";
import { refused } from "./operations.ts";
import type { ScheduleSnapshot } from "./schedule.ts";

/** An operation and the store that it is for. */
export interface PlacedOperation {
  readonly place: Place;
  readonly operation: Operation<Done>;
}

/** A document and the store that it was found in. */
export interface Found {
  readonly place: Place;
  readonly document: ScheduleDocument;
}

/** Where a client's calls go: straight to the store, into a unit of work, or into a transaction of the application. */
export interface Scope {
  /** The schedule whose run the calls are made in, if they are made in one. */
  readonly own?: string;
  /** Makes a call, once calls may be made; refuses it if they no longer may. */
  call<T>(work: () => T | Promise<T>): Promise<T>;
  /** Applies one operation. Errors: what it was refused with. */
  one(placed: PlacedOperation): Promise<Done>;
  /** Applies several, all or none, in order. Errors: what the first of them was refused with. */
  many(placed: readonly PlacedOperation[]): Promise<readonly Done[]>;
  /** Which store an id's operations go to. */
  placeOf(id: string): Promise<Place>;
  /** The document of an id, wherever it is. */
  find(id: string): Promise<Found | undefined>;
  /** Told of each schedule that is answered, where its last word is not spoken yet. */
  adopt?(schedule: ScheduleSnapshot): void;
}

/** Calls that take effect at once, each by itself. */
export class DirectScope implements Scope {
  readonly #host: ClientHost;

  constructor(host: ClientHost) {
    this.#host = host;
  }

  call<T>(work: () => T | Promise<T>): Promise<T> {
    return whenReady(this.#host, work);
  }

  one(placed: PlacedOperation): Promise<Done> {
    return applyOne(this.#host, placed);
  }

  many(placed: readonly PlacedOperation[]): Promise<readonly Done[]> {
    return applyAll(this.#host, placed);
  }

  async placeOf(id: string): Promise<Place> {
    return await this.#host.get("local", id) === undefined ? "stored" : "local";
  }

  find(id: string): Promise<Found | undefined> {
    return findDocument(this.#host, id);
  }
}

/** Calls inside a transaction of the application on the same database (U4). */
export class EnlistedScope implements Scope {
  readonly #host: ClientHost;
  readonly #transaction: unknown;

  constructor(host: ClientHost, transaction: unknown) {
    this.#host = host;
    this.#transaction = transaction;
  }

  async call<T>(work: () => T | Promise<T>): Promise<T> {
    await openInTime(this.#host);
    return await work();
  }

  async one(placed: PlacedOperation): Promise<Done> {
    return (await this.many([placed]))[0]!;
  }

  async many(placed: readonly PlacedOperation[]): Promise<readonly Done[]> {
    if (placed.some(({ place }) => place === "local")) {
      throw invalidOption("persist", false, "true: a transaction of the database cannot hold what is not in it");
    }
    if (placed.length === 0) return [];
    const enlisted = this.#host.enlist(this.#transaction);
    const [result] = await enlisted.apply([placed.map(({ operation }) => operation)], this.#host.now());
    return committed(result!);
  }

  placeOf(): Promise<Place> {
    return Promise.resolve("stored");
  }

  async find(id: string): Promise<Found | undefined> {
    const document = await this.#host.enlist(this.#transaction).get(id);
    return document === undefined ? undefined : { place: "stored", document };
  }
}

/** Does work once calls may be made: at once where they may, since creations come in thousands. */
async function whenReady<T>(host: ClientHost, work: () => T | Promise<T>): Promise<T> {
  const opening = host.ready();
  if (opening !== undefined) await opening;
  return work();
}

/** Opening may want the very connection that the transaction has, or a lock of it: neither may wait for the other for ever. */
async function openInTime(host: ClientHost): Promise<void> {
  const opening = host.ready();
  if (opening === undefined) return;
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = host.clock.setTimer(() => reject(notOpen()), MAX_ENLIST_OPEN_MS);
  });
  try {
    await Promise.race([opening, late]);
  } finally {
    cancel();
  }
}

function notOpen(): SchedulerError {
  return new SchedulerError(
    "store_unavailable",
    "within: the store is not open yet, and what opens it may wait for this very transaction; expected a scheduler that " +
      "was started before the transaction began, or whose store another call has opened",
    { retryable: true },
  );
}

/** The document of an id: first in this process, which costs nothing, then in the store. */
export async function findDocument(host: ClientHost, id: string): Promise<Found | undefined> {
  const local = await host.get("local", id);
  if (local !== undefined) return { place: "local", document: local };
  const stored = await host.get("stored", id);
  return stored === undefined ? undefined : { place: "stored", document: stored };
}

async function applyOne(host: ClientHost, { place, operation }: PlacedOperation): Promise<Done> {
  const [result] = await host.apply(place, [[operation]]);
  return committed(result!)[0]!;
}

/**
 * Applies operations of both stores, all or none, in order. What is local is only rehearsed before the stored ones are
 * committed, and follows them: it cannot fail any more, and they may.
 */
export async function applyAll(host: ClientHost, placed: readonly PlacedOperation[]): Promise<readonly Done[]> {
  if (placed.length === 1) return [await applyOne(host, placed[0]!)];
  const stored = placed.filter(({ place }) => place === "stored");
  const local = placed.filter(({ place }) => place === "local");
  if (stored.length > 0 && local.length > 0) await rehearse(host, local);
  const done = new Map<PlacedOperation, Done>();
  for (const part of [stored, local]) {
    if (part.length === 0) continue;
    const [result] = await host.apply(part[0]!.place, [part.map(({ operation }) => operation)]);
    committed(result!).forEach((value, i) => done.set(part[i]!, value));
  }
  return placed.map((one) => done.get(one)!);
}

/** Decides a group of this process without storing it. Errors: what it is refused with. */
async function rehearse(host: ClientHost, local: readonly PlacedOperation[]): Promise<void> {
  const end = new SchedulerError("conflict", "the rehearsal of a unit of work ends here");
  const last: Operation<Done> = { select: null, decide: () => refused(undefined, end) };
  const [result] = await host.apply("local", [[...local.map(({ operation }) => operation), last]]);
  if (!result!.committed && result!.reason !== end) throw result!.reason;
}

/** What a group's operations answered, or the error that it was refused with. */
function committed(result: GroupResult<Done>): readonly Done[] {
  if (!result.committed) throw result.reason;
  return result.values;
}
