import { appendFileSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fileWrites } from "../../../plugins/storage/file/file_writes.ts";
import { scratch } from "../support/schedulers.ts";

/** Tells of writes to a file, whose size and time are looked at when the test says so. */
async function told(file: string) {
  const looks = new Set<() => void>();
  const everies: number[] = [];
  const writes = await fileWrites(file, (callback, everyMs) => {
    everies.push(everyMs);
    looks.add(callback);
    return () => void looks.delete(callback);
  });
  const state = { written: 0, looks, everies };
  const stop = writes({ written: () => state.written++, broken: () => expect.unreachable("the watcher broke") });
  onTestFinished(stop);
  return { state, stop, look: () => looks.forEach((callback) => callback()) };
}

// None of these awaits anything after a write: what the operating system reports would come later.
describe("fileWrites", () => {
  it("M1 tells of a write whose report was lost, and of nothing while nothing is written, until it is ended", async () => {
    const file = join(scratch(), "schedules.db");
    writeFileSync(file, "");
    const { state, stop, look } = await told(file);
    expect(Math.max(...state.everies)).toBeLessThanOrEqual(10_000);
    look();
    expect(state.written).toBe(0);
    writeFileSync(`${file}-wal`, "a commit");
    look();
    expect(state.written).toBe(1);
    look();
    expect(state.written).toBe(1);
    appendFileSync(file, "a checkpoint");
    look();
    expect(state.written).toBe(2);
    stop();
    expect(state.looks.size).toBe(0);
  });

  it("M1 tells of the log beside the file, also where the file was named by a link to it", async () => {
    const [folder, elsewhere] = [scratch(), scratch()];
    const [file, link] = [join(folder, "schedules.db"), join(elsewhere, "link.db")];
    writeFileSync(file, "");
    symlinkSync(file, link);
    const { state, look } = await told(link);
    writeFileSync(`${file}-wal`, "a commit");
    look();
    expect(state.written).toBe(1);
  });

  it("tells of a file that can no longer be looked at, once, and throws nothing", async () => {
    const file = join(scratch(), "schedules.db");
    writeFileSync(file, "");
    const { state, look } = await told(file);
    // ELOOP, as any error of the file system that is not the file's absence.
    symlinkSync(`${file}-wal`, `${file}-wal`);
    writeFileSync(file, "written, too");
    look();
    look();
    expect(state.written).toBe(1);
  });

  it("tells of no other file beside it", async () => {
    const folder = scratch();
    const file = join(folder, "schedules.db");
    writeFileSync(file, "");
    const { state, look } = await told(file);
    writeFileSync(join(folder, "other.db"), "another's");
    mkdirSync(join(folder, "schedules"));
    linkSync(file, join(folder, "copy.db"));
    look();
    expect(state.written).toBe(0);
  });
});
