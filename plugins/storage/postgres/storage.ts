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
import { columnText, fromColumnText } from "../sql/tables.ts";
import { readTransaction } from "../sql/transaction.ts";
import { Claims } from "./claims.ts";
import { endsInTime } from "./closing.ts";
import { ANSWER_MS, CONNECT_MS, listenerFactory, openPool } from "./connecting.ts";
import type { Database } from "./database.ts";
import { DatabaseClock } from "./database_clock.ts";
import { DueFloor } from "./due_floor.ts";
import { EnlistedTransaction } from "./enlisted.ts";
import { isDisconnect } from "./errors.ts";
import { KnownDocuments } from "./known.ts";
import { KyselyDatabase } from "./kysely.ts";
import { migrate } from "./migrating.ts";
import type { PostgresSettings } from "./options.ts";
import { PoolDatabase } from "./pool.ts";
import { inspectWhole } from "./reading.ts";
import { compileStatements, type FindCondition, type FindParameters, type Statements } from "./statements.ts";
import { Subscribers } from "./subscribers.ts";
import { arrayText, instantText, readInstant } from "./values.ts";
import { Writer } from "./writer.ts";

interface Opened {
  readonly clock: Clock;
  readonly database: Database;
  /** Random, and the same for everybody who has this store open. */
  readonly storeId: string;
  readonly channel: string;
  readonly claims: Claims;
  readonly writer: Writer;
  readonly subscribers: Subscribers;
  /** Tells whoever listens to a channel. */
  tell(channel: string): Promise<unknown>;
  /** Calls under way, which closing waits for. */
  readonly calls: Set<Promise<unknown>>;
}

/** The PostgreSQL store; see {@linkcode postgres}. */
export class PostgresStorage implements Storage {
  readonly name: string = "postgres";
  readonly supports: StorageSupports = { clock: true, enlist: true, push: true, processes: true, durable: true };
  readonly #settings: PostgresSettings;
  readonly #statements: Statements;
  #opened: Opened | undefined;

  constructor(settings: PostgresSettings) {
    this.#settings = settings;
    this.#statements = compileStatements(settings);
  }

  async open(context: StorageContext): Promise<void> {
    if (this.#opened !== undefined) {
      throw new StorageError("postgres: this store is open already; give each scheduler its own", { retryable: false });
    }
    const database = await this.#connect(context);
    try {
      await migrate(database, this.#statements, this.#settings);
      const [row] = await database.run("reading the store's id", this.#statements.meta, { key: "store" });
      this.#opened = this.#assemble(database, row!.value, context);
    } catch (error) {
      await database.close(!isDisconnect(error));
      throw error;
    }
  }

  async #connect({ clock, logger }: StorageContext): Promise<Database> {
    const { source } = this.#settings;
    const shared = { acquireMs: CONNECT_MS, answerMs: ANSWER_MS, clock, logger };
    if ("kysely" in source) return new KyselyDatabase({ ...shared, kysely: source.kysely });
    if ("pool" in source) return new PoolDatabase({ ...shared, pool: source.pool });
    const own = await openPool(source.url, source.poolSize);
    return new PoolDatabase({ ...shared, pool: own.pool, own });
  }

  #assemble(database: Database, storeId: string, { clock, logger }: StorageContext): Opened {
    const { source, listen, pollMs } = this.#settings;
    const statements = this.#statements;
    const known = new KnownDocuments();
    const time = new DatabaseClock(clock);
    const floor = new DueFloor(clock, () => subscribers.isListening);
    const sender = crypto.randomUUID();
    const channel = `ostinato ${storeId}`;
    const tell = (channel: string) => database.run("telling others", statements.notify, { channel, sender });
    const connect = listenerFactory(source, listen);
    if (connect === undefined && listen !== false) {
      logger.info(
        `postgres: what other instances change is noticed every ${pollMs} ms; give listen: "postgres://…" to have it told at once`,
      );
    }
    const subscribers = new Subscribers({
      connect,
      channel,
      tell,
      sender,
      pollMs,
      told: () => floor.reset(),
      clock,
      logger,
    });
    return {
      clock,
      database,
      storeId,
      channel,
      claims: new Claims({ database, statements, known, sender, time, floor, clock }),
      writer: new Writer(clock, time, { database, statements, known, floor, channel, sender }),
      subscribers,
      tell,
      calls: new Set(),
    };
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    const { subscribers, writer, claims, calls, database, clock, channel, tell } = opened;
    const written = writer.drain().then(() => Promise.allSettled(calls)).then(() =>
      // What it would have looked after is for others now, who may not know when it is due.
      claims.haveMoved ? tell(channel).catch(() => {}) : undefined
    );
    // The server is real, also where time is a test's, which must not pass meanwhile.
    const done = clock.busy?.();
    try {
      const [answers] = await Promise.all([endsInTime(clock, written), subscribers.close()]);
      await database.close(answers);
    } finally {
      done?.();
    }
  }

  now(): Promise<number> {
    return this.#call(async ({ database }) => {
      const [row] = await database.run("reading the time", this.#statements.clock, {});
      return readInstant(row!.now)!;
    });
  }

  advance<T>(
    request: AdvanceRequest,
    step: (document: ScheduleDocument, now: number) => Change<T>,
    moved?: (values: readonly T[], now: number) => void,
  ): Promise<AdvanceResult<T>> {
    return this.#call(({ claims }) => claims.advance(request, step, moved));
  }

  apply<T>(groups: readonly Group<T>[]): Promise<readonly GroupResult<T>[]> {
    return this.#call(({ writer }) => writer.apply(groups));
  }

  get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#call(async ({ database }) => {
      const [row] = await database.run("reading a schedule", this.#statements.whole, {
        ids: arrayText([columnText(id)]),
      });
      return row === undefined ? undefined : inspectWhole(row);
    });
  }

  find(query: DocumentQuery): Promise<readonly ScheduleDocument[]> {
    return this.#call(async ({ database }) => {
      const { conditions, parameters } = findArguments(query);
      const rows = await database.run("listing schedules", this.#statements.find(conditions), parameters);
      return rows.map(inspectWhole);
    });
  }

  nextWake(lanes: readonly string[]): Promise<number | null> {
    return this.#call(async ({ claims }) => (await claims.earliest(lanes.map(columnText))).earliest);
  }

  backlog(before: number, limit: number): Promise<readonly LaneBacklog[]> {
    return this.#call(async ({ database }) => {
      const values = { before: instantText(before), limit };
      const rows = await database.run("counting what is due", this.#statements.backlog, values);
      return rows.map(({ lane, due, earliest }) => ({
        task: fromColumnText(lane),
        due: Number(due),
        earliest: readInstant(earliest)!,
      }));
    });
  }

  subscribe(listener: () => void): () => void {
    return this.#use().subscribers.add(listener);
  }

  enlist(transaction: unknown): Enlisted {
    const { storeId, channel } = this.#use();
    return new EnlistedTransaction(readTransaction(transaction), { statements: this.#statements, storeId, channel });
  }

  /** Async so that a closed store is a rejection, and remembered so that closing waits. */
  async #call<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    const opened = this.#use();
    const call = work(opened);
    opened.calls.add(call);
    try {
      return await call;
    } finally {
      opened.calls.delete(call);
    }
  }

  #use(): Opened {
    if (this.#opened === undefined) throw new StorageError("postgres: the store is not open", { retryable: false });
    return this.#opened;
  }
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
    after: text(query.after),
    dueBefore: query.dueBefore === undefined ? null : instantText(query.dueBefore),
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
