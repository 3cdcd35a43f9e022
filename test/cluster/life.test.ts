import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../unit/support/schedulers.ts";
import { launch, type SpawnOptions } from "./processes.ts";

function live(mode: string, options: SpawnOptions = {}) {
  return launch("life_child.ts", { mode, file: join(scratch(), "schedules.db") }, options);
}

describe("the life of a process", { timeout: 90_000 }, () => {
  it("X3 B115: an idle scheduler keeps the process alive; with unref it does not", async () => {
    const kept = live("ref");
    const free = live("unref");
    await Promise.all([kept, free].map((child) => child.said((message) => "idle" in message)));
    expect(await free.ended).toBe(0);
    expect(free.errors()).toBe("");
    // The other has been idle for as long, and is still there.
    expect(kept.process.exitCode).toBeNull();
    kept.process.kill("SIGKILL");
    expect(await kept.ended).toBe("SIGKILL");
  });

  it("X3 B115: with unref an idle scheduler on a KV file lets the process end as well", async () => {
    const free = live("unref on kv", { deno: ["--unstable-kv"] });
    await free.said((message) => "idle" in message);
    expect(await free.ended).toBe(0);
    expect(free.errors()).toBe("");
  });

  it("X3 a process whose scheduler is closed ends by itself", async () => {
    const child = live("closed");
    await child.said((message) => "closed" in message);
    expect(await child.ended).toBe(0);
    expect(child.errors()).toBe("");
  });

  it("F1 B153: no rejection of a handler, a listener or the store is left unhandled", async () => {
    const child = live("rejecting", { node: ["--unhandled-rejections=strict"] });
    const told = await child.said((message) => "faults" in message);
    expect(told).toMatchObject({ faults: 1 });
    expect(told["errors"]).toBeGreaterThan(0);
    expect(await child.ended).toBe(0);
    expect(child.errors()).toBe("");
  });

  describe.each([{ mode: "leaving", open: true }, { mode: "leaving and closed", open: false }])(
    "$mode",
    ({ mode, open }) => {
      it("F1 B153: what handlers leave rejected behind is logged and ends nothing; what the application leaves does", async () => {
        const child = live(mode);
        const when = ["at once", "when it is over", "while it runs"];
        expect(await child.said((message) => "told" in message)).toEqual({
          told: ["invoked", "scheduled"].flatMap((by) => when.map((time) => `${by}: ${time}`)),
          // X3: of ours, none is left by a closed one. Deno has its own way of listening.
          listeners: open && !("Deno" in globalThis) ? 1 : 0,
        });
        expect(await child.ended).toBe(1);
        expect(child.errors()).toContain("Error: the application");
        expect(child.messages.some((message) => "survived" in message)).toBe(false);
      });
    },
  );

  it.skipIf("Deno" in globalThis)("F1: who has told Node what becomes of rejections is left with it", async () => {
    const child = live("leaving", { node: ["--unhandled-rejections=warn"] });
    expect(await child.said((message) => "told" in message)).toEqual({ told: [], listeners: 0 });
    await child.said((message) => "survived" in message);
    expect(child.errors()).toContain("Error: the application");
    child.process.kill("SIGKILL");
  });

  it("F1 B153: what listeners of a run's signal throw, or leave rejected, is logged once and ends nothing", async () => {
    const child = live("listening");
    const ways = ["left behind", "of an object", "onabort", "rejected, later", "thrown"];
    expect(await child.said((message) => "told" in message)).toEqual({
      told: ["invoked", "scheduled"].flatMap((by) => ways.map((way) => `${by}: ${way}`)),
      refused: "TimeoutError",
    });
    expect(await child.ended).toBe(0);
    expect(child.errors()).toBe("");
  });

  it("X3 B155: 10,000 runs with a timeout leave less than 10 MB and no warning of too many listeners", async () => {
    const child = live("leaking", { node: ["--expose-gc"], deno: ["--v8-flags=--expose-gc"] });
    const told = await child.said((message) => "grown" in message);
    expect(told).toMatchObject({ runs: 12_000, warnings: [] });
    expect(told["grown"]).toBeLessThan(10 * 1024 * 1024);
    expect(await child.ended).toBe(0);
  });

  it("B155: a task that is kept in the store and learnt again a hundred times is in memory once", async () => {
    const child = live("relearning", { node: ["--expose-gc"], deno: ["--v8-flags=--expose-gc"] });
    const told = await child.said((message) => "made" in message);
    expect(told["made"]).toBeGreaterThan(100);
    expect(told["alive"]).toBeLessThan(10);
    expect(await child.ended).toBe(0);
  });
});
