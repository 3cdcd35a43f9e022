import type { ScheduleDocument, Write } from "../../../src/contract/mod.ts";
import { encodeProgress, encodeRow, encodeStep } from "../sql/codec.ts";
import type { Statement } from "../sql/statement.ts";
import type { SqlRow } from "./database.ts";
import type { Statements } from "./statements.ts";

/** A statement with what to bind to it. */
export interface PlannedWrite {
  readonly statement: Statement<SqlRow>;
  readonly values: SqlRow;
}

/** How one document's change is written: what stayed the same is not written again, nor are its indexes touched. */
export function planWrite(statements: Statements, { before, after }: Write): PlannedWrite {
  if (after === null) return planned(statements.remove, { id: before!.id });
  if (before === undefined) return planned(statements.insert, encodeRow(after));
  // What is parked keeps its texts, whatever they are, for a person to look at.
  if (after.parked !== undefined) return planned(statements.park, { id: after.id, parked: after.parked });
  if (before.definition !== after.definition || before.parked !== undefined) {
    return planned(statements.update, encodeRow(after));
  }
  if (isRetired(before) !== isRetired(after)) return planned(statements.progress, encodeProgress(after));
  // Where nothing else has changed either, the columns were edited by hand and are written anew.
  const stays = before !== after && before.progress.wakeAt === after.progress.wakeAt;
  return planned(stays ? statements.stay : statements.step, encodeStep(after));
}

function isRetired({ progress }: ScheduleDocument): boolean {
  return progress.retired !== undefined;
}

/** The ids of what a group stores. */
export function idsOf(writes: readonly Write[]): readonly string[] {
  return writes.flatMap(({ after }) => after?.id ?? []);
}

function planned<P extends SqlRow>(statement: Statement<P>, values: P): PlannedWrite {
  return { statement: statement as unknown as Statement<SqlRow>, values };
}
