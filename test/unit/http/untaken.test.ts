import { describe, expect, it } from "vitest";
import { served } from "./served.ts";

const every = { task: "beat", every: "1h" };

/** A world with one schedule, and ways to change something that give it no promise of the kind. */
async function changes() {
  const world = await served();
  const { id } = (await world.ask("POST", "/v1/schedules", { body: every })).json;
  const one = `/v1/schedules/${id}`;
  return { ...world, one };
}

describe("a header that asks for a promise is refused where it would not be kept", () => {
  it.each<[string, string, unknown]>([
    ["POST", "/v1/schedules", every],
    ["PUT", "/v1/schedules/by-name/daily", every],
    ["DELETE", "/v1/schedules/for-target?target=room:7", undefined],
    ["POST", "/v1/transactions", [{ create: every }]],
    ["POST", "/v1/sync", { group: "g", schedules: [] }],
    ["POST", "/v1/invoke", { task: "echo" }],
    ["POST", "/v1/runs/01KDTW9M000000000000000000-1/abort", undefined],
  ])("If-Match and If-None-Match at %s %s, and nothing is done", async (method, path, body) => {
    const { ask, scheduler } = await changes();
    for (const [name, value] of [["If-Match", "*"], ["If-Match", '"x"'], ["If-None-Match", "*"]] as const) {
      const answer = await ask(method, path, { headers: { [name]: value }, ...(body === undefined ? {} : { body }) });
      expect(answer.json).toMatchObject({ status: 400, code: "invalid_option", details: { where: name } });
    }
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
  });

  it("If-None-Match at what takes If-Match", async () => {
    const { ask, one } = await changes();
    for (const [method, path, body] of [["PATCH", one, {}], ["POST", `${one}/pause`], ["DELETE", one]] as const) {
      const asked = { headers: { "if-none-match": "*" }, ...(body === undefined ? {} : { body }) };
      expect((await ask(method, path, asked)).json).toMatchObject({ status: 400, details: { where: "If-None-Match" } });
    }
    expect((await ask("GET", one)).json).toMatchObject({ paused: false, retired: false });
  });

  it("Idempotency-Key at what would be done once more, and not where that is all the same", async () => {
    const { ask, one } = await changes();
    const headers = { "idempotency-key": "k" };
    const refused = [
      [`${one}/trigger`],
      ["/v1/transactions", [{ create: every }]],
      ["/v1/invoke", { task: "echo" }],
    ] as const;
    for (const [path, body] of refused) {
      const answer = await ask("POST", path, { headers, ...(body === undefined ? {} : { body }) });
      expect(answer.json).toMatchObject({ status: 400, details: { where: "Idempotency-Key" } });
    }
    const nextRuns = { spec: { every: "1h" }, count: 1 };
    const answers = [
      await ask("PATCH", one, { headers, body: { every: "2h" } }),
      await ask("PUT", "/v1/schedules/by-name/daily", { headers, body: every }),
      await ask("POST", "/v1/next-runs", { headers, body: nextRuns }),
      await ask("POST", `${one}/pause`, { headers }),
      await ask("POST", "/v1/sync", { headers, body: { group: "g", schedules: [] } }),
      await ask("GET", one, { headers: { ...headers, "if-match": '"x"', "if-none-match": "*" } }),
      await ask("DELETE", one, { headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 200, 200, 200, 204]);
  });
});

describe("what an operation does not take is refused, as an unknown option is", () => {
  it("a body", async () => {
    const { ask, one } = await changes();
    const ways = [
      ["POST", `${one}/trigger`],
      ["POST", `${one}/pause`],
      ["POST", "/v1/runs/01KDTW9M000000000000000000-1/abort"],
      ["DELETE", one],
    ] as const;
    for (const [method, path] of ways) {
      expect((await ask(method, path, { body: { abortRunning: true } })).json).toMatchObject({
        status: 400,
        code: "unknown_option",
        detail: "body.abortRunning: unknown option; expected none",
      });
      expect((await ask(method, path, { body: [] })).json).toMatchObject({ status: 400, code: "invalid_option" });
    }
    expect((await ask("GET", one)).json).toMatchObject({ paused: false, decisions: [] });
    expect((await ask("POST", `${one}/pause`, { body: {} })).json).toMatchObject({ done: true });
  });

  it("a parameter of the query", async () => {
    const { ask, one } = await changes();
    const ways = [
      ["GET", one],
      ["GET", `${one}/runs`],
      ["GET", "/v1/runs"],
      ["POST", `${one}/pause`],
      ["PATCH", one, {}],
      ["POST", "/v1/schedules", every],
      ["PUT", "/v1/schedules/by-name/daily", every],
    ] as const;
    for (const [method, path, body] of ways) {
      for (const query of ["every=1m", "every=1m&every=2m", "__proto__=1"]) {
        const answer = await ask(method, `${path}?${query}`, body === undefined ? {} : { body });
        expect(answer.json).toMatchObject({ status: 400, code: "unknown_option" });
      }
    }
    expect((await ask("GET", "/v1/schedules")).json.schedules).toHaveLength(1);
    expect((await ask("GET", one)).json).toMatchObject({ paused: false, spec: { every: 3_600_000 } });
  });
});
