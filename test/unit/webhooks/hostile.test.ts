import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { EventEmitter } from "node:events";
import type { Server, Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { createServer as createTlsServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { RETRY } from "../../../src/contract/mod.ts";
import { webhookTask } from "../../../plugins/transports/http/webhook/task.ts";
import { sendOnceChecked } from "../../../plugins/transports/http/webhook/post.ts";
import { readDestinations } from "../../../plugins/transports/http/webhook/target.ts";
import { httpServer, rawServer } from "../../support/http_servers.ts";
import { scratch } from "../support/schedulers.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "./certificate.ts";
import { contextOf, deliverTo, SECRET } from "./deliveries.ts";

/** A server whose certificate nobody has signed. */
async function tlsServer(connected: (socket: Socket) => void): Promise<number> {
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, connected);
  server.on("tlsClientError", () => {});
  return await listening(server);
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((done) => void server.close(() => done())));
  return (server.address() as { readonly port: number }).port;
}

/** What a process of this runtime says of a delivery in an environment. */
async function fromChild(url: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const script = fileURLToPath(new URL("child.ts", import.meta.url));
  const flags = "Deno" in globalThis ? ["run", "-A", script, url] : [script, url];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { env: { ...process.env, ...environment } });
  return stdout.trim();
}

/** Does something over and over until the socket is gone, as fast as the other side takes it or at an interval. */
function dripping(socket: Socket, drip: () => string, everyMs: number): void {
  const timer = setInterval(() => socket.write(drip()), everyMs);
  socket.on("close", () => clearInterval(timer));
}

function flooding(socket: Socket, drop: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(drop));
  };
  socket.on("drain", more);
  more();
}

/** Resolves once the other side has hung up, which a socket tells when it is read to its end. */
async function gone(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve).resume());
}

const OK = "HTTP/1.1 200 OK\r\n";
const LATE = /^POST http:\/\/127\.0\.0\.1:\d+: no complete answer within 300 ms$/;

/** What a server does to a connection, and what the fault then says. */
const SERVERS: Readonly<Record<string, readonly [(socket: Socket) => void, told: RegExp]>> = {
  "says nothing": [() => {}, LATE],
  "reads nothing and says nothing": [(socket) => void socket.pause(), LATE],
  "sends its headers a letter at a time": [
    (socket) => (socket.write(`${OK}x-slow: `), dripping(socket, () => "a", 5)),
    LATE,
  ],
  "sends headers without end": [
    (socket) => (socket.write(OK), flooding(socket, `x-more: ${"a".repeat(1_000)}\r\n`)),
    /Header/,
  ],
  "sends one header without end": [
    (socket) => (socket.write(`${OK}x: `), flooding(socket, "a".repeat(1_000))),
    /Header/,
  ],
  "sends its body a letter at a time": [
    (socket) => (socket.write(`${OK}content-length: 99999\r\n\r\n`), dripping(socket, () => "a", 5)),
    LATE,
  ],
  "sends a body without end": [
    (socket) => (socket.write(`${OK}\r\n`), flooding(socket, "a".repeat(10_000))),
    /an answer of more than 65536 bytes$/,
  ],
  "sends chunks without end": [
    (
      socket,
    ) => (socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`), flooding(socket, `3e8\r\n${"a".repeat(1_000)}\r\n`)),
    /an answer of more than 65536 bytes$/,
  ],
  "sends early answers without end": [(socket) => dripping(socket, () => "HTTP/1.1 103 Early Hints\r\n\r\n", 5), LATE],
  "answers with another protocol": [
    (socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    /^POST http:\/\/127\.0\.0\.1:\d+: /,
  ],
  "answers what is no HTTP": [(socket) => void socket.end("220 mail.example ESMTP\r\n\r\n"), /^POST .*: Parse Error/],
  "cuts the connection": [(socket) => void socket.once("data", () => socket.destroy()), /^POST .*: socket hang up/],
  "cuts its body": [
    (socket) => void socket.once("data", () => socket.end(`${OK}content-length: 10\r\n\r\n{"a`)),
    /^POST http:\/\/127\.0\.0\.1:\d+: /,
  ],
};

describe("a receiver that means no good", () => {
  it.each(Object.entries(SERVERS))(
    "%s: a fault that retry may try again, and the connection is closed",
    async (_what, [does, told]) => {
      const sockets: Socket[] = [];
      const port = await rawServer((socket) => {
        sockets.push(socket);
        does(socket);
      });
      const isSlow = told === LATE;
      const error = await deliverTo(port, isSlow ? { timeout: "300ms" } : {});
      expect(error).toMatchObject({ name: "WebhookError", message: expect.stringMatching(told) });
      expect((error as { [RETRY]?: unknown })[RETRY]).toBeUndefined();
      // One that was late before it could connect has none.
      for (const socket of sockets) await gone(socket);
    },
  );

  it("refuses with a body without end: the refusal counts, and the body is left", async () => {
    const port = await rawServer((socket) => {
      socket.write("HTTP/1.1 403 Forbidden\r\n\r\n");
      flooding(socket, "no ".repeat(1_000));
    });
    expect(await deliverTo(port)).toMatchObject({
      status: 403,
      [RETRY]: false,
      message: expect.stringMatching(/: no no .*\.\.\.$/),
    });
  });

  it("redirects to a metadata service or elsewhere: nobody goes there", async () => {
    let elsewhere = 0;
    const there = await httpServer((_request, response) => void (elsewhere++, response.end()));
    for (
      const location of ["http://169.254.169.254/latest/meta-data/", `http://127.0.0.1:${there}/`, "//evil.example"]
    ) {
      const port = await httpServer((_request, response) => response.writeHead(307, { location }).end());
      const error = await deliverTo(port);
      expect(error).toMatchObject({ status: 307, message: expect.stringContaining("redirects are not followed") });
    }
    expect(elsewhere).toBe(0);
  });

  it("is not there: the fault says so", async () => {
    const port = await rawServer(() => {});
    const gone = webhookTask("notify", {
      url: `http://nowhere.invalid:${port}/`,
      secret: SECRET,
      allowHttp: true,
      lookup: () => Promise.reject(new Error("no such name")),
    });
    await expect(Promise.resolve(gone.run(1, contextOf().context))).rejects.toMatchObject({
      message: expect.stringContaining("no such name"),
    });
    // A port that nothing listens on: 1 is nobody's.
    expect(await deliverTo(1)).toMatchObject({
      name: "WebhookError",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it("F5 S5 a run that is aborted hangs up, and what it was aborted with is what it throws", async () => {
    const controller = new AbortController();
    const reason = new Error("aborted by abortRun");
    let hungUp: Promise<void> | undefined;
    const port = await rawServer((socket) => {
      hungUp = gone(socket);
      socket.once("data", () => controller.abort(reason));
    });
    expect(await deliverTo(port, {}, contextOf({ signal: controller.signal }))).toBe(reason);
    await hungUp;
    expect(await deliverTo(port, {}, contextOf({ signal: AbortSignal.abort(reason) }))).toBe(reason);
  });
});

describe("names", () => {
  /** A task for a name whose addresses change from one lookup to the next. */
  function named(port: number, answers: (readonly string[])[], allowHosts: readonly string[] = []) {
    const asked: string[] = [];
    const task = webhookTask("notify", {
      url: `http://hooks.example:${port}/`,
      secret: SECRET,
      allowHttp: true,
      allowHosts,
      lookup(hostname) {
        asked.push(hostname);
        return Promise.resolve(answers.length > 1 ? answers.shift()! : answers[0]!);
      },
    });
    const run = async () => {
      try {
        return await task.run({}, contextOf().context);
      } catch (error) {
        return error;
      }
    };
    return { run, asked };
  }

  it("a name that turns to a private address after it was checked is refused at the connection", async () => {
    let requests = 0;
    const port = await httpServer((_request, response) => void (requests++, response.end()));
    const rebound = named(port, [["127.0.0.1"], ["8.8.8.8"], ["10.0.0.1"]]);
    expect(await rebound.run()).toMatchObject({
      name: "WebhookError",
      message:
        `POST http://hooks.example:${port}: "hooks.example" is at a loopback address, which is refused unless allowHosts names it`,
      [RETRY]: false,
    });
    expect(rebound.asked).toEqual(["hooks.example"]);
    expect(requests).toBe(0);
  });

  it("each connection asks once, and goes to what that answered: there is no second answer to slip in", async () => {
    const hosts: (string | undefined)[] = [];
    const port = await httpServer((request, response) => void (hosts.push(request.headers.host), response.end()));
    const { run, asked } = named(port, [["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1"]], ["hooks.example"]);
    expect(await run()).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(await run()).toMatchObject({ message: expect.stringContaining("linkLocal address"), [RETRY]: false });
    expect(await run()).toBeUndefined();
    expect(asked).toHaveLength(3);
    expect(hosts).toEqual(Array(2).fill(`hooks.example:${port}`));
  });

  it.each([
    [[["93.184.216.34", "127.0.0.1"]], "loopback"],
    [[["::ffff:127.0.0.1"]], "loopback"],
    [[["fe80::1%lo"]], "linkLocal"],
    [[["64:ff9b::7f00:1"]], "rfc6052"],
    [[["127.1"]], "unknown"],
  ])("a name with the addresses %j is refused whole", async (answers, range) => {
    const { run } = named(1, answers);
    expect(await run()).toMatchObject({ message: expect.stringContaining(`at a ${range} address`), [RETRY]: false });
  });

  it.each([[[]], [Array(65).fill("8.8.8.8")], ["8.8.8.8"]])("a resolver that answers %j is refused", async (answer) => {
    expect(await named(1, [answer as string[]]).run()).toMatchObject({
      message: expect.stringContaining("no addresses"),
    });
  });

  it.each([
    ["10.0.0.1", "private"],
    ["169.254.169.254", "linkLocal"],
    ["::ffff:127.0.0.1", "loopback"],
    [undefined, "unknown"],
    ["8.8.8.8", undefined],
  ])(
    "a socket that is connected to %s, whatever it was told, is written to only if that is allowed",
    (remoteAddress, range) => {
      for (const [protocol, connected] of [["https:", "secureConnect"], ["http:", "connect"]] as const) {
        const socket = Object.assign(new EventEmitter(), { remoteAddress });
        const written: unknown[] = [];
        const refused: unknown[] = [];
        const request = {
          url: new URL(`${protocol}//hooks.example/`),
          destinations: readDestinations({}, "test"),
          headers: {},
          body: "the body",
          timeoutMs: 1,
          signal: new AbortController().signal,
        };
        const sent = { end: (body: unknown) => void written.push(body) };
        sendOnceChecked(request, sent as never, socket as never, (error) => void refused.push(error));
        expect(written).toEqual([]);
        socket.emit(connected);
        expect(written).toEqual(range === undefined ? ["the body"] : []);
        expect(refused).toEqual(
          range === undefined ? [] : [expect.objectContaining({ details: expect.objectContaining({ range }) })],
        );
      }
    },
  );

  it("over TLS the name is asked for and held against the certificate, whatever the address", async () => {
    const deliver = (port: number) =>
      webhookTask("notify", {
        url: `https://hooks.example:${port}/`,
        secret: SECRET,
        allowHosts: ["hooks.example"],
        lookup: () => Promise.resolve(["127.0.0.1"]),
      }).run({}, contextOf().context) as Promise<unknown>;
    let hello = "";
    const listening = await rawServer((socket) => {
      socket.once("data", (bytes) => {
        hello = bytes.toString("latin1");
        socket.destroy();
      });
    });
    await expect(deliver(listening)).rejects.toMatchObject({ name: "WebhookError" });
    expect(hello).toContain("hooks.example");
    let heard = "";
    const port = await tlsServer((socket) => socket.on("data", (bytes) => heard += bytes.toString("latin1")));
    await expect(deliver(port)).rejects.toMatchObject({
      name: "WebhookError",
      message: expect.stringMatching(/certificate|UnknownIssuer|CaUsedAsEndEntity/i),
    });
    expect(heard).toBe("");
  });

  it("over TLS a certificate of an authority that is trusted holds for its own names alone", async () => {
    const file = join(scratch(), "authority.pem");
    writeFileSync(file, AUTHORITY);
    const trusting = { NODE_EXTRA_CA_CERTS: file, DENO_CERT: file };
    const requests: string[] = [];
    const server = createHttpsServer({ key: KEY, cert: CERTIFICATE }, ({ headers, method }, response) => {
      requests.push(`${method} ${headers.host} ${headers["content-length"]}`);
      response.end();
    });
    server.on("tlsClientError", () => {});
    const port = await listening(server);
    expect(await fromChild(`https://hooks.example:${port}/`, trusting)).toBe("delivered");
    expect(requests).toEqual([expect.stringMatching(`^POST hooks\\.example:${port} [1-9]\\d+$`)]);
    expect(await fromChild(`https://other.example:${port}/`, trusting)).toMatch(
      /other\.example.*(?:altnames|NotValidForName|not valid for)/i,
    );
    expect(requests).toHaveLength(1);
  });

  it("a proxy that the environment names gets nothing", async () => {
    let proxied = 0;
    const proxy = await rawServer((socket) => void (proxied++, socket.destroy()));
    const port = await httpServer((_request, response) => response.end());
    const url = `http://127.0.0.1:${proxy}`;
    const environment = { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, ALL_PROXY: url, NODE_USE_ENV_PROXY: "1" };
    expect(await fromChild(`http://127.0.0.1:${port}/`, environment)).toBe("delivered");
    expect(proxied).toBe(0);
  });
});
