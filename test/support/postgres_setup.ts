/**
 * Starts real PostgreSQL servers for the tests that ask for one, on free ports of the loopback interface and in temporary
 * directories, and stops them at the end of the run. One is shared; tests that stop their server start another.
 */
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { listen, type RunningServer, startServer } from "./postgres_server.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresServers: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers: Promise<RunningServer>[] = [];
  let shared: Promise<RunningServer> | undefined;
  const begin = () => {
    const server = startServer();
    servers.push(server);
    return server;
  };
  const commands: Record<string, (index: number) => Promise<unknown>> = {
    "/shared": async () => ({ url: (await (shared ??= begin())).url }),
    "/own": async () => {
      const own = begin();
      // Others may begin while this one starts.
      const index = servers.indexOf(own);
      return { url: (await own).url, index };
    },
    "/restart": async (index) => (await servers[index])?.restart(),
  };
  const desk = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://desk");
    try {
      const answer = await commands[pathname]!(Number(searchParams.get("index")));
      response.end(JSON.stringify(answer ?? {}));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  project.provide("postgresServers", await listen(desk));
  return async () => {
    desk.close();
    for (const server of servers) await server.then((running) => running.dispose(), () => {});
  };
}
