/**
 * The other end, in a process of its own: makes requests over so many connections, reads meanwhile, opens event streams;
 * does what it is told by messages, and tells what it saw.
 */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { requestAll, type Requests, type Statuses } from "./connections.ts";

/** Where the server is. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

/** Requests to make over and over, and one to time meanwhile over a connection of its own. */
export interface Load extends Requests {
  readonly read?: string;
}

/** What became of a load. */
export interface Loaded {
  readonly perSecond: number;
  /** Microseconds of processor time that each request took of the generator's. */
  readonly cpuUs: number;
  readonly statuses: Statuses;
  /** How long each read took, in milliseconds. */
  readonly readMs: readonly number[];
}

/** Event streams to open, and to leave open. */
export interface Streams extends Target {
  readonly streams: number;
}

const json = (token: string) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });

async function load({ read, ...requests }: Load): Promise<Loaded> {
  const isOver = { now: false };
  const reads = read === undefined ? Promise.resolve([]) : readUntil(isOver, requests, read);
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  const statuses = await requestAll(requests);
  const elapsedMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  isOver.now = true;
  const { amount } = requests;
  return {
    perSecond: amount / elapsedMs * 1_000,
    cpuUs: (user + system) / amount,
    statuses,
    readMs: await reads,
  };
}

/** Reads one after another over one connection. */
async function readUntil(isOver: { readonly now: boolean }, { url, token }: Target, path: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  while (!isOver.now) {
    const began = performance.now();
    await new Promise((resolve, reject) => {
      request(url + path, { agent, headers: json(token) }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`a read was answered ${response.statusCode}`));
        response.resume().on("end", resolve);
      }).on("error", reject).end();
    });
    times.push(performance.now() - began);
  }
  agent.destroy();
  return times;
}

const sockets: Socket[] = [];

/** Opens streams a hundred at a time; each has had its greeting then. */
async function open({ url, token, streams }: Streams): Promise<number> {
  const { hostname, port } = new URL(url);
  const asked = `GET /v1/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const begin = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(asked));
      socket.on("data", () => resolve()).on("error", reject);
      sockets.push(socket);
    });
  while (sockets.length < streams) {
    await Promise.all(Array.from({ length: Math.min(100, streams - sockets.length) }, begin));
  }
  return sockets.length;
}

/** Leaves every stream. */
async function leave(): Promise<number> {
  const closed = sockets.splice(0).map((socket) => {
    socket.destroy();
    return once(socket, "close");
  });
  return (await Promise.all(closed)).length;
}

type Message = { readonly load: Load } | { readonly open: Streams } | { readonly leave: true };

process.on("message", async (message: Message) => {
  if ("load" in message) process.send!(await load(message.load));
  else process.send!("open" in message ? await open(message.open) : await leave());
});
process.on("disconnect", () => process.exit());
process.send!("ready");
