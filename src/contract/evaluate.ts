import type { ScheduleDocument } from "./document.ts";
import { SchedulerError } from "./errors.ts";
import { MAX_OPERATIONS } from "./limits.ts";
import type { Group, Operation, Selector } from "./storage.ts";

/** A document before and after a group; `after` is `null` when it is removed. */
export interface Write {
  readonly before: ScheduleDocument | undefined;
  readonly after: ScheduleDocument | null;
}

/** What a group comes to, before anything is written. */
export type Evaluation<T> =
  | { readonly committed: true; readonly values: readonly T[]; readonly writes: readonly Write[] }
  | { readonly committed: false; readonly reason: SchedulerError };

/** What {@linkcode evaluateGroup} reads by: not for new documents. */
export type Lookup = (select: Exclude<Selector, null>) => ScheduleDocument | undefined;

/**
 * Decides a whole group against what a driver reads, each operation seeing what those before it did. Pure apart from
 * `read`. A driver calls it inside its transaction and then writes `writes`, which name each document once.
 */
export function evaluateGroup<T>(group: Group<T>, read: Lookup, now: number): Evaluation<T> {
  if (group.length > MAX_OPERATIONS) return { committed: false, reason: tooMany(group.length) };
  if (group.length === 1) return evaluateOne(group[0]!, read, now);
  const view = new View(read);
  const values: T[] = [];
  for (const operation of group) {
    const current = view.find(operation.select);
    const change = operation.decide(current, now);
    if (change.reject !== undefined) return { committed: false, reason: change.reject };
    if (change.document !== undefined) view.put(current, change.document);
    values.push(change.value);
  }
  return { committed: true, values, writes: view.writes() };
}

function evaluateOne<T>(operation: Operation<T>, read: Lookup, now: number): Evaluation<T> {
  const before = operation.select === null ? undefined : read(operation.select);
  const { document, value, reject } = operation.decide(before, now);
  if (reject !== undefined) return { committed: false, reason: reject };
  const nothing = document === undefined || (document === null && before === undefined);
  return { committed: true, values: [value], writes: nothing ? [] : [{ before, after: document }] };
}

function tooMany(given: number): SchedulerError {
  return new SchedulerError("invalid_option", `unit of work: ${given} changes; expected at most ${MAX_OPERATIONS}`, {
    details: { given, limit: MAX_OPERATIONS },
  });
}

/** The store with a group's own writes laid over it. */
class View {
  readonly #read: Lookup;
  readonly #writes = new Map<string, Write>();

  constructor(read: Lookup) {
    this.#read = read;
  }

  find(select: Selector): ScheduleDocument | undefined {
    if (select === null) return undefined;
    if ("id" in select) return this.#overlaid(select.id) ?? this.#stored(select);
    for (const { after } of this.#writes.values()) if (after !== null && matches(after, select)) return after;
    const stored = this.#stored(select);
    return stored;
  }

  #overlaid(id: string): ScheduleDocument | undefined {
    return this.#writes.get(id)?.after ?? undefined;
  }

  /** What the store holds, unless the group has replaced or removed it. */
  #stored(select: Exclude<Selector, null>): ScheduleDocument | undefined {
    if ("id" in select && this.#writes.has(select.id)) return undefined;
    const found = this.#read(select);
    return found !== undefined && this.#writes.has(found.id) ? undefined : found;
  }

  put(current: ScheduleDocument | undefined, after: ScheduleDocument | null): void {
    const id = current?.id ?? after?.id;
    if (id === undefined) return;
    const earlier = this.#writes.get(id);
    const before = earlier === undefined ? current : earlier.before;
    if (after === null && before === undefined) this.#writes.delete(id);
    else this.#writes.set(id, { before, after });
  }

  writes(): readonly Write[] {
    return [...this.#writes.values()];
  }
}

function matches(document: ScheduleDocument, select: Exclude<Selector, null>): boolean {
  const { definition, progress } = document;
  if (progress.retired !== undefined) return false;
  if ("id" in select) return document.id === select.id;
  if (definition.owner !== select.owner) return false;
  return "name" in select ? definition.name === select.name : definition.key === select.key;
}
