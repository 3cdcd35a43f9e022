import { serve } from "@hono/node-server";
import { once } from "node:events";

/** What serves requests: a Hono app. */
export interface Served {
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
}

/** A server on this machine. */
export interface Listening {
  /** Its address, such as `"http://127.0.0.1:41234"`. */
  readonly url: string;
  readonly port: number;
  end(): Promise<void>;
}

interface DenoServe {
  serve(
    options: { readonly port: number; readonly hostname: string; readonly onListen: () => void },
    handler: (request: Request, info: unknown) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
}

/** Serves an app as its users would on the runtime that runs the tests. */
export async function listen(app: Served, hostname = "127.0.0.1", port = 0): Promise<Listening> {
  const { Deno } = globalThis as unknown as { readonly Deno?: DenoServe };
  if (Deno !== undefined) {
    const server = Deno.serve({ port, hostname, onListen: () => {} }, (request, info) => app.fetch(request, info));
    return listening(server.addr.port, () => server.shutdown());
  }
  const server = serve({ fetch: app.fetch, hostname, port });
  if (!server.listening) await once(server, "listening");
  return listening((server.address() as { readonly port: number }).port, async () => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
}

function listening(port: number, end: () => Promise<void>): Listening {
  return { url: `http://127.0.0.1:${port}`, port, end };
}
