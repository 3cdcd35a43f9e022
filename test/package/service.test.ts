import { once } from "node:events";
import { Agent, get } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sharedServer } from "../support/postgres.ts";
import { Program } from "../support/program.ts";
import { SseReader } from "../support/sse.ts";
import { scratch } from "../unit/support/schedulers.ts";

const SERVICE = fileURLToPath(new URL("../../examples/service.ts", import.meta.url));
const NONE = {
  HOST: "",
  PORT: "0",
  TOKEN: "",
  DATABASE_URL: "",
  OSTINATO_DB: "",
  ALLOWED_HOSTS: "",
  WEBHOOK_SECRET: "",
  DRAIN: "",
};

/** A service in a process of its own, under the runtime that runs the tests. */
class Service extends Program {
  url = "";
  #token = "";

  constructor(directory: string, env: Readonly<Record<string, string>> = {}, parameters: readonly string[] = []) {
    super(SERVICE, { directory, parameters, env: { ...NONE, ...env } });
  }

  /** Waits until it listens. */
  static async begin(...given: ConstructorParameters<typeof Service>): Promise<Service> {
    const service = new Service(...given);
    const [, url, , token] = await service.says(/^Listening on (http:\S+), schedules in (.+?)(?:; token: (\S+))?\n/m);
    service.url = url!;
    service.#token = token ?? given[1]!["TOKEN"]!;
    return service;
  }

  /** Makes a request, and reads its answer. */
  async ask(
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
    const response = await this.request(path, body);
    return { status: response.status, body: await response.json() as Record<string, unknown> };
  }

  request(path: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    return fetch(
      this.url + path,
      body === undefined ? { headers } : { method: "POST", body: JSON.stringify(body), headers },
    );
  }

  /** Schedules by name or id. */
  async schedules(): Promise<string[]> {
    const { body } = await this.ask("/v1/schedules?limit=1000");
    return (body["schedules"] as { name?: string; id: string }[]).map(({ name, id }) => name ?? id).sort();
  }
}

/** What a server says will become of the connection. `fetch` does not tell it everywhere. */
function connectionAfter(url: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: new Agent({ keepAlive: true }) }, (response) => {
      response.resume();
      resolve(response.headers.connection);
    }).on("error", reject);
  });
}

describe("the service", () => {
  it("X1 stopped in the middle of a run it drains: the run ends, its events are told, and nothing is lost", async () => {
    const directory = scratch();
    const service = await Service.begin(directory);
    const named = { kind: "every", task: "log", every: "1h", name: "hourly", input: { text: "hello" } };
    expect((await service.ask("/v1/schedules", named)).status).toBe(201);
    const events = new SseReader((await service.request("/v1/events?event=succeeded")).body!);
    await events.read();
    expect(await connectionAfter(`${service.url}/healthz`)).not.toBe("close");
    const wait = { kind: "at", task: "wait", after: 0, input: { duration: "5s" }, retention: "1h" };
    const { body: { id } } = await service.ask("/v1/schedules", wait);
    await service.says(new RegExp(`${id}: waits 5s`));
    service.kill("SIGTERM");
    await service.says(/terminated; draining/);
    expect((await service.ask("/readyz")).body).toEqual({ status: "unready", reason: "closed" });
    // So that no request is on its way over a connection when it is cut.
    expect(await connectionAfter(`${service.url}/healthz`)).toBe("close");
    expect(await events.next()).toMatchObject({ event: "succeeded", data: { schedule: { id } } });
    expect(await events.next()).toBeUndefined();
    expect(await service.ended(), service.output).toBe(0);
    expect(service.output).toMatch(
      new RegExp(`draining\n(?:.|\n)*${id}: has waited\n(?:.|\n)*closed; the schedules stay`),
    );

    const again = await Service.begin(directory, { TOKEN: "a token" });
    expect(again.output).not.toContain("a token");
    expect(await again.schedules()).toEqual(["hourly"]);
    const info = (await again.ask(`/v1/schedules/${id}`)).body;
    expect(info).toMatchObject({ runCount: 1, faultCount: 0, retireReason: "completed" });
    again.kill("SIGINT");
    expect(await again.ended(), again.output).toBe(0);
    expect(again.output).toContain("interrupted; draining");
  });

  it("I3 killed it has lost nothing that it answered for", async () => {
    const directory = scratch();
    const file = { OSTINATO_DB: join(directory, "mine.db"), TOKEN: "t" };
    const service = await Service.begin(directory, file);
    const names = Array.from({ length: 50 }, (_, i) => `s${i}`).sort();
    const create = (name: string) => service.ask("/v1/schedules", { kind: "cron", task: "log", cron: "@yearly", name });
    const statuses = (await Promise.all(names.map(create))).map(({ status }) => status);
    service.kill("SIGKILL");
    expect(await service.ended()).toBe("SIGKILL");
    expect(new Set(statuses)).toEqual(new Set([201]));
    const again = await Service.begin(directory, file);
    expect(await again.schedules()).toEqual(names);
    expect((await again.ask("/readyz")).status).toBe(200);
  });

  it("keeps schedules in PostgreSQL, whose password it does not print", async () => {
    const url = new URL(await sharedServer());
    const name = `service_${process.pid}_${Date.now()}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`create database ${name}`);
    const env = { DATABASE_URL: Object.assign(new URL(url), { pathname: `/${name}` }).href, TOKEN: "t" };
    const service = await Service.begin(scratch(), env);
    expect(service.output).toContain("schedules in PostgreSQL\n");
    await service.ask("/v1/schedules", { kind: "at", task: "log", after: "1h", name: "later" });
    service.kill("SIGTERM");
    expect(await service.ended(), service.output).toBe(0);
    const again = await Service.begin(scratch(), env);
    expect(await again.schedules()).toEqual(["later"]);
    again.kill("SIGTERM");
    expect(await again.ended(), again.output).toBe(0);
  });

  it("has the quickstart's schedules with --quickstart, and runs them", async () => {
    const service = await Service.begin(scratch(), {}, ["--quickstart"]);
    expect(await service.schedules()).toEqual(expect.arrayContaining(["pulse", "health"]));
    await service.says(/pulse .* lines of the crontab/);
    await vi.waitFor(async () => {
      const metrics = await (await service.request("/metrics")).text();
      expect(metrics).toMatch(/^ostinato_runs_total\{task="pulse",outcome="succeeded"\} \d+$/m);
    }, 30_000);
  });

  it("lets admins make webhook tasks where it was given a secret for them, and keeps them", async () => {
    const directory = scratch();
    const env = { TOKEN: "t", WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}` };
    const service = await Service.begin(directory, env);
    const { status, body } = await service.ask("/v1/webhooks", { name: "notify", url: "https://1.1.1.1/hook" });
    expect([status, body]).toEqual([201, expect.objectContaining({ name: "notify" })]);
    service.kill("SIGKILL");
    await service.ended();
    const again = await Service.begin(directory, env);
    expect((await again.ask("/v1/webhooks/notify")).status).toBe(200);
    const without = await Service.begin(directory, { TOKEN: "t" });
    expect((await without.ask("/v1/webhooks/notify")).status).toBe(404);
  });

  it("B149 lets nobody in without the token, and tells probes no more than they need", async () => {
    const service = await Service.begin(scratch());
    const statuses = await Promise.all(
      ["/v1/schedules", "/metrics", "/v1/events", "/healthz", "/readyz"].map(async (path) => {
        const response = await fetch(service.url + path);
        await response.body?.cancel();
        return response.status;
      }),
    );
    expect(statuses).toEqual([401, 401, 401, 200, 200]);
  });

  it("prints what it takes with --help", async () => {
    const service = new Service(scratch(), {}, ["--help"]);
    expect(await service.ended()).toBe(0);
    for (const name of Object.keys(NONE)) expect(service.output).toMatch(new RegExp(`^  ${name} `, "m"));
  });

  it.each([
    ["PORT=http", { PORT: "http" }, [], /^PORT: "http" is no port$/m],
    ["a host that others reach and no token", { HOST: "0.0.0.0" }, [], /^HOST: others may reach 0\.0\.0\.0/m],
    [
      "a token with a space at its end",
      { TOKEN: "hunter2 " },
      [],
      /^TOKEN: expected ASCII without spaces at its ends/m,
    ],
    ["a token that no header takes", { TOKEN: "hunter2é" }, [], /^TOKEN: expected ASCII/m],
    ["a secret that is none", { WEBHOOK_SECRET: "hunter2" }, [], /^WEBHOOK_SECRET: webhooks\.secret\[0\]/m],
    ["DRAIN=soon", { DRAIN: "soon" }, [], /^DRAIN: "soon"/m],
    ["no directory for the database", { OSTINATO_DB: "none/x.db" }, [], /^sqlite: none\/x\.db cannot be used/m],
    ["no PostgreSQL", { DATABASE_URL: "postgres://app:hunter2@127.0.0.1:1/app" }, [], /^postgres.*/m],
    ["an option that it does not have", {}, ["--prot"], /--prot.*\n(?:.|\n)*Usage: service\.ts/],
  ])("refuses to start with %s, in words and not with a stack", async (_what, env, parameters, message) => {
    const service = new Service(scratch(), env, parameters);
    expect(await service.ended(), service.output).toBe(1);
    expect(service.output).toMatch(message);
    expect(service.output).not.toMatch(/^\s+at |hunter2/m);
  });

  it("refuses a port that is in use", async () => {
    const taken = createServer();
    taken.listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const service = new Service(scratch(), { PORT: `${port}` });
    expect(await service.ended(), service.output).toBe(1);
    expect(service.output).toMatch(/^PORT: \d+ is in use on 127\.0\.0\.1; PORT chooses another/m);
    expect(service.output).not.toMatch(/^\s+at /m);
  });
});
