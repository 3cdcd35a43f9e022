import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask } from "../../../mod.ts";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { manualClock } from "../../../src/testing/mod.ts";
import { scratch } from "../../unit/support/schedulers.ts";
import { SILENT } from "../crash/life.ts";

const SIZE = 1024 * 1024;

/** A disk of one mebibyte; undefined where this process may not mount one. */
function smallDisk(): string | undefined {
  const folder = scratch();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", folder], { stdio: "ignore" }));
  return folder;
}

/** Takes every byte that is left. */
function fill(disk: string): void {
  for (let size = SIZE; size >= 1; size = Math.floor(size / 2)) {
    try {
      writeFileSync(join(disk, `filler.${size}`), new Uint8Array(size));
    } catch {
      // What it has taken, it has taken.
    }
  }
}

function empty(disk: string): void {
  for (let size = SIZE; size >= 1; size = Math.floor(size / 2)) rmSync(join(disk, `filler.${size}`), { force: true });
}

describe("a disk that is really full", () => {
  it("I2 M6: creations fail clearly, runs end and settle once there is room, nothing is torn or doubled", async ({ skip }) => {
    const disk = smallDisk();
    if (disk === undefined) return skip("no right to mount a tmpfs; max_page_count stands in for it elsewhere");
    const file = join(disk, "schedules.db");
    const clock = manualClock("2026-01-01T00:00:00Z");
    const ended: string[] = [];
    const slow = defineTask("slow", async (_input, { schedule }) => {
      await clock.sleep("5s");
      ended.push(schedule.id);
    });
    const scheduler = createScheduler({ clock, storage: sqlite(file), tasks: [slow], logger: SILENT, retention: "1d" });
    onTestFinished(() => scheduler.close({ drain: 0 }));
    await scheduler.start();
    const before = await scheduler.createMany(Array.from({ length: 10 }, () => ({ task: slow, after: 0 } as const)));
    await clock.settled();
    fill(disk);
    const made: string[] = [];
    let refused = 0;
    for (let i = 0; i < 50; i++) {
      const creation = scheduler.after(slow, 0, "x".repeat(30_000));
      await creation.then(({ id }) => made.push(id), (error) => {
        refused++;
        expect(error).toMatchObject({ code: "store_unavailable", retryable: true });
      });
    }
    expect(refused).toBeGreaterThan(0);
    await clock.advance("10s");
    empty(disk);
    await clock.advance("1m");
    const { id } = await scheduler.after(slow, 0);
    await clock.advance("10s");
    const all = [...before.map((schedule) => schedule.id), ...made, id];
    expect(ended.toSorted()).toEqual(all.toSorted());
    for (const one of all) {
      expect(await scheduler.info(one)).toMatchObject({ retireReason: "completed", runCount: 1, faultCount: 0 });
    }
    expect((await scheduler.list({ limit: 1_000 }).page()).schedules).toEqual([]);
    await scheduler.close();
    const database = new DatabaseSync(file);
    expect(database.prepare("pragma integrity_check").get()).toMatchObject({ integrity_check: "ok" });
    database.close();
  });
});
