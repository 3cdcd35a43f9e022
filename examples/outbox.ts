/**
 * A transactional outbox on PostgreSQL: an order and the mail that it promises are written in one transaction, or not at
 * all, and the mail is sent however often the process dies.
 *
 *     node examples/outbox.ts
 *     deno run -A examples/outbox.ts
 *
 * It uses the server of DATABASE_URL, in schemas of its own that it drops at the end; without one it starts a server for
 * itself. It ends by itself, after some seconds.
 *
 * @module
 */
import { type Generated, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { createScheduler, defineTask, type Scheduler } from "../mod.ts";
import { postgres } from "../plugins/storage/postgres/mod.ts";
import { postgresServer } from "./postgres_server.ts";

interface Shop {
  readonly "shop.orders": { readonly id: Generated<number>; readonly item: string };
  /** What was sent. Its key makes a mail that is sent again the same mail. */
  readonly "shop.mails": { readonly key: string; readonly text: string };
}

const server = await postgresServer();
const pool = new pg.Pool({ connectionString: server.url, max: 5 });
// A pool tells when the server ends a connection that nobody uses. The next query gets another one.
pool.on("error", () => {});
const db = new Kysely<Shop>({ dialect: new PostgresDialect({ pool }) });

async function createTables(): Promise<void> {
  await db.schema.createSchema("shop").ifNotExists().execute();
  await db.schema.createTable("shop.orders").ifNotExists()
    .addColumn("id", "serial", (column) => column.primaryKey()).addColumn("item", "text").execute();
  await db.schema.createTable("shop.mails").ifNotExists()
    .addColumn("key", "text", (column) => column.primaryKey()).addColumn("text", "text").execute();
}

/** One life of the application: its scheduler works on the pool of its tables. */
function application(): Scheduler {
  const mail = defineTask("mail", async (input: { order: number; item: string }, ctx) => {
    // A run may be repeated when its process dies (at least once). With a key of the deadline the effect is once.
    const key = `${ctx.schedule.id}@${ctx.scheduledAt.getTime()}`;
    await db.insertInto("shop.mails").values({ key, text: `thanks for the ${input.item}` })
      .onConflict((conflict) => conflict.doNothing()).execute();
    console.log(`mailed about order ${input.order}, the ${input.item}`);
  });
  return createScheduler({ storage: postgres({ kysely: db, schema: "shop_schedules" }), tasks: [mail] });
}

/** Places an order: its row and its schedule are in the store together, or neither is. */
async function order(scheduler: Scheduler, item: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { id } = await trx.insertInto("shop.orders").values({ item }).returning("id").executeTakeFirstOrThrow();
    await scheduler.within(trx).after("mail", "100ms", { order: id, item });
    if (item === "unicorn") throw new Error("out of stock");
  });
  console.log(`ordered a ${item}`);
}

async function pending(scheduler: Scheduler): Promise<number> {
  return (await scheduler.list({ task: "mail" }).page()).schedules.length;
}

await createTables();
const first = application();
console.log(`${await pending(first)} mails are to come`); // opens the store: inside of a transaction no connection may be left
await order(first, "lamp");
await order(first, "unicorn").catch((error: Error) => console.log(`no unicorn: ${error.message}`));
await order(first, "chair");
const { count } = db.fn;
const { orders } = await db.selectFrom("shop.orders").select(count<string>("id").as("orders"))
  .executeTakeFirstOrThrow();
console.log(`${orders} orders and ${await pending(first)} mails to come are committed`);
await first.close();
console.log("the application ends before it has sent anything, and starts again");

const second = application();
let left = await pending(second);
const sent = new Promise<void>((resolve) => second.on("succeeded", () => void (--left === 0 && resolve())));
await second.start();
await sent;
await second.close();
const mails = await db.selectFrom("shop.mails").select("text").orderBy("text").execute();
console.log(`sent: ${mails.map(({ text }) => text).join(", ")}`);

await db.schema.dropSchema("shop").cascade().execute();
await db.schema.dropSchema("shop_schedules").cascade().execute();
await db.destroy();
await server.stop();
