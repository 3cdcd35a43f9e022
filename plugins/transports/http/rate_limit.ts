import { MAX_RATED_PRINCIPALS } from "./limits.ts";
import { refusal } from "./problem.ts";

interface Bucket {
  tokens: number;
  /** By the monotonic clock. */
  at: number;
}

/**
 * A bucket of tokens for each principal: full at first, refilled evenly. Each instance counts for itself. Only so many
 * principals are remembered; one that is forgotten begins with a full bucket.
 */
export class RateLimiter {
  readonly #limit: number;
  readonly #perMs: number;
  readonly #now: () => number;
  /** The one longest unseen first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(
    { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
    now: () => number = () => performance.now(),
  ) {
    this.#limit = limit;
    this.#perMs = limit / windowMs;
    this.#now = now;
  }

  /** Takes a token, or refuses with 429 and when to come again. */
  take(id: string): void {
    const now = this.#now();
    const { tokens, at } = this.#buckets.get(id) ?? { tokens: this.#limit, at: now };
    const left = Math.min(this.#limit, tokens + (now - at) * this.#perMs);
    this.#buckets.delete(id);
    this.#buckets.set(id, { tokens: left < 1 ? left : left - 1, at: now });
    if (this.#buckets.size > MAX_RATED_PRINCIPALS) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (left >= 1) return;
    const seconds = Math.max(1, Math.ceil((1 - left) / this.#perMs / 1_000));
    const detail = `too many requests; expected none for ${seconds} s`;
    throw refusal(429, "rate_limited", detail, { "retry-after": String(seconds) }, true);
  }
}
