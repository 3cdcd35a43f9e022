import { readdirSync, readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { inspect } from "node:util";
import { Hono } from "hono";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  again,
  createScheduler,
  FaultError,
  type Scheduler,
  type SchedulerConfig,
  type SchedulerEvents,
} from "../../mod.ts";
import { sqlite } from "../../plugins/storage/sqlite/mod.ts";
import {
  bearerTokens,
  http,
  webhookReceiver,
  type WebhookReceiverOptions,
  webhooks,
  webhookTask,
  type WebhookWithSecret,
} from "../../plugins/transports/http/mod.ts";
import { listen, type Served } from "../support/http_server.ts";
import { bodyOf, httpServer } from "../support/http_servers.ts";
import { type Message, recorder, scratch } from "../unit/support/schedulers.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const LOCAL = { allowHosts: ["127.0.0.1"] };
const EVENTS = ["created", "updated", "stopped", "retired", "started", "succeeded", "faulted"] as const;

interface Running {
  readonly scheduler: Scheduler;
  readonly messages: Message[];
  readonly events: unknown[];
}

async function started(directory: string, config: SchedulerConfig = {}): Promise<Running> {
  const messages: Message[] = [];
  const events: unknown[] = [];
  const storage = sqlite(join(directory, "schedules.db"));
  const scheduler = createScheduler({ storage, logger: recorder(messages), ...config });
  onTestFinished(() => scheduler.close({ drain: 0 }));
  for (const name of EVENTS) scheduler.on(name, (event) => void events.push({ name, ...event }));
  await scheduler.start();
  return { scheduler, messages, events };
}

function next<Name extends keyof SchedulerEvents>(scheduler: Scheduler, name: Name): Promise<SchedulerEvents[Name]> {
  return new Promise((resolve) => {
    const end = scheduler.on(name, ((event: SchedulerEvents[Name]) => (end(), resolve(event))) as never);
  });
}

async function serve(app: Served): Promise<string> {
  const server = await listen(app);
  onTestFinished(() => server.end());
  return server.url;
}

/** A receiver on a server of this runtime; answers its URL. */
async function receiving(run: WebhookReceiverOptions<never>["run"], secret: string = SECRET): Promise<string> {
  const app = new Hono();
  app.onError((_error, c) => c.text("no", 500));
  app.post("/hook", webhookReceiver({ secret, run }));
  return `${await serve(app)}/hook`;
}

describe("a webhook task and its receiver", () => {
  it("A2 L4 a chain of runs under one id, which the other end asks for and ends", async () => {
    const got: [attempt: number, scheduledAt: number, elapsed: boolean][] = [];
    const url = await receiving((input, { attempt, scheduledAt, elapsed, retire }) => {
      expect(input).toEqual({ order: "42" });
      got.push([attempt, scheduledAt.getTime(), elapsed > 0]);
      return got.length < 3 ? again("20ms") : retire("nobody is left");
    });
    const notify = webhookTask("notify", { url, secret: SECRET, ...LOCAL });
    const { scheduler } = await started(scratch(), { tasks: [notify] });
    const retired = next(scheduler, "retired");
    const { id } = await scheduler.after(notify, 0, { order: "42" });
    expect(await retired).toMatchObject({ reason: "nobody is left" });
    expect(await scheduler.info(id)).toMatchObject({ runCount: 3, faultCount: 0 });
    expect(got.map(([attempt, , later]) => [attempt, later])).toEqual([[1, false], [1, true], [1, true]]);
    expect(new Set(got.map(([, point]) => point)).size).toBe(3);
  });

  it("F4 attempts at one deadline carry one id, and come no earlier than the other end asks for", async () => {
    const ids: string[] = [];
    const url = await receiving((_input, { id, attempt }) => {
      ids.push(`${id} ${attempt}`);
      if (attempt === 1) throw new FaultError("busy", { retry: "1s" });
      if (attempt === 2) throw new Error("broken");
    });
    const notify = webhookTask("notify", { url, secret: SECRET, ...LOCAL, retry: { limit: 3, delay: "10ms" } });
    const { scheduler } = await started(scratch(), { tasks: [notify] });
    const held: number[] = [];
    scheduler.on("faulted", ({ retryAt, fault }) => held.push(retryAt!.getTime() - new Date(fault.at).getTime()));
    const retired = next(scheduler, "retired");
    const { id } = await scheduler.after(notify, 0);
    expect(await retired).toMatchObject({ reason: "completed" });
    const { runCount, lastFault } = await scheduler.info(id);
    expect([runCount, lastFault?.message]).toEqual([3, expect.stringMatching(/: 500 Internal Server Error: no$/)]);
    expect(ids.map((one) => one.split(" ")[1])).toEqual(["1", "2", "3"]);
    expect(new Set(ids.map((one) => one.split(" ")[0])).size).toBe(1);
    expect(held[0]).toBeGreaterThanOrEqual(1_000);
  });

  it("F3 F4 a refusal is not tried again", async () => {
    let calls = 0;
    const url = await receiving(() => {
      calls++;
      throw new FaultError("no such order", { retry: false });
    });
    const notify = webhookTask("notify", { url, secret: SECRET, ...LOCAL, retry: { limit: 5, delay: 0 } });
    const { scheduler } = await started(scratch(), { tasks: [notify] });
    const retired = next(scheduler, "retired");
    const { id } = await scheduler.after(notify, 0);
    expect(await retired).toMatchObject({ reason: "failed" });
    expect((await scheduler.info(id)).lastFault?.message).toContain("422 Unprocessable");
    expect(calls).toBe(1);
  });

  it("S6 a client that invokes the task is named to the other end", async () => {
    const callers: unknown[] = [];
    const url = await receiving((_input, { caller }) => void callers.push(caller));
    const notify = webhookTask("notify", { url, secret: SECRET, ...LOCAL });
    const { scheduler } = await started(scratch(), { tasks: [notify] });
    await scheduler.as({ id: "alice" }).invoke(notify);
    expect(callers).toEqual([{ id: "alice" }]);
  });
});

/** Everything that a scheduler shows, and everything that it stored, as text. */
async function shown({ scheduler, messages, events }: Running, directory: string): Promise<string> {
  const parts: unknown[] = [messages, events, scheduler];
  for await (const schedule of scheduler.list()) {
    const { id } = schedule;
    parts.push(schedule, await scheduler.info(id), await scheduler.runs(id), await scheduler.explain(id));
  }
  parts.push(await scheduler.api.call(scheduler.principal, "tasks", {}));
  const files = readdirSync(directory).map((file) => readFileSync(join(directory, file), "latin1"));
  return [...parts.map((part) => inspect(part, { depth: 12, showHidden: true })), JSON.stringify(events), ...files]
    .join("\n");
}

describe("webhooks that are made while everything runs", () => {
  const MASTER = `whsec_${btoa("the master of all secrets")}`;
  const TOKENS = { root: { id: "root", admin: true }, alice: { id: "alice" } };

  interface Instance extends Running {
    /** A request, with the token of whoever asks. */
    ask(
      who: string,
      method: string,
      path: string,
      body?: unknown,
      // deno-lint-ignore no-explicit-any
    ): Promise<{ readonly status: number; readonly body: any; readonly headers: Headers }>;
  }

  async function instance(directory: string, config: SchedulerConfig = {}): Promise<Instance> {
    const hooks = webhooks({ secret: MASTER, ...LOCAL });
    const running = await started(directory, { plugins: [hooks], ...config });
    const app = http(running.scheduler, {
      authenticate: bearerTokens(TOKENS),
      webhooks: hooks,
      logger: recorder(running.messages),
    });
    const url = await serve(app);
    return {
      ...running,
      async ask(who, method, path, body) {
        const response = await fetch(url + path, {
          method,
          headers: { authorization: `Bearer ${who}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
      },
    };
  }

  interface Got {
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }

  /** A receiver of plain Node, which keeps what it got. */
  async function keeping(got: Got[]): Promise<string> {
    const port = await httpServer(async (request, response) => {
      got.push({ headers: request.headers, body: await bodyOf(request) });
      response.end();
    });
    return `http://127.0.0.1:${port}/hooks`;
  }

  const isOf = (secret: string, { headers, body }: Got) => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };

  it("B149 P2 only an admin makes, sees and changes them, and each answer is what its schema says", async () => {
    const { ask } = await instance(scratch());
    const url = await keeping([]);
    const request = { name: "notify", url, timeout: "5s", retry: { limit: 2, delay: "1s" } };
    for (
      const [method, path] of [
        ["POST", "/v1/webhooks"],
        ["GET", "/v1/webhooks"],
        ["GET", "/v1/webhooks/notify"],
        ["POST", "/v1/webhooks/notify/rotate"],
        ["DELETE", "/v1/webhooks/notify"],
      ] as const
    ) {
      const body = path === "/v1/webhooks" && method === "POST" ? request : undefined;
      expect(await ask("alice", method, path, body)).toMatchObject({
        status: 403,
        body: { code: "permission_denied" },
      });
      expect((await ask("nobody", method, path, body)).status).toBe(401);
    }
    const made = await ask("root", "POST", "/v1/webhooks", request);
    expect(made).toMatchObject({
      status: 201,
      body: { ...request, retry: { limit: 2 }, version: 1, createdBy: "root" },
    });
    expect(made.body.secret).toMatch(/^whsec_[\w+/=]{44}$/);
    expect([made.headers.get("location"), made.headers.get("cache-control")]).toEqual([
      "/v1/webhooks/notify",
      "no-store",
    ]);
    const { secret: _secret, ...info } = made.body;
    expect(await ask("root", "GET", "/v1/webhooks/notify")).toMatchObject({ status: 200, body: info });
    expect((await ask("root", "GET", "/v1/webhooks")).body).toEqual({ webhooks: [info] });
    expect(await ask("root", "POST", "/v1/webhooks", request)).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
  });

  it.each<[string, object | undefined, number, string]>([
    ["no body", undefined, 400, "invalid_option"],
    ["no name", { url: "https://93.184.215.14" }, 400, "invalid_option"],
    ["a name of 151 characters", { name: "x".repeat(151), url: "https://93.184.215.14" }, 400, "invalid_option"],
    ["U+0000 in its name", { name: "x\u0000", url: "https://93.184.215.14" }, 400, "invalid_option"],
    ["no URL", { name: "x" }, 400, "invalid_option"],
    ["a URL that is none", { name: "x", url: "/hooks" }, 400, "invalid_option"],
    ["http:", { name: "x", url: "http://93.184.215.14/" }, 400, "invalid_option"],
    ["credentials", { name: "x", url: "https://a:b@93.184.215.14/" }, 400, "invalid_option"],
    ["a private address", { name: "x", url: "https://10.0.0.1/" }, 403, "permission_denied"],
    ["a metadata address", { name: "x", url: "https://169.254.169.254/latest" }, 403, "permission_denied"],
    ["a name that is nowhere", { name: "x", url: "https://nowhere.invalid/" }, 400, "invalid_option"],
    ["a timeout that is none", { name: "x", url: "https://93.184.215.14", timeout: "soon" }, 400, "invalid_duration"],
    ["a retry that is none", { name: "x", url: "https://93.184.215.14", retry: { limit: -1 } }, 400, "invalid_option"],
    ["a key that there is not", { name: "x", url: "https://93.184.215.14", secret: "mine" }, 400, "unknown_option"],
    ["the name of a task in code", { name: "in-code", url: "https://93.184.215.14" }, 409, "conflict"],
    ["the name of the records", { name: "ostinato.webhooks", url: "https://93.184.215.14" }, 409, "conflict"],
  ])("refuses %s, and keeps nothing", async (_what, body, status, code) => {
    const inCode = webhookTask("in-code", { url: "https://93.184.215.14", secret: SECRET });
    const { ask } = await instance(scratch(), { tasks: [inCode] });
    expect(await ask("root", "POST", "/v1/webhooks", body)).toMatchObject({ status, body: { status, code } });
    expect((await ask("root", "GET", "/v1/webhooks")).body).toEqual({ webhooks: [] });
  });

  it.each([
    "/v1/webhooks/none",
    "/v1/webhooks/a%2Fb",
    "/v1/webhooks/%00",
    "/v1/webhooks/__proto__",
    "/v1/webhooks/%F0%27",
  ])(
    "B151 B146 there is none at %s",
    async (path) => {
      const { ask } = await instance(scratch());
      for (const [method, end] of [["GET", ""], ["DELETE", ""], ["POST", "/rotate"]] as const) {
        expect([400, 404]).toContain((await ask("root", method, path + end)).status);
      }
    },
  );

  it("B146 names like those of prototypes, and with a slash, work as any other", async () => {
    const { ask, scheduler } = await instance(scratch());
    const got: Got[] = [];
    const url = await keeping(got);
    for (const name of ["__proto__", "constructor", "a/b c%?#"]) {
      const made = await ask("root", "POST", "/v1/webhooks", { name, url });
      expect([made.status, made.headers.get("location")]).toEqual([201, `/v1/webhooks/${encodeURIComponent(name)}`]);
      expect((await ask("root", "GET", made.headers.get("location")!)).body).toMatchObject({ name });
      const done = next(scheduler, "succeeded");
      await scheduler.after(name, 0);
      await done;
      expect(isOf(made.body.secret, got.at(-1)!)).toBe(true);
      expect((await ask("root", "DELETE", made.headers.get("location")!)).status).toBe(204);
    }
  });

  it("M1 I2 every instance runs them, schedules can be made on any, and a restart changes nothing", async () => {
    const directory = scratch();
    const one = await instance(directory);
    const other = await instance(directory);
    const got: Got[] = [];
    const { body: { secret } } = await one.ask("root", "POST", "/v1/webhooks", {
      name: "notify",
      url: await keeping(got),
    });
    const ran = Promise.race([next(one.scheduler, "succeeded"), next(other.scheduler, "succeeded")]);
    // Made where the webhook was not, by one who is no admin, and run by whichever comes first.
    const made = await other.ask("alice", "POST", "/v1/schedules", {
      kind: "at",
      task: "notify",
      after: 0,
      input: { n: 1 },
    });
    expect(made.status).toBe(201);
    await ran;
    expect(isOf(secret, got[0]!)).toBe(true);
    expect(JSON.parse(got[0]!.body)).toMatchObject({
      type: "notify",
      data: { n: 1 },
      run: { owner: "alice", attempt: 1 },
    });
    await one.scheduler.every("notify", "1h", { n: 2 }, { name: "hourly" });
    await one.scheduler.close();
    await other.scheduler.close();
    const again = await instance(directory);
    const done = next(again.scheduler, "succeeded");
    const [schedule] = (await again.scheduler.list({ name: "hourly" }).page()).schedules;
    expect(await schedule!.trigger()).toBe(true);
    await done;
    expect(JSON.parse(got[1]!.body)).toMatchObject({ data: { n: 2 } });
    expect(isOf(secret, got[1]!)).toBe(true);
  });

  it("M1 M2 an instance hears of them from the others' file, and runs what is left when those are gone", async () => {
    const directory = scratch();
    const other = await instance(directory);
    const one = await instance(directory);
    const got: Got[] = [];
    await one.ask("root", "POST", "/v1/webhooks", { name: "notify", url: await keeping(got) });
    await one.scheduler.every("notify", "200ms", undefined, { overlap: "skip" });
    await one.scheduler.close();
    await next(other.scheduler, "succeeded");
    expect(got.length).toBeGreaterThan(0);
  });

  it("a new secret signs beside the one before it, and a webhook that is made anew has another", async () => {
    const directory = scratch();
    const running = await instance(directory);
    const { ask, scheduler } = running;
    const got: Got[] = [];
    const url = await keeping(got);
    const run = async () => {
      const done = next(scheduler, "succeeded");
      await scheduler.after("notify", 0);
      await done;
      return got.at(-1)!;
    };
    const first: WebhookWithSecret = (await ask("root", "POST", "/v1/webhooks", { name: "notify", url })).body;
    const rotated = await ask("root", "POST", "/v1/webhooks/notify/rotate");
    const second: WebhookWithSecret = rotated.body;
    expect([rotated.status, second.version, typeof second.rotatedAt]).toEqual([200, 2, "string"]);
    const delivery = await run();
    expect([isOf(first.secret, delivery), isOf(second.secret, delivery)]).toEqual([true, true]);
    const { body: third } = await ask("root", "POST", "/v1/webhooks/notify/rotate");
    const later = await run();
    expect([first, second, third].map(({ secret }) => isOf(secret, later))).toEqual([false, true, true]);
    expect((await ask("root", "DELETE", "/v1/webhooks/notify")).status).toBe(204);
    expect((await ask("root", "DELETE", "/v1/webhooks/notify")).status).toBe(404);
    const { body: anew } = await ask("root", "POST", "/v1/webhooks", { name: "notify", url });
    const last = await run();
    expect([first, second, third, anew].map(({ secret }) => isOf(secret, last))).toEqual([false, false, false, true]);
    const text = await shown(running, directory);
    expect(text).toContain(url);
    for (const { secret } of [first, second, third, anew, { secret: MASTER }]) {
      expect(text).not.toContain(secret.slice(6));
    }
  });

  it("M2 schedules of a webhook that is deleted wait for one of its name", async () => {
    const { ask, scheduler } = await instance(scratch());
    const got: Got[] = [];
    const url = await keeping(got);
    await ask("root", "POST", "/v1/webhooks", { name: "notify", url });
    const { id } = await scheduler.after("notify", "1h");
    await ask("root", "DELETE", "/v1/webhooks/notify");
    await expect(scheduler.as({ id: "alice" }).invoke("notify")).rejects.toThrow();
    await ask("root", "POST", "/v1/webhooks", { name: "notify", url });
    const done = next(scheduler, "succeeded");
    await scheduler.update(id, { after: 0 });
    expect((await done).schedule.id).toBe(id);
    expect(got).toHaveLength(1);
  });

  it("P2 code makes them as the system, or for whom it says, and tells the same", async () => {
    const hooks = webhooks({ secret: MASTER, ...LOCAL });
    const { scheduler } = await started(scratch(), { plugins: [hooks] });
    const got: Got[] = [];
    const request = { name: "notify", url: await keeping(got) };
    const alice = { id: "alice" };
    for (
      const refused of [
        () => hooks.create(scheduler, request, alice),
        () => hooks.list(scheduler, {}, alice),
        () => hooks.get(scheduler, "notify", alice),
        () => hooks.rotate(scheduler, "notify", alice),
        () => hooks.delete(scheduler, "notify", alice),
      ]
    ) await expect(refused()).rejects.toMatchObject({ code: "permission_denied" });
    const made = await hooks.create(scheduler, request, { id: "root", admin: true });
    const { secret: _secret, ...info } = made;
    expect(await hooks.get(scheduler, "notify")).toEqual({ ...info, createdBy: "root" });
    expect(await hooks.list(scheduler)).toEqual({ webhooks: [info] });
    // Both rotate what they read; one of them is told that it was changed meanwhile, or both came one after the other.
    const rotations = await Promise.allSettled([hooks.rotate(scheduler, "notify"), hooks.rotate(scheduler, "notify")]);
    const versions = rotations.flatMap((one) => one.status === "fulfilled" ? [one.value!.version] : []);
    for (const one of rotations) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "conflict" });
    expect([[2], [2, 3], [3, 2]]).toContainEqual(versions);
    expect(await hooks.delete(scheduler, "notify")).toBe(true);
    expect([await hooks.delete(scheduler, "notify"), await hooks.get(scheduler, "notify")]).toEqual([false, undefined]);
    // Its name is free at once.
    expect((await hooks.create(scheduler, request)).createdBy).toBe("system");
  });

  it("pages through them, in the order in which they were made", async () => {
    const { ask, scheduler } = await instance(scratch());
    const url = await keeping([]);
    for (const name of ["c", "a", "b"]) await ask("root", "POST", "/v1/webhooks", { name, url });
    const { body: { webhooks: page, cursor } } = await ask("root", "GET", "/v1/webhooks?limit=2");
    expect(page.map(({ name }: { name: string }) => name)).toEqual(["c", "a"]);
    const rest = await ask("root", "GET", `/v1/webhooks?limit=2&cursor=${encodeURIComponent(cursor)}`);
    expect([rest.body.webhooks[0].name, rest.body.webhooks.length]).toEqual(["b", 1]);
    for (const query of ["limit=0", "limit=101", "limit=x", "colour=red"]) {
      expect((await ask("root", "GET", `/v1/webhooks?${query}`)).status).toBe(400);
    }
    expect((await scheduler.as({ id: "alice" }).list().page()).schedules).toEqual([]);
  });

  it("without the option there is nothing at /v1/webhooks", async () => {
    const { scheduler } = await started(scratch(), { plugins: [webhooks({ secret: MASTER })] });
    const app = http(scheduler, { authenticate: () => ({ id: "root", admin: true }) });
    expect((await app.request("/v1/webhooks")).status).toBe(404);
    expect(() => http(scheduler, { webhooks: {} as never })).toThrow(
      expect.objectContaining({ code: "invalid_option" }),
    );
  });
});
