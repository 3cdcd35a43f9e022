import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChangeWatch, type WatchDirectory } from "../../plugins/storage/sqlite/change_watch.ts";
import { fileWatcher } from "../../plugins/storage/sqlite/watching.ts";
import { manualClock } from "../../src/testing/mod.ts";
import { scratch } from "../unit/support/schedulers.ts";

function watched(options: { readonly watch?: WatchDirectory } = {}) {
  const clock = manualClock();
  let report: (event: string, name: string | null) => void = () => {};
  const state = { looks: 0, changed: false, open: 0, told: 0, fail: () => {} };
  const watch: WatchDirectory = options.watch ?? ((_directory, _options, listener) => {
    report = listener;
    state.open++;
    return {
      close: () => void state.open--,
      unref() {},
      on: (_event, listener) => state.fail = listener,
    };
  });
  const change = new ChangeWatch({
    file: "/data/schedules.db",
    clock,
    watch,
    changed() {
      state.looks++;
      const { changed } = state;
      state.changed = false;
      return changed;
    },
  });
  const remove = change.add(() => void state.told++);
  state.looks = 0;
  return { clock, change, remove, state, report: (name: string | null) => report("change", name) };
}

describe("ChangeWatch", () => {
  it("asks nothing while nothing is written", async () => {
    const { clock, state } = watched();
    await clock.advance("1d");
    expect(state).toMatchObject({ looks: 0, told: 0 });
  });

  it("looks at once when the file or its log is written, and tells only of others' changes", () => {
    for (const name of ["schedules.db", "schedules.db-wal", null]) {
      const { state, report } = watched();
      state.changed = true;
      report(name);
      expect(state, String(name)).toMatchObject({ looks: 1, told: 1 });
    }
    const { state, report } = watched();
    report("schedules.db-wal");
    report("other.db");
    expect(state).toMatchObject({ looks: 1, told: 0 });
  });

  it("looks at most four times a second however much is written, and never loses the last report", async () => {
    const { clock, state, report } = watched();
    for (let ms = 0; ms < 1_900; ms += 10) {
      report("schedules.db-wal");
      await clock.advance(10);
    }
    expect(state.looks).toBe(8);
    state.changed = true;
    report("schedules.db-wal");
    expect(state).toMatchObject({ looks: 8, told: 0 });
    await clock.advance("1s");
    expect(state).toMatchObject({ looks: 10, told: 1 });
    await clock.advance("1d");
    expect(state.looks).toBe(12);
  });

  it("sees a commit whose write was reported long before it was flushed, of which nothing is reported", async () => {
    const { clock, state, report } = watched();
    report("schedules.db-wal");
    await clock.advance("2s");
    expect(state.told).toBe(0);
    state.changed = true;
    await clock.advance("5s");
    expect(state.told).toBe(1);
    report("schedules.db-wal");
    await clock.advance("300ms");
    state.changed = true;
    report("schedules.db-wal");
    expect(state.told).toBe(2);
  });

  it("looks four times a second where files cannot be watched, or no longer", async () => {
    const unwatchable = watched({
      watch: () => {
        throw new Error("ENOSYS");
      },
    });
    const broken = watched();
    broken.state.fail();
    expect(broken.state.open).toBe(0);
    for (const { clock, state } of [unwatchable, broken]) {
      state.changed = true;
      await clock.advance("2s");
      expect(state).toMatchObject({ looks: 8, told: 1 });
    }
  });

  it("a database that cannot be asked is told of as changed", () => {
    const clock = manualClock();
    let report: (event: string, name: string | null) => void = () => {};
    let asked = 0;
    const change = new ChangeWatch({
      file: "a.db",
      clock,
      watch: (_directory, _options, listener) => {
        report = listener;
        return { close() {}, unref() {}, on() {} };
      },
      changed() {
        if (asked++ > 0) throw new Error("disk I/O error");
        return false;
      },
    });
    let told = 0;
    change.add(() => told++);
    report("change", "a.db");
    expect(told).toBe(1);
  });

  it("X3 leaves no watcher and no look behind, when its last listener goes and when it is closed", async () => {
    for (const how of ["removed", "closed"] as const) {
      const { clock, change, remove, state, report } = watched();
      report("schedules.db");
      report("schedules.db");
      if (how === "removed") remove();
      else change.close();
      report("schedules.db");
      await clock.advance("1d");
      expect(state).toMatchObject({ looks: 1, open: 0 });
    }
    for (const failing of ["before", "after"] as const) {
      const { clock, change, state } = watched();
      if (failing === "before") state.fail();
      change.close();
      if (failing === "after") state.fail();
      await clock.advance("1h");
      expect(state.looks, failing).toBe(0);
    }
  });
});

describe("fileWatcher", () => {
  it("M1 reports a write whose own report was lost, and nothing while nothing is written, until it is closed", async () => {
    const file = join(scratch(), "schedules.db");
    writeFileSync(file, "");
    const looks = new Set<() => void>();
    const watch = await fileWatcher(file, (callback, everyMs) => {
      expect(everyMs).toBeLessThanOrEqual(10_000);
      looks.add(callback);
      return () => void looks.delete(callback);
    });
    let reports: (string | null)[] = [];
    // Another directory, from which no report of this file comes.
    const watcher = watch(scratch(), { persistent: false }, (_event, name) => reports.push(name));
    const look = () => looks.forEach((callback) => callback());
    look();
    expect(reports).toEqual([]);
    writeFileSync(`${file}-wal`, "a commit");
    look();
    expect(reports).toEqual(["schedules.db-wal"]);
    reports = [];
    look();
    expect(reports).toEqual([]);
    watcher.close();
    expect(looks.size).toBe(0);
  });
});
