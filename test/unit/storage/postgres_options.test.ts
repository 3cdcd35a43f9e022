import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { postgres } from "../../../plugins/storage/postgres/mod.ts";
import { readOptions } from "../../../plugins/storage/postgres/options.ts";

describe("postgres: options", () => {
  const pool = { connect() {}, end() {}, on() {}, removeListener() {} } as never;
  const cases: [string, unknown, string][] = [
    ["no options", undefined, "options: undefined; expected a connection string, a pool of pg, a Kysely, or an object"],
    ["a promise", Promise.resolve(pool), "options: a promise; expected what it resolves to"],
    ["an instance of something else", new Map(), "options: an object; expected a connection string"],
    ["an empty connection string", "", 'url: an empty text; expected a text that begins with "postgres://"'],
    ["a word", "secret", 'url: a text without "://"'],
    ["a password before the scheme", "secret@host://", 'url: a text without "://"'],
    ["another connection string", "mysql://root:secret@localhost", 'url: a text that begins with "mysql://"'],
    ["a space before it", " postgres://root:secret@localhost", "url: a text that begins with white space"],
    ["nothing to connect to", {}, "options: none; expected one of url, pool and kysely"],
    ["two things to connect to", { url: "postgres://a", pool }, "options: url and pool; expected one of"],
    [
      "an unknown key",
      { url: "postgres://a", connectionString: "postgres://b:secret@c" },
      '"connectionString"; expected only',
    ],
    ["a pool that is none", { pool: {} }, "pool: an object"],
    ["a client as options", new pg.Client(), "pool: a client of pg; expected a pool of pg"],
    ["a client as pool", { pool: new pg.Client() }, "pool: a client of pg; expected a pool of pg"],
    ["a Kysely that is none", { kysely: {} }, "kysely: an object"],
    ["a transaction as options", { isTransaction: true, withoutPlugins() {} }, "kysely: a transaction; expected"],
    ["a transaction as Kysely", { kysely: { isTransaction: true, withoutPlugins() {} } }, "a transaction"],
    ["a quote in the schema (B127)", { pool, schema: 'a"; drop table x; --' }, "schema: "],
    ["a schema of the server's", { pool, schema: "pg_mine" }, "schema: "],
    ["a schema of 64 bytes (B127)", { pool, schema: "s".repeat(64) }, "schema: "],
    ["a quote in the prefix (B127)", { pool, tablePrefix: "it's" }, "tablePrefix: "],
    ["a prefix whose names would be cut (B127)", { pool, tablePrefix: "p".repeat(41) }, "tablePrefix: "],
    ["another way to migrate", { pool, migrate: "yes" }, "migrate: "],
    ["a poll interval that is none", { pool, pollInterval: "5 parsecs" }, "pollInterval: "],
    ["a poll interval of nothing", { pool, pollInterval: 0 }, "pollInterval: "],
    ["a pool size beside a pool", { pool, poolSize: 3 }, "poolSize: "],
    ["a pool size of nothing", { url: "postgres://a", poolSize: 0 }, "poolSize: "],
    ["a listener that cannot be made", { kysely: { withoutPlugins() {} }, listen: true }, "listen: "],
    ["a listener's address that is none", { pool, listen: "localhost" }, "listen: "],
  ];
  it.each(cases)("refuses %s, naming it and never a password", (_, options, named) => {
    expect(() => postgres(options as never)).toThrow(named);
    expect(() => postgres(options as never)).not.toThrow("secret");
  });

  it("takes a pool and a Kysely as they are, which is what the options of their names do", () => {
    const bare = new pg.Pool(); // connects to nothing yet
    const kysely = new Kysely({ dialect: new PostgresDialect({ pool: bare }) });
    expect(readOptions(bare)).toStrictEqual(readOptions({ pool: bare }));
    expect(readOptions(kysely)).toStrictEqual(readOptions({ kysely }));
    expect([postgres(bare).name, postgres(kysely).name]).toEqual(["postgres", "postgres"]); // by type, too
  });
});
