import { describe, expect, it } from "vitest";
import { served } from "./served.ts";

const every = { task: "beat", every: "1h" };
const NOBODYS = "01KDTW9M000000000000000000";

describe("refusals", () => {
  it.each<[string, string, unknown, string]>([
    ["POST", "/v1/schedules", undefined, "body: nothing given; expected an object or an array"],
    ["POST", "/v1/schedules", null, "body: null is not accepted; expected an object or an array"],
    ["POST", "/v1/schedules", 7, "body: 7 is not accepted; expected an object or an array"],
    ["POST", "/v1/schedules", "text", 'body: "text" is not accepted; expected an object or an array'],
    ["POST", "/v1/schedules", [7], "createMany[0]: 7 is not accepted; expected an object"],
    ["POST", "/v1/schedules", {}, "task: nothing given; expected text"],
    ["POST", "/v1/schedules", [{ ...every, tags: [7] }], "createMany[0].tags[0]: 7 is not accepted; expected text"],
    [
      "POST",
      "/v1/schedules",
      { ...every, jitter: null },
      "jitter: null is not accepted; expected a duration or an object",
    ],
    ["POST", "/v1/schedules", { ...every, at: true }, "at: true is not accepted; expected an instant"],
    ["POST", "/v1/schedules", { ...every, kind: "x" }, 'kind: "x" is not accepted; expected "at", "every" or "cron"'],
    ["POST", "/v1/schedules", { ...every, maxRuns: [] }, "maxRuns: an array of 0 is not accepted; expected a number"],
    ["POST", "/v1/schedules", { ...every, adaptive: 1 }, "adaptive: 1 is not accepted; expected a boolean"],
    [
      "POST",
      "/v1/schedules",
      { ...every, catchup: { policy: "all", window: {} } },
      "catchup.window: an object is not accepted; expected a duration",
    ],
    ["PATCH", `/v1/schedules/${NOBODYS}`, undefined, "body: nothing given; expected an object"],
    [
      "PATCH",
      `/v1/schedules/${NOBODYS}`,
      { overlap: null },
      'overlap: null is not accepted; expected "skip", "queue", "concurrent", "replace" or an object',
    ],
    [
      "PATCH",
      `/v1/schedules/${NOBODYS}`,
      { overlap: { policy: 7 } },
      'overlap.policy: 7 is not accepted; expected "skip", "queue", "concurrent" or "replace"',
    ],
    ["PUT", "/v1/schedules/by-name/x", null, "body: null is not accepted; expected an object"],
    ["GET", "/v1/schedules?limit=1&limit=2", undefined, "limit: given 2 times; expected it once"],
    ["GET", "/v1/schedules?name=a&limit=1&name=b&name=c", undefined, "name: given 3 times; expected it once"],
    ["GET", "/v1/schedules/for-target", undefined, "target: nothing given; expected text"],
    ["POST", "/v1/transactions", undefined, "transaction: nothing given; expected an array"],
    ["POST", "/v1/transactions", [{ stop: 7 }], "transaction[0].stop: 7 is not accepted; expected text"],
    ["POST", "/v1/sync", { group: "g" }, "sync.schedules: nothing given; expected an array"],
    [
      "POST",
      "/v1/schedules",
      [every, { task: "beat", cron: "@dayly" }],
      'createMany[1].cron: "@dayly" is not a cron expression: it is no nickname that is known here; expected @yearly, @annually, ' +
      "@monthly, @weekly, @daily, @midnight, @hourly",
    ],
    [
      "POST",
      "/v1/sync",
      { group: "g", schedules: [{ ...every, name: "a" }, { task: "beat", name: "b", cron: "0 0 30 2 *" }] },
      'sync[1].cron: "0 0 30 2 *" is not a cron expression in its day-of-month field: "30" in month "2" on weekday "*" ' +
      "never comes; expected a date that exists",
    ],
    ["POST", "/v1/sync", { group: "g", schedules: [7] }, "sync[0]: 7 is not accepted; expected an object"],
    ["POST", "/v1/invoke", null, "body: null is not accepted; expected an object"],
    [
      "POST",
      "/v1/next-runs",
      { cron: "0 0 * * *", count: 2 },
      "spec: nothing given; expected an object with one of at, after, every and cron",
    ],
    ["POST", "/v1/next-runs", { spec: { every: "1h" } }, "count: nothing given; expected a number"],
    ["POST", "/v1/tick", { budget: true }, "budget: true is not accepted; expected a duration"],
  ])("%s %s with %j says what was given, what was expected and where", async (method, path, body, detail) => {
    const { ask } = await served();
    const { status, json } = await ask(method, path, { body });
    expect([status, json.detail]).toEqual([json.code === "unknown_task" ? 404 : 400, detail]);
    expect(json.details).toMatchObject({ where: detail.slice(0, detail.indexOf(":")) });
  });

  it("no message of the schemas' library gets out, whatever is sent", async () => {
    const { app } = await served();
    const { paths } = await (await app.request("/v1/openapi.json", { headers: { authorization: "Bearer root" } }))
      .json();
    const told: string[] = [];
    for (const [path, methods] of Object.entries(paths as Record<string, Record<string, { requestBody?: object }>>)) {
      for (const [method, { requestBody }] of Object.entries(methods)) {
        if (requestBody === undefined) continue;
        for (const body of ["null", "7", "[null]", "{}", '{"task":{}}', '[{"create":7}]', '{"schedules":[null]}', ""]) {
          const answer = await app.request(path.replace(/\{\w+\}/g, NOBODYS), {
            method: method.toUpperCase(),
            body,
            headers: { authorization: "Bearer root", "content-type": "application/json" },
          });
          if (!answer.ok) told.push((await answer.json()).detail);
        }
      }
    }
    expect(told.length).toBeGreaterThan(20);
    for (const detail of told) expect(detail).not.toMatch(/invalid input|undefined|received|something else|of type/i);
  });
});
