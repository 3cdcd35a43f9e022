import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { listen } from "../../support/http_server.ts";
import { served } from "./served.ts";

const LIMIT = 100;
const LARGE = JSON.stringify({ task: "beat", after: "1h", input: "x".repeat(1_000) });
const AUTH = { "authorization": "Bearer alice", "content-type": "application/json" };

/** Sends bytes as they are and answers the status of what comes back. */
function exchangeBytes(port: number, bytes: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.on("error", reject).on("close", () => reject(new Error(`closed after ${JSON.stringify(text)}`)));
  });
}

describe("B147 a body over the limit is refused whatever its headers say", () => {
  it.each([undefined, "abc", "-1", "5", "0", "1e1", "100", String(LARGE.length)])(
    "in the process, with Content-Length %s",
    async (length) => {
      const { app, scheduler } = await served({ maxBodyBytes: LIMIT });
      const headers = { ...AUTH, ...(length === undefined ? {} : { "content-length": length }) };
      const answer = await app.request("/v1/schedules", { method: "POST", headers, body: LARGE });
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ code: "input_too_large" });
      expect((await scheduler.list().page()).schedules).toEqual([]);
    },
  );

  it("in the process, from a stream that never ends, of which it takes little", async () => {
    const { app } = await served({ maxBodyBytes: LIMIT });
    let pulled = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(64).fill(32));
      },
      cancel: () => void (isCancelled = true),
    });
    const init = { method: "POST", headers: AUTH, body, duplex: "half" };
    expect((await app.request("/v1/schedules", init as RequestInit)).status).toBe(413);
    expect(pulled).toBeLessThan(10);
    expect(isCancelled).toBe(true);
  });

  it("over a socket, by its length and in chunks", async () => {
    const { app, scheduler } = await served({ maxBodyBytes: LIMIT });
    const { port, end } = await listen(app);
    onTestFinished(end);
    const head = `POST /v1/schedules HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\n` +
      "Content-Type: application/json\r\n";
    const chunk = `3e8\r\n${"x".repeat(1_000)}\r\n`;
    expect(await exchangeBytes(port, `${head}Content-Length: ${LARGE.length}\r\n\r\n${LARGE}`)).toBe(413);
    expect(await exchangeBytes(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)).toBe(413);
    for (const length of ["abc", "-1"]) {
      expect(await exchangeBytes(port, `${head}Content-Length: ${length}\r\n\r\n${LARGE}`)).toBeGreaterThanOrEqual(400);
    }
    // A length that is too small ends the body there: what remains is no JSON.
    expect(await exchangeBytes(port, `${head}Content-Length: 5\r\n\r\n${LARGE}`)).toBe(400);
    expect((await scheduler.list().page()).schedules).toEqual([]);
  });

  it("on every path that takes one, and lets one pass that is as large as the limit", async () => {
    const { app } = await served({ maxBodyBytes: LARGE.length - 1 });
    for (
      const [method, path] of [
        ["PUT", "/v1/schedules/by-name/x"],
        ["PATCH", "/v1/schedules/x"],
        ["DELETE", "/v1/schedules/x"],
        ["POST", "/v1/schedules/x/pause"],
        ["POST", "/v1/sync"],
        ["POST", "/v1/transactions"],
        ["POST", "/v1/next-runs"],
        ["POST", "/v1/invoke"],
        ["POST", "/v1/tick"],
      ] as const
    ) expect((await app.request(path, { method, headers: AUTH, body: LARGE })).status, path).toBe(413);
    const roomy = await served({ maxBodyBytes: LARGE.length });
    const answer = await roomy.app.request("/v1/schedules", { method: "POST", headers: AUTH, body: LARGE });
    expect(answer.status).toBe(201);
  });
});

it("a client that sends its body slowly, or never, is given up, and takes nothing meanwhile", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { app, scheduler } = await served();
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
  const init = { method: "POST", headers: AUTH, body, duplex: "half" } as RequestInit;
  const answer = app.request("/v1/schedules", init);
  await vi.advanceTimersByTimeAsync(31_000);
  expect((await answer).status).toBe(408);
  expect(isCancelled).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  expect((await scheduler.list().page()).schedules).toEqual([]);
});

describe("a client that hangs up while it sends its body", () => {
  it.each(["Content-Length: 500", "Transfer-Encoding: chunked"])(
    "over a socket, with %s, is no error of the server's, and nothing is done",
    async (framing) => {
      const { app, scheduler, messages } = await served();
      let answered = () => {};
      const answering = new Promise<void>((resolve) => answered = resolve);
      const { port, end } = await listen({
        async fetch(request, env) {
          const response = await app.fetch(request, env as never);
          answered();
          return response;
        },
      });
      onTestFinished(end);
      const head = `POST /v1/schedules HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\n` +
        `Content-Type: application/json\r\n${framing}\r\n\r\n`;
      const part = framing.startsWith("T") ? '50\r\n{"task' : '{"task';
      const socket = connect(port, "127.0.0.1", () => socket.end(head + part));
      socket.on("error", () => {}).resume();
      await answering;
      expect(messages).toEqual([]);
      expect((await scheduler.list().page()).schedules).toEqual([]);
    },
  );

  it("is told apart from a body that somebody has read before", async () => {
    const { app, messages } = await served({
      authenticate: async (request) => ({ id: (await request.text()).length > 0 ? "alice" : "bob" }),
    });
    const answer = await app.request("/v1/schedules", { method: "POST", headers: AUTH, body: LARGE });
    expect([answer.status, messages.map(({ level }) => level)]).toEqual([500, ["error"]]);
  });
});

describe("a body is JSON, or nothing is done", () => {
  it("415 for what is compressed, which may be of any size once it is not", async () => {
    const { app, scheduler } = await served();
    for (const coding of ["gzip", "br", "identity, gzip", ""]) {
      const headers = { ...AUTH, "content-encoding": coding };
      const answer = await app.request("/v1/schedules", { method: "POST", headers, body: LARGE });
      expect([coding, answer.status, answer.headers.get("accept-encoding")]).toEqual([coding, 415, "identity"]);
    }
    expect((await scheduler.list().page()).schedules).toEqual([]);
    const headers = { ...AUTH, "content-encoding": "Identity" };
    expect((await app.request("/v1/schedules", { method: "POST", headers, body: LARGE })).status).toBe(201);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "text/json",
    "",
  ])("415 for what is said to be %j, with a body or without", async (type) => {
    const { app, scheduler } = await served();
    const { id } = await scheduler.as({ id: "alice" }).every("beat", "1h");
    const headers = { "authorization": "Bearer alice", "content-type": type };
    const body = JSON.stringify({ task: "beat", after: "1h" });
    expect((await app.request("/v1/schedules", { method: "POST", headers, body })).status).toBe(415);
    expect((await app.request(`/v1/schedules/${id}/pause`, { method: "POST", headers })).status).toBe(415);
    expect((await scheduler.list().page()).schedules).toHaveLength(1);
    expect((await scheduler.info(id)).paused).toBe(false);
  });

  it("415 for bytes that are said to be nothing, which a page of another site may send without leave", async () => {
    const { app } = await served();
    const body = new TextEncoder().encode(JSON.stringify({ task: "report", every: "1m" }));
    const answer = await app.request("/v1/schedules", {
      method: "POST",
      headers: { authorization: "Bearer root" },
      body,
    });
    expect(answer.status).toBe(415);
  });

  it.each(["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json"])(
    "%s is JSON",
    async (type) => {
      const { app } = await served();
      const headers = { "authorization": "Bearer alice", "content-type": type };
      const body = JSON.stringify({ task: "beat", after: "1h" });
      expect((await app.request("/v1/schedules", { method: "POST", headers, body })).status).toBe(201);
    },
  );

  it.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["a number", "7"],
    ["null", "null"],
    ["a text", '"x"'],
    ["UTF-8 that is none", Uint8Array.of(0x22, 0xff, 0x22)],
    ["a hundred thousand brackets", "[".repeat(100_000)],
    ["deep input", `{"task":"echo","after":"1h","input":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
  ])("400 for %s", async (_, body) => {
    const { app, messages } = await served();
    const answer = await app.request("/v1/schedules", { method: "POST", headers: AUTH, body });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect((await answer.json()).detail).toMatch(/^(?:body|schedule)/);
    expect(messages).toEqual([]);
  });

  it("S4 an input may be nested as deep as anywhere", async () => {
    const { ask } = await served();
    const deep = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect((await ask("POST", "/v1/invoke", { body: { task: "echo", input: deep(100) } })).json.output).toEqual(
      deep(100),
    );
    const [step] = [{ create: { task: "echo", after: "1h", input: deep(100) } }];
    expect((await ask("POST", "/v1/transactions", { body: [step] })).status).toBe(200);
    const answer = await ask("POST", "/v1/invoke", { body: { task: "echo", input: deep(101) } });
    expect([answer.status, answer.json.code]).toEqual([400, "invalid_input"]);
  });
});

describe("payloads arrive as they are, or are refused", () => {
  const post = async (text: string) => {
    const { app, scheduler } = await served();
    const answer = await app.request("/v1/schedules", { method: "POST", headers: AUTH, body: text });
    return { status: answer.status, json: await answer.json(), scheduler };
  };

  it("B141 U+0000 in an input survives, and is refused in a name, a key and a tag", async () => {
    const { status, json, scheduler } = await post(
      String.raw`{"task":"echo","after":"1h","input":{"a\u0000b":"x\u0000y"}}`,
    );
    expect([status, json.input]).toEqual([201, { "a\0b": "x\0y" }]);
    expect((await scheduler.info(json.id)).input).toEqual({ "a\0b": "x\0y" });
    for (const option of ['"name":"x\\u0000y"', '"key":"x\\u0000y"', '"tags":["x\\u0000y"]']) {
      const refused = await post(`{"task":"echo","after":"1h",${option}}`);
      expect([refused.status, refused.json.code]).toEqual([400, "invalid_option"]);
    }
  });

  it("B143 numbers that JSON cannot keep are the sender's, and instants stay text", async () => {
    const { json } = await post('{"task":"echo","after":"1h","input":{"n":1.5e300,"d":"1970-01-01T00:00:00.000Z"}}');
    expect(json.input).toEqual({ n: 1.5e300, d: "1970-01-01T00:00:00.000Z" });
    const huge = await post('{"task":"echo","after":"1h","input":1e999}');
    expect([huge.status, huge.json.code]).toEqual([400, "invalid_input"]);
  });

  it("B146 keys such as __proto__ reach no prototype, in an input or beside it", async () => {
    const kept = await post('{"task":"echo","after":"1h","input":{"__proto__":{"a":1},"constructor":2}}');
    expect(JSON.stringify(kept.json.input)).toBe('{"__proto__":{"a":1},"constructor":2}');
    for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty", ""]) {
      const option = await post(`{"task":"echo","after":"1h",${JSON.stringify(key)}:{"jitter":"5s"}}`);
      expect([option.status, option.json.code]).toEqual([400, "unknown_option"]);
      const nested = await post(`{"task":"echo","every":"1h","retry":{"limit":1,${JSON.stringify(key)}:{}}}`);
      expect([nested.status, nested.json.code]).toEqual([400, "unknown_option"]);
      const task = await post(`{"task":${JSON.stringify(key)},"after":"1h"}`);
      expect([task.status, task.json.code]).toEqual([404, "unknown_task"]);
    }
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  it("B146 query parameters of such names are refused by name", async () => {
    const { ask } = await served();
    for (const key of ["__proto__", "constructor", "ownr"]) {
      const answer = await ask("GET", `/v1/schedules?${key}=1`);
      expect([key, answer.status, answer.json.code]).toEqual([key, 400, "unknown_option"]);
    }
  });
});
