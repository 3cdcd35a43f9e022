import { CompiledQuery } from "kysely";
import {
  type Enlisted,
  evaluateGroup,
  type Group,
  type GroupResult,
  type ScheduleDocument,
  SchedulerError,
  type Selector,
  type Write,
} from "../../../src/contract/mod.ts";
import { decodeRow, inspectRow } from "../sql/codec.ts";
import { bind, type Statement } from "../sql/statement.ts";
import { columnText } from "../sql/tables.ts";
import { conflictOf, foreignTransaction, inTurn, type TransactionLike } from "../sql/transaction.ts";
import type { Connection } from "./connection.ts";
import { isBusy, isUniqueConflict, messageOf, storageError } from "./errors.ts";
import type { Statements } from "./statements.ts";
import { idsOf, planWrite } from "./writes.ts";

/** What the transaction must be on. */
export interface EnlistingStore {
  readonly storeId: string;
  readonly connection: Connection;
}

/** The store's writes inside a transaction of the application's own Kysely, on whatever connection it has. */
export class EnlistedTransaction implements Enlisted {
  readonly #transaction: TransactionLike;
  readonly #statements: Statements;
  readonly #store: EnlistingStore;
  #checked = false;

  constructor(transaction: TransactionLike, statements: Statements, store: EnlistingStore) {
    this.#transaction = transaction;
    this.#statements = statements;
    this.#store = store;
  }

  apply<T>(groups: readonly Group<T>[], now: number): Promise<readonly GroupResult<T>[]> {
    return this.#inTurn(async () => {
      const results: GroupResult<T>[] = [];
      for (const group of groups) results.push(await this.#applyGroup(group, now));
      return results;
    });
  }

  get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#inTurn(() => this.#read({ id }));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await inTurn(this.#transaction, async () => {
        await this.#check();
        return await work();
      });
    } catch (error) {
      throw storageError("writing schedules in the application's transaction", error);
    }
  }

  /**
   * Makes sure that it is the same store, and takes the write lock before anything is read: a transaction that reads
   * first and writes after another's commit is refused by SQLite.
   */
  async #check(): Promise<void> {
    if (this.#checked) return;
    const row = await this.#one(this.#statements.lock, {}).catch((error) => {
      if (isBusy(error)) throw error;
      throw foreignTransaction(messageOf(error), error);
    });
    const { storeId, connection } = this.#store;
    if (row?.value !== storeId) throw foreignTransaction("it holds another store's tables");
    // The transaction holds the write lock, unless the two libraries are two copies of SQLite: file locks belong to the
    // process, so they do not see each other's, and would write over each other.
    if (connection.canLock()) throw twoCopies();
    this.#checked = true;
  }

  async #applyGroup<T>(group: Group<T>, now: number): Promise<GroupResult<T>> {
    const found = new Map<string, ScheduleDocument | undefined>();
    for (const { select } of group) {
      if (select !== null) found.set(JSON.stringify(select), await this.#read(select));
    }
    const evaluation = evaluateGroup(group, (select) => found.get(JSON.stringify(select)), now);
    if (!evaluation.committed) return evaluation;
    const reason = await this.#writeAll(evaluation.writes);
    return reason === undefined ? { committed: true, values: evaluation.values } : { committed: false, reason };
  }

  async #writeAll(writes: readonly Write[]): Promise<SchedulerError | undefined> {
    await this.#command("savepoint ostinato_group");
    try {
      for (const write of writes) {
        const { statement, values } = planWrite(this.#statements, write);
        await this.#all(statement, values);
      }
      return undefined;
    } catch (error) {
      await this.#command("rollback to ostinato_group");
      if (isUniqueConflict(error)) return conflictOf(idsOf(writes), error);
      throw error;
    } finally {
      await this.#command("release ostinato_group");
    }
  }

  async #read(select: Exclude<Selector, null>): Promise<ScheduleDocument | undefined> {
    const { byId, byName, byKey, whole } = this.#statements;
    const row = "id" in select
      ? await this.#one(byId, select)
      : "name" in select
      ? await this.#one(byName, { owner: columnText(select.owner), name: columnText(select.name) })
      : await this.#one(byKey, { owner: columnText(select.owner), key: columnText(select.key) });
    if (row === undefined) return undefined;
    return decodeRow(row).document ?? inspectRow((await this.#one(whole, { id: row.id }))!);
  }

  async #one<P, R>(statement: Statement<P, R>, values: P): Promise<R | undefined> {
    return (await this.#all(statement, values))[0];
  }

  async #all<P, R>(statement: Statement<P, R>, values: P): Promise<readonly R[]> {
    const query = { ...statement.query, parameters: bind(statement, values) };
    return (await this.#transaction.withoutPlugins().executeQuery(query)).rows as R[];
  }

  async #command(sql: string): Promise<void> {
    await this.#transaction.withoutPlugins().executeQuery(CompiledQuery.raw(sql));
  }
}

function twoCopies(): SchedulerError {
  return new SchedulerError(
    "config_invalid",
    "within: the transaction's SQLite library is not the scheduler's, and two copies of SQLite in one process corrupt " +
      "a file that both write; pass a database of the application's own library as sqlite({ database })",
  );
}
