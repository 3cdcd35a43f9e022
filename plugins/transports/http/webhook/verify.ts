import { MAX_DELIVERY_BYTES, MAX_ID_LENGTH } from "./limits.ts";
import { isSigned, signedContent, type SigningKey } from "./signing.ts";

/** A delivery whose signature held. */
export interface VerifiedDelivery {
  readonly id: string;
  readonly body: unknown;
}

/** Why a request is not carried out, with its status. */
export class Rejected extends Error {
  readonly status: 400 | 401 | 413 | 422;

  constructor(status: Rejected["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads a request and checks that one of the keys has signed it, lately.
 *
 * @throws {Rejected}
 */
export async function verifyDelivery(
  request: Request,
  keys: readonly SigningKey[],
  toleranceMs: number,
): Promise<VerifiedDelivery> {
  const id = header(request, "webhook-id");
  const timestamp = header(request, "webhook-timestamp");
  const signature = header(request, "webhook-signature");
  if (id.length > MAX_ID_LENGTH) throw new Rejected(400, `webhook-id: longer than ${MAX_ID_LENGTH} characters`);
  if (!/^\d{1,12}$/.test(timestamp)) throw new Rejected(400, "webhook-timestamp: expected whole seconds since 1970");
  const bytes = await readBytes(request);
  if (!await isSigned(keys, signedContent(id, timestamp, bytes), signature)) {
    throw new Rejected(401, "webhook-signature: none of the signatures is of a secret that is known here");
  }
  // Only now, so that the receiver's clock is told to whoever has a secret.
  if (Math.abs(Date.now() - Number(timestamp) * 1_000) > toleranceMs) {
    throw new Rejected(401, `webhook-timestamp: more than ${toleranceMs} ms from the receiver's clock`);
  }
  try {
    return { id, body: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    throw new Rejected(400, "the body is not JSON");
  }
}

function header(request: Request, name: string): string {
  const value = request.headers.get(name);
  if (value === null || value === "") throw new Rejected(400, `${name}: expected a header of that name`);
  return value;
}

/** The bytes of a body as they arrive, whatever its headers say of their number (B147). */
async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader!.read()) {
    size += part.value.length;
    if (size > MAX_DELIVERY_BYTES) {
      reader!.cancel().catch(() => {});
      throw new Rejected(413, `the body has more than ${MAX_DELIVERY_BYTES} bytes`);
    }
    chunks.push(part.value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
