const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds that a `Retry-After` asks for; `undefined` for none, and for nonsense.
 *
 * @param now For one that is a date, in milliseconds.
 * @param max However much it asks for.
 */
export function retryAfterMs(value: string | null | undefined, now: number, max: number): number | undefined {
  const text = value?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : HTTP_DATE.test(text) ? Date.parse(text) - now : NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), max);
}
