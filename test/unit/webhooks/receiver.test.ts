import { inspect } from "node:util";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { again, FaultError } from "../../../mod.ts";
import {
  type DeliveryStore,
  type ReceivedContext,
  type WebhookAnswer,
  webhookReceiver,
  type WebhookReceiverOptions,
} from "../../../plugins/transports/http/mod.ts";
import { SECRET } from "./deliveries.ts";

const OTHER = `whsec_${btoa("another secret of 24 bytes")}`;
const PAYLOAD = {
  type: "notify",
  timestamp: "2030-01-01T00:00:00.000Z",
  data: { order: "42" },
  run: {
    id: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y-2",
    schedule: { id: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y", name: "nightly", kind: "cron" },
    attempt: 2,
    missed: 3,
    elapsed: 5_000,
    owner: "alice",
    runAs: "bob",
  },
};

interface Sent {
  readonly id?: string;
  readonly at?: Date;
  readonly secret?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A receiver in an app, and what sends to it, signed by an implementation other than ours. */
function receiver(options: Partial<WebhookReceiverOptions<never>> = {}) {
  const app = new Hono();
  const got: [input: unknown, context: ReceivedContext][] = [];
  const errors: unknown[] = [];
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse();
    errors.push(error);
    return c.text("the app's own 500", 500);
  });
  const run = (input: never, context: ReceivedContext) => void got.push([input, context]);
  app.post("/hook", webhookReceiver({ secret: SECRET, run, ...options }));
  const send = async (
    { id = "msg_1", at = new Date(), secret = SECRET, body = JSON.stringify(PAYLOAD), headers = {} }: Sent = {},
  ) => {
    const signed: Readonly<Record<string, string | undefined>> = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign(id, at, body),
      "content-type": "application/json",
      ...headers,
    };
    const given = Object.entries(signed).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const response = await app.request("/hook", { method: "POST", body, headers: Object.fromEntries(given) });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  return { app, got, errors, send };
}

describe("a receiver", () => {
  it("hands over the input and what the run is told", async () => {
    const { got, send } = receiver();
    expect(await send()).toMatchObject({ status: 200, body: "{}" });
    const [input, { signal, retire, ...told }] = got[0]!;
    expect(input).toEqual({ order: "42" });
    expect([signal.aborted, typeof retire]).toEqual([false, "function"]);
    expect(told).toEqual({
      id: "msg_1",
      task: "notify",
      scheduledAt: new Date("2030-01-01T00:00:00Z"),
      runId: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y-2",
      schedule: { id: "01KBB6Z5T3M6C3E6N1F0Q8XW2Y", name: "nightly", kind: "cron" },
      attempt: 2,
      missed: 3,
      elapsed: 5_000,
      owner: "alice",
      runAs: "bob",
      state: undefined,
      target: undefined,
      caller: undefined,
    });
  });

  const SIGNED = new Date(Math.floor(Date.now() / 1_000) * 1_000);
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);

  it.each<[string, Sent, number]>([
    ["no id", { headers: { "webhook-id": undefined } }, 400],
    ["no timestamp", { headers: { "webhook-timestamp": undefined } }, 400],
    ["no signature", { headers: { "webhook-signature": undefined } }, 400],
    ["an id of 257 characters", { id: "x".repeat(257) }, 400],
    ["a timestamp that is none", { headers: { "webhook-timestamp": "1e9" } }, 400],
    ["another secret", { secret: OTHER }, 401],
    ["another id than was signed", { headers: { "webhook-id": "msg_2" } }, 401],
    ["another time than was signed", {
      at: SIGNED,
      headers: { "webhook-timestamp": String(SIGNED.getTime() / 1_000 + 1) },
    }, 401],
    ["a signature of another version", { headers: { "webhook-signature": "v1a,AAAA" } }, 401],
    ["a signature that is no base64", { headers: { "webhook-signature": "v1,!!!!" } }, 401],
    ["half a signature", { headers: { "webhook-signature": "v1,AAAA v1, v1 ," } }, 401],
    ["a timestamp six minutes old", { at: minutes(-6) }, 401],
    ["a timestamp six minutes ahead", { at: minutes(6) }, 401],
    ["no JSON", { body: "order 42" }, 400],
    ["JSON of nobody's run", { body: '{"type":"notify"}' }, 400],
    ["JSON that is no object", { body: "null" }, 400],
    [
      "B146 a prototype for a run",
      { body: '{"type":"t","timestamp":"x","__proto__":{"run":{"schedule":{"id":"1"}}}}' },
      400,
    ],
  ])("refuses %s, and calls nobody", async (_what, sent, status) => {
    const { got, errors, send } = receiver();
    const response = await send(sent);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(JSON.parse(response.body)).toMatchObject({ type: "about:blank", status });
    expect(response.body).not.toContain(SECRET.slice(6));
    expect([got, errors]).toEqual([[], []]);
  });

  it("takes a signature among several, and either of several secrets", async () => {
    const { got, send } = receiver({ secret: [OTHER, SECRET] });
    expect((await send({ id: "a" })).status).toBe(200);
    expect((await send({ id: "b", secret: OTHER })).status).toBe(200);
    const at = new Date();
    const body = JSON.stringify(PAYLOAD);
    const signature = `v1,AAAA v2,BBBB ${new Webhook(SECRET).sign("c", at, body)}`;
    expect((await send({ id: "c", at, body, headers: { "webhook-signature": signature } })).status).toBe(200);
    expect(got).toHaveLength(3);
  });

  it("takes what lies within its own tolerance", async () => {
    const { send } = receiver({ tolerance: "1h" });
    expect((await send({ at: minutes(-50) })).status).toBe(200);
    const strict = receiver({ tolerance: 0 });
    expect((await strict.send({ at: minutes(-1) })).status).toBe(401);
  });

  it.each([
    ["none", undefined],
    ["no number", "abc"],
    ["a negative number", "-1"],
    ["a small number", "5"],
  ])(
    "B147 refuses a body of more than 128 KiB whose Content-Length is %s, reading no more than that",
    async (_what, length) => {
      let pulled = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled += 16 * 1024;
          controller.enqueue(new Uint8Array(16 * 1024));
        },
      });
      const { app, got } = receiver();
      const headers: Record<string, string> = {
        "webhook-id": "m",
        "webhook-timestamp": "1",
        "webhook-signature": "v1,AAAA",
      };
      if (length !== undefined) headers["content-length"] = length;
      const response = await app.request("/hook", { method: "POST", body, headers, duplex: "half" } as RequestInit);
      expect(response.status).toBe(413);
      expect(pulled).toBeLessThan(256 * 1024);
      expect(got).toEqual([]);
    },
  );

  it("refuses an input that the schema refuses, so that it is not sent again, and hands over what the schema makes of one", async () => {
    const seen: unknown[] = [];
    const input = z.object({ order: z.coerce.number() });
    const { send } = receiver({ input: input as never, run: (given: unknown) => void seen.push(given) });
    expect((await send()).status).toBe(200);
    expect(seen).toEqual([{ order: 42 }]);
    const refused = await send({ id: "msg_2", body: JSON.stringify({ ...PAYLOAD, data: { order: "none" } }) });
    expect(refused.status).toBe(422);
    expect(JSON.parse(refused.body).detail).toMatch(/^input\.order: /);
  });

  it.each<[string, WebhookReceiverOptions<never>["run"], object]>([
    ["nothing", () => undefined, {}],
    ["anything else", () => ({ again: "1s", total: 7 }), {}],
    ["again", () => again("30s"), { again: 30_000 }],
    ["retire", (_input, { retire }) => retire("done"), { retire: "done" }],
    ["both", (_input, { retire }) => (retire("done"), again(5)), { again: 5, retire: "done" }],
  ])("answers %s as the task understands it", async (_what, run, answer) => {
    const { send } = receiver({ run });
    const { status, body } = await send();
    expect([status, JSON.parse(body)]).toEqual([200, answer]);
  });

  it("says what a FaultError says, and leaves the rest to the app", async () => {
    const thrown: unknown[] = [
      new FaultError("no use", { retry: false }),
      new FaultError("busy", { retry: "1500ms" }),
      new FaultError("who knows"),
      new Error("a secret of the database"),
      new HTTPException(404, { message: "no such order" }),
    ];
    const { errors, send } = receiver({
      run() {
        throw thrown.shift();
      },
    });
    const final = await send();
    expect([final.status, JSON.parse(final.body).detail]).toEqual([422, "no use"]);
    const busy = await send();
    expect([busy.status, busy.headers.get("retry-after"), JSON.parse(busy.body).detail]).toEqual([503, "2", "busy"]);
    expect((await send()).body).toBe("the app's own 500");
    expect((await send()).body).toBe("the app's own 500");
    expect((await send()).status).toBe(404);
    expect(errors.map((error) => (error as Error).message)).toEqual(["who knows", "a secret of the database"]);
  });

  it.each([[() => again(-1)], [({ retire }: ReceivedContext) => retire("")]])(
    "A4 nonsense of the handler is the app's error, and no answer",
    async (say) => {
      const { errors, send } = receiver({ run: (_input: never, context) => say(context) });
      expect((await send()).status).toBe(500);
      expect(errors).toHaveLength(1);
    },
  );

  it("shows its secret in no error of its options", () => {
    const run = () => {};
    const bare = SECRET.slice("whsec_".length);
    for (
      const options of [
        { secret: bare, run },
        { secret: SECRET },
        { secret: SECRET, run, tolerance: "2h" },
        { secret: SECRET, run, tolerance: "soon" },
        { secret: SECRET, run, deliveries: {} },
        { secret: SECRET, run, input: {} },
        { secret: SECRET, run, secrets: [SECRET] },
        undefined,
      ]
    ) {
      try {
        webhookReceiver(options as never);
        expect.unreachable();
      } catch (error) {
        expect((error as { code?: string }).code).toMatch(/^(?:invalid_option|invalid_duration|unknown_option)$/);
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(bare);
      }
    }
  });

  it("says so when something before it has read the body", async () => {
    const errors: unknown[] = [];
    const outer = new Hono();
    outer.onError((error, c) => (errors.push(error), c.text("", 500)));
    outer.use(async (c, next) => (await c.req.json(), await next()));
    outer.post("/hook", webhookReceiver({ secret: SECRET, run: () => {} }));
    expect((await outer.request("/hook", { method: "POST", body: "{}" })).status).toBe(500);
    expect(errors).toEqual([expect.objectContaining({ code: "config_invalid" })]);
  });
});

describe("a delivery that comes again", () => {
  it("gets the answer that it got, and is not carried out again", async () => {
    const { got, send } = receiver();
    const answering = receiver({ run: (_input: never, context) => (got.push([0, context]), again("30s")) });
    const first = await answering.send();
    expect(await answering.send()).toMatchObject({ status: first.status, body: first.body });
    expect(got).toHaveLength(1);
    await answering.send({ id: "msg_2" });
    expect(got).toHaveLength(2);
    await send();
    expect(got).toHaveLength(3);
  });

  it("is carried out again after a failure", async () => {
    let calls = 0;
    const { send } = receiver({
      run() {
        if (++calls < 3) throw new Error("not yet");
      },
    });
    expect([(await send()).status, (await send()).status, (await send()).status, (await send()).status]).toEqual([
      500,
      500,
      200,
      200,
    ]);
    expect(calls).toBe(3);
  });

  it("shares a run with one that is under way", async () => {
    let calls = 0;
    let finish: (() => void) | undefined;
    const { send } = receiver({
      async run() {
        calls++;
        await new Promise<void>((resolve) => finish = resolve);
        return again(7);
      },
    });
    const sent = [send(), send(), send()];
    while (finish === undefined) await new Promise((resolve) => setImmediate(resolve));
    finish();
    for (const response of await Promise.all(sent)) expect(JSON.parse(response.body)).toEqual({ again: 7 });
    expect(calls).toBe(1);
  });

  it("is remembered by a store of the user's, across receivers; without one, the latest ten thousand are", async () => {
    const kept = new Map<string, WebhookAnswer>();
    const deliveries: DeliveryStore = {
      get: (id) => Promise.resolve(kept.get(id)),
      set: (id, answer) => void kept.set(id, answer),
    };
    let calls = 0;
    const run = () => (calls++, again(7));
    await receiver({ deliveries, run }).send();
    expect(JSON.parse((await receiver({ deliveries, run }).send()).body)).toEqual({ again: 7 });
    expect([calls, ...kept]).toEqual([1, ["msg_1", { again: 7 }]]);
    const { RememberedDeliveries } = await import("../../../plugins/transports/http/webhook/remembered.ts");
    const memory = new RememberedDeliveries();
    for (let i = 0; i <= 10_000; i++) memory.set(`msg_${i}`, {});
    expect([memory.get("msg_0"), memory.get("msg_1"), memory.get("msg_10000")]).toEqual([undefined, {}, {}]);
  });
});
