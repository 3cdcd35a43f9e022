import type { ScheduleDocument } from "./document.ts";
import { SchedulerError } from "./errors.ts";
import { MAX_OPERATIONS } from "./limits.ts";
import type { Group, Operation, Selector } from "./storage.ts";

/** A document before and after a group; `after` is `null` when it is removed. */
export interface Write {
  /** As the driver read it; `undefined` for a new one. */
  readonly before: ScheduleDocument | undefined;
  /** What is to be stored. */
  readonly after: ScheduleDocument | null;
}

/** What a group comes to, before anything is written. */
export type Evaluation<T> =
  | { readonly committed: true; readonly values: readonly T[]; readonly writes: readonly Write[] }
  | { readonly committed: false; readonly reason: SchedulerError };

/** Reads what the store holds, for {@linkcode evaluateGroup}; not asked for new documents. */
export type Lookup = (select: Exclude<Selector, null>) => ScheduleDocument | undefined;

/**
 * Decides a whole group against what a driver reads, each operation seeing what those before it did. Pure apart from
 * `read`. A driver calls it inside its transaction and then writes `writes`, which name each document once.
 *
 * @param now The store's time, for the decisions, in milliseconds since the Unix epoch.
 * @returns What to write and to answer. A group of more than 10,000 operations is refused with `invalid_option`.
 * @example
 * ```ts
 * import { evaluateGroup, type Operation } from "@ostinato/scheduler/contract";
 *
 * const stop: Operation<boolean> = {
 *   select: { owner: "system", name: "nightly" },
 *   decide: (current) => current === undefined ? { value: false } : { value: true, document: null },
 * };
 * const outcome = evaluateGroup([stop], () => undefined, Date.now());
 * console.log(outcome); // { committed: true, values: [ false ], writes: [] }
 * ```
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
  readonly #names = new NameIndex();

  constructor(read: Lookup) {
    this.#read = read;
  }

  find(select: Selector): ScheduleDocument | undefined {
    if (select === null) return undefined;
    const id = "id" in select ? select.id : this.#names.find(select);
    const write = id === undefined ? undefined : this.#writes.get(id);
    return write === undefined ? this.#stored(select) : write.after ?? undefined;
  }

  /** What the store holds, unless the group has replaced or removed it. */
  #stored(select: Exclude<Selector, null>): ScheduleDocument | undefined {
    const found = this.#read(select);
    return found !== undefined && this.#writes.has(found.id) ? undefined : found;
  }

  put(current: ScheduleDocument | undefined, after: ScheduleDocument | null): void {
    const id = current?.id ?? after?.id;
    if (id === undefined) return;
    const earlier = this.#writes.get(id);
    const before = earlier === undefined ? current : earlier.before;
    this.#names.replace(earlier?.after, after);
    if (after === null && before === undefined) this.#writes.delete(id);
    else this.#writes.set(id, { before, after });
  }

  writes(): readonly Write[] {
    return [...this.#writes.values()];
  }
}

/** Ids of live documents by owner and name, and by owner and key: what a {@linkcode Selector} of those finds. */
export class NameIndex {
  readonly #ids: Map<string, string>;

  /** Begins empty, or as a copy of another. */
  constructor(before?: NameIndex) {
    this.#ids = new Map(before === undefined ? [] : before.#ids);
  }

  /** The id of the live document that a selector names. */
  find(select: Exclude<Selector, null | { readonly id: string }>): string | undefined {
    return this.#ids.get(
      "name" in select ? nameText("name", select.owner, select.name) : nameText("key", select.owner, select.key),
    );
  }

  /** Puts a document in the place of its predecessor. */
  replace(before: ScheduleDocument | null | undefined, after: ScheduleDocument | null): void {
    for (const text of namesOf(before)) this.#ids.delete(text);
    for (const text of namesOf(after)) this.#ids.set(text, after!.id);
  }
}

/** Owners and names hold no U+0000, so that it parts them. */
function nameText(kind: "name" | "key", owner: string, name: string): string {
  return `${kind}\0${owner}\0${name}`;
}

function namesOf(document: ScheduleDocument | null | undefined): readonly string[] {
  if (document === null || document === undefined || document.progress.retired !== undefined) return [];
  const { owner, name, key } = document.definition;
  const names: string[] = [];
  if (name !== undefined) names.push(nameText("name", owner, name));
  if (key !== undefined) names.push(nameText("key", owner, key));
  return names;
}
