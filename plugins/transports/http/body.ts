import { MAX_JSON_DEPTH } from "../../../src/contract/mod.ts";
import { BODY_DEPTH_ABOVE_INPUT, BODY_TIMEOUT_MS } from "./limits.ts";
import { refusal } from "./problem.ts";

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i;

/**
 * Reads a request's JSON. What counts is the bytes that arrive, whatever the headers say (B147).
 *
 * @returns `undefined` for a body of no bytes.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const text = await readText(request, maxBytes);
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

async function readText(request: Request, maxBytes: number): Promise<string> {
  checkType(request);
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
    if (isLate) throw refusal(408, "invalid_input", `body: it did not arrive within ${BODY_TIMEOUT_MS / 1_000} s`);
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
