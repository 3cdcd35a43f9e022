import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createScheduler, defineTask, SchedulerError } from "../../../mod.ts";
import { http, webhooks } from "../../../plugins/transports/http/mod.ts";
import { type Answered, type Asked, served } from "./served.ts";

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: { readonly example?: unknown };
  }[];
  readonly requestBody?: { readonly content: { readonly "application/json": Media } };
  readonly responses: Readonly<
    Record<string, {
      readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
      readonly content?: Readonly<Record<string, Media>>;
    }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const report = defineTask("report", { input: z.object({ team: z.string() }).optional(), run: (input) => input });
const slow = defineTask(
  "slow",
  (_input, { signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)),
);

/** Webhook tasks that are delivered nowhere. */
function hooksOf() {
  return webhooks({
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    lookup: () => Promise.resolve(["93.184.215.14"]),
  });
}

/** An app with a webhook, a schedule, a run of it in progress, and the app's own document. */
async function documented() {
  const hooks = hooksOf();
  const world = await served({ webhooks: hooks }, [report, slow], [hooks]);
  const { ask, clock } = world;
  const hook = { name: "kept", url: "https://hooks.example.com/" };
  expect((await ask("POST", "/v1/webhooks", { as: "root", body: hook })).status).toBe(201);
  const body = { task: "slow", every: "1h", startAt: clock.now(), target: "room:42", name: "kept" };
  const { id } = (await ask("POST", "/v1/schedules", { as: "root", body })).json;
  await clock.settled();
  const document: Document = (await ask("GET", "/v1/openapi.json")).json;
  const values: Readonly<Record<string, string>> = { id, runId: `${id}-1`, name: "nightly" };
  return { ...world, document, values };
}

function operations({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, ...described }))
  );
}

type Operation = ReturnType<typeof operations>[number];

/** The operation's request as its document shows it; ids are those of what is there. */
function exampleOf(
  { path, method, parameters = [], requestBody }: Operation,
  values: Readonly<Record<string, string>>,
) {
  const named = path.startsWith("/v1/runs")
    ? { id: values.runId! }
    : path.startsWith("/v1/webhooks") || (method === "get" && path.includes("/by-name/"))
    ? { name: "kept" }
    : {};
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent({ ...values, ...named }[name as "id"]!));
  const query = new URLSearchParams();
  for (const { name, in: where, required, schema } of parameters) {
    if (where === "query" && required === true) query.set(name, schema.example as string);
  }
  const body = requestBody?.content["application/json"].example;
  const asked: Asked = { as: "root", ...(body === undefined ? {} : { body }) };
  return { path: query.size === 0 ? filled : `${filled}?${query}`, asked };
}

/** Headers that mean something to a program, as opposed to a browser. */
const TELLING = ["etag", "location", "retry-after", "www-authenticate"];

/** What of the headers is promised and absent, or there and not described. */
function headersAmiss(described: Described["responses"][string]["headers"] = {}, headers: Headers): readonly string[] {
  const absent = Object.keys(described).filter((name) => described[name]!.required === true && !headers.has(name));
  return [...absent, ...TELLING.filter((name) => headers.has(name) && !Object.hasOwn(described, name))];
}

/** Whether an answer is one that the document describes. */
function faultsOf(
  { components }: Document,
  { responses }: Operation,
  { status, headers, json, text }: Answered,
): unknown {
  const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`];
  if (response === undefined) return `${status} is not described`;
  const amiss = headersAmiss(response.headers, headers);
  if (amiss.length > 0) return `headers: ${amiss.join(", ")}`;
  const media = response.content?.[headers.get("content-type") ?? ""];
  if (response.content === undefined) return text === "" ? undefined : "a body that is not described";
  if (headers.get("content-type") === "text/event-stream" && media !== undefined) return undefined;
  if (media === undefined) return `${headers.get("content-type")} is not described`;
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } });
  const validate = ajv.compile({ ...media.schema, components });
  return validate(json ?? text) ? undefined : validate.errors;
}

/** The document of an app that serves nobody, so that there is a test for each operation. */
async function documentOf(): Promise<Document> {
  const scheduler = createScheduler();
  const app = http(scheduler, { authenticate: () => ({ id: "alice" }), webhooks: hooksOf() });
  const answer = await app.request("/v1/openapi.json");
  await scheduler.close();
  return await answer.json() as Document;
}

const documents = await documentOf();

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1 for a validator that is none of ours", async () => {
    const validator = new Validator();
    const result = await validator.validate(documents as never);
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    const broken = structuredClone(documents) as unknown as { paths: Record<string, unknown> };
    broken.paths["/v1/tasks"] = { get: { responses: 7 } };
    expect((await new Validator().validate(broken as never)).valid).toBe(false);
  });

  it("has every route, and no other", async () => {
    const { app } = await served({ webhooks: hooksOf() });
    const routes = new Set(
      app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`),
    );
    const described = operations(documents).map(({ method, path }) =>
      `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`
    );
    expect([...routes].filter((route) => route.includes("/v1/") && !route.endsWith("/openapi.json")).sort())
      .toEqual(described.toSorted());
    const ids = operations(documents).map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(operations(documents).map((operation) => [operation.operationId, operation] as const))(
    "%s: its example is accepted, and the answer is as described",
    async (_, operation) => {
      const { ask, document, values } = await documented();
      const { path, asked } = exampleOf(operation, values);
      const answer = await ask(operation.method.toUpperCase(), path, asked);
      expect([answer.status, answer.text]).toEqual([expect.toSatisfy((status: number) => status < 300), answer.text]);
      expect(faultsOf(document, operation, answer)).toBeUndefined();
      if (operation.requestBody !== undefined) expect(asked.body).toBeDefined();
      const refused = await ask(operation.method.toUpperCase(), path, { ...asked, as: "nobody" as never });
      expect([refused.status, faultsOf(document, operation, refused)]).toEqual([401, undefined]);
    },
  );

  it("an answer that is not as described would be noticed", async () => {
    const { ask, document, values } = await documented();
    const operation = operations(document).find(({ operationId }) => operationId === "getSchedule")!;
    const answer = await ask("GET", `/v1/schedules/${values.id}`, { as: "root" });
    expect(faultsOf(document, operation, { ...answer, json: { ...answer.json, nextRun: 7 } })).toBeDefined();
    expect(faultsOf(document, operation, { ...answer, status: 302 })).toBeDefined();
  });

  it("describes what else an operation answers, with its headers", async () => {
    const { ask, document, scheduler, clock } = await documented();
    const faults = async (operationId: string, method: string, path: string, asked: Asked = {}) => {
      const answer = await ask(method, path, asked);
      const operation = operations(document).find((one) => one.operationId === operationId)!;
      return [answer.status, faultsOf(document, operation, answer)];
    };
    const once = { task: "report", key: "k", after: "1h" };
    expect(await faults("createSchedule", "POST", "/v1/schedules", { body: [once] })).toEqual([201, undefined]);
    expect(await faults("createSchedule", "POST", "/v1/schedules", { body: once })).toEqual([200, undefined]);
    const put = { body: { task: "report", every: "1h" } };
    expect(await faults("putScheduleByName", "PUT", "/v1/schedules/by-name/x", put)).toEqual([201, undefined]);
    expect(await faults("putScheduleByName", "PUT", "/v1/schedules/by-name/x", put)).toEqual([200, undefined]);
    const { schedules: [{ id }] } = (await ask("GET", "/v1/schedules?name=x")).json;
    const old = { headers: { "if-match": '"x"' }, body: {} };
    expect(await faults("updateSchedule", "PATCH", `/v1/schedules/${id}`, old)).toEqual([412, undefined]);
    const short = (await ask("POST", "/v1/schedules", { body: { task: "report", after: 0, retention: 0 } })).json;
    const info = vi.spyOn(scheduler.api, "call");
    info.mockImplementation((_principal, name) => {
      const gone = new SchedulerError("not_found", "gone", { details: { id: short.id } });
      return name === "trigger" ? Promise.resolve(true as never) : Promise.reject(gone);
    });
    expect(await faults("triggerSchedule", "POST", `/v1/schedules/${short.id}/trigger`)).toEqual([200, undefined]);
    info.mockRejectedValueOnce(new SchedulerError("store_unavailable", "away", { retryable: true }));
    expect(await faults("listTasks", "GET", "/v1/tasks")).toEqual([503, undefined]);
    info.mockRestore();
    expect(await faults("invokeTask", "POST", "/v1/invoke", { body: { task: "none" } })).toEqual([404, undefined]);
    await clock.settled();
  });

  it("describes schedules of each kind, with all that they may carry", async () => {
    const { ask, document, clock } = await documented();
    const operation = operations(document).find(({ operationId }) => operationId === "getSchedule")!;
    const failing = { task: "slow", timeout: "1s", retry: { limit: 1, delay: "1s" }, name: "n", dst: { gap: "skip" } };
    const bodies = [
      { ...failing, cron: "* * * * *", endAt: "2026-02-01T00:00:00Z" },
      { task: "report", at: "2027-01-01T00:00:00Z", input: { team: "x" }, key: "k", state: [1], tags: ["t"] },
      { task: "report", every: 1, persist: false, group: "g", target: "t", maxRuns: 3 },
    ];
    for (const body of bodies) {
      const { json, status } = await ask("POST", "/v1/schedules", { body });
      expect([status, json]).toEqual([201, json]);
      await clock.advance("70s");
      expect(faultsOf(document, operation, await ask("GET", `/v1/schedules/${json.id}`))).toBeUndefined();
    }
  });
});
