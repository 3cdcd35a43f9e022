import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import type { Storage } from "../../src/contract/mod.ts";
import { document, id, store } from "../../src/testing/storage/documents.ts";
import { context } from "../conformance/storage_suite.ts";
import { start } from "./store_processes.ts";

const SCRIPT = join(import.meta.dirname!, "sqlite_process.ts");

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  file = join(directory, "schedules.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

async function opened(): Promise<Storage> {
  const storage = sqlite({ path: file, busyTimeout: 30_000 });
  await storage.open(context);
  return storage;
}

async function stored(storage: Storage): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const page = await storage.find({ limit: 1_000, ...(ids.length === 0 ? {} : { after: ids.at(-1)! }) });
    if (page.length === 0) return ids;
    ids.push(...page.map((found) => found.id));
  }
}

describe("sqlite: several processes on one file", { timeout: 60_000 }, () => {
  it("I3 a process killed at any instant has lost nothing that resolved", async () => {
    for (const lines of [1, 35, 400]) {
      const creator = start(SCRIPT, "create", file);
      await creator.tells(lines);
      creator.child.kill("SIGKILL");
      await creator.gone;
      const storage = await opened();
      const there = new Set(await stored(storage));
      expect(creator.told.filter((one) => !there.has(one as string))).toEqual([]);
      expect(await storage.nextWake(["work"])).toBe(5_000);
      await storage.close();
      const database = new DatabaseSync(file);
      expect(database.prepare("pragma integrity_check").get()).toMatchObject({ integrity_check: "ok" });
      database.exec("delete from ostinato_schedules");
      database.close();
    }
  });

  it("B105 a process killed between the writes of a group leaves all of it or nothing", async () => {
    const writer = start(SCRIPT, "pair", file);
    await writer.tells(20);
    writer.child.kill("SIGKILL");
    await writer.gone;
    const storage = await opened();
    const counts = (await storage.find({ limit: 5 })).map((found) => found.progress.runCount);
    expect(counts[0]).toBe(counts[1]);
    expect(counts[0]).toBeGreaterThanOrEqual(writer.told.at(-1) as number);
    await storage.close();
  });

  it("B102 B128 M1 eight processes win every due document exactly once between them, without an error", async () => {
    const storage = await opened();
    await store(storage, Array.from({ length: 1_000 }, (_, n) => document(n, 5_000)));
    const processes = Array.from({ length: 8 }, () => start(SCRIPT, "drain", file));
    await Promise.all(processes.map((one) => one.gone));
    const won = processes.flatMap((one) => one.told.flat()) as string[];
    expect(won.length).toBe(1_000);
    expect(new Set(won).size).toBe(1_000);
    const fences = (await storage.find({ limit: 1_000 })).map((found) => found.progress.fence);
    expect(new Set(fences)).toEqual(new Set([1]));
    await storage.close();
  });

  it("B082 N1 five processes that register one name fifty times each make one document", async () => {
    const processes = Array.from({ length: 5 }, (_, n) => start(SCRIPT, "register", file, String(n), "50"));
    await Promise.all(processes.map((one) => one.gone));
    const storage = await opened();
    const found = await storage.find({ limit: 10 });
    expect(found.map((one) => one.progress.runCount)).toEqual([249]);
    await storage.close();
  });

  it("M7 ten processes that start at once on an empty file all come up", async () => {
    const processes = Array.from({ length: 10 }, () => start(SCRIPT, "open", file));
    await Promise.all(processes.map((one) => one.gone));
    expect(processes.map((one) => one.told)).toEqual(Array(10).fill([null]));
  });

  it("M1 a process's write is told to the others", async () => {
    const storage = await opened();
    const told = new Promise<void>((resolve) => storage.subscribe!(resolve));
    const writer = start(SCRIPT, "leave", file, "closed");
    await told;
    expect((await storage.get(id(1)))?.id).toBe(id(1));
    await writer.gone;
    await storage.close();
  });

  it.each(["closed", "left open"])("X3 a store that is %s keeps no process alive", async (how) => {
    const process = start(SCRIPT, "leave", file, how);
    expect(await process.gone).toBe(0);
    expect(process.told).toEqual(["left"]);
  });
});
