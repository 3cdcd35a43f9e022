import {
  type Group,
  type Operation,
  type Principal,
  type ScheduleDocument,
  SchedulerError,
  type Selector,
  type TransactionClient,
} from "../contract/mod.ts";
import { untouched } from "../machine/mod.ts";
import { TransactionCalls } from "./calls.ts";
import type { ClientHost, Done, Place } from "./host.ts";
import { refused } from "./operations.ts";
import { Overlay } from "./overlay.ts";
import type { ScheduleCalls, ScheduleSnapshot } from "./schedule.ts";
import { findDocument, type Found, type PlacedOperation, type Scope } from "./scope.ts";

/** What a unit of work has to commit. */
export interface UnitChanges {
  /** For the shared store; a run's settlement comes before them in the same group (U3). */
  readonly stored: Group<Done>;
  /** For this process, once the stored ones are committed. They are never refused. */
  readonly local: Group<Done>;
}

/** Changes that are buffered until all of them are committed, or none. */
export interface Unit {
  /** What the changes are made through. */
  readonly client: TransactionClient;
  /** Waits for calls under way, refuses any further one, and answers what to commit. Errors: those of such a call. */
  seal(): Promise<UnitChanges>;
  /** Refuses any further call; nothing is to be committed. */
  discard(): void;
}

/** What a unit belongs to. */
export interface UnitOptions {
  /** Calls go on while the scheduler is closing: the unit is a draining run's (X2). Default `false`. */
  readonly draining?: boolean;
  /** What ends the unit, for the error of calls that come after it. Default `"run"`. */
  readonly of?: "run" | "transaction";
  /** What the methods of a schedule that was made inside come to once the unit is over. Default: they are refused. */
  readonly after?: ScheduleCalls;
  /** The schedule whose run the unit belongs to. Default: it belongs to none. */
  readonly own?: string;
}

/**
 * Makes a unit of work: calls see what those before them did, and nothing is stored (U1 to U3). A creation that names
 * what somebody else creates meanwhile makes the commit fail with a retryable `conflict`, because the id that it answered
 * would be no schedule's.
 */
export function createUnit(host: ClientHost, principal: Principal, options: UnitOptions = {}): BufferedUnit {
  return new BufferedUnit(host, principal, options);
}

/** See {@linkcode createUnit}. */
export class BufferedUnit implements Unit {
  readonly client: TransactionClient;
  readonly #scope: UnitScope;

  /** Opens a unit. */
  constructor(host: ClientHost, principal: Principal, { draining = false, of = "run", after, own }: UnitOptions) {
    const scope = new UnitScope(host, draining, of, own);
    const calls: TransactionCalls = new TransactionCalls(
      host,
      principal,
      scope,
      () => scope.isOver && after !== undefined ? after : calls,
    );
    this.client = calls;
    this.#scope = scope;
  }

  async seal(): Promise<UnitChanges> {
    const placed = await this.changes();
    const of = (place: Place) => placed.filter((one) => one.place === place).map(({ operation }) => operation);
    return { stored: of("stored"), local: of("local") };
  }

  /** As {@linkcode seal}, in the order of the calls. */
  changes(): Promise<readonly PlacedOperation[]> {
    return this.#scope.seal();
  }

  discard(): void {
    this.#scope.end();
  }

  /** Tells the schedules that were answered inside what became of them. */
  settled(done: readonly Done[]): void {
    this.#scope.settled(done);
  }
}

class UnitScope implements Scope {
  readonly own?: string;
  readonly #host: ClientHost;
  readonly #draining: boolean;
  readonly #of: "run" | "transaction";
  readonly #placed: PlacedOperation[] = [];
  readonly #adopted: ScheduleSnapshot[] = [];
  readonly #overlay = new Overlay();
  #last: Promise<unknown> = Promise.resolve();
  /** What was answered to calls that are not through. */
  readonly #underWay = new Set<Promise<unknown>>();
  isOver = false;

  constructor(host: ClientHost, draining: boolean, of: "run" | "transaction", own: string | undefined) {
    if (own !== undefined) this.own = own;
    this.#host = host;
    this.#draining = draining;
    this.#of = of;
  }

  /** One after another, so that each sees what those before it did. */
  call<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.isOver) return Promise.resolve().then(() => this.#refuse());
    const made = this.#last.then(async () => {
      await this.#host.ready(this.#draining);
      return await work();
    });
    this.#last = made.catch(() => {});
    // A promise of its own: a failure that its caller leaves unhandled is told as any other.
    const answer = made.then(
      (value) => {
        this.#underWay.delete(answer);
        return value;
      },
      (error) => {
        this.#underWay.delete(answer);
        throw error;
      },
    );
    this.#underWay.add(answer);
    return answer;
  }

  async one(placed: PlacedOperation): Promise<Done> {
    return (await this.many([placed]))[0]!;
  }

  async many(placed: readonly PlacedOperation[]): Promise<readonly Done[]> {
    const kept: PlacedOperation[] = [];
    const done: Done[] = [];
    const before = this.#overlay.mark();
    try {
      for (const one of placed) done.push(await this.#decide(one, kept));
    } catch (error) {
      // Of several operations, those before the one that is refused must not stay.
      this.#overlay.takeBack(before);
      throw error;
    }
    this.#placed.push(...kept);
    return done;
  }

  async #decide({ place, operation }: PlacedOperation, kept: PlacedOperation[]): Promise<Done> {
    const change = operation.decide(await this.#read(place, operation.select), this.#host.now());
    if (change.reject !== undefined) throw change.reject;
    const { before, result } = change.value;
    if (change.document !== undefined) this.#overlay.put(place, before?.id ?? result.document!.id, change.document);
    if (isCreation(operation)) kept.push({ place, operation: holding(operation, result.document!.id, place) });
    else if (change.document !== undefined) {
      kept.push({ place, operation: place === "local" ? lenient(operation) : operation });
    }
    return change.value;
  }

  async placeOf(id: string): Promise<Place> {
    return this.#overlay.get(id)?.place ?? (await this.#host.get("local", id) === undefined ? "stored" : "local");
  }

  async find(id: string): Promise<Found | undefined> {
    const written = this.#overlay.get(id);
    if (written === undefined) return await findDocument(this.#host, id);
    return written.document === null ? undefined : { place: written.place, document: written.document };
  }

  adopt(schedule: ScheduleSnapshot): void {
    this.#adopted.push(schedule);
  }

  /** Nobody can have waited for what is under way now; without it the unit would not be whole (U1). */
  async seal(): Promise<readonly PlacedOperation[]> {
    this.end();
    await Promise.all(this.#underWay);
    return this.#placed;
  }

  end(): void {
    this.isOver = true;
    // The unit's own end tells of a failure.
    for (const answer of this.#underWay) answer.catch(() => {});
  }

  settled(done: readonly Done[]): void {
    const documents = new Map<string, ScheduleDocument | null>();
    for (const { before, result } of done) documents.set(result.document?.id ?? before?.id ?? "", result.document);
    for (const schedule of this.#adopted) {
      const document = documents.get(schedule.id);
      if (document !== undefined) schedule.settle(document);
    }
  }

  async #read(place: Place, select: Selector): Promise<ScheduleDocument | undefined> {
    if (select === null) return undefined;
    const written = this.#overlay.find(place, select);
    if (written !== undefined) return written.document ?? undefined;
    const current = "id" in select ? await this.#host.get(place, select.id) : await this.#peek(place, select);
    return current !== undefined && this.#overlay.get(current.id) !== undefined ? undefined : current;
  }

  /** Asks the store by name or key: an operation that changes nothing. */
  async #peek(place: Place, select: Selector): Promise<ScheduleDocument | undefined> {
    const look: Operation<Done> = { select, decide: untouched };
    const [result] = await this.#host.apply(place, [[look]]);
    return result!.committed ? result!.values[0]!.before : undefined;
  }

  #refuse(): never {
    this.#host.assertOpen(this.#draining);
    throw new SchedulerError(
      "conflict",
      `the ${this.#of} is over: its changes were made or dropped; use the scheduler itself from now on`,
    );
  }
}

function isCreation({ select }: Operation<Done>): boolean {
  return select === null || !("id" in select);
}

/** A creation that must come to the schedule whose id its caller was told. */
function holding(operation: Operation<Done>, told: string, place: Place): Operation<Done> {
  if (operation.select === null) return operation;
  if (place === "local") return lenient(operation);
  return {
    select: operation.select,
    decide(current, now) {
      const change = operation.decide(current, now);
      const id = change.value.result.document?.id;
      return change.reject === undefined && id !== told
        ? refused(current, changedMeanwhile(operation.select!))
        : change;
    },
  };
}

/** What is local follows a commit that cannot be taken back, so that it does what it still can. */
function lenient(operation: Operation<Done>): Operation<Done> {
  return {
    select: operation.select,
    decide(current, now) {
      const { reject, ...change } = operation.decide(current, now);
      return reject === undefined ? change : { value: change.value };
    },
  };
}

function changedMeanwhile(select: Exclude<Selector, null>): SchedulerError {
  return new SchedulerError(
    "conflict",
    `unit of work: the schedule ${
      JSON.stringify(select)
    } was made or stopped by somebody else meanwhile; do the work again`,
    { details: { ...select }, retryable: true },
  );
}
