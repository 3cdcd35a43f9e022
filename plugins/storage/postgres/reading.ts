import type { ScheduleDocument } from "../../../src/contract/mod.ts";
import { decodeRow, inspectRow } from "../sql/codec.ts";
import type { ScheduleRow } from "../sql/tables.ts";
import type { Session } from "./database.ts";
import type { LookupParameters, Statements, WorkRow } from "./statements.ts";
import { arrayText, readInstant } from "./values.ts";

/** Documents that are locked until the transaction ends, and the time at which the last of them was. */
export interface Held {
  readonly documents: readonly ScheduleDocument[];
  /** The stored rows by id. */
  readonly rows: ReadonlyMap<string, WorkRow>;
  readonly now: number;
}

/** Looks up and locks documents; without anything to look up, reads the time. */
export async function hold(
  session: Session,
  statements: Statements,
  wanted: LookupParameters | undefined,
): Promise<Held> {
  if (wanted === undefined) {
    const [row] = await session.run(statements.clock, {});
    return { documents: [], rows: new Map(), now: readInstant(row!.now)! };
  }
  const rows = await session.run(statements.lookup, wanted);
  const documents: ScheduleDocument[] = [];
  const held = new Map<string, WorkRow>();
  const damaged: string[] = [];
  for (const row of rows.filter(isFound)) {
    held.set(row.id, row);
    const { document } = decodeRow(row);
    if (document === undefined) damaged.push(row.id);
    else documents.push(document);
  }
  if (damaged.length > 0) {
    const whole = await session.run(statements.whole, { ids: arrayText(damaged) });
    documents.push(...whole.map(inspectWhole));
  }
  return { documents, rows: held, now: readInstant(rows.at(-1)!.now)! };
}

/** Whether a row is one, and not the time alone. */
export function isFound<R extends { readonly id: string | null }>(row: R): row is Extract<R, WorkRow> {
  return row.id !== null;
}

/** The document of a row for whoever inspects it, whatever a driver makes of numbers. */
export function inspectWhole(row: ScheduleRow): ScheduleDocument {
  return inspectRow({
    ...row,
    wake_at: readInstant(row.wake_at),
    next_run: readInstant(row.next_run),
    live: Number(row.live),
    running: Number(row.running),
  });
}
