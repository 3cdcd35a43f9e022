import { type ScheduleDocument, StorageError, type Write } from "../../../src/contract/mod.ts";
import { encodeProgress, encodeRow } from "../sql/codec.ts";
import { columnText, type ScheduleRow } from "../sql/tables.ts";
import type { Session } from "./database.ts";
import type { RowState } from "./known.ts";
import type { Statements } from "./statements.ts";
import { arrayText, instantText } from "./values.ts";
import {
  type ColumnArrays,
  type MoveArrays,
  type Moved,
  PROGRESS_COLUMNS,
  ROW_COLUMNS,
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

/** Whether nothing but the progress changes. */
export function isMove(before: ScheduleDocument, after: ScheduleDocument): boolean {
  return before.definition === after.definition && before.parked === undefined && after.parked === undefined;
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
    const [row] = await session.run(statements.progress, { ...moveArrays(moved, places), ...told });
    rows = readMoved(row!);
    if (rows.size < moved.length) throw new StorageError("postgres: a row that was locked is not where it was");
  }
  if (changed.length > 0) await session.run(statements.update, { ...rowArrays(changed), ...told });
  if (created.length > 0) await session.run(statements.insert, { ...rowArrays(created), ...told });
  return rows;
}

/** The rows that a statement has moved, by id. */
export function readMoved({ version, places }: Moved): ReadonlyMap<string, RowState> {
  const entries = Object.entries(JSON.parse(places) as Record<string, string>);
  return new Map(entries.map(([id, place]) => [id, { version, place }]));
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
export function moveArrays(documents: readonly ScheduleDocument[], places: Places): MoveArrays {
  return {
    ...arrays(PROGRESS_COLUMNS, documents.map(encodeProgress)),
    places: arrayText(documents.map(({ id }) => places.get(id)!.place)),
  };
}

/** Whole documents, column by column. */
export function rowArrays(documents: readonly ScheduleDocument[]): ColumnArrays<ScheduleRow> {
  return arrays(ROW_COLUMNS, documents.map(encodeRow));
}

function arrays<Row>(columns: readonly (keyof Row & string)[], rows: readonly Row[]): ColumnArrays<Row> {
  return Object.fromEntries(
    columns.map((column) => [column, arrayText(rows.map((row) => columnValue(column, row[column])))]),
  ) as ColumnArrays<Row>;
}

function columnValue(column: string, value: unknown): string | number | boolean | null {
  if (value === null) return null;
  if (column === "live" || column === "running") return value === 1;
  if (column === "wake_at" || column === "next_run") return instantText(value as number);
  if (column === "tags") return arrayText(JSON.parse(value as string) as string[]);
  return value as string;
}
