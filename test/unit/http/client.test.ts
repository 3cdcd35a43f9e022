import { createServer } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createScheduler, defineTask, isSchedulerError } from "../../../mod.ts";
import { bearerTokens, http, httpClient, type HttpClientOptions } from "../../../plugins/transports/http/mod.ts";
import { listen } from "../../support/http_server.ts";
import { recorder } from "../support/schedulers.ts";
import { served, TOKENS } from "./served.ts";
import { watched } from "./watched.ts";

const lost = () => Promise.reject(new TypeError("fetch failed", { cause: new Error("read ECONNRESET") }));
const busy = (headers: Record<string, string> = {}, status = 503) =>
  new Response(JSON.stringify({ detail: "later", code: "store_unavailable", retryable: true, status }), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });

describe("calls that may be made again", () => {
  it("are, when the request or its answer was lost, and a creation makes one schedule all the same", async () => {
    const { client, scheduler, requests } = await watched(async (_, next, n) => {
      if (n === 1) return await lost();
      const answer = await next();
      // Carried out, and nobody is told.
      return n === 2 ? await lost() : answer;
    });
    const made = await client.after("beat", "1h");
    expect(requests).toHaveLength(3);
    const keys = requests.map(({ headers }) => headers.get("idempotency-key"));
    expect([new Set(keys).size, keys[0]]).toEqual([1, expect.stringMatching(/^[\w-]{43}$/)]);
    expect((await scheduler.list().page()).schedules.map(({ id }) => id)).toEqual([made.id]);
    await client.after("beat", "1h");
    expect(requests.at(-1)!.headers.get("idempotency-key")).not.toBe(keys[0]);
    expect((await scheduler.list().page()).schedules).toHaveLength(2);
  });

  it.each([502, 503, 504])("are, when something on the way answers %i", async (status) => {
    const { client, requests } = await watched((_, next, n) => n < 3 ? new Response("<html>", { status }) : next());
    expect(await client.listFor("room:7")).toEqual([]);
    expect(requests).toHaveLength(3);
  });

  it("are made so many times, and no more", async () => {
    for (const [options, times] of [[{}, 4], [{ attempts: 1 }, 1], [{ attempts: 2 }, 2]] as const) {
      const { client, requests } = await watched(lost, options);
      await expect(client.list().page()).rejects.toMatchObject({ code: "unreachable", retryable: true });
      expect(requests).toHaveLength(times);
    }
  });

  it("are not, when the server has answered with what no repetition mends", async () => {
    const { client, requests } = await watched((_, next) => next());
    await expect(client.after("no such task", "1h")).rejects.toMatchObject({ code: "unknown_task" });
    expect(requests).toHaveLength(1);
  });

  it("are, when one instance behind a proxy is closed, as in a deployment, and the next one is not", async () => {
    const closed = await served();
    await closed.scheduler.close();
    const { client, requests } = await watched((request, next, n) => n === 1 ? closed.app.fetch(request) : next());
    expect(await client.list().page()).toMatchObject({ schedules: [] });
    expect(requests).toHaveLength(2);
    const alone = await watched((request) => closed.app.fetch(request), { attempts: 2 });
    await expect(alone.client.list().page()).rejects.toMatchObject({ code: "closed", retryable: false });
    expect(alone.requests).toHaveLength(2);
  });

  it.each(["7", "Fri, 01 May 2026 00:00:07 GMT"])("wait for as long as Retry-After says: %s", async (after) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    vi.setSystemTime("2026-05-01T00:00:00Z");
    const { client, requests } = await watched((_, next, n) => n === 1 ? busy({ "retry-after": after }) : next());
    const call = client.list().page();
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(6_500);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(600);
    expect((await call).schedules).toEqual([]);
    expect(requests).toHaveLength(2);
  });
});

describe("calls that may not be made again", () => {
  it.each(["trigger", "invoke", "transaction", "createMany of more than are remembered"] as const)(
    "%s is not, and says that nobody knows whether it was carried out",
    async (name) => {
      const { client, requests } = await watched(lost);
      const many = Array.from({ length: 1_001 }, () => ({ task: "beat", after: "1h" }));
      const call = {
        trigger: () => client.trigger("01KDTW9M000000000000000000"),
        invoke: () => client.invoke("beat"),
        transaction: () => client.transaction([]),
        "createMany of more than are remembered": () => client.createMany(many),
      }[name];
      await expect(call()).rejects.toMatchObject({
        code: "unreachable",
        message: expect.stringMatching(/ECONNRESET; whether it was carried out is not known$/),
      });
      expect(requests).toHaveLength(1);
    },
  );

  it("a change with ifRevision is not: it would be refused for what it has done itself", async () => {
    const { client, requests, ask } = await watched(async (_, next, n) => {
      const answer = await next();
      return n % 2 === 0 ? await lost() : answer;
    });
    const { id } = (await ask("POST", "/v1/schedules", { body: { task: "beat", every: "1h" } })).json;
    const told = {
      code: "unreachable",
      message: expect.stringMatching(/whether it was carried out is not known$/),
    };
    const calls = [
      (ifRevision: string) => client.update(id, { every: "2h" }, { ifRevision }),
      (ifRevision: string) => client.pause(id, { ifRevision }),
      (ifRevision: string) => client.stop(id, { ifRevision }),
    ];
    for (const [i, call] of calls.entries()) {
      const { revision } = await client.info(id);
      await expect(call(revision)).rejects.toMatchObject(told);
      expect(requests).toHaveLength(2 * (i + 1));
    }
    expect((await ask("GET", `/v1/schedules/${id}`)).status).toBe(404);
  });

  it("are when the server refused them for their rate, and did nothing", async () => {
    const { client, requests } = await watched((_, next, n) => n === 1 ? busy({}, 429) : next());
    expect(await client.invoke("echo", 7)).toBe(7);
    expect(requests).toHaveLength(2);
  });
});

describe("failures are told for what they are", () => {
  it("nobody listens", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port))
    );
    await new Promise((resolve) => server.close(resolve));
    const client = httpClient(`http://127.0.0.1:${port}/base/`, { attempts: 2 });
    const error = await client.valid("01KDTW9M000000000000000000").catch((error) => error);
    expect(isSchedulerError(error, "unreachable")).toBe(true);
    expect(error.message).toMatch(
      new RegExp(`^http://127.0.0.1:${port}/base/v1/schedules/.*no answer: .*refused`, "i"),
    );
    expect([error.retryable, error.cause instanceof Error]).toEqual([true, true]);
  });

  it.each([
    [
      "a page",
      new Response("<html>", { status: 200, headers: { "content-type": "text/html" } }),
      /status 200 with text\/html/,
    ],
    ["no such page", new Response("not here", { status: 404 }), /status 404 with text\/plain/],
    [
      "a problem that is none of ours",
      new Response("{}", { status: 404, headers: { "content-type": "application/problem+json" } }),
      /status 404/,
    ],
  ])("another server answers, with %s", async (_, response, message) => {
    const { client, requests } = await watched(() => response.clone());
    await expect(client.info("01KDTW9M000000000000000000")).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringMatching(message),
      retryable: false,
    });
    await expect(client.stop("01KDTW9M000000000000000000")).rejects.toMatchObject({ code: "unreachable" });
    expect(requests).toHaveLength(2);
  });

  it.each([
    ["a body", "oops", "status 500 with a body without a content type;"],
    ["no body", "", "status 500 with no body;"],
  ])("another server answers with %s, and no content type", async (_, body, told) => {
    const { client } = await watched(() => new Response(new TextEncoder().encode(body), { status: 500 }));
    const error = await client.tasks().catch((error) => error);
    expect(error.message).toContain(`something else than a scheduler answered: ${told}`);
  });

  it("a token that was asked for and is none is told of, not shown and not sent", async () => {
    for (const token of ["bad\ntoken", "", " bad", 7, null]) {
      const { client, requests } = await watched((_, next) => next(), { token: () => token as string });
      const error = await client.tasks().catch((error) => error);
      expect([error.code, error.details.where, requests.length]).toEqual(["invalid_option", "httpClient.token", 0]);
      expect(error.message).not.toMatch(/bad|7/);
    }
  });

  it("the token is none, or is asked for anew each time", async () => {
    const { app } = await served();
    const fetch = async (request: Request) => await app.fetch(request);
    await expect(httpClient("http://localhost", { fetch }).running()).rejects.toMatchObject({
      code: "unauthenticated",
    });
    const tokens = ["alice", "bob"];
    const client = httpClient("http://localhost", { fetch, token: () => Promise.resolve(tokens.shift()!) });
    const made = await client.after("beat", "1h");
    await expect(made.info()).rejects.toMatchObject({ code: expect.stringMatching(/not_found|unauthenticated/) });
  });

  it.each([301, 302, 303, 307, 308])(
    "a redirect of status %i is told of, neither followed nor retried",
    async (status) => {
      const reached: string[] = [];
      const target = await listen({
        fetch: (request) => {
          reached.push(request.url);
          return Response.json({ schedules: [] });
        },
      });
      const redirecting = await listen({
        fetch: (request) => {
          reached.push("first");
          expect(request.headers.get("authorization")).toBe("Bearer alice");
          return new Response("elsewhere", { status, headers: { location: `${target.url}/path?secret=1` } });
        },
      });
      onTestFinished(async () => void await Promise.all([target.end(), redirecting.end()]));
      const client = httpClient(redirecting.url, { token: "alice" });
      const error = await client.list().page().catch((error) => error);
      expect([error.code, error.retryable, error.details]).toEqual([
        "unreachable",
        false,
        { url: `${redirecting.url}/v1/schedules`, status, origin: target.url },
      ]);
      expect(error.message).toBe(
        `${redirecting.url}/v1/schedules: status ${status} redirects to ${target.url}, and redirects are refused; ` +
          "expected a scheduler's answer",
      );
      expect(reached).toEqual(["first"]);
    },
  );

  it("a redirect that says nowhere, or to what has no origin, is one as well", async () => {
    for (const headers of [{}, { location: "mailto:a@b" }, { location: "http://[" }]) {
      const { client, requests } = await watched(() => new Response(null, { status: 307, headers }));
      await expect(client.tasks()).rejects.toMatchObject({
        code: "unreachable",
        message: expect.stringContaining("status 307 redirects elsewhere, and redirects are refused"),
      });
      expect(requests).toHaveLength(1);
    }
  });
});

describe("a client's signal", () => {
  it("aborts a request that is under way, with its reason, and every later one", async () => {
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = defineTask("slow", () => {
      started.resolve();
      return ended.promise;
    });
    const scheduler = createScheduler({ tasks: [slow], logger: recorder([]) });
    onTestFinished(() => scheduler.close({ drain: 0 }));
    const server = await listen(http(scheduler, { authenticate: bearerTokens(TOKENS) }));
    onTestFinished(() => {
      ended.resolve();
      return server.end();
    });
    const controller = new AbortController();
    const client = httpClient(server.url, { token: "alice", signal: controller.signal });
    const call = client.invoke("slow");
    await started.promise;
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(client.list().page()).rejects.toBe(reason);
  });

  it("ends a pause between two attempts", async () => {
    const controller = new AbortController();
    const { client, requests } = await watched(() => busy({ "retry-after": "3600" }), { signal: controller.signal });
    const call = client.list().page();
    call.catch(() => {});
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(requests).toHaveLength(1);
  });

  it("B155 leaves no listener behind, whatever becomes of a call", async () => {
    const controller = new AbortController();
    const added = vi.spyOn(controller.signal, "addEventListener");
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const { client } = await watched((_, next, n) => n % 3 === 0 ? lost() : next(), { signal: controller.signal });
    for (let i = 0; i < 20; i++) await client.listFor("room:7");
    expect(added.mock.calls.length).toBeGreaterThan(20);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });

  it("and a timeout of each attempt: nothing waits for ever", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const never = (request: Request) =>
      new Promise<Response>((_, reject) =>
        request.signal.addEventListener("abort", () => reject(request.signal.reason))
      );
    const { client, requests } = await watched(never, { timeout: "5s", attempts: 2 });
    const call = client.list().page();
    call.catch(() => {});
    await vi.advanceTimersByTimeAsync(20_000);
    await expect(call).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("no answer within 5000 ms"),
    });
    expect(requests).toHaveLength(2);
  });
});

describe("what the client sends", () => {
  it("B151 is encoded: ids of any text ask for themselves, and none reaches another path", async () => {
    const { client, requests } = await watched((_, next) => next());
    for (const id of ["a/b c%?#", "a%2Fb", "..", ".", "", "%F0%27", "\0", "\ud800", "__proto__", "a/../../x"]) {
      await expect(client.info(id)).rejects.toMatchObject({ code: "not_found" });
      expect(await client.stop(id)).toBe(false);
      const { pathname, search } = new URL(requests.at(-1)!.url);
      expect([id, pathname.split("/").length, search]).toEqual([id, 4, ""]);
    }
    expect(new URL(requests[0]!.url).pathname).toBe("/v1/schedules/a%2Fb%20c%25%3F%23");
  });

  it("I2 I6 L1 V3 refuses what an address would turn into text, as the scheduler itself does", async () => {
    const { client, scheduler } = await watched((_, next) => next());
    const made = await client.every("beat", "1h", undefined, { target: "null", tags: ["5"] });
    for (const target of [null, undefined, 5, true, {}, ["null"]]) {
      for (const call of ["listFor", "stopFor"] as const) {
        await expect(client[call](target as never)).rejects.toMatchObject({ code: "invalid_option" });
        await expect(scheduler[call](target as never)).rejects.toMatchObject({ code: "invalid_option" });
      }
    }
    for (
      const filter of [
        { tag: 5 },
        { owner: null },
        { name: ["a"] },
        { limit: "3" },
        { limit: [3] },
        { limit: Number.NaN },
        { dueBefore: "5" },
        { dueBefore: Number.NaN },
        { cursor: 5 },
      ]
    ) {
      const code = "dueBefore" in filter ? "invalid_time" : "invalid_option";
      await expect(client.list(filter as never).page()).rejects.toMatchObject({ code });
      await expect(scheduler.list(filter as never).page()).rejects.toMatchObject({ code });
    }
    for (const abortRunning of ["true", 1, null]) {
      const refused = { code: "invalid_option", details: { where: "stop.abortRunning" } };
      await expect(client.stop(made.id, { abortRunning } as never)).rejects.toMatchObject(refused);
      await expect(scheduler.stop(made.id, { abortRunning } as never)).rejects.toMatchObject(refused);
    }
    expect(await client.valid(made.id)).toBe(true);
    expect((await client.list({ dueBefore: Date.UTC(9999, 0) }).page()).schedules).toHaveLength(1);
  });

  it("carries the revision that was read, so that no change of another is lost", async () => {
    const { client, scheduler } = await watched((_, next) => next());
    const made = await client.every("beat", "1h");
    const { revision } = await made.info();
    expect((await made.update({ every: "2h" }, { ifRevision: revision })).id).toBe(made.id);
    const stale = { code: "conflict", details: { revision: (await scheduler.info(made.id)).revision } };
    await expect(made.update({ every: "3h" }, { ifRevision: revision })).rejects.toMatchObject(stale);
    await expect(made.stop({ ifRevision: revision })).rejects.toMatchObject(stale);
    for (const call of ["pause", "resume", "trigger"] as const) {
      await expect(made[call]({ ifRevision: revision })).rejects.toMatchObject(stale);
      await expect(made[call]({ ifRevison: revision } as object)).rejects.toMatchObject({ code: "unknown_option" });
    }
    expect((await scheduler.info(made.id)).spec).toMatchObject({ every: 7_200_000 });
  });

  it("P2 keeps apart what is somebody else's and what was never there", async () => {
    const { client, scheduler } = await watched((_, next) => next());
    const bobs = await scheduler.as({ id: "bob" }).every("beat", "1h");
    for (const call of ["info", "runs", "explain", "stop", "pause", "resume", "trigger"] as const) {
      await expect(client[call](bobs.id)).rejects.toMatchObject({ code: "permission_denied" });
    }
    await expect(client.abortRun(`${bobs.id}-1`)).rejects.toMatchObject({ code: "permission_denied" });
    const own = await client.every("beat", "1h");
    expect(await client.abortRun(`${own.id}-1`)).toBe(false);
    expect(await client.abortRun("nothing")).toBe(false);
  });

  it("L2 a one-shot whose run has started is past stopping: false", async () => {
    const slow = defineTask(
      "slow",
      (_input, { signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)),
    );
    const { app, clock } = await served({}, [slow]);
    const client = httpClient("http://localhost", {
      token: "alice",
      fetch: async (request) => await app.fetch(request),
    });
    const once = await client.after("slow", 0);
    await clock.settled();
    expect(await once.stop({ abortRunning: true })).toBe(false);
  });

  it("the tasks are told, and instants are instants", async () => {
    const { client } = await watched((_, next) => next());
    expect(await client.tasks()).toEqual([{ name: "beat" }, { name: "echo" }, { name: "failing" }]);
    const made = await client.every("beat", "1h", undefined, { startAt: "2026-01-01T12:00:00Z" });
    const { spec, createdAt } = await made.info();
    expect([spec, createdAt]).toEqual([
      { kind: "every", every: 3_600_000, anchor: Date.UTC(2026, 0, 1, 12), startAt: Date.UTC(2026, 0, 1, 12) },
      new Date("2026-01-01T00:00:00Z"),
    ]);
  });
});

it("options that are wrong are errors that say where, and show no token", () => {
  const wrong: readonly (readonly [unknown, object, string])[] = [
    ["localhost:8080", {}, "httpClient.url"],
    ["ftp://localhost", {}, "httpClient.url"],
    ["http://user:pass@localhost", {}, "httpClient.url"],
    ["http://localhost?x", {}, "httpClient.url"],
    ["http://localhost", { tokn: "x" }, "httpClient.tokn"],
    ["http://localhost", { token: "bad\ntoken" }, "httpClient.token"],
    ["http://localhost", { token: "" }, "httpClient.token"],
    ["http://localhost", { token: 1234 }, "httpClient.token"],
    ["http://localhost", { attempts: 0 }, "httpClient.attempts"],
    ["http://localhost", { timeout: "x" }, "httpClient.timeout"],
    ["http://localhost", { signal: {} }, "httpClient.signal"],
    ["http://localhost", { fetch: 7 }, "httpClient.fetch"],
  ];
  for (const [url, options, where] of wrong) {
    const make = () => httpClient(url as string, options as HttpClientOptions);
    expect(make).toThrow(expect.objectContaining({ details: expect.objectContaining({ where }) }));
    expect(make).not.toThrow(/bad|1234|pass/);
  }
  const told = (url: string, options: object = {}) => () => httpClient(url, options as HttpClientOptions);
  expect(told("http://x", { token: "a\nb" })).toThrow("httpClient.token: (hidden); expected a token in ASCII");
  expect(told("http://x", { token: {} })).toThrow("httpClient.token: an object given; expected a token in ASCII");
  expect(told("nowhere")).toThrow('httpClient.url: "nowhere"; expected an address');
  expect(told("http://localhost?key=k1")).toThrow('httpClient.url: "http://localhost?…"; expected an address');
  expect(told("http://user:p@ss?word@localhost")).toThrow('httpClient.url: "http://…"; expected an address');
});
