import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { LookupFunction, Socket } from "node:net";
import { SchedulerError } from "../../../../src/contract/mod.ts";
import { familyOf } from "./addresses.ts";
import { MAX_ANSWER_BYTES, MAX_HEADER_BYTES, MAX_REFUSAL_BYTES } from "./limits.ts";
import { addressesOf, checkAddress, type CheckedDestinations, hostOf } from "./target.ts";
import { utf8 } from "./signing.ts";
import { WebhookError } from "./webhook_error.ts";

/** One POST. */
export interface PostRequest {
  readonly url: URL;
  readonly destinations: CheckedDestinations;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it: finding the address, connecting, sending, and reading the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What was answered. */
export interface PostResponse {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string | undefined;
  readonly retryAfter: string | undefined;
  /** Of a refusal the beginning only. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Posts to a URL over a connection of its own: to an address that was checked, without a proxy, without following
 * redirects, and within limits of time and size whatever the other side does.
 *
 * `fetch` does not let its caller see the address that it connects to, so this is built on `node:http`, as Deno has it too.
 *
 * @throws {WebhookError} when there is no answer, or one over the limits.
 */
export async function post(request: PostRequest): Promise<PostResponse> {
  const { url, signal, timeoutMs } = request;
  const what = `POST ${url.origin}`;
  const ended = new AbortController();
  const late = setTimeout(
    () => ended.abort(new WebhookError(`${what}: no complete answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const abort = () => ended.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await exchange(request, what, ended.signal);
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : failureOf(error, what);
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", abort);
  }
}

function failureOf(error: unknown, what: string): unknown {
  if (error instanceof WebhookError) return error;
  // An address that is refused is refused the next time as well.
  if (error instanceof SchedulerError) return new WebhookError(error.message, { retry: false });
  // Where every address was tried in vain, the message is empty and the code is not.
  const { message, code } = error as NodeJS.ErrnoException;
  return new WebhookError(`${what}: ${message === "" ? code : message}`, { cause: error });
}

async function exchange(request: PostRequest, what: string, signal: AbortSignal): Promise<PostResponse> {
  const { url, headers, body } = request;
  const { request: open } = await import("node:http");
  const connect = await connector(request);
  signal.throwIfAborted();
  const options: RequestOptions = {
    method: "POST",
    headers: { ...headers, "content-length": String(utf8(body).length) },
    maxHeaderSize: MAX_HEADER_BYTES,
    // The request sees a socket, and leaves TLS to it.
    protocol: "http:",
    defaultPort: url.protocol === "https:" ? 443 : 80,
    createConnection: connect,
  };
  let sent: ClientRequest | undefined;
  let socket: Socket | undefined;
  try {
    return await new Promise<PostResponse>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      let answered = false;
      sent = open(url, options, (response) => {
        answered = true;
        read(response, what).then(resolve, reject);
      });
      sent.on("error", reject);
      sent.on("upgrade", () => reject(new Error("an answer in another protocol")));
      sent.on("close", () => answered || reject(new Error("the connection was closed")));
      sent.on("socket", (opened) => sendOnceChecked(request, sent!, socket = opened, reject));
    });
  } finally {
    sent?.destroy();
    socket?.destroy();
  }
}

/**
 * Opens the connection of a request. Not left to an agent: where the runtime is told to, agents go to the proxies that the
 * environment names.
 */
async function connector(request: PostRequest): Promise<() => Socket> {
  const { url } = request;
  const host = hostOf(url);
  const secure = url.protocol === "https:";
  const options = { host, port: Number(url.port || (secure ? 443 : 80)), lookup: checkedLookup(request) };
  if (!secure) {
    const { connect } = await import("node:net");
    return () => connect(options);
  }
  const { connect } = await import("node:tls");
  const named = familyOf(host) === 0 ? { servername: host } : {};
  return () => connect({ ...options, ...named });
}

/** What is checked is what is connected to: the name is not asked for a second time. */
function checkedLookup({ url, destinations }: PostRequest): LookupFunction {
  return (_hostname, options, callback) => {
    addressesOf(url, destinations, `POST ${url.origin}`).then((addresses) => {
      const found = addresses.map((address) => ({ address, family: familyOf(address) }));
      if (options.all === true) callback(null, found);
      else callback(null, found[0]!.address, found[0]!.family);
    }, (error) => callback(error, "", 0));
  };
}

/** A `ClientRequest` of `node:http`, as far as it is used: the package's types name none of Node's. */
interface Sendable {
  end(body: string): unknown;
}

/** A `Socket` of `node:net`, likewise. */
interface Connecting {
  readonly remoteAddress?: string | undefined;
  once(event: "connect" | "secureConnect", listener: () => void): unknown;
}

/** Nothing is written before it is known whom the socket is connected to, should a runtime have asked another resolver. */
export function sendOnceChecked(
  { url, destinations, body }: PostRequest,
  sent: Sendable,
  socket: Connecting,
  reject: (error: unknown) => void,
): void {
  socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
    try {
      checkAddress(hostOf(url), socket.remoteAddress ?? "", destinations, `POST ${url.origin}`);
      sent.end(body);
    } catch (error) {
      reject(error);
    }
  });
}

async function read(response: IncomingMessage, what: string): Promise<PostResponse> {
  const status = response.statusCode ?? 0;
  const isAccepted = status >= 200 && status < 300;
  const limit = isAccepted ? MAX_ANSWER_BYTES : MAX_REFUSAL_BYTES;
  const { "content-type": contentType, "retry-after": retryAfter } = response.headers;
  const answer = { status, statusText: response.statusMessage ?? "", contentType, retryAfter };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limit && isAccepted) throw new WebhookError(`${what}: an answer of more than ${limit} bytes`);
      chunks.push(chunk);
      if (size > limit) break;
    }
  } catch (error) {
    // What a refusal says besides its status is for people; that it is cut off changes nothing.
    if (isAccepted) throw error;
  }
  return { ...answer, body: joined(chunks, Math.min(size, limit)) };
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(0, size - at);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
