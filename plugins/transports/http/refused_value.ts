import { SchedulerError, show } from "../../../src/contract/mod.ts";

/** The error for a value that is shown in other words than its own: `invalidOption` would quote them. */
export function refusedValue(where: string, shown: string, expected: string): SchedulerError {
  return new SchedulerError("invalid_option", `${where}: ${shown}; expected ${expected}`, {
    details: { where, given: shown, expected },
  });
}

/** Shows of what may be a secret, if a wrong one, only what it is not. */
export function showSecret(value: unknown): string {
  if (value === undefined) return "nothing given";
  const isShown = value === null || typeof value === "object" || typeof value === "boolean";
  return isShown ? `${show(value)} given` : "(hidden)";
}

/**
 * Shows a URL, or what should have been one, without credentials and query. In text that is no URL nobody knows where a
 * password ends, so that with an `@` nothing of it is shown but the scheme.
 */
export function showUrl(value: unknown): string {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string") return show(text);
  const scheme = /^(?:[a-z][a-z0-9+.-]*:\/\/)?/i.exec(text)![0];
  return show(text.includes("@") ? `${scheme}…` : text.replace(/[?#].*$/s, "?…"));
}
