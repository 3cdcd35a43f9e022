import type { Enlisted, Group, GroupResult, ScheduleDocument } from "../../../src/contract/mod.ts";
import { conflictOf, foreignTransaction, inTurn, type TransactionLike } from "../sql/transaction.ts";
import type { Session } from "./database.ts";
import { Desk, lookupOf } from "./desk.ts";
import { isAbsent, isUniqueConflict } from "./errors.ts";
import { toldOf } from "./hints.ts";
import { kyselySession } from "./kysely.ts";
import { hold, inspectWhole } from "./reading.ts";
import type { Statements } from "./statements.ts";
import { arrayText } from "./values.ts";
import { planWrites, readied } from "./writes.ts";

/** The store that a transaction must be on. */
export interface EnlistingStore {
  readonly statements: Statements;
  readonly storeId: string;
  readonly channel: string;
}

/** Nobody's: this handle's own listener has to be told, too, since it does not see when the application commits. */
const SENDER = "";

/** The store's writes inside a transaction of the application's own Kysely, on whatever connection it has. */
export class EnlistedTransaction implements Enlisted {
  readonly #transaction: TransactionLike;
  readonly #session: Session;
  readonly #store: EnlistingStore;
  #checked = false;

  constructor(transaction: TransactionLike, store: EnlistingStore) {
    this.#transaction = transaction;
    this.#session = kyselySession("writing schedules in the application's transaction", transaction.withoutPlugins());
    this.#store = store;
  }

  apply<T>(groups: readonly Group<T>[]): Promise<readonly GroupResult<T>[]> {
    return this.#inTurn(async () => {
      const results: GroupResult<T>[] = [];
      for (const group of groups) results.push(await this.#applyGroup(group));
      return results;
    });
  }

  get(id: string): Promise<ScheduleDocument | undefined> {
    return this.#inTurn(async () => {
      const [row] = await this.#session.run(this.#store.statements.whole, { ids: arrayText([id]) });
      return row === undefined ? undefined : inspectWhole(row);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return inTurn(this.#transaction, async () => {
      await this.#check();
      return await work();
    });
  }

  /** Makes sure that it is the same store, without spoiling the transaction where it is not. */
  async #check(): Promise<void> {
    if (this.#checked) return;
    const [row] = await this.#apart(() => this.#session.run(this.#store.statements.meta, { key: "store" }), (error) => {
      if (isAbsent(error)) throw foreignTransaction((error as Error).message, error);
    });
    if (row?.value !== this.#store.storeId) throw foreignTransaction("it holds another store's tables");
    this.#checked = true;
  }

  async #applyGroup<T>(group: Group<T>): Promise<GroupResult<T>> {
    const { statements, channel } = this.#store;
    const held = await hold(this.#session, statements, lookupOf([group]));
    const desk = new Desk(held.documents);
    const { result, ids } = desk.apply(group, held.now);
    const writes = desk.writes();
    if (writes.length === 0) return result;
    const told = toldOf(writes, held.now, { channel, sender: SENDER });
    return await this.#apart(
      async (): Promise<GroupResult<T>> => {
        await readied(statements, planWrites(writes), held.rows, told)(this.#session);
        return result;
      },
      (error) => isUniqueConflict(error) ? { committed: false, reason: conflictOf(ids, error) } : undefined,
    );
  }

  /** Does work in a savepoint: after a failure that is expected the transaction goes on as if it had not been tried. */
  async #apart<T>(work: () => Promise<T>, expected: (error: unknown) => T | undefined | void): Promise<T> {
    await this.#session.script("savepoint ostinato_group");
    try {
      return await work();
    } catch (error) {
      await this.#session.script("rollback to savepoint ostinato_group");
      const instead = expected(error);
      if (instead === undefined) throw error;
      return instead;
    } finally {
      await this.#session.script("release savepoint ostinato_group");
    }
  }
}
