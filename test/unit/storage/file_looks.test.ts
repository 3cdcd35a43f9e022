import { describe, expect, it } from "vitest";
import { FileLooks } from "../../../plugins/storage/file/file_looks.ts";
import type { FileListener, FileWrites } from "../../../plugins/storage/file/file_writes.ts";
import { manualClock } from "../../../src/testing/mod.ts";

function watched(options: { readonly writes?: FileWrites; readonly firstLookMs?: number } = {}) {
  const clock = manualClock();
  let listener: FileListener | undefined;
  const state = { looks: 0, watchers: 0 };
  const writes: FileWrites = (told) => {
    listener = told;
    state.watchers++;
    return () => void state.watchers--;
  };
  const looks = new FileLooks({ clock, writes, look: () => state.looks++, ...options });
  looks.start();
  return { clock, looks, state, written: () => listener!.written(), broken: () => listener!.broken() };
}

describe("FileLooks", () => {
  it("asks nothing while nothing is written", async () => {
    const { clock, state } = watched();
    await clock.advance("1d");
    expect(state).toEqual({ looks: 0, watchers: 1 });
  });

  it("looks within the report of a write, or as soon after it as it is told to", async () => {
    const atOnce = watched();
    atOnce.written();
    expect(atOnce.state.looks).toBe(1);
    const later = watched({ firstLookMs: 20 });
    later.written();
    await later.clock.advance(19);
    expect(later.state.looks).toBe(0);
    await later.clock.advance(1);
    expect(later.state.looks).toBe(1);
  });

  it.each([[undefined, 8], [20, 8]])(
    "looks at most four times a second however much is written, and never loses the last report (first after %s ms)",
    async (firstLookMs, most) => {
      const { clock, state, written } = watched(firstLookMs === undefined ? {} : { firstLookMs });
      for (let ms = 0; ms < 1_900; ms += 10) {
        written();
        await clock.advance(10);
      }
      expect(state.looks).toBe(most);
      written();
      expect(state.looks).toBe(most);
      await clock.advance("1s");
      expect(state.looks).toBe(most + 2);
      await clock.advance("1d");
      expect(state.looks).toBe(most + 4);
    },
  );

  it.each([undefined, 20])(
    "M1 looks again for seconds, since a commit is reported before it is flushed and seen (first after %s ms)",
    async (firstLookMs) => {
      const { clock, state, written } = watched(firstLookMs === undefined ? {} : { firstLookMs });
      written();
      await clock.advance("2s");
      const { looks } = state;
      await clock.advance("5s");
      expect(state.looks).toBe(looks + 1);
      written();
      await clock.advance("300ms");
      const { looks: soon } = state;
      // Not by and by: another commit follows the one that was waited for.
      written();
      await clock.advance(firstLookMs ?? 0);
      expect(state.looks).toBe(soon + 1);
    },
  );

  it("M1 looks four times a second where files cannot be watched, or no longer", async () => {
    const unwatchable = watched({
      writes: () => {
        throw new Error("ENOSPC");
      },
    });
    const broken = watched();
    broken.broken();
    expect(broken.state.watchers).toBe(0);
    for (const { clock, state } of [unwatchable, broken]) {
      await clock.advance("2s");
      expect(state.looks).toBe(8);
    }
  });

  it("X3 leaves no watcher and no look behind", async () => {
    for (const firstLookMs of [0, 20]) {
      const { clock, looks, state, written } = watched({ firstLookMs });
      written();
      written();
      const { looks: before } = state;
      looks.stop();
      written();
      await clock.advance("1d");
      expect(state, String(firstLookMs)).toEqual({ looks: before, watchers: 0 });
    }
    for (const breaks of ["before", "after"] as const) {
      const { clock, looks, state, broken } = watched();
      if (breaks === "before") broken();
      looks.stop();
      if (breaks === "after") broken();
      await clock.advance("1h");
      expect(state, breaks).toEqual({ looks: 0, watchers: 0 });
    }
  });

  it("begins anew after it was stopped", () => {
    const { looks, state, written } = watched();
    looks.stop();
    looks.start();
    looks.start();
    written();
    expect(state).toEqual({ looks: 1, watchers: 1 });
  });
});
