import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { defineTask } from "../../../mod.ts";
import { listen } from "../../support/http_server.ts";
import { served } from "./served.ts";

const section = /^## Over HTTP\n(.*?)^## /ms.exec(
  readFileSync(new URL("../../../README.md", import.meta.url), "utf8"),
)![1]!;

interface Command {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The requests that the shell's block makes, with its variables filled in. */
function commands(variables: Readonly<Record<"ID" | "ETAG", string>>): readonly Command[] {
  const [, block] = /^```sh\n(.*?)^```/ms.exec(section)!;
  const lines = block!.replaceAll("\\\n", " ").split("\n").filter((line) => line.startsWith("curl "));
  return lines.map((line) => {
    const told = line.replaceAll("'$ID'", "$ID").replaceAll("$ID", variables.ID)
      .replaceAll('"$auth"', '"authorization: Bearer root"')
      .replaceAll('"$json"', '"content-type: application/json"')
      .replace(/If-Match: "\w+"/, `If-Match: ${variables.ETAG}`);
    const headers = [...told.matchAll(/ -H (?:"([^"]*)"|'([^']*)')/g)].map(([, a, b]) => (a ?? b)!.split(/: (.*)/s));
    const body = / -d '([^']*)'/.exec(told)?.[1];
    return {
      method: / -X (\w+)/.exec(told)?.[1] ?? (body === undefined ? "GET" : "POST"),
      path: `/v1${/\$api([^\s"]*)/.exec(told)![1]}`,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, value])),
      ...(body === undefined ? {} : { body }),
    };
  });
}

it("each request of the README is accepted, in its order", async () => {
  const tasks = ["receipt", "prune", "report"].map((name) => defineTask(name, (input: unknown) => input));
  const { app } = await served({}, tasks);
  const paths = new Set<string>();
  for (const i of commands({ ID: "", ETAG: "" }).keys()) {
    const made = await app.request("/v1/schedules", {
      method: "POST",
      headers: { "authorization": "Bearer root", "content-type": "application/json" },
      body: JSON.stringify({ task: "prune", cron: "0 0 * * *" }),
    });
    const { id } = await made.json();
    const { method, path, ...init } = commands({ ID: id, ETAG: made.headers.get("etag")! })[i]!;
    const answer = await app.request(path, { method, ...init });
    expect([method, path, answer.ok, await answer.text()]).toEqual([method, path, true, expect.anything()]);
    paths.add(path.replace(id, "ID"));
  }
  for (const path of ["transactions", "sync", "next-runs", "invoke", "schedules", "schedules/by-name/nightly"]) {
    expect(paths).toContain(`/v1/${path}`);
  }
});

it("each status that the README tells beside its table is answered with the code told", async () => {
  const { app, ask } = await served();
  const told = [...section.matchAll(/(\d{3}) with `(\w+)`/g)].map(([, status, code]) => [Number(status), code]);
  expect(told).toContainEqual([405, "invalid_option"]);
  expect(told).toContainEqual([421, "permission_denied"]);
  expect(told).toContainEqual([404, "not_found"]);
  const wrongMethod = await ask("PUT", "/v1/schedules", { body: {} });
  expect([wrongMethod.status, wrongMethod.json.code]).toEqual([405, "invalid_option"]);
  expect(wrongMethod.headers.get("allow")).toContain("GET");
  const noPath = await ask("GET", "/v1/nope");
  expect([noPath.status, noPath.json.code]).toEqual([404, "not_found"]);
  const server = await listen(app);
  const { request } = await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<readonly [number, string]>();
  const sent = request({
    host: "127.0.0.1",
    port: server.port,
    path: "/v1/tasks",
    headers: { host: "attacker.example" },
  });
  sent.on("error", reject).on("response", async (response) => {
    let text = "";
    for await (const part of response) text += part;
    resolve([response.statusCode!, JSON.parse(text).code]);
  }).end();
  expect(await promise).toEqual([421, "permission_denied"]);
  await server.end();
});
