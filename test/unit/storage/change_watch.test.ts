import { describe, expect, it } from "vitest";
import type { FileListener } from "../../../plugins/storage/file/file_writes.ts";
import { ChangeWatch } from "../../../plugins/storage/sqlite/change_watch.ts";
import { manualClock } from "../../../src/testing/mod.ts";

function watched(changed: () => boolean) {
  const clock = manualClock();
  let listener: FileListener | undefined;
  const state = { told: 0, watchers: 0 };
  const change = new ChangeWatch({
    clock,
    changed,
    writes(told) {
      listener = told;
      state.watchers++;
      return () => void state.watchers--;
    },
  });
  const listen = () => change.add(() => void state.told++);
  return { clock, change, listen, state, written: () => listener!.written() };
}

describe("ChangeWatch", () => {
  it("tells only of others' changes, and not of those before it was listened to", async () => {
    let others = true;
    const { clock, listen, state, written } = watched(() => [others, others = false][0]!);
    listen();
    written();
    expect(state.told).toBe(0);
    others = true;
    await clock.advance("1s");
    expect(state.told).toBe(1);
    others = true;
    written();
    expect(state.told).toBe(2);
  });

  it("a database that cannot be asked is told of as changed", () => {
    const { listen, state, written } = watched(() => {
      throw new Error("disk I/O error");
    });
    listen();
    written();
    expect(state.told).toBe(1);
  });

  it("X3 leaves no watcher and no look behind, when its last listener goes and when it is closed", async () => {
    for (const how of ["removed", "closed"] as const) {
      const { clock, change, listen, state, written } = watched(() => true);
      const removes = [listen(), listen()];
      written();
      if (how === "closed") change.close();
      else for (const remove of removes) remove();
      written();
      await clock.advance("1d");
      expect(state, how).toEqual({ told: 2, watchers: 0 });
    }
  });

  it("goes on while one listener is left, and begins anew for the next", () => {
    const { listen, state, written } = watched(() => true);
    const [first, second] = [listen(), listen()];
    first();
    written();
    expect(state).toEqual({ told: 1, watchers: 1 });
    second();
    listen();
    expect(state.watchers).toBe(1);
  });
});
