import { Hono } from "hono";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createScheduler, defineTask, SchedulerError } from "../../../mod.ts";
import { http, httpClient } from "../../../plugins/transports/http/mod.ts";
import { STATUS } from "../../../plugins/transports/http/problem.ts";
import { RateLimiter } from "../../../plugins/transports/http/rate_limit.ts";
import { ERROR_CODES } from "../../../src/contract/mod.ts";
import { asking, served, TOKENS } from "./served.ts";

const NOBODYS = "01KDTW9M000000000000000000";
const every = { kind: "every", task: "beat", every: "1m" } as const;

describe("creating", () => {
  it.each([
    [{ kind: "at", task: "beat", at: "2026-05-01T02:00:00+02:00" }, "2026-05-01T00:00:00.000Z"],
    [{ kind: "at", task: "beat", after: 90_000 }, "2026-01-01T00:01:30.000Z"],
    [every, "2026-01-01T00:01:00.000Z"],
    [{ kind: "cron", task: "beat", cron: "0 2 * * *", timezone: "Europe/Berlin" }, "2026-01-01T01:00:00.000Z"],
    [{ task: "beat", after: "10s" }, "2026-01-01T00:00:10.000Z"],
  ])("%j answers 201, where it is, and everything about it", async (body, nextRun) => {
    const { ask } = await served();
    const made = await ask("POST", "/v1/schedules", { body });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ task: "beat", owner: "alice", nextRun, createdAt: "2026-01-01T00:00:00.000Z" });
    expect(made.headers.get("location")).toBe(`/v1/schedules/${made.json.id}`);
    const got = await ask("GET", made.headers.get("location")!);
    expect([got.status, got.json, got.headers.get("etag")]).toEqual([200, made.json, made.headers.get("etag")]);
  });

  it("takes every option by the name that it has in the process", async () => {
    const { ask } = await served();
    const body = {
      ...every,
      name: "beat",
      input: { a: [1, null] },
      state: "kept",
      target: "room:7",
      group: "g",
      tags: ["a", "b"],
      startAt: "2026-01-01T12:00:00Z",
      endAt: 1_800_000_000_000,
      maxRuns: 3,
      catchup: { policy: "all", limit: 10, window: "2d" },
      overlap: { policy: "queue", limit: 2 },
      jitter: { spread: "5s" },
      retry: { limit: 2, delay: "5s", backoff: 3, maxDelay: "1m" },
      maxFaults: 7,
      timeout: "1m",
      adaptive: true,
      onLost: "fault",
      maxLost: 5,
      retention: "2h",
      history: 5,
      persist: false,
      runAs: { id: "alice" },
    };
    const { status, json } = await ask("POST", "/v1/schedules", { body });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      name: "beat",
      input: { a: [1, null] },
      state: "kept",
      spec: { kind: "every", every: 60_000, anchor: "2026-01-01T12:00:00.000Z", endAt: "2027-01-15T08:00:00.000Z" },
      tags: ["a", "b"],
      overlap: { policy: "queue", limit: 2 },
      persist: false,
      retention: 7_200_000,
    });
    expect(json.spec.startAt).toBe("2026-01-01T12:00:00.000Z");
  });

  it("a list is made all or nothing, and answered in order", async () => {
    const { ask } = await served();
    const made = await ask("POST", "/v1/schedules", { body: [every, { task: "beat", after: "1h", name: "n" }] });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject([{ kind: "every", task: "beat" }, { kind: "at", name: "n" }]);
    const refused = await ask("POST", "/v1/schedules", { body: [every, { task: "beat", after: "soon" }] });
    expect(refused.json).toMatchObject({ code: "invalid_duration", details: { where: "createMany[1].after" } });
    for (const by of ["name", "key"]) {
      const twice = await ask("POST", "/v1/schedules", { body: [{ ...every, [by]: "a" }, { ...every, [by]: "a" }] });
      expect(twice.json).toMatchObject({ code: "invalid_option", details: { where: `createMany[1].${by}` } });
    }
    expect((await ask("GET", "/v1/schedules")).json.schedules).toHaveLength(2);
  });

  it("I5 N1 a name or a key that is there answers 200 and the same id", async () => {
    const { ask } = await served();
    for (const by of [{ name: "n" }, { key: "k" }]) {
      const first = await ask("POST", "/v1/schedules", { body: { ...every, ...by } });
      const second = await ask("POST", "/v1/schedules", { body: { ...every, ...by } });
      expect([first.status, second.status, second.json.id]).toEqual([201, 200, first.json.id]);
    }
    const error = await ask("POST", "/v1/schedules", { body: { ...every, key: "k", onConflict: "error" } });
    expect([error.status, error.json.code]).toEqual([409, "conflict"]);
  });

  it("a kind that does not go with the time is refused", async () => {
    const { ask } = await served();
    const answer = await ask("POST", "/v1/schedules", { body: { ...every, kind: "cron" } });
    expect([answer.status, answer.json.details.where]).toEqual([400, "kind"]);
  });

  it("N1 PUT by name makes it once, and changes it then", async () => {
    const { ask } = await served();
    const put = (path: string, body: object) => ask("PUT", `/v1/schedules/by-name/${path}`, { body });
    const first = await put("a%2Fb", every);
    expect([first.status, first.json.name]).toEqual([201, "a/b"]);
    expect(first.headers.get("location")).toBe(`/v1/schedules/${first.json.id}`);
    const again = await put("a%2Fb", { ...every, name: "a/b" });
    expect([again.status, again.json]).toEqual([200, first.json]);
    const changed = await put("a%2Fb", { ...every, every: "2m" });
    expect([changed.json.id, changed.json.spec.every]).toEqual([first.json.id, 120_000]);
    // B151: an escaped escape is another name.
    expect((await put("a%252Fb", every)).json).toMatchObject({ name: "a%2Fb" });
    expect((await put("a", { ...every, name: "b" })).json).toMatchObject({ code: "invalid_option" });
    expect((await put("a", { ...every, key: "b" })).json).toMatchObject({ code: "invalid_option" });
  });
});

describe("refusals", () => {
  it("every code has its status", () => {
    expect(Object.keys(STATUS).sort()).toEqual(Object.keys(ERROR_CODES).sort());
    for (const status of Object.values(STATUS)) expect(status).toBeGreaterThanOrEqual(400);
  });

  it.each([
    [{ after: "5 parsecs" }, 400, "invalid_duration", "after"],
    [{ after: null }, 400, "invalid_duration", "after"],
    [{ at: "2026-02-30T00:00:00Z" }, 400, "invalid_time", "at"],
    [{ at: true }, 400, "invalid_time", "at"],
    [{ cron: "0 0 30 2 *" }, 400, "invalid_cron", "cron"],
    [{ cron: 7 }, 400, "invalid_cron", "cron"],
    [{ cron: "@daily", timezone: "Mars/Olympus" }, 400, "invalid_timezone", "timezone"],
    [{ after: "1h", jiter: "5s" }, 400, "unknown_option", "jiter"],
    [{ after: "1h", tags: "x" }, 400, "invalid_option", "tags"],
    [{ after: "1h", tags: ["x", 7] }, 400, "invalid_option", "tags[1]"],
    [{ after: "1h", overlap: "both" }, 400, "invalid_option", "overlap"],
    [{ every: "1h", retry: { limit: 1, delay: "x" } }, 400, "invalid_duration", "retry.delay"],
    [{ every: "1h", retry: { limit: 1, delay: [] } }, 400, "invalid_duration", "retry.delay"],
    [{ after: "1h", task: "absent" }, 404, "unknown_task", "task"],
    [{ after: "1h", task: 7 }, 404, "unknown_task", "task"],
    [{ after: "1h", owner: "bob" }, 403, "permission_denied", "owner"],
    [{ after: "1h", runAs: { id: "bob" } }, 403, "permission_denied", "runAs.id"],
    [{ after: "1h", state: "x".repeat(5_000) }, 413, "state_too_large", "state"],
    [{ after: "1h", input: "x".repeat(33_000) }, 413, "input_too_large", "input"],
    [{ after: "9999999w" }, 400, "deadline_out_of_range", "after"],
    [{}, 400, "invalid_option", "schedule"],
  ])("%j answers %i %s", async (options, status, code, where) => {
    const { ask, scheduler } = await served();
    const answer = await ask("POST", "/v1/schedules", { body: { task: "beat", ...options } });
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.json).toMatchObject({ type: "about:blank", status, code, details: { where }, retryable: false });
    expect(answer.status).toBe(status);
    expect(answer.json.title).not.toBe("");
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it("P4 a hidden task, one that refuses and one that does not exist are told apart by nothing", async () => {
    const tasks = [
      defineTask("hidden0", { internal: true, run: () => {} }),
      defineTask("private", { authorize: () => false, run: () => {} }),
      defineTask("open", { input: z.object({ n: z.int() }), run: () => {} }),
    ];
    const { ask } = await served({}, tasks);
    const answers = await Promise.all(["hidden0", "private", "absent0"].map(async (task) => {
      const creation = await ask("POST", "/v1/schedules", { body: { task, after: "1h" } });
      const invocation = await ask("POST", "/v1/invoke", { body: { task } });
      return [creation, invocation].map(({ status, headers, text }) => ({
        status,
        headers: [...headers],
        text: text.replaceAll(task, "?"),
      }));
    }));
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect((await ask("GET", "/v1/tasks")).json.tasks.map(({ name }: { name: string }) => name)).toEqual(["open"]);
  });

  it("P2 somebody else's schedule and none are told apart by nothing, whatever is asked of them", async () => {
    const { ask, scheduler } = await served();
    const { id } = await scheduler.as(TOKENS.alice!).every("beat", "1h");
    const asked = async (of: string) => {
      const answers = [
        await ask("GET", `/v1/schedules/${of}`, { as: "bob" }),
        await ask("GET", `/v1/schedules/${of}/runs`, { as: "bob" }),
        await ask("GET", `/v1/schedules/${of}/explain`, { as: "bob" }),
        await ask("PATCH", `/v1/schedules/${of}`, { as: "bob", body: { every: "2h" } }),
        await ask("PATCH", `/v1/schedules/${of}`, { as: "bob", body: {}, headers: { "if-match": '"x"' } }),
        await ask("DELETE", `/v1/schedules/${of}`, { as: "bob" }),
        await ask("DELETE", `/v1/schedules/${of}`, { as: "bob", headers: { "if-match": '"x"' } }),
        await ask("POST", `/v1/schedules/${of}/pause`, { as: "bob" }),
        await ask("POST", `/v1/schedules/${of}/resume`, { as: "bob" }),
        await ask("POST", `/v1/schedules/${of}/trigger`, { as: "bob" }),
        await ask("POST", `/v1/runs/${of}-1/abort`, { as: "bob" }),
      ];
      return answers.map(({ status, headers, text }) => [status, [...headers], text.replaceAll(of, "?")]);
    };
    const answers = await asked(id);
    expect(answers).toEqual(await asked(NOBODYS));
    expect(answers.map(([status]) => status)).toEqual(answers.map(() => 404));
    expect((await scheduler.info(id)).spec).toMatchObject({ every: 3_600_000 });
    expect((await ask("GET", `/v1/schedules/${id}`, { as: "root" })).status).toBe(200);
  });

  it("no stack and no path of the server gets out", async () => {
    const { ask, clock } = await served();
    const { json } = await ask("POST", "/v1/schedules", { body: { task: "failing", every: "1h" } });
    await clock.advance("1h");
    const info = await ask("GET", `/v1/schedules/${json.id}`);
    expect(info.json.lastFault).toEqual({ name: "RangeError", message: "out of luck", at: "2026-01-01T01:00:00.000Z" });
    const answers = [info];
    for (const path of ["", "/runs", "/explain"]) answers.push(await ask("GET", `/v1/schedules/${json.id}${path}`));
    answers.push(await ask("POST", "/v1/invoke", { body: { task: "failing" } }));
    for (const { text } of answers) expect(text).not.toMatch(/\.ts\b|\bat \S+ \(|file:/);
  });

  it("a handler's error is told by name and message, and is no error of the server", async () => {
    const { ask, messages } = await served();
    const answer = await ask("POST", "/v1/invoke", { body: { task: "failing" } });
    expect(answer.json).toEqual({
      type: "about:blank",
      title: "The task failed",
      status: 500,
      detail: "out of luck",
      name: "RangeError",
    });
    expect(messages).toEqual([]);
  });

  it.each(["rate_limited", "unauthenticated", "unreachable"] as const)(
    "a handler's %s, of another server, is not told as this server's own, so that nobody sends the call again",
    async (code) => {
      let runs = 0;
      const calling = defineTask("calling", () => {
        runs++;
        throw new SchedulerError(code, "the other one refused", { retryable: true, details: { n: 7 } });
      });
      const { ask, app } = await served({}, [calling]);
      const answer = await ask("POST", "/v1/invoke", { body: { task: "calling" } });
      expect(answer.json).toMatchObject({ title: "The task failed", status: 500, code, retryable: true });
      const client = httpClient("http://localhost", {
        token: "alice",
        fetch: async (request) => await app.fetch(request),
      });
      await expect(client.invoke("calling")).rejects.toMatchObject({ code, retryable: true, details: { n: 7 } });
      expect([answer.status, runs]).toEqual([500, 2]);
    },
  );

  it("every answer carries the security headers", async () => {
    const { ask } = await served();
    for (
      const [method, path] of [
        ["GET", "/v1/schedules"],
        ["GET", "/v1/nope"],
        ["GET", "/nope"],
        ["OPTIONS", "/v1/schedules"],
        ["PUT", "/v1/schedules"],
        ["DELETE", `/v1/schedules/${NOBODYS}`],
      ] as const
    ) {
      const { headers } = await ask(method, path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("x-powered-by")).toBeNull();
    }
  });
});

describe("paths and methods", () => {
  it.each([
    "%F0%27",
    "%",
    "%zz",
    "a%2Fb",
    "a%2Fruns",
    "a%252Fb",
    "..%2f..",
    "a%00b",
    "__proto__",
    "constructor",
    "%C0%AE",
    "x".repeat(5_000),
  ])("B151 GET /v1/schedules/%s is 400 or 404", async (id) => {
    const { app, messages } = await served();
    for (const path of [`/v1/schedules/${id}`, `/v1/schedules/${id}/runs`, `/v1/runs/${id}/abort`]) {
      const method = path.startsWith("/v1/runs") ? "POST" : "GET";
      const answer = await app.request(path, { method, headers: { authorization: "Bearer alice" } });
      expect([400, 404]).toContain(answer.status);
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    }
    expect(messages).toEqual([]);
  });

  it("B151 a name with an escaped slash does not reach another route, and U+0000 is no name", async () => {
    const { ask } = await served();
    const make = await ask("PUT", "/v1/schedules/by-name/a%2Fruns", { body: every });
    expect([make.status, make.json.name]).toEqual([201, "a/runs"]);
    expect((await ask("PUT", "/v1/schedules/by-name/a%00b", { body: every })).json.code).toBe("invalid_option");
    expect((await ask("PUT", "/v1/schedules/by-name/%F0%27", { body: every })).status).toBeLessThan(500);
    expect((await ask("GET", "/v1/schedules/by-name/a%2Fruns")).json).toEqual(make.json);
    expect((await ask("GET", "/v1/schedules/by-name/a%00b")).json.code).toBe("invalid_option");
    const runs = await ask("PUT", "/v1/schedules/by-name/runs", { body: every });
    expect((await ask("GET", "/v1/schedules/by-name/runs")).json).toEqual(runs.json);
  });

  it("answers HEAD like GET, OPTIONS with what there is, and any other method with 405", async () => {
    const { ask } = await served();
    const head = await ask("HEAD", "/v1/schedules");
    expect([head.status, head.text, head.headers.get("content-type")]).toEqual([200, "", "application/json"]);
    const options = await ask("OPTIONS", "/v1/schedules");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS, POST"]);
    const put = await ask("PUT", "/v1/schedules", { body: {} });
    expect([put.status, put.headers.get("allow"), put.json.status]).toEqual([405, "GET, HEAD, OPTIONS, POST", 405]);
    const nope = await ask("GET", "/v1/nope");
    expect([nope.status, nope.json.code]).toEqual([404, "not_found"]);
    expect((await ask("GET", "/nope")).json).toMatchObject({ code: "not_found" });
  });

  it("leaves a user's app its own routes, and tells where things are under its path", async () => {
    const scheduler = createScheduler({ tasks: [defineTask("beat", () => {})] });
    onTestFinished(() => scheduler.close());
    for (const path of ["/", "/my/v1/path"]) {
      const app = new Hono();
      app.route(path, http(scheduler, { authenticate: () => ({ id: "alice" }) }));
      app.get("/own", (c) => c.text("mine"));
      const ask = asking((request) => app.fetch(request));
      const base = path === "/" ? "" : path;
      const made = await ask("POST", `${base}/v1/schedules`, { body: every });
      expect(made.headers.get("location")).toBe(`${base}/v1/schedules/${made.json.id}`);
      expect((await ask("GET", made.headers.get("location")!)).status).toBe(200);
      expect((await ask("GET", `${base}/v1/nope`)).json).toMatchObject({ code: "not_found" });
      expect((await ask("GET", `${base}/v1/openapi.json`)).json.servers).toEqual([{ url: base || "/" }]);
      expect((await ask("GET", "/own")).text).toBe("mine");
    }
  });
});

describe("changing", () => {
  it("L5 pause, resume and trigger say whether they did anything, and how it is now", async () => {
    const { ask, clock } = await served();
    const { json: { id } } = await ask("POST", "/v1/schedules", { body: every });
    const event = async (name: string) => (await ask("POST", `/v1/schedules/${id}/${name}`)).json;
    expect(await event("pause")).toMatchObject({ done: true, schedule: { paused: true, nextRun: null } });
    expect(await event("pause")).toMatchObject({ done: false, schedule: { paused: true } });
    expect(await event("resume")).toMatchObject({ done: true, schedule: { paused: false } });
    expect(await event("trigger")).toMatchObject({ done: true });
    await clock.settled();
    expect((await ask("GET", `/v1/schedules/${id}/runs`)).json.runs).toMatchObject([{ outcome: "succeeded" }]);
  });

  it("L1 L2 DELETE ends it once, and says where it is past stopping", async () => {
    const clockwork = defineTask(
      "slow",
      (_input, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
    );
    const { ask, clock } = await served({}, [clockwork]);
    const { json: { id } } = await ask("POST", "/v1/schedules", { body: { task: "slow", every: "1h" } });
    expect((await ask("DELETE", `/v1/schedules/${id}?abortRunning=perhaps`)).json.code).toBe("invalid_option");
    const gone = await ask("DELETE", `/v1/schedules/${id}?abortRunning=true`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await ask("DELETE", `/v1/schedules/${id}`)).status).toBe(404);
    expect((await ask("GET", `/v1/schedules/${id}`)).status).toBe(404);
    const { json: once } = await ask("POST", "/v1/schedules", { body: { task: "slow", after: 0 } });
    await clock.settled();
    const [run] = (await ask("GET", "/v1/runs")).json.runs;
    expect(run).toMatchObject({ scheduleId: once.id, outcome: "running" });
    expect((await ask("DELETE", `/v1/schedules/${once.id}`)).json).toMatchObject({ status: 409, code: "conflict" });
    expect((await ask("POST", `/v1/runs/${run.id}/abort`)).status).toBe(204);
  });

  it("U1 a list of operations takes effect whole or not at all", async () => {
    const { ask } = await served();
    const { json: { id } } = await ask("POST", "/v1/schedules", { body: every });
    const done = await ask("POST", "/v1/transactions", {
      body: [{ create: { task: "beat", after: "1h" } }, { update: id, to: { every: "2m" } }, { pause: id }],
    });
    expect(done.json).toMatchObject([{ kind: "at" }, { id }, true]);
    const refused = await ask("POST", "/v1/transactions", {
      body: [{ stop: id }, { create: { task: "beat", after: "1h", tags: [1] } }],
    });
    expect(refused.json).toMatchObject({ code: "invalid_option", details: { where: "transaction[1].tags[0]" } });
    expect((await ask("GET", `/v1/schedules/${id}/valid`)).json).toEqual({ valid: true });
    const many = Array.from({ length: 10_001 }, () => ({ stop: id }));
    expect((await ask("POST", "/v1/transactions", { body: many })).json.code).toBe("invalid_option");
  });

  it("N4 sync, targets, next runs, tick and invoke", async () => {
    const { ask, clock } = await served();
    const one = { name: "one", task: "beat", every: "1h", target: "room:7" };
    const set = await ask("POST", "/v1/sync", { body: { group: "g", schedules: [one, { ...one, name: "two" }] } });
    expect(set.json.schedules).toMatchObject([{ name: "one" }, { name: "two" }]);
    await ask("POST", "/v1/sync", { body: { group: "g", schedules: [one] } });
    const wrong = await ask("POST", "/v1/sync", { body: { group: "g", schedules: [{ ...one, tags: 7 }] } });
    expect(wrong.json.details.where).toBe("sync[0].tags");
    const target = "/v1/schedules/for-target?target=room%3A7";
    expect((await ask("GET", target, { as: "bob" })).json.schedules).toHaveLength(1);
    expect((await ask("DELETE", target, { as: "bob" })).json).toEqual({ stopped: 0 });
    expect((await ask("DELETE", target)).json).toEqual({ stopped: 1 });
    expect((await ask("DELETE", "/v1/schedules/for-target")).status).toBe(400);
    const next = await ask("POST", "/v1/next-runs", { body: { spec: { cron: "@daily" }, count: 2 } });
    expect(next.json.nextRuns).toEqual(["2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"]);
    expect((await ask("POST", "/v1/tick")).status).toBe(403);
    await ask("POST", "/v1/schedules", { body: { task: "beat", after: "1h" } });
    const ticked = await ask("POST", "/v1/tick", { as: "root", body: { budget: "1s" } });
    expect(ticked.json).toEqual({ next: new Date(clock.now() + 3_600_000).toISOString() });
    expect((await ask("POST", "/v1/tick", { as: "root", body: { bugdet: 1 } })).json.code).toBe("unknown_option");
    expect((await ask("POST", "/v1/invoke", { body: { task: "echo", input: null } })).json).toEqual({ output: null });
    expect((await ask("POST", "/v1/invoke", { body: { task: "echo" } })).json).toEqual({});
  });

  it("lists page and filter, by text as a URL has it", async () => {
    const { ask } = await served();
    for (let i = 1; i <= 5; i++) {
      await ask("POST", "/v1/schedules", { body: { ...every, every: `${i}h`, tags: ["x&y"] } });
    }
    const first = (await ask("GET", "/v1/schedules?limit=2&tag=x%26y")).json;
    expect(first.schedules).toHaveLength(2);
    const second = (await ask("GET", `/v1/schedules?limit=2&cursor=${first.cursor}`)).json;
    expect(second.schedules[0].id > first.schedules[1].id).toBe(true);
    const due = (await ask("GET", "/v1/schedules?dueBefore=2026-01-01T03:00:00Z")).json;
    expect(due.schedules).toHaveLength(2);
    for (
      const [query, code] of [
        ["limit=0", "invalid_option"],
        ["limit=x", "invalid_option"],
        ["limit=1&limit=2", "invalid_option"],
        ["dueBefore=x", "invalid_time"],
        ["owner=bob", "permission_denied"],
        ["cursor=zzz", "invalid_option"],
        ["cursor=", "invalid_option"],
      ]
    ) {
      expect([query, (await ask("GET", `/v1/schedules?${query}`)).json.code]).toEqual([query, code]);
    }
  });

  it("tells the tasks with JSON Schema of their input, where the schema can", async () => {
    const blind = { "~standard": { version: 1, vendor: "x", validate: (value: unknown) => ({ value }) } } as const;
    const { ask } = await served({}, [
      defineTask("typed", { input: z.object({ to: z.string(), n: z.int().default(1) }), run: () => {} }),
      defineTask("blind", { input: blind, run: () => {} }),
      defineTask("untold", { input: z.date(), run: () => {} }),
      defineTask("for-bob", { authorize: ({ id }) => id === "bob", run: () => {} }),
      defineTask("by-input", { authorize: (_, input: { team: string }) => input.team === "x", run: () => {} }),
    ]);
    const { json: { tasks } } = await ask("GET", "/v1/tasks");
    expect(tasks.map(({ name }: { name: string }) => name)).toEqual(["blind", "typed", "untold"]);
    expect(tasks[1].inputSchema).toMatchObject({ type: "object", required: ["to"] });
    expect([tasks[0], tasks[2]]).toEqual([{ name: "blind" }, { name: "untold" }]);
    const bobs = (await ask("GET", "/v1/tasks", { as: "bob" })).json.tasks;
    expect(bobs.map(({ name }: { name: string }) => name)).toContain("for-bob");
  });
});

it("an idempotency key is free again after a day, and nothing is left of it", async () => {
  const { ask, clock, scheduler } = await served();
  const make = async () =>
    (await ask("POST", "/v1/schedules", { body: every, headers: { "idempotency-key": "k" } })).json.id;
  const first = await make();
  await clock.advance("23h");
  expect(await make()).toBe(first);
  await clock.advance("1h");
  const second = await make();
  expect(second).not.toBe(first);
  for (const id of [first, second]) await scheduler.stop(id);
  // The receipts are the only ones left: once they are gone, nothing is due any more.
  expect(await scheduler.tick()).toEqual(new Date(clock.now() + 86_400_000));
  await clock.advance("1d");
  expect(await scheduler.tick()).toBeUndefined();
});

it("a creation that is repeated with its key is answered with the status that it had, also where it found its schedule", async () => {
  const { ask } = await served();
  const send = (key: string, body: object) =>
    ask("POST", "/v1/schedules", { body, headers: { "idempotency-key": key } });
  const [keyed, named] = [{ ...every, key: "k" }, { ...every, name: "n" }];
  for (const body of [keyed, named]) {
    const first = [await send(`a ${JSON.stringify(body)}`, body), await send(`b ${JSON.stringify(body)}`, body)];
    const again = [await send(`a ${JSON.stringify(body)}`, body), await send(`b ${JSON.stringify(body)}`, body)];
    expect(first.map(({ status }) => status)).toEqual([201, 200]);
    expect(again.map(({ status, json }) => [status, json.id])).toEqual(
      first.map(({ status, json }) => [status, json.id]),
    );
  }
});

it("a creation that is repeated with its key after its schedule was deleted tells of it, and makes none", async () => {
  const { ask } = await served();
  const make = () => ask("POST", "/v1/schedules", { body: every, headers: { "idempotency-key": "k" } });
  const { id } = (await make()).json;
  expect((await ask("DELETE", `/v1/schedules/${id}`)).status).toBe(204);
  const again = await make();
  expect([again.status, again.headers.get("location")]).toEqual([201, `/v1/schedules/${id}`]);
  expect(again.json).toMatchObject({ id, retired: true, retireReason: "removed", nextRun: null });
  expect((await ask("GET", `/v1/schedules/${id}`)).status).toBe(404);
  expect((await ask("GET", "/v1/schedules")).json.schedules).toEqual([]);
});

describe("rates", () => {
  it("are each principal's own; over it 429 says when to come again", async () => {
    const { ask } = await served({ rateLimit: { limit: 2, window: "1h" } });
    for (let i = 0; i < 2; i++) expect((await ask("GET", "/v1/schedules")).status).toBe(200);
    const over = await ask("GET", "/v1/schedules");
    expect([over.status, over.json.code, over.json.retryable]).toEqual([429, "rate_limited", true]);
    expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(1_700);
    expect((await ask("GET", "/v1/schedules", { as: "bob" })).status).toBe(200);
    expect((await ask("GET", "/v1/schedules", { as: "nobody" as never })).status).toBe(401);
  });

  it("refill evenly, up to the limit, and are forgotten beyond so many principals", () => {
    let now = 0;
    const limiter = new RateLimiter({ limit: 10, windowMs: 1_000 }, () => now);
    const taken = (id: string): number => {
      for (let n = 0;; n++) {
        try {
          limiter.take(id);
        } catch {
          return n;
        }
      }
    };
    expect([taken("a"), taken("b")]).toEqual([10, 10]);
    now = 300;
    expect(taken("a")).toBe(3);
    now = 1e9;
    expect([taken("a"), taken("a")]).toEqual([10, 0]);
    for (let i = 0; i < 9_999; i++) limiter.take(`other ${i}`);
    expect(taken("a")).toBe(0);
    limiter.take("one more");
    for (let i = 0; i < 10_000; i++) limiter.take(`further ${i}`);
    expect(taken("a")).toBe(10);
  });
});

it("options that are wrong are errors that say where", () => {
  const scheduler = createScheduler();
  onTestFinished(() => scheduler.close());
  const wrong: readonly (readonly [object, string])[] = [
    [{ authentication: () => null }, "http.authentication"],
    [{ authenticate: "token" }, "http.authenticate"],
    [{ readOnly: 1 }, "http.readOnly"],
    [{ maxBodyBytes: 0 }, "http.maxBodyBytes"],
    [{ rateLimit: { limit: 0 } }, "http.rateLimit.limit"],
    [{ rateLimit: { limit: 1, window: "x" } }, "http.rateLimit.window"],
    [{ rateLimit: { limit: 1, per: "1s" } }, "http.rateLimit.per"],
    [{ cors: { origin: "app.example.com" } }, "http.cors.origin"],
    [{ cors: { origin: [], x: 1 } }, "http.cors.x"],
    [{ hosts: "x" }, "http.hosts"],
    [{ ready: { timeout: 0 } }, "http.ready.timeout"],
    [{ ready: { timeout: "25d" } }, "http.ready.timeout"],
    [{ logger: {} }, "http.logger"],
  ];
  for (const [options, where] of wrong) {
    expect(() => http(scheduler, options as never)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ where }) }),
    );
  }
});
