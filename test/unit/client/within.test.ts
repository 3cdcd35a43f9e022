import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Generated, Kysely, SqliteDialect } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";
import { refusal } from "./memory_host.ts";
import { HOUR, START } from "./stores.ts";

interface Application {
  readonly orders: { readonly id: Generated<number>; readonly label: string };
}

/** node:sqlite with the methods that Kysely's dialect knows from better-sqlite3. */
function forKysely(database: DatabaseSync): unknown {
  return {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = database.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...parameters as never[]),
        run: (parameters: readonly unknown[]) => statement.run(...parameters as never[]),
      };
    },
  };
}

/** An application and a scheduler on one SQLite file. */
async function setUp() {
  const directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  const file = join(directory, "app.db");
  const clock = manualClock(START);
  const ran: unknown[] = [];
  const receipt = defineTask("receipt", (input, ctx) => void ran.push([input, ctx.owner]));
  const scheduler = createScheduler({ storage: sqlite(file), tasks: [receipt], clock });
  const db = new Kysely<Application>({
    dialect: new SqliteDialect({ database: forKysely(new DatabaseSync(file)) as never }),
  });
  onTestFinished(async () => {
    await scheduler.close();
    await db.destroy();
    rmSync(directory, { recursive: true, force: true });
  });
  await scheduler.start();
  await db.schema.createTable("orders").addColumn("id", "integer", (c) => c.primaryKey()).addColumn("label", "text")
    .execute();
  const orders = async () => (await db.selectFrom("orders").selectAll().execute()).length;
  return { clock, ran, receipt, scheduler, db, orders };
}

it("U4 the schedule and the application's row commit together, and the schedule runs", async () => {
  const { clock, ran, receipt, scheduler, db, orders } = await setUp();
  const alice = scheduler.as({ id: "alice" });
  const made = await db.transaction().execute(async (trx) => {
    await trx.insertInto("orders").values({ label: "42" }).execute();
    const inside = await alice.within(trx).after(receipt, "10m", { orderId: "42" }, { key: "receipt:42" });
    expect(await alice.within(trx).valid(inside.id)).toBe(true);
    expect((await alice.within(trx).after(receipt, "20m", {}, { key: "receipt:42" })).id).toBe(inside.id);
    return inside;
  });
  expect(await orders()).toBe(1);
  expect(await alice.info(made.id)).toMatchObject({ owner: "alice", input: { orderId: "42" }, key: "receipt:42" });
  await clock.advance("11m");
  expect(ran).toEqual([[{ orderId: "42" }, "alice"]]);
});

it("U4 both are rolled back together", async () => {
  const { clock, ran, receipt, scheduler, db, orders } = await setUp();
  const old = await scheduler.every(receipt, "1h", 1, { name: "old" });
  const failing = db.transaction().execute(async (trx) => {
    await trx.insertInto("orders").values({ label: "42" }).execute();
    const tx = scheduler.within(trx);
    await tx.createMany([{ task: receipt, after: "1m" }, { task: receipt, every: "1m" }]);
    expect(await tx.stop(old.id)).toBe(true);
    expect(await tx.valid(old.id)).toBe(false);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await orders()).toBe(0);
  expect((await scheduler.list().page()).schedules.map(({ id }) => id)).toEqual([old.id]);
  await clock.advance("30m");
  expect(ran).toEqual([]);
  expect((await old.info()).nextRun).toEqual(new Date(START + HOUR));
});

it("U4 I2 P2 inside, refusals are those of any other call, and leave the transaction usable", async () => {
  const { receipt, scheduler, db, orders } = await setUp();
  const his = await scheduler.every(receipt, "1h");
  await db.transaction().execute(async (trx) => {
    const tx = scheduler.as({ id: "alice" }).within(trx);
    await expect(tx.stop(his.id)).rejects.toEqual(refusal("permission_denied", /somebody else/));
    await expect(tx.at("nope", START)).rejects.toEqual(refusal("unknown_task", /nope/));
    await expect(tx.cron("n", "0 0 30 2 *", receipt)).rejects.toEqual(refusal("invalid_cron", /./));
    await expect(tx.every(receipt, "1h", 1, { persist: false })).rejects.toEqual(
      refusal("invalid_option", /^persist: false/),
    );
    const nesting = tx as unknown as { transaction(work: () => void): Promise<void> };
    await expect(nesting.transaction(() => {})).rejects.toEqual(refusal("conflict", /already inside/));
    await trx.insertInto("orders").values({ label: "42" }).execute();
    await tx.cron("n", "@daily", receipt);
  });
  expect(await orders()).toBe(1);
  expect((await scheduler.list().page()).schedules).toHaveLength(2);
});

it("U4 a call after the transaction's end is refused as one that will never succeed", async () => {
  const { receipt, scheduler, db } = await setUp();
  const committed = await db.transaction().execute((trx) => Promise.resolve(scheduler.within(trx)));
  await expect(committed.after(receipt, "1h")).rejects.toEqual(refusal("conflict", /transaction is over/));
  const open = await db.startTransaction().execute();
  const rolledBack = scheduler.within(open);
  await rolledBack.after(receipt, "1h");
  await open.rollback().execute();
  await expect(rolledBack.valid("01ARZ3NDEKTSV4RRFFQ69G5FAV")).rejects.toEqual(
    refusal("conflict", /transaction is over/),
  );
});

it("U4 a store without transactions of the application, and what is no transaction, are refused", async () => {
  const { receipt, scheduler } = await setUp();
  await expect(scheduler.within({}).after(receipt, "1h")).rejects.toEqual(refusal("config_invalid", /^within: /));
  const inMemory = createScheduler({ tasks: [receipt] });
  await expect(inMemory.within({}).after(receipt, "1h")).rejects.toEqual(
    refusal("config_invalid", /memory has no transactions/),
  );
  await inMemory.close();
});
