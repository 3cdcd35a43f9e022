import { inspect } from "node:util";
import type { IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AGAIN, RETRY } from "../../../src/contract/mod.ts";
import { webhookTask } from "../../../plugins/transports/http/webhook/task.ts";
import { bodyOf, httpServer } from "../../support/http_servers.ts";
import { contextOf, deliverTo, POINT, SECRET } from "./deliveries.ts";

interface Got {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that keeps what it got. */
async function keeping(got: Got[]): Promise<number> {
  return await httpServer(async (request, response) => {
    const { method, url, headers } = request;
    got.push({ method, url, headers, body: await bodyOf(request) });
    response.end();
  });
}

const OTHER = `whsec_${btoa("another secret of 24 bytes")}`;

describe("a delivery", () => {
  it("is a POST that an implementation of Standard Webhooks other than ours verifies", async () => {
    const got: Got[] = [];
    expect(await deliverTo(await keeping(got), {}, contextOf({ state: { n: 1 } }))).toBeUndefined();
    const { method, url, headers, body } = got[0]!;
    expect([method, url]).toEqual(["POST", "/hook?key=path-secret"]);
    expect(headers["content-type"]).toBe("application/json");
    expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual({
      type: "notify",
      timestamp: "2030-01-01T00:00:00.000Z",
      data: { order: "42" },
      run: {
        id: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y-2",
        schedule: { id: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y", name: "nightly", kind: "cron" },
        attempt: 2,
        missed: 3,
        elapsed: 5_000,
        state: { n: 1 },
        target: "room:1",
        owner: "alice",
        runAs: "bob",
      },
    });
    expect(() => new Webhook(OTHER).verify(body, headers as Record<string, string>)).toThrow();
    expect(() => new Webhook(SECRET).verify(`${body} `, headers as Record<string, string>)).toThrow();
  });

  it("carries the same id for every attempt at a deadline, without the dot that separates what is signed", async () => {
    const got: Got[] = [];
    const port = await keeping(got);
    await deliverTo(port);
    await deliverTo(port, {}, { ...contextOf(), context: { ...contextOf().context, attempt: 3, runId: "other-3" } });
    expect(got.map(({ headers }) => headers["webhook-id"])).toEqual(
      Array(2).fill(`01KBB6Z5T3M6C3E6N1F0Q8XW2Y_${POINT}`),
    );
  });

  it("is signed with each of several secrets, so that a receiver may have either", async () => {
    const got: Got[] = [];
    await deliverTo(await keeping(got), { secret: [OTHER, SECRET] });
    const { headers, body } = got[0]!;
    for (const secret of [SECRET, OTHER]) new Webhook(secret).verify(body, headers as Record<string, string>);
  });

  it("shows its secret nowhere: not as text, not as JSON, not to an inspector, not in errors of its options", () => {
    const bare = SECRET.slice("whsec_".length);
    const task = webhookTask("notify", { url: "https://example.com", secret: SECRET });
    for (const text of [JSON.stringify(task), inspect(task, { depth: 9, showHidden: true }), String(task.run)]) {
      expect(text).not.toContain(bare);
    }
    for (
      const secret of [
        bare,
        `${SECRET}!`,
        `whsec_${btoa("hunter2")}`,
        [SECRET, "hunter2"],
        Array(6).fill(SECRET),
        [],
        7,
      ]
    ) {
      try {
        webhookTask("notify", { url: "https://example.com", secret: secret as string });
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ code: "invalid_option" });
        for (
          const text of [
            inspect(error, { depth: 9, showHidden: true }),
            JSON.stringify((error as { details: unknown }).details),
          ]
        ) {
          expect(text).toContain("webhookTask notify.secret");
          expect(text).not.toContain(bare);
          expect(text).not.toContain("hunter2");
        }
      }
    }
  });

  it.each([
    [{ secrets: SECRET }, "unknown_option"],
    [{ timeout: "soon" }, "invalid_duration"],
    [{ timeout: 0 }, "invalid_option"],
    [{ timeout: "11m" }, "invalid_option"],
    [{ allowHttp: "yes" }, "invalid_option"],
    [{ lookup: "dns" }, "invalid_option"],
    [{ authorize: true }, "invalid_option"],
    [{ input: {} }, "invalid_option"],
    [{ internal: 1 }, "invalid_option"],
    [{ concurrency: 0 }, "invalid_option"],
  ])("refuses the options %j", (more, code) => {
    const make = () => webhookTask("notify", { url: "https://example.com", secret: SECRET, ...more as object });
    expect(make).toThrow(expect.objectContaining({ code }));
    expect(() => webhookTask("", { url: "https://example.com", secret: SECRET })).toThrow("webhookTask: name");
  });
});

/** Answers with a status, headers and a body. */
const answering = (status: number, body = "", headers: Record<string, string> = {}) =>
  httpServer((_request, response) => response.writeHead(status, headers).end(body));

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

describe("what a receiver answers", () => {
  it.each([
    [200, "", {}],
    [204, "", {}],
    [202, "ok", { "content-type": "text/plain" }],
    [200, "ok", {}],
    [200, '{"ok":true}', JSON_TYPE],
    [200, "[1]", JSON_TYPE],
    [200, "null", JSON_TYPE],
    [200, "{{ mustache }}", { "content-type": "text/html" }],
  ])("%i %j is a success that asks for nothing", async (status, body, headers) => {
    const ran = contextOf();
    expect(await deliverTo(await answering(status, body, headers), {}, ran)).toBeUndefined();
    expect(ran.retired).toEqual([]);
  });

  it.each([
    [{ again: "30s" }, "30s", []],
    [{ again: 1_500 }, 1_500, []],
    [{ again: 0 }, 0, []],
    [{ retire: "nobody is left" }, undefined, ["nobody is left"]],
    [{ again: "30s", retire: "done" }, "30s", ["done"]],
  ])("A1 L4 %j is heeded, whether it says that it is JSON or not", async (answer, again, retired) => {
    for (const headers of [JSON_TYPE, {}, { "content-type": "text/plain" }]) {
      const ran = contextOf();
      const value = await deliverTo(await answering(200, JSON.stringify(answer), headers), {}, ran);
      expect((value as { [AGAIN]?: unknown } | undefined)?.[AGAIN]).toBe(again);
      expect(ran.retired).toEqual(retired);
    }
  });

  it.each([
    ['{"again":"soon"}', '"again": "soon", which is not a duration'],
    ['{"again":-1}', '"again": -1'],
    ['{"again":null}', '"again": null'],
    ['{"again":{"s":1}}', '"again": an object'],
    ['{"again":"1e9s"}', '"again": "1e9s"'],
    ['{"retire":""}', '"retire": ""'],
    ['{"retire":true}', '"retire": true'],
    [`{"retire":"${"x".repeat(201)}"}`, "which is not text of 1 to 200 characters"],
    ['{"retire":"\\u0000"}', '"retire"'],
    ['{"again":', "a body that is not JSON"],
    ["oh no", "a body that is not JSON"],
  ])("A4 %s is a fault that says so, and is not tried again", async (body, told) => {
    const ran = contextOf();
    const error = await deliverTo(await answering(200, body, JSON_TYPE), {}, ran);
    expect(error).toMatchObject({ name: "WebhookError", status: 200, [RETRY]: false });
    expect((error as Error).message).toContain(told);
    expect(ran.retired).toEqual([]);
  });

  it.each([400, 401, 403, 404, 405, 409, 410, 413, 418, 422, 425, 426, 451, 499])(
    "F4 %i is a fault that is not tried again",
    async (status) => {
      expect(await deliverTo(await answering(status, "no", { "retry-after": "5" }))).toMatchObject({
        status,
        [RETRY]: false,
      });
    },
  );

  it.each([408, 429, 500, 501, 502, 503, 504, 599, 300, 301, 302, 304, 307, 308])(
    "F4 %i is a fault that retry may try again",
    async (status) => {
      const error = await deliverTo(await answering(status, "", { location: "https://example.com/" }));
      expect(error).toMatchObject({ name: "WebhookError", status });
      expect((error as { [RETRY]?: unknown })[RETRY]).toBeUndefined();
    },
  );

  it("S6 a client that invoked the task is answered also where the receiver ends the schedule that there is none of", async () => {
    const ran = contextOf({ caller: { id: "alice" } });
    expect(await deliverTo(await answering(200, '{"retire":"done"}', JSON_TYPE), {}, ran)).toBeUndefined();
    expect(ran.retired).toEqual([]);
  });

  it.each([
    ["5", 5_000],
    ["0", 0],
    [" 120 ", 120_000],
    ["86401", 86_400_000],
    ["99999999999999999999", 86_400_000],
    ["Wed, 01 Jan 1997 00:00:00 GMT", 0],
    ["Fri, 01 Jan 2999 00:00:00 GMT", 86_400_000],
    ["-5", undefined],
    ["5.5", undefined],
    ["soon", undefined],
    ["2999-01-01", undefined],
    ["Fri, 99 Foo 2999 00:00:00 GMT", undefined],
  ])("F4 Retry-After: %s keeps the next attempt back for %j ms", async (value, ms) => {
    const error = await deliverTo(await answering(503, "", { "retry-after": value }));
    expect((error as { [RETRY]?: unknown })[RETRY]).toBe(ms);
  });

  it("F4 a Retry-After that is a date counts from now", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const error = await deliverTo(await answering(429, "", { "retry-after": date }));
    const ms = (error as { readonly [RETRY]: number })[RETRY];
    // Seconds are all that the header holds, and a slow machine may take some to get here.
    expect(ms).toBeLessThanOrEqual(3_600_000);
    expect(ms).toBeGreaterThan(3_000_000);
  });

  it("B143 an input that the task's schema made into what JSON cannot tell is a fault, and nothing is sent", async () => {
    const got: Got[] = [];
    const task = webhookTask("notify", {
      url: `http://127.0.0.1:${await keeping(got)}/`,
      secret: SECRET,
      allowHosts: ["127.0.0.1"],
      input: z.coerce.bigint(),
    });
    await expect(Promise.resolve(task.run(1n, contextOf().context))).rejects.toThrow(TypeError);
    expect(got).toEqual([]);
  });

  it("B141 tells the host, the status and the beginning of what was said, on one line, and no path", async () => {
    const port = await answering(422, `{"error":\n"order\u0000\u0007 42 ${"x".repeat(2_000)}`);
    const { message } = await deliverTo(port) as Error;
    expect(message).toMatch(
      /^POST http:\/\/127\.0\.0\.1:\d+: 422 Unprocessable Entity: \{"error": "order 42 x+\.\.\.$/,
    );
    expect(message.length).toBeLessThan(300);
    expect(message).not.toContain("path-secret");
  });
});
