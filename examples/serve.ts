/**
 * Serves a `fetch` handler on Node and Deno, and stops serving without cutting anybody off.
 *
 * @module
 */
import type { Server as NodeServer } from "node:http";

/** Where to listen. */
export interface Address {
  readonly hostname: string;
  /** 0: any that is free. */
  readonly port: number;
}

/** A server that listens. */
export interface Listening {
  /** Its address, with the port that it got. */
  readonly url: string;
  /** Goes on serving, but each answer is the last of its connection: clients leave without having one cut under them. */
  drain(): void;
  /** Listens no more, waits for requests under way for up to two seconds, and cuts what is left. */
  close(): Promise<void>;
}

/** As `app.fetch` of Hono: the second parameter is what the runtime tells of the connection. */
export type FetchHandler = (request: Request, env?: never) => Response | Promise<Response>;

/** How long requests under way may take to end. Whoever closes a service ends its event streams before. */
const CLOSE_MS = 2_000;

/** Begins to listen. Throws what the system says, such as that the port is in use. */
export async function serve(fetch: FetchHandler, address: Address): Promise<Listening> {
  const { Deno } = globalThis as unknown as { readonly Deno?: DenoServe };
  let isDraining = false;
  const serveOne: FetchHandler = async (request, env) => {
    const response = await fetch(request, env);
    if (isDraining) response.headers.set("connection", "close");
    return response;
  };
  const server = await (Deno === undefined ? serveOnNode(serveOne, address) : serveOnDeno(Deno, serveOne, address));
  return { ...server, drain: () => void (isDraining = true) };
}

type Server = Omit<Listening, "drain">;

interface DenoServe {
  serve(
    options: Address & { readonly signal: AbortSignal; readonly onListen: () => void },
    handler: FetchHandler,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
}

async function serveOnDeno(Deno: DenoServe, fetch: FetchHandler, address: Address): Promise<Server> {
  const cut = new AbortController();
  const server = await Deno.serve({ ...address, signal: cut.signal, onListen: () => {} }, fetch);
  return {
    url: urlOf(address.hostname, server.addr.port),
    async close() {
      const timer = setTimeout(() => cut.abort(), CLOSE_MS);
      await server.shutdown();
      clearTimeout(timer);
    },
  };
}

async function serveOnNode(fetch: FetchHandler, { hostname, port }: Address): Promise<Server> {
  const { createAdaptorServer } = await import("@hono/node-server");
  const server = createAdaptorServer({ fetch: fetch as never }) as NodeServer;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = server.address();
  return {
    url: urlOf(hostname, typeof bound === "object" && bound !== null ? bound.port : port),
    async close() {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      clearTimeout(timer);
    },
  };
}

function urlOf(hostname: string, port: number): string {
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
