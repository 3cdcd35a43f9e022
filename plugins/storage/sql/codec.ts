import {
  checkDocument,
  documentIndex,
  nextRunOf,
  readProgress,
  RESTING_PROGRESS,
  type ScheduleDefinition,
  type ScheduleDocument,
  writeProgress,
} from "../../../src/contract/mod.ts";
import type { Definitions } from "./definitions.ts";
import { columnText, fromColumnText, type ScheduleRow } from "./tables.ts";

/** The columns that a document is read from. */
export type StoredTexts = Pick<ScheduleRow, "id" | "definition" | "progress" | "parked">;

/** The columns that change while a schedule lives and is to be looked at no sooner and no later than before. */
export type StayColumns = Pick<ScheduleRow, "id" | "next_run" | "running" | "progress">;

/** The columns that change while a schedule lives. */
export type StepColumns = StayColumns & Pick<ScheduleRow, "wake_at">;

/** The columns that change when a schedule retires, too. */
export type ProgressColumns = StepColumns & Pick<ScheduleRow, "lane" | "name" | "dedupe_key" | "live">;

/** What a row holds when it is read, or why it cannot be used. */
export type Decoded =
  | { readonly document: ScheduleDocument; readonly damage?: undefined }
  | { readonly document?: undefined; readonly damage: string };

/** A whole row from a document. */
export function encodeRow(document: ScheduleDocument): ScheduleRow {
  const { definition } = document;
  return {
    ...encodeProgress(document),
    task: columnText(definition.task),
    owner: columnText(definition.owner),
    grp: nullable(definition.group),
    target: nullable(definition.target),
    tags: definition.tags === undefined ? null : JSON.stringify(definition.tags.map(columnText)),
    definition: JSON.stringify(definition),
    parked: document.parked ?? null,
  };
}

/** The columns to write when neither the definition has changed nor whether it is parked or retired. */
export function encodeStep(document: ScheduleDocument): StepColumns {
  const { id, progress } = document;
  return {
    id,
    wake_at: wholeMs(progress.wakeAt),
    next_run: wholeMs(nextRunOf(document)),
    running: progress.runs.length > 0 ? 1 : 0,
    progress: writeProgress(progress),
  };
}

/** The columns to write when the definition has not changed. */
export function encodeProgress(document: ScheduleDocument): ProgressColumns {
  const index = documentIndex(document);
  return {
    ...encodeStep(document),
    wake_at: wholeMs(index.wakeAt),
    lane: index.lane === null ? null : columnText(index.lane),
    name: index.name === null ? null : columnText(index.name),
    dedupe_key: index.key === null ? null : columnText(index.key),
    live: index.live ? 1 : 0,
  };
}

/** A column holds whole milliseconds; rounded up, since nothing may happen before its time. */
function wholeMs(instant: number | null): number | null {
  return instant === null ? null : Math.ceil(instant);
}

/** The document of a row, checked; its definition need not be parsed where it is known. */
export function decodeRow(row: StoredTexts, known?: Definitions): Decoded {
  try {
    const before = known?.get(row.id, row.definition);
    const definition = before ?? JSON.parse(row.definition) as ScheduleDefinition;
    const read = { id: row.id, definition, progress: readProgress(row.progress) };
    const document = checkDocument(row.parked === null ? read : { ...read, parked: row.parked }, before);
    if (before === undefined) known?.set(row.id, row.definition, definition);
    return { document };
  } catch (error) {
    return { damage: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * The document of a row for whoever inspects it: one that cannot be read is made up from what the columns still tell,
 * and says in `parked` why.
 */
export function inspectRow(row: ScheduleRow): ScheduleDocument {
  const { document, damage } = decodeRow(row);
  if (document !== undefined) return document;
  const progress = row.live === 1 ? RESTING_PROGRESS : { ...RESTING_PROGRESS, retired: { at: 0, reason: "failed" } };
  return { id: row.id, definition: remains(row), progress, parked: row.parked ?? damage };
}

/** What the columns tell of a definition. It never fires: it is only seen parked. */
function remains(row: ScheduleRow): ScheduleDefinition {
  const text = <K extends string>(key: K, column: string | null): { readonly [P in K]?: string } =>
    (column === null ? {} : { [key]: fromColumnText(column) }) as { readonly [P in K]?: string };
  const owner = fromColumnText(row.owner);
  return {
    task: fromColumnText(row.task),
    spec: { kind: "at", at: row.next_run ?? row.wake_at ?? 0 },
    options: {},
    owner,
    authority: { id: owner },
    ...text("name", row.name),
    ...text("key", row.dedupe_key),
    ...text("group", row.grp),
    ...text("target", row.target),
    adaptive: false,
    retention: 0,
    history: 0,
    createdAt: 0,
  };
}

function nullable(text: string | undefined): string | null {
  return text === undefined ? null : columnText(text);
}
