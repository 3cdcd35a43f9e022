import { MAX_JSON_DEPTH } from "../../../src/contract/mod.ts";
import { BODY_DEPTH_ABOVE_INPUT, BODY_TIMEOUT_MS } from "./limits.ts";
import { Refusal, refusal } from "./problem.ts";

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i;

/**
 * Reads a request's JSON. What counts is the bytes that arrive, whatever the headers say (B147).
 *
 * @param isFramed Whether it came over a connection, whose server keeps a body to the length that the headers say.
 * @returns `undefined` for a body of no bytes.
 */
export async function readJson(request: Request, maxBytes: number, isFramed: boolean): Promise<unknown> {
  checkCoding(request.headers.get("content-encoding"));
  const type = request.headers.get("content-type");
  if (type !== null) checkType(type);
  const text = isFramed ? await readFramed(request, maxBytes) : await readStream(request, maxBytes);
  if (text === "") return undefined;
  // A page may also send bytes of no type without leave.
  checkType(type ?? "none");
  checkDepth(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusal(400, "invalid_input", `body: ${(error as Error).message}; expected JSON`);
  }
}

/** Refuses what is said not to be JSON, so that forms of other sites, which need no leave to be sent, come to nothing. */
function checkType(type: string): void {
  if (type === "application/json" || JSON_TYPE.test(type.split(";")[0]!.trim())) return;
  throw refusal(415, "invalid_input", `content-type: ${type.slice(0, 80)}; expected application/json`);
}

/** What is compressed may be of any size once it is not. */
function checkCoding(coding: string | null): void {
  if (coding === null || coding.trim().toLowerCase() === "identity") return;
  const detail = `content-encoding: ${coding.slice(0, 80)}; expected none`;
  throw refusal(415, "invalid_input", detail, { "accept-encoding": "identity" });
}

/** Takes the body in one piece where its length is known beforehand, which costs a server on Node much less. */
async function readFramed(request: Request, maxBytes: number): Promise<string> {
  const length = request.headers.get("content-length");
  const isKnown = length !== null && /^\d{1,15}$/.test(length) && !request.headers.has("transfer-encoding");
  if (!isKnown) return await readStream(request, maxBytes);
  if (Number(length) > maxBytes) throw tooLarge(maxBytes);
  const bytes = await inTime(request.arrayBuffer(), () => {});
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return decoded(whole, new Uint8Array(bytes), false);
}

async function readStream(request: Request, maxBytes: number): Promise<string> {
  if (request.body === null) return "";
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  const reader = request.body.getReader();
  return await inTime(decode(reader, maxBytes), () => void reader.cancel().catch(() => {}));
}

/** Waits no longer for a client that sends slowly, or not at all. */
function inTime<T>(reading: Promise<T>, giveUp: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(refusal(408, "invalid_input", `body: it did not arrive within ${BODY_TIMEOUT_MS / 1_000} s`));
      giveUp();
    }, BODY_TIMEOUT_MS);
    reading.then((value) => {
      clearTimeout(timer);
      resolve(value);
    }, (error) => {
      clearTimeout(timer);
      reject(brokenOff(error));
    });
  });
}

/** That a client hangs up is no fault of the server's, unless somebody before it has read the body: a `TypeError`. */
function brokenOff(error: unknown): unknown {
  if (error instanceof Refusal || error instanceof TypeError) return error;
  return refusal(400, "invalid_input", "body: it broke off; expected all of it");
}

/** Holds no more than the limit and one chunk. */
async function decode(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = newDecoder();
  let text = "";
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length;
    if (bytes > maxBytes) {
      void reader.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    text += decoded(decoder, part.value, true);
  }
  return text + decoded(decoder, undefined, false);
}

/** For what comes in one piece: nothing is left in it afterwards, whatever came. */
const whole = newDecoder();

function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: true });
}

function decoded(decoder: TextDecoder, chunk: Uint8Array | undefined, stream: boolean): string {
  try {
    return decoder.decode(chunk, { stream });
  } catch {
    throw refusal(400, "invalid_input", "body: it is not well-formed UTF-8");
  }
}

function tooLarge(maxBytes: number) {
  return refusal(413, "input_too_large", `body: more than ${maxBytes} bytes; expected at most so many`);
}

const MAX_DEPTH = MAX_JSON_DEPTH + BODY_DEPTH_ABOVE_INPUT;

const [QUOTE, BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

/** Before it is parsed, since what walks a deep value afterwards may run out of stack. */
function checkDepth(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === BRACE || code === BRACKET) depth++;
    else if (code === BRACE_END || code === BRACKET_END) depth--;
    if (depth > MAX_DEPTH) {
      throw refusal(400, "invalid_input", `body: nested more than ${MAX_DEPTH} levels deep; expected fewer`);
    }
  }
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (let code = text.charCodeAt(i); i < text.length && code !== QUOTE; code = text.charCodeAt(i)) {
    i += code === BACKSLASH ? 2 : 1;
  }
  return i;
}
