import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A way to a server that a test can cut. */
export interface CuttableProxy {
  /** The server's address by this way. */
  readonly url: string;
  /** Cuts every connection, and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  /** From now on nothing is passed on and nobody hangs up, as where a network has gone without a word. */
  stall(): void;
  /** Cuts a connection when a text goes to the server: the server gets it, and its answer is lost. Once. */
  loseAnswerTo(text: string): void;
  /** Resolves when such an answer was lost. */
  lost(): Promise<void>;
  /** Connections that were asked for, refused ones too. */
  attempts(): number;
}

/** Passes everything on to the server of a connection string. */
export async function cuttableProxy(target: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isStalled = false;
  let attempts = 0;
  let losing: string | undefined;
  let tellLost = () => {};
  const lost = new Promise<void>((resolve) => tellLost = resolve);
  const server = createServer({ allowHalfOpen: true }, (client) => {
    attempts++;
    if (isCut) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("end", () => {
      if (!isStalled) client.end();
    });
    let answers = true;
    client.on("data", (chunk) => {
      if (isStalled) return;
      if (losing !== undefined && chunk.includes(losing)) {
        losing = undefined;
        answers = false;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (isStalled) return;
      if (answers) return void client.write(chunk);
      client.destroy();
      tellLost();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    isCut = true;
    for (const socket of [...sockets]) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: url.href,
    cut,
    mend: () => void (isCut = false),
    stall: () => void (isStalled = true),
    loseAnswerTo: (text) => void (losing = text),
    lost: () => lost,
    attempts: () => attempts,
  };
}
