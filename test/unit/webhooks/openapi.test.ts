import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it, onTestFinished } from "vitest";
import { createScheduler } from "../../../mod.ts";
import { http, webhooks } from "../../../plugins/transports/http/mod.ts";
import { SECRET } from "./deliveries.ts";

interface Content {
  readonly [type: string]: { readonly schema: object; readonly example?: unknown };
}

interface Operation {
  readonly tags: readonly string[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

/** In an order in which each finds what it is about. */
const ORDER = ["post /v1/webhooks", "get", "post /v1/webhooks/{name}/rotate", "delete"];

it("the webhooks' operations are in a valid document, their examples are accepted, and answers are as described", async () => {
  const hooks = webhooks({ secret: SECRET, lookup: () => Promise.resolve(["93.184.215.14"]) });
  const scheduler = createScheduler({ plugins: [hooks] });
  onTestFinished(() => scheduler.close());
  const app = http(scheduler, { authenticate: () => ({ id: "root", admin: true }), webhooks: hooks });
  const document = await (await app.request("/v1/openapi.json")).json() as Document;
  expect(await new Validator().validate(document as never)).toEqual({ valid: true });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation }))
  ).filter(({ tags }) => tags.includes("webhooks"));
  expect(operations).toHaveLength(5);
  const rank = ({ method, path }: typeof operations[number]) =>
    ORDER.findIndex((start) => `${method} ${path}` === start || method === start);
  for (const operation of operations.toSorted((a, b) => rank(a) - rank(b))) {
    const { path, method, requestBody, responses } = operation;
    const example = requestBody?.content["application/json"]?.example;
    const response = await app.request(path.replace("{name}", "notify"), {
      method: method.toUpperCase(),
      ...(example === undefined
        ? {}
        : { body: JSON.stringify(example), headers: { "content-type": "application/json" } }),
    });
    const text = await response.text();
    const described = responses[response.status];
    expect(described, `${method} ${path}: ${response.status} ${text}`).toBeDefined();
    if (described!.content === undefined) expect(text).toBe("");
    else {
      const { schema } = described!.content["application/json"]!;
      const ajv = new Ajv2020({ strict: false });
      const validate = ajv.compile({ ...schema, components: document.components });
      expect(validate(JSON.parse(text)) ? [] : validate.errors).toEqual([]);
    }
  }
});
