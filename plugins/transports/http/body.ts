import { MAX_JSON_DEPTH } from "../../../src/contract/mod.ts";
import { BODY_DEPTH_ABOVE_INPUT, BODY_TIMEOUT_MS } from "./limits.ts";
import { refusal } from "./problem.ts";

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i;

/**
 * Reads a request's JSON. What counts is the bytes that arrive, whatever the headers say (B147).
 *
 * @param isFramed Whether it came through a server, which hands over as many bytes as `Content-Length` says, if it is there.
 * @returns `undefined` for a body of no bytes.
 */
export async function readJson(request: Request, maxBytes: number, isFramed: boolean): Promise<unknown> {
  checkType(request);
  const { headers } = request;
  const length = headers.get("content-length");
  const isKnown = isFramed && length !== null && /^\d{1,15}$/.test(length) && !headers.has("transfer-encoding");
  const text = isKnown ? await readWhole(request, Number(length), maxBytes) : await readText(request, maxBytes);
  if (text === "") return undefined;
  checkDepth(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusal(400, "invalid_input", `body: ${(error as Error).message}; expected JSON`);
  }
}

/** Refuses what is said not to be JSON, so that forms of other sites, which need no leave to be sent, come to nothing. */
function checkType(request: Request): void {
  const type = request.headers.get("content-type");
  if (type === null || JSON_TYPE.test(type.split(";")[0]!.trim())) return;
  throw refusal(415, "invalid_input", `content-type: ${type.slice(0, 80)}; expected application/json`);
}

/** Takes a body of a known length in one piece, for which servers have a short way. */
async function readWhole(request: Request, length: number, maxBytes: number): Promise<string> {
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (length === 0) return "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooLate()), BODY_TIMEOUT_MS);
  });
  try {
    const bytes = new Uint8Array(await Promise.race([request.arrayBuffer(), late]));
    if (bytes.length > maxBytes) throw tooLarge(maxBytes);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return decoded(decoder, bytes) + decoded(decoder);
  } finally {
    clearTimeout(timer);
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  if (request.body === null) return "";
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  const reader = request.body.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => {});
  }, BODY_TIMEOUT_MS);
  try {
    const text = await decode(reader, maxBytes);
    if (isLate) throw tooLate();
    return text;
  } finally {
    clearTimeout(timer);
  }
}

/** Holds no more than the limit and one chunk. */
async function decode(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length;
    if (bytes > maxBytes) {
      void reader.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    text += decoded(decoder, part.value);
  }
  return text + decoded(decoder);
}

function decoded(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw refusal(400, "invalid_input", "body: it is not well-formed UTF-8");
  }
}

function tooLarge(maxBytes: number) {
  return refusal(413, "input_too_large", `body: more than ${maxBytes} bytes; expected at most so many`);
}

function tooLate() {
  return refusal(408, "invalid_input", `body: it did not arrive within ${BODY_TIMEOUT_MS / 1_000} s`);
}

const MAX_DEPTH = MAX_JSON_DEPTH + BODY_DEPTH_ABOVE_INPUT;

/** Before it is parsed, since what walks a deep value afterwards may run out of stack. */
function checkDepth(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = endOfString(text, i);
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    if (depth > MAX_DEPTH) {
      throw refusal(400, "invalid_input", `body: nested more than ${MAX_DEPTH} levels deep; expected fewer`);
    }
  }
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
  return i;
}
