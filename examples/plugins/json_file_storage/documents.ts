import {
  documentIndex,
  type DocumentQuery,
  type LaneBacklog,
  type Lookup,
  matchesQuery,
  NameIndex,
  type ScheduleDocument,
  SchedulerError,
  type Write,
} from "../../../src/contract/mod.ts";

/** Documents by id with all that is asked of them. A value: a change makes another one, so that a write may fail. */
export class Documents {
  readonly #byId: ReadonlyMap<string, ScheduleDocument>;
  readonly #names: NameIndex;

  constructor(byId: ReadonlyMap<string, ScheduleDocument>, names?: NameIndex) {
    this.#byId = byId;
    this.#names = names ?? new NameIndex();
    if (names === undefined) { for (const document of byId.values()) this.#names.replace(undefined, document); }
  }

  all(): Iterable<ScheduleDocument> {
    return this.#byId.values();
  }

  readonly read: Lookup = (select) => {
    const id = "id" in select ? select.id : this.#names.find(select);
    return id === undefined ? undefined : this.#byId.get(id);
  };

  /** The documents with what a group came to, or why that does not fit. */
  with(writes: readonly Write[]): Documents | SchedulerError {
    if (writes.length === 0) return this;
    const byId = new Map(this.#byId);
    const names = new NameIndex(this.#names);
    for (const { before, after } of writes) {
      const refusal = after === null ? undefined : refused(after, before, byId, names);
      if (refusal !== undefined) return refusal;
      names.replace(before, after);
      if (after !== null) byId.set(after.id, after);
      else if (before !== undefined) byId.delete(before.id);
    }
    return new Documents(byId, names);
  }

  /** What is due in the lanes, the longest due first. */
  due(lanes: readonly string[], now: number, limit: number): readonly ScheduleDocument[] {
    const waiting = [...this.all()].map((document) => ({ document, ...documentIndex(document) }));
    return waiting
      .filter(({ lane, wakeAt }) => lane !== null && lanes.includes(lane) && wakeAt !== null && wakeAt <= now)
      .sort((a, b) => a.wakeAt! - b.wakeAt! || (a.document.id < b.document.id ? -1 : 1))
      .slice(0, limit)
      .map(({ document }) => document);
  }

  nextWake(lanes: readonly string[]): number | null {
    const times = this.backlog(0, 0).filter(({ task }) => lanes.includes(task)).map(({ earliest }) => earliest);
    return times.length === 0 ? null : Math.min(...times);
  }

  backlog(before: number, limit: number): readonly LaneBacklog[] {
    const lanes = new Map<string, LaneBacklog>();
    for (const document of this.all()) {
      const { lane, wakeAt } = documentIndex(document);
      if (lane === null || wakeAt === null) continue;
      const { due, earliest } = lanes.get(lane) ?? { due: 0, earliest: Infinity };
      const counted = wakeAt <= before && due < limit ? due + 1 : due;
      lanes.set(lane, { task: lane, due: counted, earliest: Math.min(earliest, wakeAt) });
    }
    return [...lanes.values()];
  }

  /** One page in order of id. */
  find(query: DocumentQuery): readonly ScheduleDocument[] {
    return [...this.all()]
      .filter((document) => document.id > (query.after ?? "") && matchesQuery(documentIndex(document), query))
      .sort((a, b) => a.id < b.id ? -1 : 1)
      .slice(0, query.limit);
  }
}

function refused(
  after: ScheduleDocument,
  before: ScheduleDocument | undefined,
  byId: ReadonlyMap<string, ScheduleDocument>,
  names: NameIndex,
): SchedulerError | undefined {
  if (before === undefined && byId.has(after.id)) return inUse("id", after.id);
  const { owner, name, key } = documentIndex(after);
  const byName = name === null ? undefined : names.find({ owner, name });
  if (byName !== undefined && byName !== after.id) return inUse("name", byName);
  const byKey = key === null ? undefined : names.find({ owner, key });
  if (byKey !== undefined && byKey !== after.id) return inUse("key", byKey);
  return undefined;
}

function inUse(what: string, id: string): SchedulerError {
  return new SchedulerError("conflict", `the ${what} is in use by schedule ${id}`, { details: { id } });
}
