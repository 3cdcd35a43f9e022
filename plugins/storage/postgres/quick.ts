import type { Group } from "../../../src/contract/mod.ts";
import { BATCH_LOCK_MS, type CommitsOptions } from "./commits.ts";
import type { DatabaseClock } from "./database_clock.ts";
import { decideAll, type Decided, remember } from "./decisions.ts";
import type { Decision } from "./desk.ts";
import { isUnanswered } from "./errors.ts";
import { toldOf } from "./hints.ts";
import type { Pending } from "./jobs.ts";
import type { KnownDocument } from "./known.ts";
import { readInstant } from "./values.ts";
import { isMove, type MovedDocuments, moveLists, readMoved, rowLists, rowValues, versionList } from "./writes.ts";

const DOING = "writing schedules";

type Decisions = readonly (readonly [Pending, Decision])[];

/**
 * The two kinds of groups that come in thousands, each by a single statement without a transaction around it: creations,
 * which read nothing, and changes of a document that this handle wrote last, above all settlements and renewals, which
 * hold only if nobody has written it since.
 */
export class QuickCommits {
  readonly #options: CommitsOptions;
  readonly #clock: DatabaseClock;

  constructor(clock: DatabaseClock, options: CommitsOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Commits groups if all are of those kinds; answers the ones that are left to be decided on what is really stored. */
  async commit(pendings: readonly Pending[]): Promise<readonly Pending[]> {
    // As they are now: while the time is asked for, others of this handle may write them.
    const known = this.#knownOf(pendings);
    if (known === undefined) return pendings;
    const now = this.#clock.read() ?? await this.#ask();
    const documents = [...known.values()].map(({ document }) => document);
    const decided = decideAll(pendings, { documents, rows: new Map(), now });
    const [creating, changing]: [Pending, Decision][][] = [[], []];
    for (const [pending, decision] of decided.decisions) {
      if (!isCreation(pending.group)) changing!.push([pending, decision]);
      else if (decision.ids.length > 0) creating!.push([pending, decision]);
      else pending.settle(decision.result);
    }
    const wrote = this.#options.floor.writing();
    const left = await Promise.all([
      this.#create(decided, creating!, now),
      this.#change(decided, changing!, now, known),
    ]);
    wrote(decided.writes, now);
    return left.flat();
  }

  async #ask(): Promise<number> {
    const { database, statements } = this.#options;
    const [row] = await database.run("reading the time", statements.clock, {});
    return this.#answered(row!.now);
  }

  #answered(time: unknown): number {
    const now = readInstant(time)!;
    this.#clock.answered(now);
    return now;
  }

  /** The documents that groups are about, by id; undefined if one is not known, or a group is of another kind. */
  #knownOf(pendings: readonly Pending[]): ReadonlyMap<string, KnownDocument> | undefined {
    const documents = new Map<string, KnownDocument>();
    for (const { group } of pendings) {
      if (isCreation(group)) continue;
      const select = group.length === 1 ? group[0]!.select : null;
      const known = select !== null && "id" in select ? this.#options.known.get(select.id) : undefined;
      if (known === undefined) return undefined;
      documents.set(known.document.id, known);
    }
    return documents;
  }

  async #create(decided: Decided, creating: Decisions, now: number): Promise<readonly Pending[]> {
    if (creating.length === 0) return [];
    const { database, statements } = this.#options;
    const writes = decided.writes.filter(({ before }) => before === undefined);
    try {
      const told = toldOf(writes, now, this.#options);
      const documents = writes.map(({ after }) => after!);
      if (documents.length === 1) {
        const statement = told.channel === null ? statements.insertOne : statements.insertTold;
        await database.run(DOING, statement, { ...rowValues(documents[0]!), ...told });
      } else {
        const [row] = await database.run(DOING, statements.insert, { ...rowLists(documents), ...told });
        this.#answered(row!.now);
      }
    } catch (error) {
      return left(creating, decided, error);
    }
    for (const [pending, { result }] of creating) pending.settle(result);
    return [];
  }

  /** Writes on the condition that each row is as it was when its document was decided on. */
  async #change(
    decided: Decided,
    changing: Decisions,
    now: number,
    rows: ReadonlyMap<string, KnownDocument>,
  ): Promise<readonly Pending[]> {
    const { database, statements, known } = this.#options;
    const writes = decided.writes.filter(({ before, after }) =>
      before !== undefined && after !== null && isMove(before, after)
    );
    if (writes.length === 0) return changing.map(([pending]) => pending);
    const documents = writes.map(({ after }) => after!);
    let moved: MovedDocuments;
    try {
      const told = toldOf(writes, now, this.#options);
      const lists = { ...moveLists(documents, rows), version: versionList(documents, rows) };
      const values = { ...lists, lockMs: `${BATCH_LOCK_MS}`, ...told };
      const [row] = await database.run(DOING, statements.progressAt, values);
      this.#answered(row!.now);
      moved = readMoved(row!, documents);
      for (const document of documents) known.wrote(document.id, document, moved.rows.get(document.id));
    } catch (error) {
      for (const { id } of documents) known.forget(id);
      return left(changing, decided, error);
    }
    const written = new Set(moved.documents.map(({ id }) => id));
    const rest: Pending[] = [];
    for (const [pending, { result, ids }] of changing) {
      if (ids.length > 0 && ids.every((id) => written.has(id))) pending.settle(result);
      else rest.push(pending);
    }
    return rest;
  }
}

/** All of them, with what may have been stored nevertheless. */
function left(some: Decisions, { writes }: Decided, error: unknown): readonly Pending[] {
  if (isUnanswered(error)) remember({ decisions: new Map(some), writes });
  return some.map(([pending]) => pending);
}

function isCreation(group: Group): boolean {
  return group.every(({ select }) => select === null);
}
