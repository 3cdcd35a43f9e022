import { type Change, isDue, type ScheduleDocument, type Write } from "../../../src/contract/mod.ts";
import { decodeRow } from "../sql/codec.ts";
import type { WorkRow } from "./statements.ts";

/** Moves a document that is due. */
export type Step<T> = (document: ScheduleDocument, now: number) => Change<T>;

/** What the step says of some of the documents. */
export interface SteppedPiece<T> {
  readonly values: readonly T[];
  /** Of the documents that the values are about. */
  readonly ids: readonly string[];
  readonly writes: readonly Write[];
}

/** What the step says of documents. */
export class Stepped<T> {
  readonly unreadable: (readonly [id: string, reason: string])[] = [];
  /** Characters stored of each document. */
  readonly sizes = new Map<string, number>();
  /** The earliest `wakeAt` of what was found, after its step. */
  earliest = Infinity;
  readonly #now: number;
  readonly #step: Step<T>;
  readonly #withRetired: boolean;

  constructor(now: number, step: Step<T>, withRetired: boolean) {
    this.#now = now;
    this.#step = step;
    this.#withRetired = withRetired;
  }

  /** Applies the step to further documents. */
  add(rows: readonly WorkRow[]): SteppedPiece<T> {
    const piece = { values: [], ids: [], writes: [] };
    for (const row of rows) this.#add(row, piece);
    return piece;
  }

  #add(row: WorkRow, { values, ids, writes }: { values: T[]; ids: string[]; writes: Write[] }): void {
    const { document: before, damage } = decodeRow(row);
    if (before === undefined) return void this.unreadable.push([row.id, damage]);
    const { document, value, reject } = this.#step(before, this.#now);
    values.push(value);
    ids.push(row.id);
    const after = reject === undefined && document !== undefined ? document : before;
    // One that was left alone and is not due had a column edited by hand, and gets it back.
    if (after !== before || !isDue(before, this.#now)) writes.push({ before, after });
    const stays = after !== null && after.parked === undefined &&
      (this.#withRetired || after.progress.retired === undefined);
    if (stays) this.earliest = Math.min(this.earliest, after.progress.wakeAt ?? Infinity);
    this.sizes.set(row.id, row.definition.length + row.progress.length);
  }
}
