import { type ScheduleDocument, StorageError, type Write } from "../../../src/contract/mod.ts";
import { encodeRow, encodeStep } from "../sql/codec.ts";
import { columnText } from "../sql/tables.ts";
import type { Session } from "./database.ts";
import type { RowState } from "./known.ts";
import type { Statements } from "./statements.ts";
import { arrayText, commonText, fullListText, instantText, listText, readList } from "./values.ts";
import {
  type ColumnLists,
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

/** Where rows lie. */
export interface Places {
  get(id: string): Pick<RowState, "place"> | undefined;
}

/**
 * Readies documents to be written inside a transaction, what frees a name before what takes it. What it answers sends them,
 * and answers the rows with a run that were moved as they are then.
 */
export function readied(
  statements: Statements,
  { removed, parked, moved, changed, created }: PlannedWrites,
  places: Places,
  told: Told,
): (session: Session) => Promise<ReadonlyMap<string, RowState>> {
  const moves = moved.length > 0 ? moveLists(moved, places) : undefined;
  const [changes, creations] = [changed, created].map((rows) => rows.length > 0 ? rowLists(rows) : undefined);
  return async (session) => {
    if (removed.length > 0) await session.run(statements.remove, { ids: arrayText(removed) });
    if (parked.length > 0) await park(session, statements, parked.map(({ id, parked }) => [id, parked!]));
    const [row] = moves === undefined ? [] : await session.run(statements.progress, { ...moves, ...told });
    if (row?.all === false) throw new StorageError("postgres: a row that was locked is not where it was");
    if (changes !== undefined) await session.run(statements.update, { ...changes, ...told });
    if (creations !== undefined) await session.run(statements.insert, { ...creations, ...told });
    return row === undefined ? new Map() : readMoved(row, moved).rows;
  };
}

/** What a statement has moved of the documents it was sent, and by id the rows of those with a run. */
export interface MovedDocuments {
  readonly documents: readonly ScheduleDocument[];
  readonly rows: ReadonlyMap<string, RowState>;
}

/** Reads what became of documents that were sent to be moved. */
export function readMoved(
  { version, places, written, all }: Moved,
  sent: readonly ScheduleDocument[],
): MovedDocuments {
  const documents = all ? sent : readList(written).map((n) => sent[Number(n) - 1]!);
  const rows = new Map<string, RowState>();
  const found = readList(places).values();
  for (const { id, progress } of documents) {
    if (progress.runs.length > 0) rows.set(id, { version, place: found.next().value! });
  }
  return { documents, rows };
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
  const rows = documents.map(encodeStep);
  return {
    id: fullListText(rows.map(({ id }) => id)),
    wake_at: commonText(rows.map(({ wake_at }) => wake_at), instantText),
    next_run: commonText(rows.map(({ next_run }) => next_run), instantText),
    live: commonText(documents.map(({ progress }) => progress.retired === undefined), flag),
    running: commonText(rows.map(({ running }) => running === 1), flag),
    progress: fullListText(rows.map(({ progress }) => progress)),
    places: fullListText(documents.map(({ id }) => places.get(id)!.place)),
    count: documents.length,
  };
}

/** The versions of rows, in the same order. */
export function versionList(
  documents: readonly ScheduleDocument[],
  rows: { get(id: string): Pick<RowState, "version"> | undefined },
): string | null {
  return commonText(documents.map(({ id }) => rows.get(id)!.version), (version) => version);
}

/** A whole document, for a statement that writes a single row. */
export function rowValues(document: ScheduleDocument): ColumnLists<RowColumn | "lane"> {
  const row = encodeRow(document);
  const values = ROW_COLUMNS.map((column) => [column, columnValue(column, row[column])]);
  return { ...Object.fromEntries(values) as ColumnLists<RowColumn>, lane: row.lane };
}

/** Whole documents, column by column. */
export function rowLists(documents: readonly ScheduleDocument[]): ColumnLists<RowColumn> {
  const rows = documents.map(encodeRow);
  return Object.fromEntries(
    ROW_COLUMNS.map((column) => [column, listText(rows.map((row) => columnValue(column, row[column])))]),
  ) as ColumnLists<RowColumn>;
}

function columnValue(column: RowColumn, value: string | number | null): string | null {
  if (value === null) return null;
  if (column === "live" || column === "running") return flag(value === 1);
  if (column === "wake_at" || column === "next_run") return instant(value as number);
  if (column === "tags") return arrayText(JSON.parse(value as string) as string[]);
  // It quotes what was found.
  if (column === "parked") return columnText(value as string);
  return value as string;
}

function flag(set: boolean): string {
  return set ? "t" : "f";
}

function instant(ms: number | null): string | null {
  return ms === null ? null : instantText(ms);
}
