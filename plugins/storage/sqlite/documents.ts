import {
  type Change,
  type Damaged,
  evaluateGroup,
  type Group,
  type GroupResult,
  isDue,
  MAX_ADVANCE,
  MAX_CACHED_CHARACTERS,
  type ScheduleDocument,
  type SchedulerError,
  type Selector,
  type Write,
} from "../../../src/contract/mod.ts";
import { type Decoded, decodeRow, inspectRow, type StoredTexts } from "../sql/codec.ts";
import { Definitions } from "../sql/definitions.ts";
import { columnText, fromColumnText } from "../sql/tables.ts";
import { conflictOf } from "../sql/transaction.ts";
import type { Connection, Flush } from "./connection.ts";
import type { SqlValue } from "./database.ts";
import { DocumentCache } from "./document_cache.ts";
import { isUniqueConflict } from "./errors.ts";
import type { DueParameters, Statements } from "./statements.ts";
import { idsOf, planWrite } from "./writes.ts";

/** Of each lane, however many are due. */
const LEAST_PER_LANE = 16;

/** What {@linkcode Documents.step} did. */
export interface Stepped<T> {
  readonly values: readonly T[];
  readonly damaged: readonly Damaged[];
  /** When the disk has to have it. */
  readonly flush: Flush;
}

/** Reads and writes documents inside a transaction that somebody else has begun and will end. Synchronous. */
export class Documents {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #cache = new DocumentCache(MAX_CACHED_CHARACTERS);
  readonly #definitions = new Definitions();
  /** Documents that are due next may be in the cache. */
  #readAhead = false;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  /** To be called when somebody else may have written, or when what was written is rolled back. */
  forget(): void {
    this.#cache.clear();
    this.#readAhead = false;
  }

  /** Applies one group; `savepoint` leaves the transaction usable when a name, a key or an id is taken. */
  apply<T>(group: Group<T>, now: number, savepoint: boolean): GroupResult<T> {
    const evaluation = evaluateGroup(group, (select) => this.#read(select), now);
    if (!evaluation.committed) return evaluation;
    const refusal = savepoint ? this.#writeApart(evaluation.writes) : this.#writeAll(evaluation.writes);
    if (refusal !== undefined) return { committed: false, reason: refusal };
    return { committed: true, values: evaluation.values };
  }

  /**
   * Applies a step to what is due in the lanes, and parks what cannot be read. A power cut may take what was claimed:
   * it is due again then, as after any loss; but not where a second run is worse than none.
   */
  step<T>(
    lanes: readonly string[],
    limit: number,
    now: number,
    step: (document: ScheduleDocument, now: number) => Change<T>,
  ): Stepped<T> {
    const values: T[] = [];
    const damaged: Damaged[] = [];
    let flush: Flush = "later";
    for (
      const { id, document: before, damage, definitionSize } of this.#due(lanes, Math.min(limit, MAX_ADVANCE), now)
    ) {
      if (before === undefined) {
        damaged.push({ id, ...this.#park(id, damage) });
        continue;
      }
      const { document, value, reject } = step(before, now);
      values.push(value);
      if (reject !== undefined) continue;
      if (document !== undefined) {
        this.#write({ before, after: document }, definitionSize);
        if (document?.definition.onLost === "fault") flush = "now";
      } else if (!isDue(before, now)) this.#write({ before, after: before }); // its wake_at was edited by hand
    }
    return { values, damaged, flush };
  }

  /** Reads what will be due in the lanes by an instant, so that it need not be read then. */
  readAhead(lanes: readonly string[], by: number, limit: number): void {
    const wanted = this.#wanted(lanes, limit, by);
    if (wanted === undefined) return;
    for (const row of this.#connection.all(this.#statements.due, wanted)) {
      const { document, definitionSize } = this.#found(row);
      const isNew = document !== undefined && definitionSize !== undefined;
      if (isNew) this.#cache.set(document, row.progress.length, definitionSize);
    }
    this.#readAhead = true;
  }

  #due(lanes: readonly string[], limit: number, now: number): readonly Found[] {
    const wanted = this.#wanted(lanes, limit, now);
    if (wanted === undefined) return [];
    const { due, dueIds } = this.#statements;
    if (!this.#readAhead) return this.#connection.all(due, wanted).map((row) => this.#found(row));
    this.#readAhead = false;
    return this.#connection.all(dueIds, wanted).map(({ id }) => {
      const document = this.#cache.get(id);
      return document === undefined
        ? this.#found(this.#connection.get(this.#statements.byId, { id })!)
        : { id, document };
    });
  }

  #found(row: StoredTexts): Found {
    const { id } = row;
    const document = this.#cache.get(id);
    return document === undefined
      ? { id, ...decodeRow(row, this.#definitions), definitionSize: row.definition.length }
      : { id, document };
  }

  /** What to look for; undefined where nothing is due. */
  #wanted(lanes: readonly string[], limit: number, now: number): DueParameters | undefined {
    const { earliest } = this.#statements;
    const waiting = this.#connection.all(earliest, { lanes: columnList(lanes) })
      .filter((lane) => lane.earliest !== null && lane.earliest <= now).map(({ lane }) => lane);
    if (waiting.length === 0) return undefined;
    const perLane = waiting.length === 1 ? limit : Math.max(Math.ceil(2 * limit / waiting.length), LEAST_PER_LANE);
    return { lanes: JSON.stringify(waiting), now, perLane, limit };
  }

  #read(select: Exclude<Selector, null>): ScheduleDocument | undefined {
    const { byId, byName, byKey } = this.#statements;
    if ("id" in select) {
      const known = this.#cache.get(select.id);
      return known ?? this.#current(this.#connection.get(byId, select));
    }
    const owner = columnText(select.owner);
    return this.#current(
      "name" in select
        ? this.#connection.get(byName, { owner, name: columnText(select.name) })
        : this.#connection.get(byKey, { owner, key: columnText(select.key) }),
    );
  }

  #current(row: StoredTexts | undefined): ScheduleDocument | undefined {
    if (row === undefined) return undefined;
    const known = this.#cache.get(row.id);
    if (known !== undefined) return known;
    const { document } = decodeRow(row);
    if (document === undefined) return inspectRow(this.#connection.get(this.#statements.whole, { id: row.id })!);
    if (isInHand(document)) this.#cache.set(document, row.progress.length, row.definition.length);
    return document;
  }

  #park(id: string, error: string): { readonly task: string; readonly error: string } {
    this.#connection.run(this.#statements.park, { id, parked: error });
    const row = this.#connection.get(this.#statements.whole, { id })!;
    return { task: fromColumnText(row.task), error };
  }

  #writeApart(writes: readonly Write[]): SchedulerError | undefined {
    const { database } = this.#connection;
    database.exec("savepoint one_group");
    try {
      this.#writeAll(writes);
      return undefined;
    } catch (error) {
      if (!isUniqueConflict(error)) throw error;
      database.exec("rollback to one_group");
      this.#cache.clear();
      return conflictOf(idsOf(writes), error);
    } finally {
      database.exec("release one_group");
    }
  }

  #writeAll(writes: readonly Write[]): undefined {
    for (const write of writes) this.#write(write);
  }

  #write(write: Write, definitionSize?: number): void {
    const { statement, values } = planWrite(this.#statements, write);
    this.#connection.run(statement, values);
    const { before, after } = write;
    if (before === undefined) return;
    if (after === null || !isInHand(after)) this.#cache.delete(before.id);
    else this.#cache.set(after, lengthOf(values["progress"])!, lengthOf(values["definition"]) ?? definitionSize);
  }
}

/** A run of it will soon be settled. What waits for its next deadline would only fill the memory until then. */
function isInHand({ progress, parked }: ScheduleDocument): boolean {
  return progress.runs.length > 0 && progress.retired === undefined && parked === undefined;
}

function lengthOf(text: SqlValue | undefined): number | undefined {
  return typeof text === "string" ? text.length : undefined;
}

type Found = Decoded & { readonly id: string; readonly definitionSize?: number };

/** Lanes as a JSON array of column texts, each once, for `json_each`. */
export function columnList(lanes: readonly string[]): string {
  return JSON.stringify([...new Set(lanes)].map(columnText));
}
