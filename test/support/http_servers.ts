/** Real HTTP on the loopback interface: servers that go with the test. */
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Listens on a free port; answers it. */
async function listen(server: NetServer | Server, sockets: Set<Socket>): Promise<number> {
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as { readonly port: number }).port;
}

/** A server that does to each connection what it is told, be it HTTP or not. */
export function rawServer(connected: (socket: Socket) => void): Promise<number> {
  return listen(createNetServer(connected), new Set());
}

/** A server of plain HTTP. */
export function httpServer(listener: RequestListener): Promise<number> {
  return listen(createHttpServer(listener), new Set());
}

/** All of a request's body, as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return new TextDecoder().decode(Uint8Array.from(chunks.flatMap((chunk) => [...chunk])));
}
