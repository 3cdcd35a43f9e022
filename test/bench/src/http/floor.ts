/**
 * What serving costs without a scheduler: servers that read a creation's JSON and answer as many bytes of JSON, and do
 * nothing in between. The runtime's own server alone, and a bare Hono app on the server that the scheduler's app runs on.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Hono } from "hono";
import { type Listening, serve } from "../../../../examples/serve.ts";

/** A server that answers creations with a schedule that it makes nothing of. */
export type Floor = (answer: object) => Promise<Listening>;

const address = { hostname: "127.0.0.1", port: 0 } as const;

/** `node:http` on Node, `Deno.serve` on Deno, with a handler and nothing else. */
export const bareServer: Floor = (answer) =>
  "Deno" in globalThis ? serve((request) => answerPlainly(request, answer), address) : nodeServer(answer);

/** A Hono app of one route. */
export const bareHono: Floor = (answer) => {
  const app = new Hono();
  app.post("/v1/schedules", async (c) => c.json(isCreation(await c.req.json()) ? answer : {}, 201));
  return serve(app.fetch, address);
};

async function answerPlainly(request: Request, answer: object): Promise<Response> {
  const body = isCreation(await request.json()) ? answer : {};
  return new Response(JSON.stringify(body), { status: 201, headers: { "content-type": "application/json" } });
}

async function nodeServer(answer: object): Promise<Listening> {
  const server: Server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const body = JSON.stringify(isCreation(JSON.parse(Buffer.concat(parts).toString())) ? answer : {});
      outgoing.writeHead(201, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
      outgoing.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, address.hostname, resolve));
  return {
    url: `http://${address.hostname}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isCreation(body: unknown): boolean {
  return (body as { readonly task?: unknown }).task === "bench";
}
