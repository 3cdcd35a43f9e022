import {
  type DocumentQuery,
  type LaneBacklog,
  matchesQuery,
  MAX_KV_LIST_BATCH,
  MAX_PAGE,
  type ScheduleDocument,
} from "../../../src/contract/mod.ts";
import type { Stored } from "./codec.ts";
import type { KvEntryLike, KvKey } from "./handle.ts";
import { fromKeyText, isOwnerIndexed, type Keys, keyText, nameOf, NEXT, type ValueIndex } from "./keys.ts";
import type { DocumentCache } from "./document_cache.ts";
import type { Read, Reader } from "./reader.ts";
import { readWake, sharedValue } from "./shared_wake.ts";
import { type Lead, TaskListing } from "./task_listing.ts";
import { NO_VALUE } from "./writes.ts";

/** Ids to look at, in order. */
type Page = readonly Lead[];

/** Reads ids after one, in order: so many at least, unless there are no more. */
type ReadPage = (after: string | undefined, size: number) => Promise<Page>;

/** Entries that are listed at least: of those that a query finds by one condition, the others may refuse most. */
const LEAST_PAGE = 20;

/** Indexes by value that a query is answered from, the most telling first. */
const INDEXES = ["target", "group", "tag", "owner", "task"] as const satisfies readonly ValueIndex[];

/** Reads documents without a turn of its own: what it answers was there at some moment of the call. */
export class Finder {
  readonly #keys: Keys;
  readonly #reader: Reader;
  readonly #cache: DocumentCache;
  readonly #tasks: TaskListing;

  constructor(keys: Keys, reader: Reader, cache: DocumentCache) {
    this.#keys = keys;
    this.#reader = reader;
    this.#cache = cache;
    this.#tasks = new TaskListing(keys, reader);
  }

  /** The document of an id. */
  async get(id: string): Promise<ScheduleDocument | undefined> {
    return (await this.#documents([id]))[0]?.stored.document;
  }

  /** The earliest wake time of each lane that has one. */
  async heads(lanes: readonly string[]): Promise<Map<string, number>> {
    const unique = [...new Set(lanes)];
    const lists = await Promise.all(unique.map((lane) => this.#reader.list({ prefix: this.#keys.lane(lane) }, 1)));
    return new Map(lists.flatMap((entries, i) => entries.map(({ key }) => [unique[i]!, key.at(-2) as number])));
  }

  /** What every lane holds that is due: goes from lane to lane by their first entries. */
  async backlog(before: number, limit: number): Promise<readonly LaneBacklog[]> {
    const lanes: LaneBacklog[] = [];
    const prefix = this.#keys.wakes;
    let start: KvKey | undefined;
    for (;;) {
      const [first] = await this.#reader.list(start === undefined ? { prefix } : { prefix, start }, 1);
      if (first === undefined) return lanes;
      const [lane, earliest] = first.key.slice(prefix.length) as [string | Uint8Array, number];
      const task = fromKeyText(lane);
      const due = earliest > before ? [] : await this.#reader.wakes(
        this.#keys.lane(task),
        this.#keys.due(task, before),
        limit,
      );
      const count = due.reduce((sum, { size }) => sum + size, 0);
      lanes.push({ task, due: Math.min(count, limit), earliest });
      start = this.#keys.after(prefix, lane);
    }
  }

  /** One page of documents in order of id. */
  async find(query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    const limit = Math.min(query.limit, MAX_PAGE);
    const found: ScheduleDocument[] = [];
    for await (const page of this.#pages(query, limit)) {
      const reads = await this.#documents(page.map(({ id }) => id));
      for (const [i, read] of reads.entries()) {
        const { id, entry } = page[i]!;
        if (!this.#leadsTo(entry, id, read?.stored)) {
          if (!isWake(this.#keys, entry)) await this.#repair(entry, id, read);
        } else if (matchesQuery(read!.stored.index, query)) {
          found.push(read!.stored.document);
        }
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  #documents(ids: readonly string[]): Promise<readonly (Read | undefined)[]> {
    return this.#reader.documents(ids, (id, versionstamp) => this.#cache.at(id, versionstamp)?.stored);
  }

  async *#pages(query: DocumentQuery, limit: number): AsyncGenerator<Page> {
    const { name, after = "" } = query;
    const ordered = this.#ordered(query);
    if (ordered !== undefined) return yield* this.#inOrder(ordered, query.after, limit);
    if (name === undefined && query.running !== true) return yield* this.#live(query.after, limit);
    const page = name === undefined ? await this.#running() : await this.#called(name);
    const sorted = page.filter(({ id }) => id > after).sort((a, b) => a.id < b.id ? -1 : 1);
    for (let i = 0; i < sorted.length; i += MAX_KV_LIST_BATCH) {
      yield sorted.slice(i, i + MAX_KV_LIST_BATCH);
    }
  }

  /** Reads the ids that a query is about where they stand in order, if they do. */
  #ordered(query: DocumentQuery): ReadPage | undefined {
    if (query.running === true) return undefined;
    if (query.retired === true) return (after, size) => this.#page(this.#keys.schedules, after, size);
    if (query.name !== undefined) return undefined;
    for (const index of INDEXES) {
      const value = query[index];
      if (value === undefined || (index === "owner" && !isOwnerIndexed(value))) continue;
      if (index === "task") return (after, size) => this.#tasks.page(value, after, size);
      return (after, size) => this.#page(this.#keys.having(index, value), after, size);
    }
    return undefined;
  }

  async *#inOrder(read: ReadPage, after: string | undefined, limit: number): AsyncGenerator<Page> {
    const size = pageSize(limit);
    for (let last = after;;) {
      const page = await read(last, size);
      if (page.length > 0) yield page;
      if (page.length < size) return;
      last = page.at(-1)!.id;
    }
  }

  /** All live documents in order: those of every task, merged. */
  async *#live(after: string | undefined, limit: number): AsyncGenerator<Page> {
    const tasks = await this.#tasks.tasks();
    const read: ReadPage = async (last, size) => {
      const pages = await Promise.all(tasks.map((task) => this.#tasks.page(task, last, size)));
      return pages.flat().sort((a, b) => a.id < b.id ? -1 : 1).slice(0, size);
    };
    yield* this.#inOrder(read, after, limit);
  }

  async #page(prefix: KvKey, after: string | undefined, size: number): Promise<Page> {
    const selector = after === undefined ? { prefix } : { prefix, start: [...prefix, keyText(after), NEXT] };
    const entries = await this.#reader.list(selector, size);
    return entries.map((entry) => ({ id: fromKeyText(entry.key.at(-1)), entry }));
  }

  /** Live documents of a name, of whatever owner. */
  async #called(name: string): Promise<Page> {
    const entries = await this.#all(this.#keys.called("name", name));
    return entries.map((entry) => ({ id: String(entry.value), entry }));
  }

  /** Documents with a run: the entries of when they wake tell, since a run's lease has an end. */
  async #running(): Promise<Page> {
    const [wakes, idle] = await Promise.all([this.#all(this.#keys.wakes), this.#all(this.#keys.running)]);
    const waking = wakes.flatMap((entry) => {
      const { running, ids } = readWake(entry);
      return running ? Array.from(ids, (id) => ({ id, entry })) : [];
    });
    return [...waking, ...idle.map((entry) => ({ id: fromKeyText(entry.key.at(-1)), entry }))];
  }

  #all(prefix: KvKey): Promise<readonly KvEntryLike[]> {
    return this.#reader.list({ prefix }, Number.MAX_SAFE_INTEGER);
  }

  /** Whether an entry still stands for the document that it leads to. */
  #leadsTo({ key }: KvEntryLike, id: string, stored: Stored | undefined): boolean {
    if (stored === undefined) return false;
    const text = nameOf(key as KvKey);
    const wake = this.#keys.wake(stored.shared ?? id, stored.index);
    const keys = [
      this.#keys.schedule(id),
      ...(wake === undefined ? [] : [wake]),
      ...(stored.list === undefined ? [] : [this.#keys.list(stored.list, stored.index.task)]),
      ...this.#keys.listings(id, stored.index, stored.list),
      ...this.#keys.names(stored.index),
    ];
    return keys.some((one) => nameOf(one) === text);
  }

  /** Removes an id from where it leads nowhere, unless that or its document has changed meanwhile. */
  async #repair(entry: KvEntryLike, id: string, read: Read | undefined): Promise<void> {
    await this.#reader.retry("repairing an index", () => this.#commitRepair(entry, id, read?.versionstamp ?? null));
  }

  #commitRepair(entry: KvEntryLike, id: string, document: string | null): Promise<unknown> {
    const { versionstamp } = entry;
    const key = entry.key as KvKey;
    const { running, shared } = readWake(entry);
    const rest = [...shared?.ids ?? []].filter((one) => one !== id);
    const commit = this.#reader.handle.atomic();
    commit.check({ key, versionstamp }, { key: this.#keys.schedule(id), versionstamp: document });
    if (rest.length === 0) commit.delete(key);
    else commit.set(key, sharedValue(running, rest));
    commit.set(this.#keys.last, NO_VALUE);
    return commit.commit();
  }
}

function pageSize(limit: number): number {
  return Math.min(MAX_KV_LIST_BATCH, Math.max(limit, LEAST_PAGE));
}

/** Whether an entry tells of others' waking as well: whoever takes what is due leaves it. */
function isWake(keys: Keys, entry: KvEntryLike): boolean {
  return entry.key[1] === keys.wakes[1] && readWake(entry).shared !== undefined;
}
