/** What is known of the connection that a request came over. */
export interface Connection {
  /** The address of the other end. */
  readonly remote: string;
  /**
   * Asks for the address that the server is bound to, or at least the one that was called; where the runtime tells it.
   */
  local(): string | undefined;
}

interface Bindings {
  /** From `@hono/node-server`. */
  readonly incoming?: {
    readonly socket?: {
      readonly remoteAddress?: string;
      readonly localAddress?: string;
      readonly server?: { address?(): { readonly address?: string } | string | null };
    };
  };
  /** From `Deno.serve`. */
  readonly remoteAddr?: { readonly hostname?: string; readonly transport?: string };
}

/** A Unix socket has no addresses, and no other machine reaches it. */
const ON_UNIX = "127.0.0.1";

/** The connection of a request; `undefined` where there is none, as with `app.request`, or none that is known of. */
export function connectionOf(env: unknown): Connection | undefined {
  if (typeof env !== "object" || env === null) return undefined;
  const { incoming, remoteAddr } = env as Bindings;
  const socket = incoming?.socket;
  if (socket !== undefined) {
    const { remoteAddress, localAddress, server } = socket;
    const local = () => {
      const bound = server?.address?.();
      return typeof bound === "string" ? ON_UNIX : bound?.address ?? localAddress;
    };
    return { remote: remoteAddress ?? (typeof server?.address?.() === "string" ? ON_UNIX : ""), local };
  }
  if (remoteAddr === undefined) return undefined;
  const isUnix = remoteAddr.transport === "unix" || remoteAddr.transport === "unixpacket";
  return { remote: isUnix ? ON_UNIX : remoteAddr.hostname ?? "", local: () => undefined };
}

/** Whether an address is of the loopback interface. */
export function isLoopback(address: string): boolean {
  if (address === "127.0.0.1") return true;
  const plain = address.replace(/^\[|\]$/g, "").replace(/^::ffff:/i, "");
  return plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}

/** Whether a name, as a URL's `hostname` has it, means this machine whatever a name server says. */
export function isLocalName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || isLoopback(name);
}
