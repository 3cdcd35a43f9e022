import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sqlite, type SqliteDatabaseLike } from "../../plugins/storage/sqlite/mod.ts";
import { type Change, isSchedulerError, type ScheduleDocument, SQLITE_LOG_BYTES } from "../../src/contract/mod.ts";
import { change, count, create, document, id, moved, store } from "../../src/testing/storage/documents.ts";
import { context } from "./storage_suite.ts";

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  file = `${directory}/schedules.db`;
});
afterEach(() => rmSync(directory, { recursive: true }));

async function openingFails(options: Parameters<typeof sqlite>[0]): Promise<{ code: string; message: string }> {
  const storage = sqlite(options);
  try {
    await storage.open(context);
  } catch (error) {
    if (!isSchedulerError(error)) throw error;
    expect(error.retryable).toBe(false);
    await storage.close();
    return { code: error.code, message: error.message };
  }
  await storage.close();
  throw new Error("it opened");
}

describe("sqlite: opening", () => {
  it("creates the file and its tables, and finds them again", async () => {
    for (const n of [1, 2]) {
      const storage = sqlite(file);
      await storage.open(context);
      await store(storage, [document(n, 5_000)]);
      await storage.close();
    }
    const database = new DatabaseSync(file);
    expect(database.prepare("select count(*) as n from ostinato_schedules").get()).toMatchObject({ n: 2 });
    expect(database.prepare("pragma journal_mode").get()).toMatchObject({ journal_mode: "wal" });
    database.close();
  });

  it("refuses a directory that does not exist, naming the path", async () => {
    const { code, message } = await openingFails(`${directory}/absent/schedules.db`);
    expect(code).toBe("store_unavailable");
    expect(message).toContain(`${directory}/absent/schedules.db cannot be used`);
    expect(message).toContain("a directory that exists");
  });

  it("refuses a directory in the place of the file", async () => {
    mkdirSync(file);
    expect((await openingFails(file)).message).toContain(file);
  });

  it("refuses a file that is no database, and leaves it as it is", async () => {
    writeFileSync(file, "Dear diary, ".repeat(1_000));
    const { code, message } = await openingFails(file);
    expect(code).toBe("store_unavailable");
    expect(message).toMatch(/cannot be used: file is not a database/);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it("refuses a database that cannot be written", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await storage.close();
    const database = new DatabaseSync(file, { readOnly: true });
    expect((await openingFails({ database, tablePrefix: "other_" })).message).toMatch(/readonly/);
    database.close();
  });

  it.skipIf(process.getuid?.() === 0)("refuses a file whose permissions forbid writing", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await storage.close();
    chmodSync(file, 0o444);
    expect((await openingFails(file)).code).toBe("store_unavailable");
  });

  it("M7 refuses tables of a newer version, naming both versions", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await storage.close();
    const database = new DatabaseSync(file);
    database.exec("update ostinato_meta set value = '99' where key = 'schema'");
    database.close();
    const { code, message } = await openingFails(file);
    expect(code).toBe("store_too_new");
    expect(message).toContain("schema 99");
  });

  it("B131 refuses a file whose journal cannot become a WAL, as on a network disk", async () => {
    const { code, message } = await openingFails({
      database: pretending(/journal_mode = wal/, () => ({ mode: "delete" })),
    });
    expect(code).toBe("store_unavailable");
    expect(message).toMatch(/journal_mode stays delete; expected wal/);
  });

  it("B132 refuses a runtime that cuts integers to 32 bits", async () => {
    const database = pretending(/select \? as value/, (value) => ({ value: Number(value) | 0 }));
    const { code, message } = await openingFails({ database });
    expect(code).toBe("config_invalid");
    expect(message).toContain("for 1767225600000");
  });

  it("M7 may be done by ten handles at once on an empty file", async () => {
    const handles = Array.from({ length: 10 }, () => sqlite(file));
    await Promise.all(handles.map((handle) => handle.open(context)));
    await Promise.all(handles.map((handle, n) => store(handle, [document(n, 5_000)])));
    expect((await handles[0]!.find({ limit: 20 })).length).toBe(10);
    await Promise.all(handles.map((handle) => handle.close()));
  });

  it("keeps several stores in one file apart by the tables' prefix", async () => {
    const [a, b] = [sqlite({ path: file, tablePrefix: "a_" }), sqlite({ path: file, tablePrefix: "b_" })];
    for (const storage of [a, b]) await storage.open(context);
    await store(a, [document(1, 5_000)]);
    expect(await b.get(id(1))).toBeUndefined();
    for (const storage of [a, b]) await storage.close();
  });

  it("leaves a database that was passed in open, and its settings as they were", async () => {
    for (const open of [() => new DatabaseSync(file), () => new Database(file)]) {
      const database = open();
      database.exec("pragma busy_timeout = 1234; pragma synchronous = normal");
      const storage = sqlite({ database });
      await storage.open(context);
      await store(storage, [document(database instanceof Database ? 1 : 2, 5_000)]);
      await storage.close();
      const setting = (name: string) => Object.values(database.prepare(`pragma ${name}`).get() as object)[0];
      expect([setting("busy_timeout"), setting("synchronous")]).toEqual([1234, 1]);
      database.close();
    }
  });

  it.each([[undefined, "full"], ["full", "full"], ["normal", "normal"]] as const)(
    "I3 with synchronous %s, commits of a file of its own are flushed as %s says",
    async (synchronous, level) => {
      const exec = vi.spyOn(DatabaseSync.prototype, "exec");
      const storage = sqlite(synchronous === undefined ? file : { path: file, synchronous });
      await storage.open(context);
      const set = exec.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes("synchronous"));
      exec.mockRestore();
      await storage.close();
      expect(set).toEqual([`pragma synchronous = ${level}`]);
    },
  );

  it("I3 M3 a claim is flushed with the next commit, unless its loss would be a second run of what may run once", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await store(storage, [
      document(1, 5_000),
      document(2, 6_000, { definition: { onLost: "fault" } }),
      document(3, 7_000),
    ]);
    const exec = vi.spyOn(DatabaseSync.prototype, "exec");
    const levels = () => exec.mock.calls.flatMap(([sql]) => /synchronous = \w+/.exec(sql) ?? []);
    const postpone = (given: ScheduleDocument, now: number): Change<undefined> => {
      return { document: { ...given, progress: { ...given.progress, wakeAt: now + 60_000 } }, value: undefined };
    };
    const advance = (now: number) => storage.advance({ lanes: ["work"], limit: 10, now }, postpone);
    await advance(5_000);
    expect(levels()).toEqual(["synchronous = normal"]);
    await advance(6_000);
    expect(levels()).toEqual(["synchronous = normal", "synchronous = full"]);
    await Promise.all([advance(7_000), store(storage, [document(4, 9_000)])]);
    expect(levels()).toEqual(["synchronous = normal", "synchronous = full"]);
    exec.mockRestore();
    await storage.close();
  });

  it("a database that was passed in is flushed as the option says, when it is given", async () => {
    const database = new DatabaseSync(file);
    const storage = sqlite({ database, synchronous: "normal" });
    await storage.open(context);
    expect(database.prepare("pragma synchronous").get()).toMatchObject({ synchronous: 1 });
    await storage.close();
    database.close();
  });

  it.each([
    [{}, "path"],
    [{ path: "" }, "path"],
    [{ path: 7 }, "path"],
    [{ path: "a.db", database: new DatabaseSync(":memory:") }, "path"],
    [{ database: {} }, "database"],
    [{ path: "a.db", synchronous: "off" }, "synchronous"],
    [{ path: "a.db", tablePrefix: "a-b" }, "tablePrefix"],
    [{ path: "a.db", busyTimeout: -1 }, "busyTimeout"],
    [{ path: "a.db", busyTimeOut: 5 }, "busyTimeOut"],
    [null, "options"],
  ])("refuses the options %o, naming %s", (options, name) => {
    expect(() => sqlite(options as never)).toThrow(new RegExp(`${name}: .*expected`));
  });
});

describe("sqlite: a disk that fails", () => {
  it("I3 refuses to write to a file that was removed or replaced while open, until it is back", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await store(storage, [document(1, 5_000)]);
    renameSync(file, `${directory}/elsewhere.db`);
    const lost = storage.apply([create(document(2, 5_000))], 1_000);
    await expect(lost).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await expect(lost).rejects.toThrow("removed or replaced");
    renameSync(`${directory}/elsewhere.db`, file);
    await store(storage, [document(3, 5_000)]);
    expect((await storage.find({ limit: 5 })).map((found) => found.id)).toEqual([id(1), id(3)]);
    await storage.close();
  });

  it("fails clearly and retryably when the disk is full, tears nothing, and goes on when there is room", async () => {
    const database = new DatabaseSync(file);
    const storage = sqlite({ database });
    await storage.open(context);
    await store(storage, [document(1, 5_000)]);
    const pages = Object.values(database.prepare("pragma page_count").get()!)[0];
    database.exec(`pragma max_page_count = ${pages}`);
    const large = { definition: { input: "x".repeat(30_000) } };
    const full = storage.apply([[...create(document(2, 5_000)), ...create(document(3, 5_000, large))]], 1_000);
    await expect(full).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await expect(full).rejects.toThrow("full");
    expect((await storage.find({ limit: 5 })).map((found) => found.id)).toEqual([id(1)]);
    database.exec("pragma max_page_count = 1000000");
    await store(storage, [document(3, 5_000, large)]);
    expect((await storage.find({ limit: 5 })).map((found) => found.id)).toEqual([id(1), id(3)]);
    await storage.close();
    database.close();
  });

  it("B125 the log beside the file, which a reader has let grow, shrinks once the reader is gone", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    const log = () => statSync(`${file}-wal`).size;
    const large = (n: number) => document(n, 5_000, { definition: { input: "x".repeat(30_000) } });
    const reader = new DatabaseSync(file);
    reader.exec("begin; select count(*) from ostinato_schedules");
    for (let n = 0; log() < 1.25 * SQLITE_LOG_BYTES; n += 100) {
      await store(storage, count(100).map((i) => large(n + i)));
    }
    reader.exec("commit");
    reader.close();
    // The first carries the log over, the next begins it anew.
    for (const n of [1, 2]) await change(storage, id(0), (current) => moved(current, { runCount: n }));
    expect(log()).toBeLessThanOrEqual(SQLITE_LOG_BYTES);
    await storage.close();
  });

  it("tells of a database that the application closed under it", async () => {
    const database = new DatabaseSync(file);
    const storage = sqlite({ database });
    await storage.open(context);
    database.close();
    await expect(storage.apply([create(document(1, 5_000))], 1_000)).rejects.toMatchObject({
      code: "store_unavailable",
    });
    await expect(storage.nextWake(["work"])).rejects.toMatchObject({ code: "store_unavailable" });
    await storage.close();
  });

  it("what was rolled back is not answered from memory", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await store(storage, [document(1, 5_000)]);
    const grow = (by: number) =>
      storage.apply([[{
        select: { id: id(1) },
        decide: (current) => ({
          document: { ...current!, progress: { ...current!.progress, runCount: current!.progress.runCount + by } },
          value: current!.progress.runCount,
        }),
      }]], 1_000);
    await grow(1);
    renameSync(file, `${directory}/elsewhere.db`);
    await expect(grow(10)).rejects.toThrow("removed or replaced");
    renameSync(`${directory}/elsewhere.db`, file);
    expect(await grow(100)).toMatchObject([{ values: [1] }]);
    expect((await storage.get(id(1)))?.progress.runCount).toBe(101);
    await storage.close();
  });
});

describe("sqlite: rows edited by hand", () => {
  it("B061 a wake_at that disagrees with the document is put right, and nothing spins", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await store(storage, [document(1, 9_000)]);
    const database = new DatabaseSync(file);
    database.exec("update ostinato_schedules set wake_at = 5");
    expect(() => database.exec(`update ostinato_schedules set wake_at = ${2n ** 60n}`)).toThrow("CHECK");
    database.close();
    const steps: number[] = [];
    const advance = () =>
      storage.advance({ lanes: ["work"], limit: 5, now: 6_000 }, (current) => {
        steps.push(current.progress.wakeAt!);
        return { value: 0 };
      });
    expect(await advance()).toMatchObject({ more: false, nextWake: 9_000 });
    expect(await advance()).toMatchObject({ values: [], more: false, nextWake: 9_000 });
    expect(steps).toEqual([9_000]);
    await storage.close();
  });

  it("B061 a row that somebody has marked as parked is left alone, and nothing spins", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await store(storage, [document(1, 5_000)]);
    const database = new DatabaseSync(file);
    database.exec("update ostinato_schedules set parked = 'by me'");
    database.close();
    // As the machine does with what is parked.
    const advance = () => storage.advance({ lanes: ["work"], limit: 5, now: 6_000 }, () => ({ value: 0 }));
    await advance();
    expect(await advance()).toMatchObject({ values: [], more: false, nextWake: null });
    expect((await storage.get(id(1)))?.parked).toBe("by me");
    await storage.close();
  });

  it.each(["", "{broken", "word"])(
    "V3 tags that are no JSON, %j, keep no other row from a list by tag",
    async (tags) => {
      const storage = sqlite(file);
      await storage.open(context);
      await store(storage, [1, 2].map((n) => document(n, 5_000, { definition: { tags: ["t"] } })));
      const database = new DatabaseSync(file);
      database.prepare(`update ostinato_schedules set tags = ? where id = '${id(1)}'`).run(tags);
      database.close();
      expect((await storage.find({ tag: "t", limit: 5 })).map((found) => found.id)).toEqual([id(2)]);
      await storage.close();
    },
  );

  it("the overview shows people what is there, damaged rows included", async () => {
    const storage = sqlite(file);
    await storage.open(context);
    await store(storage, [
      document(1, 1_767_225_600_000, { definition: { name: "nightly" }, progress: { runCount: 3 } }),
      document(2, null, { progress: { pausedAt: 1, lastRun: 1_767_225_600_123 } }),
      document(3, 5_000),
    ]);
    const database = new DatabaseSync(file);
    database.exec(`update ostinato_schedules set progress = '{broken' where id = '${id(3)}'`);
    await storage.advance({ lanes: ["work"], limit: 5, now: 6_000 }, () => ({ value: 0 }));
    const rows = database.prepare("select name, state, next_run, last_run, runs from ostinato_overview order by id")
      .all();
    expect(rows.map((row) => Object.values(row))).toEqual([
      ["nightly", "waiting", "2026-01-01T00:00:00.000Z", null, 3],
      [null, "paused", null, "2026-01-01T00:00:00.123Z", 0],
      [null, "parked", "1970-01-01T00:00:05.000Z", null, 0],
    ]);
    database.close();
    await storage.close();
  });
});

/** A real database that answers one query as a broken runtime or disk would. */
function pretending(query: RegExp, answer: (parameter: unknown) => unknown): SqliteDatabaseLike {
  const database = new DatabaseSync(file);
  return {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      if (!query.test(sql)) return statement;
      return { run: () => ({}), all: () => [], get: (parameter) => answer(parameter) };
    },
  };
}
