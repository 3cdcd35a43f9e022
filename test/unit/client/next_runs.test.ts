import { describe, expect, it } from "vitest";
import { createClient, SYSTEM_PRINCIPAL } from "../../../src/client/mod.ts";
import type { NextRunsSpec } from "../../../src/contract/mod.ts";
import { memoryHost, refusal, START, task } from "./memory_host.ts";

const HOUR = 3_600_000;

async function setUp() {
  const host = await memoryHost([task("t")], { defaults: { timezone: "Europe/Berlin" } });
  const client = createClient(host, SYSTEM_PRINCIPAL);
  const texts = (spec: NextRunsSpec, count: number, from?: string | number) =>
    client.nextRuns(spec, count, from === undefined ? {} : { from }).map((run) => run.toISOString());
  return { host, client, texts };
}

describe("nextRuns", () => {
  it("K6 gives the next deadlines of a cron in its zone, across a clock change", async () => {
    const { texts } = await setUp();
    expect(texts({ cron: "30 2 * * *", timezone: "America/New_York" }, 3, "2026-03-07T12:00:00Z")).toEqual([
      "2026-03-08T07:00:00.000Z",
      "2026-03-09T06:30:00.000Z",
      "2026-03-10T06:30:00.000Z",
    ]);
    expect(texts({ cron: "30 2 * * *", timezone: "America/New_York", dst: { gap: "skip" } }, 1, "2026-03-07T12:00:00Z"))
      .toEqual([
        "2026-03-09T06:30:00.000Z",
      ]);
  });

  it("K6 counts from now unless told otherwise, in the scheduler's zone", async () => {
    const { texts } = await setUp();
    expect(texts({ cron: "@daily" }, 2)).toEqual(["2026-01-01T23:00:00.000Z", "2026-01-02T23:00:00.000Z"]);
    expect(texts({ every: "90m" }, 2)).toEqual(["2026-01-01T01:30:00.000Z", "2026-01-01T03:00:00.000Z"]);
    expect(texts({ after: "10m" }, 5)).toEqual(["2026-01-01T00:10:00.000Z"]);
    expect(texts({ at: START + HOUR }, 5)).toEqual(["2026-01-01T01:00:00.000Z"]);
  });

  it("K6 T1 shows a one-shot whose time has passed as due at once", async () => {
    const { texts } = await setUp();
    expect(texts({ at: START - HOUR }, 1)).toEqual(["2026-01-01T00:00:00.000Z"]);
  });

  it("K6 T9 keeps to startAt, endAt and maxRuns", async () => {
    const { texts } = await setUp();
    const bounds = { startAt: START + 10 * HOUR, endAt: START + 13 * HOUR };
    const all = [
      "2026-01-01T10:00:00.000Z",
      "2026-01-01T11:00:00.000Z",
      "2026-01-01T12:00:00.000Z",
      "2026-01-01T13:00:00.000Z",
    ];
    expect(texts({ every: "1h", ...bounds }, 10)).toEqual(all);
    expect(texts({ cron: "0 * * * *", ...bounds }, 10)).toEqual(all);
    expect(texts({ every: "1h", ...bounds, maxRuns: 2 }, 10)).toEqual(all.slice(0, 2));
    expect(texts({ every: "1h", startAt: START - 20 * 60_000 }, 1)).toEqual(["2026-01-01T00:40:00.000Z"]);
    expect(texts({ every: "1h" }, 0)).toEqual([]);
  });

  it("K6 T6 ends with the calendar", async () => {
    const { texts } = await setUp();
    expect(texts({ cron: "0 12 31 12 *", timezone: "UTC" }, 5, "9998-12-01T00:00:00Z")).toEqual([
      "9998-12-31T12:00:00.000Z",
      "9999-12-31T12:00:00.000Z",
    ]);
  });

  it("K6 agrees with what creation arms", async () => {
    const { client } = await setUp();
    const specs: readonly NextRunsSpec[] = [
      { cron: "H H * * *", name: "spread" },
      { cron: "*/7 3-5 * * 1-5" },
      { every: 1_234, startAt: START - 777 },
      { every: "2h", startAt: START },
      { every: 3 },
      { after: "1w" },
    ];
    for (const spec of specs) {
      const [made] = await client.createMany([{ task: "t", ...spec }]);
      expect(client.nextRuns(spec, 1)).toEqual([made!.nextRun]);
    }
  });

  it.each<[NextRunsSpec & { readonly cron: string }]>([
    [{ cron: "30 2 * 3 0L", timezone: "Europe/Berlin", dst: { gap: "skip" } }],
    [{ cron: "* 2 * 3 0L", timezone: "Europe/Berlin" }],
    [{ cron: "*/5 0 * 3 0#2", timezone: "America/Havana", startAt: START + HOUR }],
  ])("K1 K4 K6 a time that the zone's clocks skip whenever it comes is refused as such: %j", async (spec) => {
    const { client } = await setUp();
    const never = refusal("invalid_cron", /^cron: ".*" never comes in \w+\/\w+: the clocks there skip its hour/);
    expect(() => client.nextRuns(spec, 1)).toThrow(never as Error);
    await expect(client.createMany([{ task: "t", ...spec }])).rejects.toMatchObject(never as object);
    const { cron, ...zone } = spec;
    const made = await client.cron("moved", cron, "t", undefined, { ...zone, timezone: "UTC" });
    await expect(made.update({ timezone: zone.timezone! })).rejects.toMatchObject(never as object);
    expect((await made.info()).nextRun).toEqual(made.nextRun);
  });

  it("T6 K6 a search that ends with the calendar is not taken for a time that never comes", async () => {
    const { client, texts } = await setUp();
    const late = { cron: "0 0 1 1 *", startAt: "9999-06-01T00:00:00Z", timezone: "UTC" };
    expect(texts(late, 1)).toEqual([]);
    await expect(client.createMany([{ task: "t", ...late }])).rejects.toMatchObject({ code: "deadline_out_of_range" });
  });

  it.each<[unknown, unknown, unknown, string, RegExp]>([
    [{ cron: "0 0 30 2 *" }, 1, {}, "invalid_cron", /./],
    [{ cron: "nonsense" }, 1, {}, "invalid_cron", /./],
    [{ cron: 5 }, 1, {}, "invalid_cron", /^cron: 5/],
    [{ cron: "@daily", timezone: "Mars" }, 1, {}, "invalid_timezone", /^timezone: "Mars"/],
    [{ every: 0 }, 1, {}, "invalid_duration", /^every: 0/],
    [{ at: "tomorrow" }, 1, {}, "invalid_time", /^at: "tomorrow"/],
    [{ at: 1, every: 1 }, 1, {}, "invalid_option", /^at: given together with every/],
    [{}, 1, {}, "invalid_option", /^spec: it does not say when/],
    ["@daily", 1, {}, "invalid_option", /^spec: "@daily"/],
    [{ every: "1h", jitter: 5 }, 1, {}, "unknown_option", /^jitter/],
    [{ at: START, startAt: START }, 1, {}, "invalid_option", /^startAt/],
    [{ every: "1h" }, -1, {}, "invalid_option", /^count: -1/],
    [{ every: "1h" }, 10_001, {}, "invalid_option", /^count: 10001/],
    [{ every: "1h" }, undefined, {}, "invalid_option", /^count: undefined/],
    [{ every: "1h" }, 1, { from: "x" }, "invalid_time", /^nextRuns\.from: "x"/],
    [{ every: "1h" }, 1, { form: START }, "unknown_option", /^nextRuns\.form.*"from"/],
  ])("K6 I2 throws as creation would: %j %j %j", async (spec, count, options, code, message) => {
    const { client } = await setUp();
    expect(() => client.nextRuns(spec as never, count as never, options as never)).toThrow(
      refusal(code as never, message) as Error,
    );
  });
});
