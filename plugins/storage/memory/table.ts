import {
  type DocumentIndex,
  documentIndex,
  type DocumentQuery,
  type LaneBacklog,
  matchesQuery,
  type ScheduleDocument,
  SchedulerError,
  type Selector,
  show,
  type Write,
} from "../../../src/contract/mod.ts";
import { LaneQueue, type Waiter } from "./lane_queue.ts";

interface Entry {
  readonly document: ScheduleDocument;
  readonly index: DocumentIndex;
  readonly waiter: Waiter | undefined;
}

/** The documents of a memory store and the indexes by which they are found. Synchronous; knows nothing of handles. */
export class Table {
  readonly #entries = new Map<string, Entry>();
  readonly #lanes = new Map<string, LaneQueue>();
  readonly #names = new OwnedIndex();
  readonly #keys = new OwnedIndex();
  readonly #targets = new Map<string, Set<string>>();
  /** Ids in order, removed ones included until there are too many of them. */
  #ids: string[] = [];
  #ordered = true;

  /** The document of an id, or the live one of a name or key. */
  read(select: Exclude<Selector, null>): ScheduleDocument | undefined {
    const id = "id" in select
      ? select.id
      : "name" in select
      ? this.#names.get(select.owner, select.name)
      : this.#keys.get(select.owner, select.key);
    return id === undefined ? undefined : this.#entries.get(id)?.document;
  }

  /** Stores what a group came to, whole; or stores nothing and answers why it does not fit. */
  write(writes: readonly Write[]): SchedulerError | undefined {
    const done: Write[] = [];
    for (const write of writes) {
      const refusal = this.#put(write);
      if (refusal !== undefined) {
        for (const { before, after } of done.reverse()) {
          this.#put({ before: after ?? undefined, after: before ?? null });
        }
        return refusal;
      }
      done.push(write);
    }
    return undefined;
  }

  /** The ids that are due in the lanes, the longest due first, at most `limit`. */
  due(lanes: readonly string[], now: number, limit: number): readonly string[] {
    const taken: { readonly queue: LaneQueue; readonly waiter: Waiter }[] = [];
    const queues = this.#queues(lanes);
    while (taken.length < limit) {
      let next: LaneQueue | undefined;
      for (const queue of queues) {
        const wakeAt = queue.first()?.wakeAt ?? Infinity;
        if (wakeAt <= now && (next === undefined || wakeAt < next.first()!.wakeAt)) next = queue;
      }
      if (next === undefined) break;
      const waiter = next.first()!;
      next.remove(waiter);
      taken.push({ queue: next, waiter });
    }
    for (const { queue, waiter } of taken) this.#setWaiter(waiter.id, queue.add(waiter.id, waiter.wakeAt));
    return taken.map(({ waiter }) => waiter.id);
  }

  /** The earliest `wakeAt` in the lanes. */
  nextWake(lanes: readonly string[]): number | null {
    let earliest: number | null = null;
    for (const queue of this.#queues(lanes)) {
      const wakeAt = queue.first()?.wakeAt;
      if (wakeAt !== undefined && (earliest === null || wakeAt < earliest)) earliest = wakeAt;
    }
    return earliest;
  }

  /** What every lane holds that is due by an instant. */
  backlog(before: number, limit: number): readonly LaneBacklog[] {
    return [...this.#lanes].map(([task, queue]) => ({
      task,
      due: queue.countUntil(before, limit),
      earliest: queue.first()!.wakeAt,
    }));
  }

  /** One page in order of id. */
  find(query: DocumentQuery): readonly ScheduleDocument[] {
    const page: ScheduleDocument[] = [];
    const ids = this.#candidates(query);
    for (let i = query.after === undefined ? 0 : firstAfter(ids, query.after); i < ids.length; i++) {
      if (page.length >= query.limit) break;
      const entry = this.#entries.get(ids[i]!);
      if (entry !== undefined && matchesQuery(entry.index, query)) page.push(entry.document);
    }
    return page;
  }

  #candidates(query: DocumentQuery): readonly string[] {
    return query.target === undefined ? this.#order() : [...this.#targets.get(query.target) ?? []].sort();
  }

  #order(): readonly string[] {
    if (this.#ids.length > 2 * this.#entries.size + 64) {
      this.#ids = [...this.#entries.keys()];
      this.#ordered = false;
    }
    if (!this.#ordered) this.#ids = [...new Set(this.#ids)].sort();
    this.#ordered = true;
    return this.#ids;
  }

  #queues(lanes: readonly string[]): readonly LaneQueue[] {
    return [...new Set(lanes)].flatMap((lane) => this.#lanes.get(lane) ?? []);
  }

  #setWaiter(id: string, waiter: Waiter): void {
    this.#entries.set(id, { ...this.#entries.get(id)!, waiter });
  }

  #put({ before, after }: Write): SchedulerError | undefined {
    const known = before === undefined ? undefined : this.#entries.get(before.id);
    const index = after === null ? undefined : documentIndex(after);
    const refusal = after === null ? undefined : this.#refusal(after, index!, known);
    if (refusal !== undefined) return refusal;
    if (known !== undefined) this.#unlink(known);
    if (after === null) {
      if (before !== undefined) this.#entries.delete(before.id);
    } else this.#link(after, index!, known === undefined);
    return undefined;
  }

  #refusal(after: ScheduleDocument, index: DocumentIndex, known: Entry | undefined): SchedulerError | undefined {
    if (known === undefined ? this.#entries.has(after.id) : known.document.id !== after.id) {
      return conflict(`id ${show(after.id)} is in use`, after.id);
    }
    for (const [owned, value, what] of [[this.#names, index.name, "name"], [this.#keys, index.key, "key"]] as const) {
      const holder = value === null ? undefined : owned.get(index.owner, value);
      if (holder !== undefined && holder !== after.id) {
        return conflict(`${what} ${show(value)} of owner ${show(index.owner)} names a live schedule already`, holder);
      }
    }
    return undefined;
  }

  #link(document: ScheduleDocument, index: DocumentIndex, isNew: boolean): void {
    const { id } = document;
    let waiter: Waiter | undefined;
    if (index.lane !== null && index.wakeAt !== null) {
      let queue = this.#lanes.get(index.lane);
      if (queue === undefined) this.#lanes.set(index.lane, queue = new LaneQueue());
      waiter = queue.add(id, index.wakeAt);
    }
    if (index.name !== null) this.#names.set(index.owner, index.name, id);
    if (index.key !== null) this.#keys.set(index.owner, index.key, id);
    if (index.target !== null) addTo(this.#targets, index.target, id);
    this.#entries.set(id, { document, index, waiter });
    if (!isNew) return;
    if (this.#ids.length > 0 && id <= this.#ids.at(-1)!) this.#ordered = false;
    this.#ids.push(id);
  }

  #unlink({ document, index, waiter }: Entry): void {
    if (waiter !== undefined) {
      const queue = this.#lanes.get(index.lane!)!;
      queue.remove(waiter);
      if (queue.size === 0) this.#lanes.delete(index.lane!);
    }
    if (index.name !== null) this.#names.delete(index.owner, index.name);
    if (index.key !== null) this.#keys.delete(index.owner, index.key);
    if (index.target !== null) removeFrom(this.#targets, index.target, document.id);
  }
}

/** Ids by owner and a name that is unique with it; two maps, since no separator is safe in free text. */
class OwnedIndex {
  readonly #owners = new Map<string, Map<string, string>>();

  get(owner: string, name: string): string | undefined {
    return this.#owners.get(owner)?.get(name);
  }

  set(owner: string, name: string, id: string): void {
    let names = this.#owners.get(owner);
    if (names === undefined) this.#owners.set(owner, names = new Map());
    names.set(name, id);
  }

  delete(owner: string, name: string): void {
    const names = this.#owners.get(owner);
    names?.delete(name);
    if (names?.size === 0) this.#owners.delete(owner);
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, id: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([id]));
  else set.add(id);
}

function removeFrom(sets: Map<string, Set<string>>, key: string, id: string): void {
  const set = sets.get(key);
  set?.delete(id);
  if (set?.size === 0) sets.delete(key);
}

function conflict(message: string, id: string): SchedulerError {
  return new SchedulerError("conflict", message, { details: { id } });
}

function firstAfter(ids: readonly string[], after: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle]! > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
