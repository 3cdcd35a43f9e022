import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { postgres } from "../../plugins/storage/postgres/mod.ts";
import { freshSchema, sharedServer } from "../support/postgres.ts";
import { storageSuite, type StoreForCase } from "./storage_suite.ts";

let url: string;
let pool: pg.Pool;
let one: pg.Pool;
let kysely: Kysely<unknown>;

beforeAll(async () => {
  url = await sharedServer();
  pool = new pg.Pool({ connectionString: url, max: 6 });
  one = new pg.Pool({ connectionString: url, max: 1 });
  kysely = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 4 }) }) });
}, 60_000);

afterAll(async () => {
  await Promise.all([pool?.end(), one?.end(), kysely?.destroy()]);
});

function inSchema(open: StoreOpener, prefix = ""): StoreForCase {
  const schema = freshSchema();
  return {
    handle: () => open(schema),
    async damage(id, what, text) {
      await pool.query(`update "${schema}"."${prefix}documents" set ${what} = $1 where id = $2`, [text, id]);
    },
    dispose: async () => void await pool.query(`drop schema if exists "${schema}" cascade`),
  };
}

type StoreOpener = (schema: string) => ReturnType<typeof postgres>;

storageSuite("postgres, a connection string", () => inSchema((schema) => postgres({ url, schema })));

storageSuite(
  "postgres, a pool with a single connection and no listener",
  () =>
    inSchema((schema) => postgres({ pool: one, schema, tablePrefix: "App_", listen: false, pollInterval: 20 }), "App_"),
);

storageSuite(
  "postgres, the application's Kysely",
  () => inSchema((schema) => postgres({ kysely, schema, pollInterval: 20 })),
);
