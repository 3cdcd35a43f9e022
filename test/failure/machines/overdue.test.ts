import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { launch } from "../../cluster/processes.ts";
import { scratch } from "../../unit/support/schedulers.ts";

const MIB = 1024 * 1024;

/** The whole number on one runtime is enough. */
const COUNT = "Deno" in globalThis ? 25_000 : 100_000;

describe("100,000 overdue schedules at the start", { timeout: 300_000 }, () => {
  it("M1 C5: each runs once; memory stays bounded while they drain; a creation meanwhile does not wait for the end", async () => {
    const child = launch("../failure/machines/overdue_child.ts", {
      file: join(scratch(), "schedules.db"),
      count: COUNT,
    }, {
      node: ["--expose-gc"],
      deno: ["--v8-flags=--expose-gc"],
    });
    const told = await child.said((message) => "runs" in message) as Record<string, number>;
    console.log(`${COUNT} overdue:`, JSON.stringify(told));
    expect(told).toMatchObject({ runs: COUNT + 1, different: COUNT + 1 });
    expect(told["most"]! - told["before"]!).toBeLessThan(96 * MIB);
    // By the number of runs before it, which is none of the machine's speed.
    expect(told["createdAfter"]).toBeLessThan(COUNT);
    expect(await child.ended).toBe(0);
  });
});
