import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sqlite, type SqliteDatabaseLike } from "../../plugins/storage/sqlite/mod.ts";
import type { Change, ScheduleDocument, Storage } from "../../src/contract/mod.ts";
import { manualClock } from "../../src/testing/mod.ts";
import { document, id, operation, started, store } from "../../src/testing/storage/documents.ts";

const COUNT = 150;
const FIRST = 10_000;
const SECOND = 20_000;
const LANES = ["work"];

let directory: string;
let database: DatabaseSync;
let statements: string[];
let storage: Storage;
const clock = { current: manualClock(0) };

/** The database, telling which texts were read from it. */
function watched(inner: DatabaseSync): SqliteDatabaseLike {
  return {
    prepare(sql) {
      const statement = inner.prepare(sql);
      const told = <R>(call: (...parameters: never[]) => R) => (...parameters: never[]) => {
        statements.push(sql);
        return call.apply(statement, parameters);
      };
      return { run: told(statement.run), get: told(statement.get), all: told(statement.all) } as never;
    },
    exec: (sql) => inner.exec(sql),
    close: () => inner.close(),
    get isTransaction() {
      return inner.isTransaction;
    },
  } as SqliteDatabaseLike;
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  database = new DatabaseSync(`${directory}/schedules.db`);
  statements = [];
  clock.current = manualClock(0);
  storage = sqlite({ database: watched(database) });
  await storage.open({ clock: clock.current, logger: console });
  await store(storage, Array.from({ length: COUNT }, (_, n) => document(n, FIRST)));
  await clock.current.advance(FIRST);
  // Moved together, to a common next deadline.
  expect(await moveAll(FIRST)).toHaveLength(COUNT);
  statements = [];
});
afterEach(async () => {
  await storage.close();
  database.close();
  rmSync(directory, { recursive: true });
});

/** Moves what is due on by ten seconds, and answers the documents as the step saw them. */
async function moveAll(now: number): Promise<readonly ScheduleDocument[]> {
  const step = (document: ScheduleDocument): Change<ScheduleDocument> => ({
    document: started(document, now + 10_000),
    value: document,
  });
  return (await storage.advance({ lanes: LANES, limit: 1_000, now }, step)).values;
}

const textsRead = () => statements.filter((sql) => /^\s*select .*progress/s.test(sql)).length;
const later = (document: ScheduleDocument) => ({ ...document, definition: { ...document.definition, history: 7 } });
const history = (documents: readonly ScheduleDocument[], n: number) =>
  documents.find((document) => document.id === id(n))?.definition.history;

it("what was due together is read before its next deadline, and not again when it is due", async () => {
  await clock.current.advance(SECOND - FIRST - 1);
  expect(textsRead()).toBe(1);
  await clock.current.advance(1);
  const seen = await moveAll(SECOND);
  expect(seen).toHaveLength(COUNT);
  expect(seen[0]!.progress).toMatchObject({ runCount: 1, wakeAt: SECOND });
  expect(textsRead()).toBe(1);
});

it("S6 L2 what is changed, removed or added after it was read ahead is moved as it is then", async () => {
  await clock.current.advance(SECOND - FIRST - 1);
  const changes = [
    [operation({ id: id(1) }, (current) => ({ document: later(current!), value: undefined }))],
    [operation({ id: id(2) }, () => ({ document: null, value: undefined }))],
    [operation(null, () => ({ document: document(COUNT, SECOND), value: undefined }))],
  ];
  await storage.apply(changes, SECOND - 1);
  await clock.current.advance(1);
  const seen = await moveAll(SECOND);
  expect(seen).toHaveLength(COUNT);
  expect(history(seen, 1)).toBe(7);
  expect(history(seen, 2)).toBeUndefined();
  expect(history(seen, COUNT)).toBe(20);
});

it("M1 what another handle writes after it was read ahead is moved as it is then", async () => {
  await clock.current.advance(SECOND - FIRST - 1);
  const other = sqlite(`${directory}/schedules.db`);
  await other.open({ clock: clock.current, logger: console });
  await other.apply(
    [[operation({ id: id(1) }, (current) => ({ document: later(current!), value: undefined }))]],
    SECOND,
  );
  await other.close();
  await clock.current.advance(1);
  const seen = await moveAll(SECOND);
  expect(history(seen, 1)).toBe(7);
  expect(history(seen, 2)).toBe(20);
});

it("U4 what the application rolls back after it was read ahead is moved as it was before", async () => {
  database.exec("begin");
  database.prepare("update ostinato_schedules set definition = json_set(definition, '$.history', 7) where id = ?").run(
    id(1),
  );
  await clock.current.advance(SECOND - FIRST - 1);
  expect(textsRead()).toBe(1);
  database.exec("rollback");
  await clock.current.advance(1);
  expect(history(await moveAll(SECOND), 1)).toBe(20);
});
