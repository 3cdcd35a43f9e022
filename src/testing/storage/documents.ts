import {
  type Change,
  type Group,
  type Operation,
  RESTING_PROGRESS,
  type ScheduleDefinition,
  type ScheduleDocument,
  type ScheduleProgress,
  type Selector,
  type Storage,
} from "../../contract/mod.ts";

/** What a made document differs in from the plainest one. */
export interface DocumentParts {
  readonly definition?: Partial<ScheduleDefinition>;
  readonly progress?: Partial<ScheduleProgress>;
}

/** The n-th id: ids of one test are in order of their numbers. */
export function id(n: number): string {
  return `01JSTORAGECASES0${String(n).padStart(10, "0")}`;
}

/** A one-shot of task `"work"`, owned by `"system"`, due at `wakeAt`; `null` for one that waits for nothing. */
export function document(n: number, wakeAt: number | null, parts: DocumentParts = {}): ScheduleDocument {
  const at = wakeAt ?? 0;
  return {
    id: id(n),
    definition: {
      task: "work",
      spec: { kind: "at", at },
      options: {},
      owner: "system",
      authority: { id: "system", admin: true },
      adaptive: true,
      retention: 60_000,
      history: 20,
      createdAt: 1_000,
      ...parts.definition,
    },
    progress: {
      ...RESTING_PROGRESS,
      wakeAt,
      next: wakeAt === null ? null : { point: at, at },
      ...parts.progress,
    },
  };
}

/** The document with other progress and, as in the machine, the same definition. */
export function moved(document: ScheduleDocument, progress: Partial<ScheduleProgress>): ScheduleDocument {
  return { ...document, progress: { ...document.progress, ...progress } };
}

/** The document retired: out of every list and free of its name. */
export function retired(document: ScheduleDocument, at: number): ScheduleDocument {
  return moved(document, { wakeAt: at + 60_000, next: null, retired: { at, reason: "completed" } });
}

/** A start: one more run, the next deadline moved on. */
export function started(document: ScheduleDocument, nextAt: number): ScheduleDocument {
  const { fence, runCount } = document.progress;
  return moved(document, {
    wakeAt: nextAt,
    next: { point: nextAt, at: nextAt },
    fence: fence + 1,
    runCount: runCount + 1,
  });
}

/** A group that stores a new document without looking; its value is the id. */
export function create(document: ScheduleDocument): Group<string> {
  return [operation(null, () => ({ document, value: document.id }))];
}

/** One operation. */
export function operation<T>(
  select: Selector,
  decide: (current: ScheduleDocument | undefined, now: number) => Change<T>,
): Operation<T> {
  return { select, decide };
}

/** Stores documents, each in a group of its own. */
export async function store(storage: Storage, documents: readonly ScheduleDocument[], now = 1_000): Promise<void> {
  const results = await storage.apply(documents.map(create), now);
  const refused = results.find((result) => !result.committed);
  if (refused?.committed === false) throw refused.reason;
}

/** Changes one document by id, or fails where there is none. */
export async function change(
  storage: Storage,
  documentId: string,
  to: (current: ScheduleDocument) => ScheduleDocument | null,
  now = 1_000,
): Promise<void> {
  const [result] = await storage.apply([[operation({ id: documentId }, (current) => {
    if (current === undefined) throw new Error(`no document ${documentId}`);
    return { document: to(current), value: undefined };
  })]], now);
  if (result?.committed === false) throw result.reason;
}

/** Whole numbers from 0. */
export function count(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i);
}
