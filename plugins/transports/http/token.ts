import { invalidOption, isPlainObject, type Principal } from "../../../src/contract/mod.ts";
import { readPrincipal } from "./principal.ts";
import { MAX_TOKEN_LENGTH, MAX_TOKENS, TOKEN_BYTES } from "./limits.ts";
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
 * @throws {SchedulerError} `invalid_option` for no object, or an empty token; `unknown_option` or `invalid_option` for what
 * is no principal, by its place among the tokens, of which none is told.
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
  const isAccepted = isPlainObject(tokens) && Object.keys(tokens).length <= MAX_TOKENS;
  if (!isAccepted || Object.keys(tokens).some((token) => token === "" || token.length > MAX_TOKEN_LENGTH)) {
    const expected =
      `at most ${MAX_TOKENS} principals by token, none empty or longer than ${MAX_TOKEN_LENGTH} characters`;
    throw invalidOption("bearerTokens", tokens, `an object of ${expected}`);
  }
  const known = Object.entries(tokens).map(([secret, principal], i) => ({
    secret,
    principal: readPrincipal(principal, `bearerTokens[${i}]`),
  }));
  return (request) => {
    const given = /^Bearer +(\S+(?: \S+)*) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (given === undefined || given.length > MAX_TOKEN_LENGTH) return null;
    let found: Principal | null = null;
    for (const { secret, principal } of known) if (isEqual(secret, given)) found = principal;
    return found;
  };
}

/** Takes as long whatever the secret is: what is given alone decides how many characters are looked at. */
function isEqual(secret: string, given: string): boolean {
  let difference = secret.length ^ given.length;
  for (let i = 0; i < given.length; i++) difference |= secret.charCodeAt(i % secret.length) ^ given.charCodeAt(i);
  return difference === 0;
}
