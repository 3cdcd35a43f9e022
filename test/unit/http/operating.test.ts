import { connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { serve } from "../../../examples/serve.ts";
import { createScheduler, defineTask, type Principal } from "../../../mod.ts";
import { bearerTokens, http, type HttpOptions } from "../../../plugins/transports/http/mod.ts";
import { SseReader } from "../../support/sse.ts";
import { valuesOf } from "../../support/prometheus.ts";
import { recorder } from "../support/schedulers.ts";

const work = defineTask("work", () => {});
const TOKENS: Readonly<Record<string, Principal>> = { root: { id: "root", admin: true }, alice: { id: "alice" } };
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** The app behind a real server of the runtime that runs the tests. */
async function served(options: HttpOptions = {}, mount = (app: Hono): Hono => app) {
  const scheduler = createScheduler({ tasks: [work], logger: recorder([]) });
  const app = mount(http(scheduler, { authenticate: bearerTokens(TOKENS), ...options }) as unknown as Hono);
  const server = await serve(app.fetch, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    await scheduler.close({ drain: 0 });
    await server.close();
  });
  const get = (path: string, init: RequestInit = {}) => fetch(server.url + path, init);
  /** A stream that has begun. */
  const events = async (token: string, query = "", lastId?: string) => {
    const { headers } = as(token);
    const response = await get(`/v1/events${query}`, {
      headers: lastId === undefined ? headers : { ...headers, "last-event-id": lastId },
    });
    if (response.status !== 200) await response.body!.cancel();
    expect(response.status).toBe(200);
    const reader = new SseReader(response.body!);
    await reader.read();
    onTestFinished(() => reader.cancel().catch(() => {}));
    return { reader, response };
  };
  return { scheduler, app, url: server.url, get, events };
}

describe("health over HTTP", () => {
  it("/healthz and /readyz answer probes, who have no token, until the scheduler is closed", async () => {
    const { get, scheduler } = await served({ ready: { timeout: "1m" } });
    expect((await get("/healthz")).status).toBe(200);
    const ready = await get("/readyz");
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
    await scheduler.close();
    await vi.waitFor(async () => {
      const closed = await get("/readyz");
      expect([closed.status, await closed.json()]).toEqual([503, { status: "unready", reason: "closed" }]);
    }, 10_000);
    expect((await get("/healthz")).status).toBe(200);
    expect((await get("/healthz", { method: "HEAD" })).status).toBe(200);
  });

  it("/readyz tells a backlog over the limit", async () => {
    const { get, scheduler } = await served({ ready: { timeout: "1m", maxDue: 1 } });
    for (let i = 0; i < 2; i++) await scheduler.at(work, "2026-01-01T00:00:00Z");
    const { status, ...response } = await get("/readyz").then(async (r) => ({
      status: r.status,
      body: await r.json(),
    }));
    expect([status, response.body]).toEqual([503, { status: "unready", reason: "backlog" }]);
  });

  it("B149 metrics and events are for nobody without credentials, and metrics for admins only", async () => {
    const { get } = await served();
    for (const path of ["/metrics", "/v1/events"]) {
      expect((await get(path)).status, path).toBe(401);
      expect((await get(path, as("mallory"))).status, path).toBe(401);
    }
    const refused = await get("/metrics", as("alice"));
    expect([refused.status, refused.headers.get("content-type")]).toEqual([403, "application/problem+json"]);
    const { app } = await served({ authenticate: undefined as never, logger: recorder([]) });
    for (const path of ["/metrics", "/v1/events"]) expect((await app.request(path)).status, path).toBe(401);
  });

  it("refuse options that they do not know, before anything is served", () => {
    const scheduler = createScheduler();
    for (const options of [{ ready: { maxdue: 1 } }, { events: { keep: -1 } }, { ready: null }]) {
      expect(() => http(scheduler, options as HttpOptions)).toThrowError(/^http\.(?:ready|events)/);
    }
  });
});

describe("metrics over HTTP", () => {
  it("are what happened here", async () => {
    const { get, scheduler } = await served();
    await scheduler.start();
    const done = new Promise((resolve) => scheduler.on("succeeded", resolve));
    await scheduler.after(work, 0);
    await done;
    const response = await get("/metrics", as("root"));
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(valuesOf(await response.text(), "ostinato_runs_total")).toEqual({ "work,succeeded": 1 });
  });
});

describe("event streams over HTTP", () => {
  it("P2 carry the caller's own events as they happen, and end with the scheduler", async () => {
    const { events, scheduler } = await served();
    const [alice, root] = [await events("alice"), await events("root")];
    expect(alice.response.headers.get("content-type")).toBe("text/event-stream");
    await scheduler.as({ id: "bob" }).after(work, "1h");
    const { id } = await scheduler.as({ id: "alice" }).after(work, "1h", undefined, { name: "é😀\nline" });
    expect(await alice.reader.next()).toMatchObject({
      event: "created",
      data: { schedule: { id, name: "é😀\nline" } },
    });
    expect(await root.reader.names(2)).toEqual(["created", "created"]);
    await scheduler.close();
    expect([await alice.reader.next(), await root.reader.next()]).toEqual([undefined, undefined]);
  });

  it("resume by Last-Event-ID where the connection was lost", async () => {
    const { events, scheduler } = await served();
    const { reader } = await events("alice");
    const client = scheduler.as({ id: "alice" });
    await client.after(work, "1h");
    const { id } = (await reader.next())!;
    await reader.cancel();
    const { id: second } = await client.after(work, "2h");
    await client.stop(second);
    const again = await events("alice", "", id);
    expect(await again.reader.names(2)).toEqual(["created", "stopped"]);
    const elsewhere = await events("alice", "", "another-1");
    expect(await elsewhere.reader.next()).toMatchObject({ event: "gap", data: { reason: "other_instance" } });
  });

  it("are about what the query says, and refuse one that is not understood", async () => {
    const { events, get, scheduler } = await served();
    const { reader } = await events("root", "?event=stopped&task=work");
    await (await scheduler.after(work, "1h")).stop();
    expect(await reader.names(1)).toEqual(["stopped"]);
    for (const query of ["?event=nothing", "?evnet=stopped", "?schedule=", "?event=%F0%27", "?task=a&task=b"]) {
      const response = await get(`/v1/events${query}`, as("root"));
      expect([response.status, response.headers.get("content-type")], query).toEqual([400, "application/problem+json"]);
      await response.body?.cancel();
    }
    expect((await get("/v1/events", { ...as("root"), method: "POST" })).status).toBe(405);
  });

  it("are limited, and those that were left make room; HEAD and app.request leave none behind", async () => {
    const { events, get, app } = await served({ events: { streamsOfOne: 2 } });
    for (let i = 0; i < 5; i++) {
      expect((await get("/v1/events", { ...as("alice"), method: "HEAD" })).status).toBe(200);
      const response = await app.request("/v1/events", as("alice"));
      await response.body!.cancel();
    }
    const { reader } = await events("alice");
    await events("alice");
    const refused = await get("/v1/events", as("alice"));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    await refused.body?.cancel();
    await reader.cancel();
    await vi.waitFor(() => events("alice"), 30_000);
  });

  it("work where the app is mounted at a path", async () => {
    const { url, scheduler } = await served({}, (app) => new Hono().route("/schedules", app));
    const response = await fetch(`${url}/schedules/v1/events`, as("root"));
    const reader = new SseReader(response.body!);
    await reader.read();
    await scheduler.after(work, "1h");
    expect(await reader.names(1)).toEqual(["created"]);
    await reader.cancel();
    expect((await fetch(`${url}/schedules/healthz`)).status).toBe(200);
  });

  it("keep nothing for a client that does not read: it goes on after a gap, and others never noticed", async () => {
    const { url, events, scheduler } = await served({ events: { keep: 100 } });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    let [text, isRead] = ["", Promise.withResolvers<void>()];
    socket.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      isRead.resolve();
    });
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer root\r\n\r\n`);
    await isRead.promise;
    socket.pause();
    const { reader } = await events("alice", "?event=stopped");
    // More than the buffers of two sockets hold.
    const [target, bob] = ["t".repeat(200), scheduler.as({ id: "b".repeat(200) })];
    for (let i = 0; i < 300; i++) {
      await bob.createMany(
        Array.from({ length: 50 }, () => ({ task: "work", after: "1h", target })),
      );
    }
    await (await scheduler.as({ id: "alice" }).after(work, "1h")).stop();
    expect(await reader.names(1)).toEqual(["stopped"]);
    [isRead, text] = [Promise.withResolvers<void>(), ""];
    const isTold = Promise.withResolvers<void>();
    socket.on("data", () => text.includes("event: gap") && text.includes("event: stopped") && isTold.resolve());
    socket.resume();
    await isTold.promise;
    expect(text.indexOf("event: gap")).toBeLessThan(text.indexOf("event: stopped"));
  });
});
