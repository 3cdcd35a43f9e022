import { resolve } from "node:path";
import {
  type AdvanceRequest,
  type AdvanceResult,
  type Change,
  type DocumentQuery,
  evaluateGroup,
  type Group,
  type GroupResult,
  type LaneBacklog,
  MAX_ADVANCE,
  MAX_PAGE,
  type ScheduleDocument,
  type Storage,
  StorageError,
  type StorageSupports,
  type Write,
} from "../../../src/contract/mod.ts";
import { DocumentFile } from "./document_file.ts";
import { Documents } from "./documents.ts";

/** Schedules in a plain JSON file, which each change replaces as a whole: for a few hundred of them. */
export function jsonFile(path: string): Storage {
  return new JsonFileStorage(resolve(path));
}

/** A file that is open, shared by the handles that this process has on it. */
interface Shared {
  readonly file: DocumentFile;
  readonly handles: Set<JsonFileStorage>;
  documents: Documents;
  /** Settles when the last change that was begun is written, or has failed. */
  last: Promise<unknown>;
}

const open = new Map<string, Promise<Shared>>();

class JsonFileStorage implements Storage {
  readonly name = "json file";
  readonly supports: StorageSupports = { clock: false, enlist: false, push: true, processes: false, durable: true };
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  #shared: Shared | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async open(): Promise<void> {
    let opening = open.get(this.#path);
    if (opening === undefined) open.set(this.#path, opening = share(this.#path));
    try {
      this.#shared = await opening;
    } catch (error) {
      open.delete(this.#path);
      throw error;
    }
    this.#shared.handles.add(this);
  }

  async close(): Promise<void> {
    const shared = this.#shared;
    this.#shared = undefined;
    this.#listeners.clear();
    await shared?.last;
    if (shared?.handles.delete(this) !== true || shared.handles.size > 0) return;
    open.delete(this.#path);
    await shared.file.close();
  }

  now(fallback: number): Promise<number> {
    return Promise.resolve(fallback);
  }

  async advance<T>(
    { lanes, limit, now }: AdvanceRequest,
    step: (document: ScheduleDocument, now: number) => Change<T>,
  ): Promise<AdvanceResult<T>> {
    return await this.#change((documents) => {
      const values: T[] = [];
      const writes: Write[] = [];
      for (const before of documents.due(lanes, now, Math.min(limit, MAX_ADVANCE))) {
        const { document, value, reject } = step(before, now);
        values.push(value);
        if (reject === undefined && document !== undefined) writes.push({ before, after: document });
      }
      const after = documents.with(writes);
      if (!(after instanceof Documents)) throw after;
      const nextWake = after.nextWake(lanes);
      const more = nextWake !== null && nextWake <= now;
      return { after, answer: { values, more, nextWake, now, damaged: [] } };
    });
  }

  async apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    return await this.#change((documents) => {
      let after = documents;
      const answer = groups.map((group): GroupResult<T> => {
        const evaluation = evaluateGroup(group, after.read, now);
        if (!evaluation.committed) return evaluation;
        const written = after.with(evaluation.writes);
        if (!(written instanceof Documents)) return { committed: false, reason: written };
        after = written;
        return { committed: true, values: evaluation.values };
      });
      return { after, answer };
    });
  }

  // These are async so that a refusal is a rejection.
  // deno-lint-ignore require-await
  async get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#opened().documents.read({ id });
  }

  // deno-lint-ignore require-await
  async find(query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    return this.#opened().documents.find({ ...query, limit: Math.min(query.limit, MAX_PAGE) });
  }

  // deno-lint-ignore require-await
  async nextWake(lanes: readonly string[]): Promise<number | null> {
    return this.#opened().documents.nextWake(lanes);
  }

  // deno-lint-ignore require-await
  async backlog(before: number, limit: number): Promise<readonly LaneBacklog[]> {
    return this.#opened().documents.backlog(before, limit);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #opened(): Shared {
    if (this.#shared === undefined) {
      throw new StorageError(`json file ${this.#path}: it is not open`, { retryable: false });
    }
    return this.#shared;
  }

  /** One change after another: decided on what is stored, written, and only then seen by anybody. */
  #change<T>(decide: (documents: Documents) => { readonly after: Documents; readonly answer: T }): Promise<T> {
    const shared = this.#opened();
    const made = shared.last.then(async () => {
      const { after, answer } = decide(shared.documents);
      if (after === shared.documents) return answer;
      await shared.file.write(after.all());
      shared.documents = after;
      for (const handle of shared.handles) if (handle !== this) { for (const tell of handle.#listeners) tell(); }
      return answer;
    });
    shared.last = made.catch(() => {});
    return made;
  }
}

async function share(path: string): Promise<Shared> {
  const file = new DocumentFile(path);
  const documents = new Map((await file.open()).map((document) => [document.id, document]));
  return { file, handles: new Set(), documents: new Documents(documents), last: Promise.resolve() };
}
