/**
 * Requests over and over on many connections at the least cost that there is, so that what is measured is the server:
 * each is written from memory as it is, and of an answer nothing is read but its status and its length.
 */
import { connect, type Socket } from "node:net";

/** A request to make. */
export interface Asked {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: string;
}

/** Requests to make in turn, so many in all, one at a time on each connection. */
export interface Requests {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly amount: number;
  readonly requests: readonly Asked[];
}

/** How many answers there were by the first digit of their status. */
export type Statuses = Readonly<Record<"2xx" | "4xx" | "5xx", number>>;

/** Makes all the requests. Fails when a connection is cut. */
export function requestAll({ url, token, connections, amount, requests }: Requests): Promise<Statuses> {
  const { hostname, port } = new URL(url);
  const texts = requests.map((asked) => textOf(asked, `${hostname}:${port}`, token));
  const statuses = { "2xx": 0, "4xx": 0, "5xx": 0 };
  let [sent, answered] = [0, 0];
  return new Promise((resolve, reject) => {
    const sockets = Array.from({ length: Math.min(connections, amount) }, () => {
      const socket = connect(Number(port), hostname, next);
      socket.setNoDelay(true).on("error", reject);
      readAnswers(socket, (status) => {
        statuses[`${Math.floor(status / 100)}xx` as "2xx"]++;
        if (++answered < amount) return next();
        for (const one of sockets) one.destroy();
        resolve(statuses);
      });
      function next() {
        if (sent < amount) socket.write(texts[sent++ % texts.length]!);
      }
      return socket;
    });
  });
}

function textOf({ method, path, body }: Asked, host: string, token: string): Buffer {
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n`;
  if (body === undefined) return Buffer.from(`${head}\r\n`);
  const length = Buffer.byteLength(body);
  return Buffer.from(`${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`);
}

/** Tells the status of each answer once it is there to its last byte. */
function readAnswers(socket: Socket, tell: (status: number) => void): void {
  // One character for each byte.
  let text = "";
  socket.on("data", (bytes: Buffer) => {
    text += bytes.latin1Slice();
    const headEnd = text.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    if (length === undefined) return void socket.destroy(new Error(`an answer of no known length: ${text}`));
    if (text.length < headEnd + 4 + Number(length)) return;
    const status = Number(text.slice(9, 12));
    text = "";
    tell(status);
  });
  socket.on("close", () => text !== "" && socket.emit("error", new Error("cut within an answer")));
}
