import { refusedValue, showSecret } from "../refused_value.ts";
import { MAX_SECRET_BYTES, MAX_SECRETS, MAX_SIGNATURES, MIN_SECRET_BYTES } from "./limits.ts";

const PREFIX = "whsec_";
const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/** A signing key, which shows nothing of itself. */
export class SigningKey {
  readonly #key: Promise<CryptoKey>;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#key = crypto.subtle.importKey("raw", bytes, HMAC, false, ["sign", "verify"]);
    // Told to whoever signs or verifies.
    this.#key.catch(() => {});
  }

  async sign(content: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await crypto.subtle.sign("HMAC", await this.#key, content));
  }

  /** Compares in constant time. */
  async verify(content: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean> {
    return await crypto.subtle.verify("HMAC", await this.#key, signature, content);
  }
}

/**
 * Reads one secret, or several of which the first is in force. No error tells what was given.
 *
 * @throws {SchedulerError} `invalid_option`
 */
export function readSecrets(value: unknown, where: string): readonly SigningKey[] {
  const secrets: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (secrets.length === 0 || secrets.length > MAX_SECRETS) {
    throw refusedValue(where, `${secrets.length} secrets given`, `from 1 to ${MAX_SECRETS} of them`);
  }
  return secrets.map((secret, index) => {
    const place = Array.isArray(value) ? `${where}[${index}]` : where;
    const bytes = typeof secret === "string" && secret.startsWith(PREFIX)
      ? fromBase64(secret.slice(PREFIX.length))
      : undefined;
    if (bytes === undefined) throw refusedValue(place, showSecret(secret), `text of "${PREFIX}" and base64`);
    if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) {
      throw refusedValue(place, `${bytes.length} bytes given`, `from ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes`);
    }
    return new SigningKey(bytes);
  });
}

/** The secret of a label, which only whoever has the key can work out. */
export async function deriveSecret(key: SigningKey, label: string): Promise<string> {
  return PREFIX + toBase64(await key.sign(utf8(label)));
}

/** The value of the header `webhook-signature`: one signature for each key. */
export async function signatureOf(keys: readonly SigningKey[], content: Uint8Array<ArrayBuffer>): Promise<string> {
  const signatures = await Promise.all(keys.map((key) => key.sign(content)));
  return signatures.map((signature) => `v1,${toBase64(signature)}`).join(" ");
}

/** Whether any of the signatures of a header is of any of the keys. */
export async function isSigned(
  keys: readonly SigningKey[],
  content: Uint8Array<ArrayBuffer>,
  header: string,
): Promise<boolean> {
  for (const part of header.split(" ", MAX_SIGNATURES)) {
    const signature = part.startsWith("v1,") ? fromBase64(part.slice(3)) : undefined;
    if (signature === undefined) continue;
    for (const key of keys) if (await key.verify(content, signature)) return true;
  }
  return false;
}

/** What is signed of a delivery. */
export function signedContent(
  id: string,
  timestamp: number | string,
  body: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const head = utf8(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}

/** Text as bytes. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
