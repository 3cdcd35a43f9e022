import { type ScheduleDocument, StorageError, type Write } from "../../../src/contract/mod.ts";
import { encodeRow, encodeStep } from "../sql/codec.ts";
import { columnText } from "../sql/tables.ts";
import type { Session } from "./database.ts";
import type { RowState } from "./known.ts";
import type { Statements } from "./statements.ts";
import { arrayText, instantText, listText, readList } from "./values.ts";
import {
  type ColumnLists,
  MOVE_COLUMNS,
  type Moved,
  type MoveLists,
  ROW_COLUMNS,
  type RowColumn,
  type Told,
} from "./write_statements.ts";

/** Documents to write, by how each is written. */
export interface PlannedWrites {
  readonly removed: readonly string[];
  readonly parked: readonly ScheduleDocument[];
  /** Whose definition stayed the same, so is not written again. */
  readonly moved: readonly ScheduleDocument[];
  readonly changed: readonly ScheduleDocument[];
  readonly created: readonly ScheduleDocument[];
}

/** How documents are written. */
export function planWrites(writes: readonly Write[]): PlannedWrites {
  const removed: string[] = [];
  const parked: ScheduleDocument[] = [];
  const moved: ScheduleDocument[] = [];
  const changed: ScheduleDocument[] = [];
  const created: ScheduleDocument[] = [];
  for (const { before, after } of writes) {
    if (after === null) removed.push(before!.id);
    else if (before === undefined) created.push(after);
    // What is parked keeps its texts, whatever they are, for a person to look at.
    else if (after.parked !== undefined) parked.push(after);
    else if (isMove(before, after)) moved.push(after);
    else changed.push(after);
  }
  return { removed, parked, moved, changed, created };
}

/** Whether nothing but the progress changes; one that came back to life would need its name again. */
export function isMove(before: ScheduleDocument, after: ScheduleDocument): boolean {
  return before.definition === after.definition && before.parked === undefined && after.parked === undefined &&
    (before.progress.retired === undefined || after.progress.retired !== undefined);
}

/** Where rows that are locked lie. */
export type Places = ReadonlyMap<string, { readonly place: string }>;

/**
 * Writes documents inside a transaction, what frees a name before what takes it; answers the rows that were moved as they
 * are now.
 */
export async function writeAll(
  session: Session,
  statements: Statements,
  { removed, parked, moved, changed, created }: PlannedWrites,
  places: Places,
  told: Told,
): Promise<ReadonlyMap<string, RowState>> {
  if (removed.length > 0) await session.run(statements.remove, { ids: arrayText(removed) });
  if (parked.length > 0) await park(session, statements, parked.map(({ id, parked }) => [id, parked!]));
  let rows: ReadonlyMap<string, RowState> = new Map();
  if (moved.length > 0) {
    const [row] = await session.run(statements.progress, { ...moveLists(moved, places), ...told });
    if (!row!.all) throw new StorageError("postgres: a row that was locked is not where it was");
    rows = readPlaces(row!);
  }
  if (changed.length > 0) await session.run(statements.update, { ...rowLists(changed), ...told });
  if (created.length > 0) await session.run(statements.insert, { ...rowLists(created), ...told });
  return rows;
}

/** The rows with a run that a statement has moved, by id. */
export function readPlaces({ version, places }: Moved): ReadonlyMap<string, RowState> {
  const items = readList(places);
  const rows = new Map<string, RowState>();
  for (let i = 0; i < items.length; i += 2) rows.set(items[i]!, { version, place: items[i + 1]! });
  return rows;
}

/** Parks rows as they are, saying why. */
export async function park(
  session: Session,
  statements: Statements,
  reasons: readonly (readonly [id: string, reason: string])[],
): Promise<void> {
  await session.run(statements.park, {
    ids: arrayText(reasons.map(([id]) => id)),
    // They quote what was found, so may hold what a column cannot.
    reasons: arrayText(reasons.map(([, reason]) => columnText(reason))),
  });
}

/** The progress of documents, column by column, and where their rows lie. */
export function moveLists(documents: readonly ScheduleDocument[], places: Places): MoveLists {
  const rows = documents.map((document) => ({
    ...encodeStep(document),
    live: document.progress.retired === undefined ? 1 : 0,
  }));
  return {
    ...lists(MOVE_COLUMNS, rows),
    places: listText(documents.map(({ id }) => places.get(id)!.place)),
    count: documents.length,
  };
}

/** Whole documents, column by column. */
export function rowLists(documents: readonly ScheduleDocument[]): ColumnLists<RowColumn> {
  return lists(ROW_COLUMNS, documents.map(encodeRow));
}

function lists<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, unknown>>[],
): ColumnLists<Column> {
  return Object.fromEntries(
    columns.map((column) => [column, listText(rows.map((row) => columnValue(column, row[column])))]),
  ) as ColumnLists<Column>;
}

function columnValue(column: string, value: unknown): string | null {
  if (value === null) return null;
  if (column === "live" || column === "running") return value === 1 ? "t" : "f";
  if (column === "wake_at" || column === "next_run") return instantText(value as number);
  if (column === "tags") return arrayText(JSON.parse(value as string) as string[]);
  // It quotes what was found.
  if (column === "parked") return columnText(value as string);
  return value as string;
}
