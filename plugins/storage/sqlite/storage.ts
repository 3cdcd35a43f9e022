import {
  type AdvanceRequest,
  type AdvanceResult,
  type Change,
  type Clock,
  type DocumentQuery,
  type Enlisted,
  type Group,
  type GroupResult,
  type LaneBacklog,
  MAX_PAGE,
  type ScheduleDocument,
  type Storage,
  type StorageContext,
  StorageError,
  type StorageSupports,
} from "../../../src/contract/mod.ts";
import { fileWrites } from "../file/file_writes.ts";
import { inspectRow } from "../sql/codec.ts";
import { columnText, fromColumnText } from "../sql/tables.ts";
import { readTransaction } from "../sql/transaction.ts";
import { ChangeWatch } from "./change_watch.ts";
import { Connection } from "./connection.ts";
import { databaseFile, type SqliteDatabaseLike } from "./database.ts";
import { columnList, Documents } from "./documents.ts";
import { EnlistedTransaction } from "./enlisted.ts";
import { ForeignWrites } from "./foreign_writes.ts";
import { fileGuard, openDatabase, prepareDatabase } from "./opening.ts";
import type { SqliteSettings } from "./options.ts";
import { ReadAhead } from "./read_ahead.ts";
import { compileStatements, type FindCondition, type FindParameters, type Statements } from "./statements.ts";
import { Writer } from "./writer.ts";

interface Opened {
  readonly connection: Connection;
  /** Random, and the same for everybody who has this store open. */
  readonly storeId: string;
  readonly watch: ChangeWatch | undefined;
  readonly documents: Documents;
  readonly writer: Writer;
  readonly readAhead: ReadAhead;
}

/** The SQLite store; see {@linkcode sqlite}. */
export class SqliteStorage implements Storage {
  readonly name: string = "sqlite";
  readonly supports: StorageSupports;
  readonly #settings: SqliteSettings;
  readonly #statements: Statements;
  #opened: Opened | undefined;

  constructor(settings: SqliteSettings) {
    this.#settings = settings;
    this.#statements = compileStatements(settings.tablePrefix);
    const { source } = settings;
    const isFile = "path" in source ? source.path !== ":memory:" : databaseFile(source.database) !== undefined;
    this.supports = { clock: false, enlist: true, push: isFile, processes: isFile, durable: isFile };
  }

  async open({ clock }: StorageContext): Promise<void> {
    if (this.#opened !== undefined) {
      throw new StorageError("sqlite: this store is open already; give each scheduler its own", { retryable: false });
    }
    const { source, busyTimeout } = this.#settings;
    const database = "database" in source ? source.database : await openDatabase(source.path);
    try {
      const file = databaseFile(database);
      const guard = file === undefined ? {} : { guard: await fileGuard(file) };
      const shared = "database" in source;
      const flushes = !shared && this.#settings.synchronous !== "normal";
      const connection = new Connection({ database, busyTimeout, shared, flushes, ...guard });
      this.#opened = await this.#assemble(connection, file, clock);
    } catch (error) {
      this.#release(database);
      throw error;
    }
  }

  async #assemble(connection: Connection, file: string | undefined, clock: Clock): Promise<Opened> {
    await prepareDatabase(connection, this.#settings, file);
    const { value: storeId } = await connection.retry(
      "reading the store's id",
      () => connection.get(this.#statements.storeId, {})!,
    );
    const documents = new Documents(connection, this.#statements);
    const foreign = new ForeignWrites(connection, this.#statements.versions);
    return {
      connection,
      documents,
      storeId,
      watch: file === undefined ? undefined : await this.#watch(file, foreign, clock),
      writer: new Writer({ connection, documents, clock, foreign, statements: this.#statements }),
      readAhead: new ReadAhead({
        clock,
        earliest: (lanes) => this.#earliest(connection, lanes),
        read: (lanes, by, limit) => documents.readAhead(lanes, by, limit),
      }),
    };
  }

  async #watch(file: string, foreign: ForeignWrites, clock: Clock): Promise<ChangeWatch> {
    const writes = await fileWrites(file);
    let mark: string | undefined;
    const changed = () => mark !== (mark = foreign.mark());
    return new ChangeWatch({ clock, changed, writes });
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    opened.watch?.close();
    opened.readAhead.close();
    await opened.writer.drain();
    this.#release(opened.connection.database);
  }

  // deno-lint-ignore require-await
  async now(fallback: number): Promise<number> {
    return fallback;
  }

  async advance<T>(
    { lanes, limit, now }: AdvanceRequest,
    step: (document: ScheduleDocument, now: number) => Change<T>,
  ): Promise<AdvanceResult<T>> {
    const earliest = await this.nextWake(lanes);
    const { connection, documents, writer, readAhead } = this.#use();
    if (earliest === null || earliest > now) {
      return { values: [], more: false, nextWake: earliest, now, damaged: [] };
    }
    const result = await writer.advance(() => {
      const { flush, values, damaged } = documents.step(lanes, limit, now, step);
      const nextWake = this.#earliest(connection, lanes);
      return { value: { values, damaged, more: nextWake !== null && nextWake <= now, nextWake, now }, flush };
    });
    readAhead.moved(result.values.length, lanes);
    return result;
  }

  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    if (this.#opened === undefined) return Promise.reject(notOpen());
    const { writer, readAhead } = this.#opened;
    const applied = writer.apply(groups, now);
    // Not for each of those that come one by one, which are the most.
    if (groups.length > 1) applied.then(() => readAhead.wrote(groups.length), () => {});
    return applied;
  }

  get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#read("reading a schedule", ({ connection }) => {
      const row = connection.get(this.#statements.whole, { id });
      return row === undefined ? undefined : inspectRow(row);
    });
  }

  find(query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    return this.#read("listing schedules", ({ connection }) => {
      const { conditions, parameters } = findArguments(query);
      return connection.all(this.#statements.find(conditions), parameters).map(inspectRow);
    });
  }

  nextWake(lanes: readonly string[]): Promise<number | null> {
    return this.#read("looking for the next deadline", ({ connection }) => this.#earliest(connection, lanes));
  }

  backlog(before: number, limit: number): Promise<readonly LaneBacklog[]> {
    return this.#read(
      "counting what is due",
      ({ connection }) =>
        connection.all(this.#statements.backlog, { before, limit }).map(({ lane, due, earliest }) => ({
          task: fromColumnText(lane),
          due,
          earliest,
        })),
    );
  }

  subscribe(listener: () => void): () => void {
    return this.#use().watch?.add(listener) ?? (() => {});
  }

  enlist(transaction: unknown): Enlisted {
    return new EnlistedTransaction(readTransaction(transaction), this.#statements, this.#use());
  }

  #earliest(connection: Connection, lanes: readonly string[]): number | null {
    let first: number | null = null;
    for (const { earliest } of connection.all(this.#statements.earliest, { lanes: columnList(lanes) })) {
      if (earliest !== null && (first === null || earliest < first)) first = earliest;
    }
    return first;
  }

  // Async so that a closed store is a rejection, as with any other driver.
  async #read<T>(doing: string, work: (opened: Opened) => T): Promise<T> {
    const opened = this.#use();
    return await opened.connection.retry(doing, () => work(opened));
  }

  #use(): Opened {
    if (this.#opened === undefined) throw notOpen();
    return this.#opened;
  }

  #release(database: SqliteDatabaseLike): void {
    if ("path" in this.#settings.source) database.close();
  }
}

function notOpen(): StorageError {
  return new StorageError("sqlite: the store is not open", { retryable: false });
}

function findArguments(query: DocumentQuery): { conditions: FindCondition[]; parameters: FindParameters } {
  const text = (value: string | undefined): string | null => value === undefined ? null : columnText(value);
  const parameters: FindParameters = {
    owner: text(query.owner),
    task: text(query.task),
    name: text(query.name),
    target: text(query.target),
    group: text(query.group),
    tag: text(query.tag),
    after: query.after ?? null,
    dueBefore: query.dueBefore ?? null,
    running: null,
    retired: null,
    foreign: null,
    limit: Math.min(query.limit, MAX_PAGE),
  };
  const conditions = (Object.keys(parameters) as (keyof FindParameters)[]).filter((key): key is FindCondition =>
    key !== "limit" && key !== "foreign" && query[key] !== undefined
  );
  if (query.owner !== undefined && query.owner !== "system") conditions.push("foreign");
  return { conditions, parameters };
}
