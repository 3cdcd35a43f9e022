import { appendFileSync, linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type SignalListener, watchingFile } from "../../plugins/storage/kv/signals.ts";
import { type ManualClock, manualClock } from "../../src/testing/mod.ts";
import { scratch } from "../unit/support/schedulers.ts";

/** Word of a KV file, with the looks that followed. */
async function heard(file: string, every?: (callback: () => void) => () => void) {
  const clock: ManualClock = manualClock();
  const state = { looks: 0 };
  const listener: SignalListener = {
    look: () => void state.looks++,
    heard: () => expect.unreachable("a file tells no entry"),
  };
  const stop = await watchingFile(file, clock, every)(listener);
  onTestFinished(stop);
  return { clock, state, stop };
}

describe("kv: word that a file was written", () => {
  it("M1 comes although no report of the write does, and is looked into for as long as its commit may be flushed", async () => {
    const file = join(scratch(), "schedules.kv");
    const elsewhere = join(scratch(), "same.kv");
    writeFileSync(file, "");
    // A write by another name of the file, of which no directory watcher of this one is told.
    linkSync(file, elsewhere);
    const callbacks = new Set<() => void>();
    const { clock, state, stop } = await heard(file, (callback) => {
      callbacks.add(callback);
      return () => void callbacks.delete(callback);
    });
    await clock.advance("1d");
    expect(state.looks).toBe(0);
    appendFileSync(elsewhere, "a commit");
    for (const callback of callbacks) callback();
    await clock.advance(20);
    expect(state.looks).toBe(1);
    await clock.advance("1m");
    expect(state.looks).toBe(4);
    await stop();
    expect(callbacks.size).toBe(0);
  });

  // Deno looks at the files themselves, which any that is there allows.
  it.skipIf("Deno" in globalThis)("M1 is made up for by looks where the file cannot be watched", async () => {
    const { clock, state, stop } = await heard(join(scratch(), "no such folder", "schedules.kv"));
    await clock.advance("1s");
    expect(state.looks).toBe(4);
    await stop();
    await clock.advance("1m");
    expect(state.looks).toBe(4);
  });
});
