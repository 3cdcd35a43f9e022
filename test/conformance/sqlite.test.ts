import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import { sqlite, type SqliteDatabaseLike } from "../../plugins/storage/sqlite/mod.ts";
import { storageSuite, type StoreForCase } from "./storage_suite.ts";

function damaging(open: () => SqliteDatabaseLike, close: boolean): Required<Pick<StoreForCase, "damage">> {
  return {
    // deno-lint-ignore require-await
    async damage(id, what, text) {
      const database = open();
      database.prepare(`update ostinato_schedules set ${what} = ? where id = ?`).run(text, id);
      if (close) database.close();
    },
  };
}

function inDirectory(make: (file: string) => StoreForCase): StoreForCase {
  const directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  const store = make(`${directory}/schedules.db`);
  return {
    ...store,
    dispose() {
      store.dispose?.();
      rmSync(directory, { recursive: true });
    },
  };
}

storageSuite("sqlite, a file", () =>
  inDirectory((file) => ({
    handle: () => sqlite(file),
    ...damaging(() => new DatabaseSync(file), true),
  })));

storageSuite("sqlite, files opened by better-sqlite3", () =>
  inDirectory((file) => {
    const opened: SqliteDatabaseLike[] = [];
    return {
      handle() {
        const database = new Database(file);
        // What an application may have set for itself.
        database.defaultSafeIntegers(true);
        opened.push(database);
        return sqlite({ database });
      },
      ...damaging(() => new Database(file), true),
      dispose: () => opened.forEach((database) => database.close()),
    };
  }));

storageSuite("sqlite, one node:sqlite connection in memory shared by all handles", () => {
  const database = new DatabaseSync(":memory:", { readBigInts: true, returnArrays: true });
  return {
    handle: () => sqlite({ database, tablePrefix: "app_" }),
    // deno-lint-ignore require-await
    async damage(id, what, text) {
      database.prepare(`update app_schedules set ${what} = ? where id = ?`).run(text, id);
    },
    dispose: () => database.close(),
  };
});
