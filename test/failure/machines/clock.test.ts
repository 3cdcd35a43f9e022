import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { launch, until } from "../../cluster/processes.ts";
import { scratch } from "../../unit/support/schedulers.ts";

/** Where distributions put libfaketime, which steps the clock of one process; no other clock is touched. */
const LIBRARY = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib64/faketime/libfaketimeMT.so.1",
  "/usr/lib/faketime/libfaketimeMT.so.1",
].find((path) => existsSync(path));

const HOUR = 3_600_000;

describe("the machine's clock, really stepped", { timeout: 120_000 }, () => {
  it("T8: an hour forward, back, and forward again: no point is doubled, one run makes up for the hour, the rhythm holds", async ({ skip }) => {
    if (LIBRARY === undefined) return skip("libfaketime is not installed; the injected clock steps elsewhere");
    const folder = scratch();
    const offset = join(folder, "offset");
    const set = (seconds: number) => writeFileSync(offset, `${seconds < 0 ? "" : "+"}${seconds}`);
    set(0);
    const child = launch("../failure/machines/clock_child.ts", { file: join(folder, "schedules.db") }, {
      env: {
        ...process.env,
        LD_PRELOAD: LIBRARY,
        FAKETIME_TIMESTAMP_FILE: offset,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      },
    });
    const runs = () =>
      child.messages.flatMap(({ point, missed }) =>
        typeof point === "number" ? [{ point, missed: missed as number }] : []
      );
    const more = (count: number) => {
      const enough = runs().length + count;
      return until("it has run more often", () => runs().length >= enough);
    };
    const ticks = () => child.messages.filter((message) => "tick" in message).length;
    await more(3);
    set(3_600);
    await until("it runs at the new time", () => runs().at(-1)!.point > runs()[0]!.point + 0.99 * HOUR);
    await more(3);
    set(0);
    const before = ticks();
    await until("the stepped clock has been seen", () => ticks() > before + 3);
    set(3_660);
    await more(3);
    child.process.kill("SIGKILL");
    const points = runs().map(({ point }) => point);
    expect(points).toEqual([...new Set(points)].toSorted((a, b) => a - b));
    expect(new Set(points.map((point) => (point - points[0]!) % 250))).toEqual(new Set([0]));
    const steps = points.flatMap((point, i) => i > 0 && point - points[i - 1]! > HOUR / 2 ? [runs()[i]!] : []);
    expect(steps, "C2: one run for what the step has skipped").toHaveLength(1);
    expect(steps[0]!.missed).toBeGreaterThan(0.99 * HOUR / 250 / 2);
    expect(child.errors()).toBe("");
  });
});
