import { invalidOption } from "../../../src/contract/mod.ts";
import type { HttpCall } from "./context.ts";
import { MAX_IDEMPOTENCY_KEY } from "./limits.ts";

/**
 * Reads `Idempotency-Key` for the call that creates: the scheduler keeps what came of it beside the schedule, in the same
 * commit, so that it holds on every instance and through restarts.
 */
export function readIdempotencyKey(c: HttpCall): { readonly idempotencyKey?: string } {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return {};
  if (key !== "" && key.length <= MAX_IDEMPOTENCY_KEY) return { idempotencyKey: key };
  throw invalidOption("Idempotency-Key", key, `text of 1 to ${MAX_IDEMPOTENCY_KEY} characters`);
}
