import { invalidOption, isPlainObject, type Principal } from "../../../src/contract/mod.ts";
import { MAX_TOKENS, TOKEN_BYTES } from "./limits.ts";
import type { Authenticate } from "./options.ts";

/** A token that nobody guesses. */
export function newToken(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
}

/** Bytes as text for URLs and headers. */
export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * An `authenticate` for fixed tokens: whoever sends `Authorization: Bearer <token>` is the token's principal. How long the
 * comparison takes tells nothing of any token.
 *
 * @param tokens Up to 1,000 principals by token.
 * @throws {SchedulerError} `invalid_option` for no object, or an empty token.
 * @example
 * ```ts
 * import { createScheduler } from "@ostinato/scheduler";
 * import { bearerTokens, http } from "@ostinato/scheduler/http";
 *
 * await using scheduler = createScheduler();
 * const app = http(scheduler, { authenticate: bearerTokens({ "a long secret": { id: "alice" } }) });
 * const headers = { authorization: "Bearer a long secret" };
 * console.log((await app.request("/v1/schedules", { headers })).status); // 200
 * ```
 */
export function bearerTokens(tokens: Readonly<Record<string, Principal>>): Authenticate {
  if (!isPlainObject(tokens) || Object.keys(tokens).length > MAX_TOKENS || Object.hasOwn(tokens, "")) {
    throw invalidOption("bearerTokens", tokens, `an object of at most ${MAX_TOKENS} principals by token, none empty`);
  }
  const known = Promise.all(
    Object.entries(tokens).map(async ([token, principal]) => ({ digest: await sha256(token), principal })),
  );
  return async (request) => {
    const given = /^Bearer +(\S+(?: \S+)*) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (given === undefined) return null;
    const digest = await sha256(given);
    let found: Principal | null = null;
    for (const one of await known) if (isEqual(one.digest, digest)) found = one.principal;
    return found;
  };
}

/** The SHA-256 of a text's UTF-8. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Takes as long whichever byte differs. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
