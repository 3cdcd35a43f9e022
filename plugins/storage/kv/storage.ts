import {
  type AdvanceRequest,
  type AdvanceResult,
  type Clock,
  type DocumentQuery,
  type Group,
  type GroupResult,
  type LaneBacklog,
  MAX_KV_CHECKS,
  MAX_KV_CHECKS_ELSEWHERE,
  MAX_KV_DOCUMENT_BYTES,
  MAX_KV_OPERATIONS,
  type ScheduleDocument,
  type Storage,
  type StorageContext,
  StorageError,
  type StorageSupports,
} from "../../../src/contract/mod.ts";
import { Claims, type Step } from "./claims.ts";
import { Desk } from "./desk.ts";
import { Finder } from "./finder.ts";
import { canWatch, isDenoHandle, isFile, type KvLike } from "./handle.ts";
import { Keys } from "./keys.ts";
import { Ledger } from "./ledger.ts";
import { News } from "./news.ts";
import { checkVersion, openPath } from "./opening.ts";
import type { KvSettings } from "./options.ts";
import { Reader } from "./reader.ts";
import { polling, type Signal, watching, watchingFile } from "./signals.ts";
import { Subscribers } from "./subscribers.ts";
import { Writer } from "./writer.ts";

/** How often a store is asked that cannot tell of changes by itself. */
const DEFAULT_POLL_MS = 1_000;

interface Opened {
  readonly handle: KvLike;
  readonly desk: Desk;
  readonly writer: Writer;
  readonly claims: Claims;
  readonly finder: Finder;
  readonly news: News;
  readonly subscribers: Subscribers;
  readonly calls: Set<Promise<unknown>>;
}

/** The Deno KV store; see {@linkcode kv}. */
export class KvStorage implements Storage {
  readonly name: string = "kv";
  readonly supports: StorageSupports;
  readonly #settings: KvSettings;
  readonly #keys: Keys;
  #opened: Opened | undefined;
  #opening = false;

  constructor(settings: KvSettings) {
    this.#settings = settings;
    this.#keys = new Keys(settings.prefix);
    const stays = !("path" in settings.source && settings.source.path === ":memory:");
    this.supports = {
      clock: false,
      enlist: false,
      push: stays,
      processes: stays,
      durable: stays,
      maxDocumentBytes: MAX_KV_DOCUMENT_BYTES,
      maxGroupOperations: MAX_KV_OPERATIONS,
    };
  }

  async open({ clock }: StorageContext): Promise<void> {
    if (this.#opening || this.#opened !== undefined) {
      throw new StorageError("kv: this store is open already; give each scheduler its own", { retryable: false });
    }
    this.#opening = true;
    const { source } = this.#settings;
    let handle: KvLike | undefined;
    try {
      handle = "kv" in source ? source.kv : await openPath(source.path);
      const reader = new Reader(handle, this.#keys);
      await checkVersion(reader, this.#keys);
      const opened = this.#assemble(handle, reader, clock);
      await opened.subscribers.begin();
      this.#opened = opened;
    } catch (error) {
      if (handle !== undefined) this.#release(handle);
      throw error;
    } finally {
      this.#opening = false;
    }
  }

  #assemble(handle: KvLike, reader: Reader, clock: Clock): Opened {
    const keys = this.#keys;
    const ledger = new Ledger(keys, reader);
    const news = new News({
      clock,
      async write() {
        const { ok } = await reader.retry("telling others", () => {
          const commit = handle.atomic();
          commit.sum(keys.changed, 1n);
          return commit.commit();
        });
        return ok;
      },
    });
    const maxChecks = isDenoHandle(handle) ? MAX_KV_CHECKS : MAX_KV_CHECKS_ELSEWHERE;
    const desk = new Desk({ keys, reader, ledger, news, maxChecks });
    const subscribers = new Subscribers({
      signals: this.#signals(handle, clock),
      read: async () => (await reader.getMany([keys.changed]))[0]!,
      own: () => news.count,
    });
    return {
      handle,
      desk,
      news,
      subscribers,
      writer: new Writer(desk, clock),
      claims: new Claims(desk),
      finder: new Finder(keys, reader, ledger.cache),
      calls: new Set(),
    };
  }

  #signals(handle: KvLike, clock: Clock): readonly Signal[] {
    const { source, pollMs } = this.#settings;
    const signals: Signal[] = [];
    if ("path" in source && isFile(source.path)) {
      signals.push(watchingFile(source.path, clock));
    } else if (canWatch(handle)) {
      signals.push(watching(handle, this.#keys.changed, clock));
    } else if (pollMs === undefined) {
      signals.push(polling(clock, DEFAULT_POLL_MS));
    }
    return pollMs === undefined ? signals : [...signals, polling(clock, pollMs)];
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    await opened.subscribers.close();
    await Promise.allSettled([...opened.calls]);
    await opened.writer.drain();
    await opened.desk.drain();
    await opened.news.close();
    this.#release(opened.handle);
  }

  // deno-lint-ignore require-await
  async now(fallback: number): Promise<number> {
    return fallback;
  }

  advance<T>(request: AdvanceRequest, step: Step<T>): Promise<AdvanceResult<T>> {
    return this.#call(async ({ claims, finder }) => {
      const { lanes, now } = request;
      const heads = await finder.heads(lanes);
      const due = [...heads].filter(([, wakeAt]) => wakeAt <= now).map(([lane]) => lane);
      if (due.length === 0) return { values: [], more: false, nextWake: earliest(heads), now, damaged: [] };
      const claimed = await claims.claim({ ...request, lanes: due }, step);
      // What is claimed must reach its caller, even if the store does not answer any more: then it has to be asked again.
      const nextWake = await finder.heads(lanes).then(earliest, () => now);
      return { ...claimed, more: nextWake !== null && nextWake <= now, nextWake, now };
    });
  }

  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    return this.#call(({ writer }) => writer.apply(groups, now));
  }

  get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#call(({ finder }) => finder.get(id));
  }

  find(query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    return this.#call(({ finder }) => finder.find(query));
  }

  nextWake(lanes: readonly string[]): Promise<number | null> {
    return this.#call(async ({ finder }) => earliest(await finder.heads(lanes)));
  }

  backlog(before: number, limit: number): Promise<readonly LaneBacklog[]> {
    return this.#call(({ finder }) => finder.backlog(before, limit));
  }

  subscribe(listener: () => void): () => void {
    return this.#use().subscribers.add(listener);
  }

  /** Async so that a closed store is a rejection, and remembered so that closing waits. */
  async #call<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    const opened = this.#use();
    const call = work(opened);
    opened.calls.add(call);
    try {
      return await call;
    } finally {
      opened.calls.delete(call);
    }
  }

  #use(): Opened {
    if (this.#opened === undefined) {
      throw new StorageError("kv: the store is not open", { retryable: false });
    }
    return this.#opened;
  }

  #release(handle: KvLike): void {
    if ("path" in this.#settings.source) handle.close();
  }
}

function earliest(heads: ReadonlyMap<string, number>): number | null {
  return heads.size === 0 ? null : Math.min(...heads.values());
}
