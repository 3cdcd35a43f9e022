import { request } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { createScheduler, defineTask } from "../../../mod.ts";
import { bearerTokens, http, type HttpApp, httpClient } from "../../../plugins/transports/http/mod.ts";
import { connectionOf, isLocalName, isLoopback } from "../../../plugins/transports/http/loopback.ts";
import { listen } from "../../support/http_server.ts";
import { type Message, recorder } from "../support/schedulers.ts";
import { served, TOKENS } from "./served.ts";

const CALLS = [
  ["GET", "/v1/schedules"],
  ["POST", "/v1/schedules"],
  ["GET", "/v1/schedules/01KDTW9M000000000000000000"],
  ["POST", "/v1/schedules/01KDTW9M000000000000000000/trigger"],
  ["POST", "/v1/schedules/01KDTW9M000000000000000000/pause"],
  ["DELETE", "/v1/schedules/01KDTW9M000000000000000000"],
  ["GET", "/v1/tasks"],
  ["GET", "/v1/openapi.json"],
] as const;

/** An app with default options, and the token that it printed. */
function closedApp(): { readonly app: HttpApp; readonly token: string } {
  const messages: Message[] = [];
  const scheduler = createScheduler({ tasks: [defineTask("beat", () => {})], logger: recorder([]) });
  onTestFinished(() => scheduler.close());
  const app = http(scheduler, { logger: recorder(messages) });
  expect(messages.map(({ level }) => level)).toEqual(["info"]);
  return { app, token: /Bearer ([\w-]{43})"/.exec(messages[0]!.text)![1]! };
}

/** A request whose headers no `fetch` would send. */
function raw(port: number, headers: Readonly<Record<string, string>>, path = "/v1/schedules"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on("error", reject).end();
  });
}

it.each([undefined, null, {}, () => {}, Promise.resolve()])("http says what it serves, and not %s", (given) => {
  expect(() => http(given as never)).toThrow(
    expect.objectContaining({
      code: "config_invalid",
      message: expect.stringMatching(/^http: scheduler: .*createScheduler/),
    }),
  );
});

describe("B149 without authenticate", () => {
  it.each(CALLS)("nobody without the printed token gets at %s %s", async (method, path) => {
    const { app, token } = closedApp();
    for (const authorization of [undefined, "", "Bearer ", "Bearer x", `Basic ${token}`, `Bearer ${token}x`]) {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await app.request(path, { method, headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
      expect(await answer.json()).toMatchObject({ code: "unauthenticated", status: 401 });
    }
  });

  it("its bearer is an admin, and not the system", async () => {
    const { app, token } = closedApp();
    const headers = { "authorization": `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ task: "beat", after: "1h" });
    const answer = await app.request("/v1/schedules", { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ owner: "local", authority: { id: "local", admin: true } });
  });

  it("each app prints a token of its own", () => {
    expect(closedApp().token).not.toBe(closedApp().token);
  });

  it("a server on the loopback interface answers, by a name of this machine only", async () => {
    const { app, token } = closedApp();
    const { port, end } = await listen(app);
    onTestFinished(end);
    const authorization = `Bearer ${token}`;
    expect(await raw(port, { authorization, host: `localhost:${port}` })).toBe(200);
    expect(await raw(port, { authorization, host: `127.0.0.1:${port}` })).toBe(200);
    expect(await raw(port, { authorization, host: "attacker.example" })).toBe(421);
    expect(await raw(port, { authorization, host: "127.0.0.1.attacker.example" })).toBe(421);
    expect(await raw(port, { host: `localhost:${port}` })).toBe(401);
  });

  it.each([
    ["another machine", { remoteAddr: { hostname: "192.0.2.7" } }, 403],
    ["this machine", { remoteAddr: { hostname: "127.0.0.1" } }, 200],
    ["this machine, by IPv6", { remoteAddr: { hostname: "::1" } }, 200],
    ["a Unix socket", { remoteAddr: { transport: "unix" } }, 200],
    ["another machine, on Node", { incoming: { socket: { remoteAddress: "::ffff:192.0.2.7" } } }, 403],
    ["nobody knows where", { incoming: { socket: {} } }, 403],
    [
      "this machine to a server that others reach as well",
      { incoming: { socket: { remoteAddress: "127.0.0.1", server: { address: () => ({ address: "0.0.0.0" }) } } } },
      403,
    ],
    [
      "this machine to a server that only it reaches",
      { incoming: { socket: { remoteAddress: "127.0.0.1", server: { address: () => ({ address: "127.0.0.1" }) } } } },
      200,
    ],
  ])("a connection of %s is answered as it should be", async (_, env, status) => {
    const { app, token } = closedApp();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await app.request("http://localhost/v1/schedules", { headers }, env);
    expect(answer.status).toBe(status);
  });

  const isNode = !("Deno" in globalThis);
  it.runIf(isNode)("a server that is bound to every interface answers nobody", async () => {
    const { app, token } = closedApp();
    const { port, end } = await listen(app, "0.0.0.0");
    onTestFinished(end);
    expect(await raw(port, { authorization: `Bearer ${token}`, host: `localhost:${port}` })).toBe(403);
  });
});

describe("with authenticate", () => {
  it("B149 null is nobody, and what it throws lets nobody in", async () => {
    const refuse = await served({ authenticate: () => null });
    expect((await refuse.ask("GET", "/v1/schedules")).status).toBe(401);
    const broken = await served({ authenticate: () => Promise.reject(new Error("secret detail")) });
    const answer = await broken.ask("GET", "/v1/schedules");
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("secret detail");
    expect(broken.messages.some(({ level }) => level === "error")).toBe(true);
  });

  it.each([
    { id: "" },
    { id: "system", admin: true },
    { id: 7 },
    {},
    "alice",
    { id: "x".repeat(201) },
    {
      id: "a",
      admin: "yes",
    },
    { id: "a\0" },
    { id: "\ud800" },
  ])("an answer that is no principal lets nobody in: %j", async (principal) => {
    const { ask } = await served({ authenticate: () => principal as never });
    expect((await ask("GET", "/v1/schedules")).status).toBe(500);
  });

  it("P1 only the scheduler's own principal itself is the system", async () => {
    const secret = defineTask("secret", { internal: true, run: () => "done" });
    const scheduler = createScheduler({ tasks: [secret] });
    onTestFinished(() => scheduler.close());
    const app = http(scheduler, { authenticate: () => scheduler.principal });
    const client = httpClient("http://localhost", { fetch: async (request) => await app.fetch(request) });
    expect(await client.invoke("secret")).toBe("done");
  });

  it("bearerTokens tells tokens apart, prefixes and cases too", async () => {
    const authenticate = bearerTokens({ "Tok en": { id: "a" }, "Tok": { id: "b" } });
    const who = async (authorization: string) =>
      await authenticate(new Request("http://localhost", { headers: { authorization } }));
    expect(await who("Bearer Tok en")).toEqual({ id: "a" });
    expect(await who("bearer  Tok ")).toEqual({ id: "b" });
    for (const wrong of ["Bearer tok", "Bearer To", "Bearer Tok e", "Tok", "Bearer", "Bearer __proto__"]) {
      expect(await who(wrong)).toBeNull();
    }
    expect(() => bearerTokens({ "": { id: "a" } })).toThrow(/none empty/);
  });

  it("P1 bearerTokens refuses what is no principal, as Scheduler.as does, and shows no token", async () => {
    const wrong: readonly (readonly [unknown, string, string])[] = [
      ["alice", "invalid_option", "bearerTokens[1]"],
      [null, "invalid_option", "bearerTokens[1]"],
      [{}, "invalid_option", "bearerTokens[1].id"],
      [{ id: "" }, "invalid_option", "bearerTokens[1].id"],
      [{ id: 7 }, "invalid_option", "bearerTokens[1].id"],
      [{ id: "a\0" }, "invalid_option", "bearerTokens[1].id"],
      [{ id: "\ud800" }, "invalid_option", "bearerTokens[1].id"],
      [{ id: "x".repeat(201) }, "invalid_option", "bearerTokens[1].id"],
      [{ id: "system", admin: true }, "invalid_option", "bearerTokens[1].id"],
      [{ id: "a", admin: "yes" }, "invalid_option", "bearerTokens[1].admin"],
      [{ id: "a", admn: true }, "unknown_option", "bearerTokens[1].admn"],
    ];
    const scheduler = createScheduler();
    onTestFinished(() => scheduler.close());
    for (const [principal, code, where] of wrong) {
      const make = () => bearerTokens({ fine: { id: "a" }, "hush hush": principal as { id: string } });
      expect(make).toThrow(expect.objectContaining({ code, details: expect.objectContaining({ where }) }));
      expect(make).not.toThrow(/hush/);
      expect(() => scheduler.as(principal as { id: string })).toThrow(expect.objectContaining({ code }));
    }
    expect(() => bearerTokens({ t: { id: "a", admn: true } as object as { id: string } })).toThrow(
      'did you mean "admin"?',
    );
    const app = http(scheduler, { authenticate: bearerTokens({ embedding: scheduler.principal }) });
    const answer = await app.request("/v1/schedules", { headers: { authorization: "Bearer embedding" } });
    expect(answer.status).toBe(200);
  });

  it("bearerTokens keeps the principals that it was given", async () => {
    const alice = { id: "alice", admin: false };
    const authenticate = bearerTokens({ t: alice });
    alice.admin = true;
    expect(await authenticate(new Request("http://x", { headers: { authorization: "Bearer t" } }))).toEqual({
      id: "alice",
    });
  });

  it("hosts are names as requests have them, and nothing else", async () => {
    const scheduler = createScheduler();
    onTestFinished(() => scheduler.close());
    for (const host of ["http://x", "//x", "x/", "x:80", "a b", "x?y", "x#y", "u@x", "x\\y", "[::1", ":::", "a[b"]) {
      expect(() => http(scheduler, { hosts: ["fine", host] })).toThrow(
        expect.objectContaining({
          code: "invalid_option",
          details: expect.objectContaining({ where: "http.hosts[1]" }),
        }),
      );
    }
    const { app } = await served({ hosts: ["Bücher.example", "fd00::1", "[fd00::2]", "10.0.0.7"] });
    const { port, end } = await listen(app);
    onTestFinished(end);
    for (const host of ["xn--bcher-kva.example", "[fd00::1]:80", "[fd00::2]", "10.0.0.7"]) {
      expect([host, await raw(port, { authorization: "Bearer alice", host })]).toEqual([host, 200]);
    }
  });

  it("a loopback server is called by its own names, or by those that hosts names", async () => {
    const { app } = await served({ hosts: ["Schedules.example.com"] });
    const { port, end } = await listen(app);
    onTestFinished(end);
    const authorization = "Bearer alice";
    expect(await raw(port, { authorization, host: "schedules.example.com" })).toBe(200);
    expect(await raw(port, { authorization, host: `sub.localhost:${port}` })).toBe(200);
    expect(await raw(port, { authorization, host: "attacker.example" })).toBe(421);
    expect(await raw(port, { authorization, host: "a b" })).toBeGreaterThanOrEqual(400);
  });

  it("a request that came over no connection may have any name", async () => {
    const { app } = await served();
    const answer = await app.request("https://schedules.example.com/v1/schedules", {
      headers: { authorization: "Bearer alice" },
    });
    expect(answer.status).toBe(200);
  });

  it("B149 readOnly refuses every change on the server, and nothing else", async () => {
    const { ask, scheduler } = await served({ readOnly: true });
    const { id } = await scheduler.as(TOKENS.alice!).every("beat", "1h");
    for (
      const [method, path, body] of [
        ["POST", "/v1/schedules", { task: "beat", after: "1h" }],
        ["PUT", "/v1/schedules/by-name/x", { task: "beat", after: "1h" }],
        ["PATCH", `/v1/schedules/${id}`, { every: "2h" }],
        ["DELETE", `/v1/schedules/${id}`],
        ["DELETE", "/v1/schedules/for-target?target=x"],
        ["POST", `/v1/schedules/${id}/pause`],
        ["POST", `/v1/schedules/${id}/resume`],
        ["POST", `/v1/schedules/${id}/trigger`],
        ["POST", "/v1/sync", { group: "g", schedules: [] }],
        ["POST", "/v1/transactions", []],
        ["POST", "/v1/runs/x/abort"],
        ["POST", "/v1/invoke", { task: "beat" }],
        ["POST", "/v1/tick"],
      ] as const
    ) {
      const answer = await ask(method, path, { as: "root", body });
      expect([path, answer.status, answer.json.code]).toEqual([path, 403, "permission_denied"]);
    }
    expect((await ask("GET", `/v1/schedules/${id}`)).json).toMatchObject({ runCount: 0, paused: false });
    const spec = { spec: { every: "1h" }, count: 1 };
    expect((await ask("POST", "/v1/next-runs", { body: spec })).status).toBe(200);
  });
});

describe("pages of other origins", () => {
  it("get no leave by default, and may not change anything by what their browser knows", async () => {
    const { ask } = await served();
    const origin = "https://evil.example";
    const preflight = await ask("OPTIONS", "/v1/schedules", {
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    const body = { task: "beat", after: "1h" };
    expect((await ask("POST", "/v1/schedules", { body, headers: { origin } })).status).toBe(403);
    expect((await ask("POST", "/v1/tick", { as: "root", headers: { origin: "null" } })).status).toBe(403);
    const own = { origin: "http://localhost", host: "localhost" };
    expect((await ask("POST", "/v1/schedules", { body, headers: own })).status).toBe(201);
  });

  it("get leave where cors names them", async () => {
    const { ask } = await served({ cors: { origin: "https://app.example.com" } });
    const headers = { origin: "https://app.example.com" };
    const preflight = await ask("OPTIONS", "/v1/schedules", {
      headers: { ...headers, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
    const made = await ask("POST", "/v1/schedules", { body: { task: "beat", after: "1h" }, headers });
    expect([made.status, made.headers.get("access-control-allow-origin")]).toEqual([201, "https://app.example.com"]);
    const other = await ask("GET", "/v1/schedules", { headers: { origin: "https://other.example.com" } });
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("addresses and names", () => {
  it("of this machine are known", () => {
    for (const local of ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "::ffff:127.0.0.1"]) {
      expect(isLoopback(local)).toBe(true);
    }
    for (const other of ["", "0.0.0.0", "10.0.0.1", "128.0.0.1", "127.0.0.1.example", "::", "fe80::1"]) {
      expect(isLoopback(other)).toBe(false);
    }
    for (const local of ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "[::1]"]) {
      expect(isLocalName(local)).toBe(true);
    }
    for (const other of ["", "localhost.example", "notlocalhost", "example.com"]) {
      expect(isLocalName(other)).toBe(false);
    }
  });

  it("of a connection are read where there is one", () => {
    for (const none of [undefined, null, {}, 7, { DB: {} }]) expect(connectionOf(none)).toBeUndefined();
  });
});
