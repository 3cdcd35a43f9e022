import {
  evaluateGroup,
  type Group,
  type GroupResult,
  type ScheduleDocument,
  type Selector,
  type Write,
} from "../../../src/contract/mod.ts";
import { conflictOf } from "../sql/transaction.ts";
import { columnText } from "../sql/tables.ts";
import type { LookupParameters } from "./statements.ts";
import { arrayText } from "./values.ts";

/** What a group comes to, and the documents that it changes. */
export interface Decision<T = unknown> {
  readonly result: GroupResult<T>;
  readonly ids: readonly string[];
}

/**
 * What a batch of groups works on: the documents that were looked up, with the changes of the groups before laid over
 * them. Nothing is written here.
 */
export class Desk {
  readonly #stored = new Map<string, ScheduleDocument>();
  /** What differs from what is stored; null where that is removed. */
  readonly #changed = new Map<string, ScheduleDocument | null>();
  /** Ids of live documents by name and by key. */
  readonly #named = new Map<string, string>();

  constructor(stored: Iterable<ScheduleDocument>) {
    for (const document of stored) {
      this.#stored.set(document.id, document);
      this.#name(document);
    }
  }

  /** Decides a group; its writes are seen by the next one. */
  apply<T>(group: Group<T>, now: number): Decision<T> {
    const evaluation = evaluateGroup(group, (select) => this.#read(select), now);
    if (!evaluation.committed) return { result: evaluation, ids: [] };
    const { values, writes } = evaluation;
    const isTaken = ({ before, after }: Write) => before === undefined && this.#current(after!.id) !== undefined;
    const ids = writes.map(({ before, after }) => (after ?? before!).id);
    if (writes.some(isTaken)) return { result: { committed: false, reason: conflictOf(ids) }, ids: [] };
    for (const write of writes) this.#take(write);
    return { result: { committed: true, values }, ids };
  }

  /** What all groups together come to, each document once. */
  writes(): readonly Write[] {
    const writes: Write[] = [];
    this.#changed.forEach((after, id) => {
      const before = this.#stored.get(id);
      if (after !== before && (after !== null || before !== undefined)) writes.push({ before, after });
    });
    return writes;
  }

  #read(select: Exclude<Selector, null>): ScheduleDocument | undefined {
    const id = "id" in select ? select.id : this.#named.get(nameOf(select));
    return id === undefined ? undefined : this.#current(id);
  }

  #current(id: string): ScheduleDocument | undefined {
    const changed = this.#changed.get(id);
    return changed === undefined ? this.#stored.get(id) : changed ?? undefined;
  }

  #take({ before, after }: Write): void {
    if (before !== undefined) {
      for (const name of namesOf(before)) if (this.#named.get(name) === before.id) this.#named.delete(name);
    }
    this.#changed.set((after ?? before!).id, after);
    if (after !== null) this.#name(after);
  }

  #name(document: ScheduleDocument): void {
    for (const name of namesOf(document)) this.#named.set(name, document.id);
  }
}

type Named = Exclude<Selector, null | { readonly id: string }>;

function nameOf(select: Named): string {
  return JSON.stringify("name" in select ? [select.owner, "name", select.name] : [select.owner, "key", select.key]);
}

const NOTHING: readonly string[] = [];

/** By what a live document may be found besides its id. */
function namesOf({ definition: { owner, name, key }, progress }: ScheduleDocument): readonly string[] {
  if (progress.retired !== undefined || (name === undefined && key === undefined)) return NOTHING;
  return [
    ...(name === undefined ? [] : [nameOf({ owner, name })]),
    ...(key === undefined ? [] : [nameOf({ owner, key })]),
  ];
}

/** What has to be looked up for groups, and by further ids; undefined where nothing has. */
export function lookupOf(groups: Iterable<Group>, further: Iterable<string> = []): LookupParameters | undefined {
  const ids = new Set<string>(further);
  const named = new Map<string, Named>();
  for (const group of groups) {
    for (const { select } of group) {
      if (select === null) continue;
      if ("id" in select) ids.add(select.id);
      else named.set(nameOf(select), select);
    }
  }
  if (ids.size === 0 && named.size === 0) return undefined;
  const names = [...named.values()].filter((select) => "name" in select);
  const keys = [...named.values()].filter((select) => "key" in select);
  return {
    ids: columns(ids),
    nameOwners: columns(names.map(({ owner }) => owner)),
    names: columns(names.map(({ name }) => name)),
    keyOwners: columns(keys.map(({ owner }) => owner)),
    keys: columns(keys.map(({ key }) => key)),
  };
}

function columns(texts: Iterable<string>): string {
  return arrayText([...texts].map(columnText));
}
