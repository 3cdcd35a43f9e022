import type { KvEntryLike, KvKey } from "./handle.ts";
import { fromKeyText, type Keys, keyText, NEXT } from "./keys.ts";
import { isUlid, secondOf } from "./lists.ts";
import type { Reader } from "./reader.ts";
import { readWake } from "./shared_wake.ts";

/** An id to look at, with the entry that led to it. */
export interface Lead {
  readonly id: string;
  readonly entry: KvEntryLike;
}

/** Lists that are read at once. */
const LISTS_AT_ONCE = 20;

/** Reads the ids of live documents by their tasks: those that stand alone, and those in lists. */
export class TaskListing {
  readonly #keys: Keys;
  readonly #reader: Reader;

  constructor(keys: Keys, reader: Reader) {
    this.#keys = keys;
    this.#reader = reader;
  }

  /** The tasks of live documents. */
  async tasks(): Promise<readonly string[]> {
    const [alone, listed] = await Promise.all([this.#tasks(this.#keys.index("task")), this.#tasks(this.#keys.lists)]);
    return [...new Set([...alone, ...listed])];
  }

  /** Ids of a task in order, after one: so many at least, unless there are no more. */
  async page(task: string, after: string | undefined, size: number): Promise<readonly Lead[]> {
    const [alone, listed] = await Promise.all([this.#alone(task, after, size), this.#listed(task, after, size)]);
    if (listed.length === 0) return alone;
    // Each of them goes on behind its last one, if it is full.
    const ends = [alone, listed].filter(({ length }) => length >= size).map((page) => page.at(-1)!.id);
    const end = ends.length === 0 ? undefined : ends.reduce((a, b) => a < b ? a : b);
    return [...alone, ...listed].filter(({ id }) => end === undefined || id <= end).sort(byId);
  }

  async #alone(task: string, after: string | undefined, size: number): Promise<readonly Lead[]> {
    const prefix = this.#keys.having("task", task);
    const selector = after === undefined ? { prefix } : { prefix, start: [...prefix, keyText(after), NEXT] };
    const entries = await this.#reader.list(selector, size);
    return entries.map((entry) => ({ id: fromKeyText(entry.key.at(-1)), entry }));
  }

  async #listed(task: string, after: string | undefined, size: number): Promise<readonly Lead[]> {
    const prefix = this.#keys.listsOf(task);
    const found: Lead[] = [];
    let start = after !== undefined && isUlid(after) ? [...prefix, secondOf(after)] : undefined;
    for (;;) {
      const entries = await this.#reader.list(start === undefined ? { prefix } : { prefix, start }, LISTS_AT_ONCE);
      for (const entry of entries) {
        for (const id of readWake(entry).ids) if (after === undefined || id > after) found.push({ id, entry });
      }
      if (entries.length < LISTS_AT_ONCE) return found.sort(byId);
      const last = entries.at(-1)!.key as KvKey;
      // Those that follow hold nothing less than their names.
      const sure = found.filter(({ id }) => id <= fromKeyText(last.at(-1)));
      if (sure.length >= size) return sure.sort(byId);
      start = [...last, NEXT];
    }
  }

  /** Goes from one task to the next by their first entries. */
  async #tasks(prefix: KvKey): Promise<readonly string[]> {
    const tasks: string[] = [];
    let start: KvKey | undefined;
    for (;;) {
      const [first] = await this.#reader.list(start === undefined ? { prefix } : { prefix, start }, 1);
      if (first === undefined) return tasks;
      const task = first.key[prefix.length] as string | Uint8Array;
      tasks.push(fromKeyText(task));
      start = this.#keys.after(prefix, task);
    }
  }
}

function byId(a: Lead, b: Lead): number {
  return a.id < b.id ? -1 : 1;
}
