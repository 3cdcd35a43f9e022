import { type Fault, MAX_CAUSE_DEPTH, MAX_FAULT_MESSAGE, MAX_FAULT_STACK, RETRY } from "../contract/mod.ts";

/**
 * What is kept of whatever a handler threw. Reads hostile values without ever throwing: getters, proxies, cycles,
 * frozen objects, `undefined`.
 */
export function faultOf(thrown: unknown, at: number): Fault {
  const name = field(thrown, "name") ?? (isObject(thrown) ? "Error" : "Thrown");
  const message = field(thrown, "message") ?? shown(thrown);
  const stack = field(thrown, "stack");
  const cause = causes(thrown);
  return {
    name: clean(name, 200),
    message: clean(message, MAX_FAULT_MESSAGE),
    ...(stack === undefined ? {} : { stack: clean(stack, MAX_FAULT_STACK) }),
    ...(cause === undefined ? {} : { cause: clean(cause, MAX_FAULT_MESSAGE) }),
    at,
  };
}

/** What a thrown value says of further attempts: none, or none before so many milliseconds. As safe as {@linkcode faultOf}. */
export function retryOf(thrown: unknown): false | number | undefined {
  try {
    const said = isObject(thrown) ? (thrown as { readonly [RETRY]?: unknown })[RETRY] : undefined;
    return said === false || (typeof said === "number" && said >= 0 && said < Infinity) ? said : undefined;
  } catch {
    return undefined;
  }
}

/** `instanceof` for whatever was thrown: a proxy may refuse to tell its prototype. */
export function isA<T>(value: unknown, type: new (...parameters: never[]) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function field(value: unknown, key: "name" | "message" | "stack"): string | undefined {
  try {
    const found = isObject(value) ? (value as Record<string, unknown>)[key] : undefined;
    return typeof found === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}

function causeOf(value: unknown): unknown {
  try {
    return isObject(value) ? (value as { cause?: unknown }).cause : undefined;
  } catch {
    return undefined;
  }
}

function shown(value: unknown): string {
  try {
    return typeof value === "object" && value !== null ? JSON.stringify(value) ?? String(value) : String(value);
  } catch {
    return "a value that cannot be shown";
  }
}

function causes(thrown: unknown): string | undefined {
  const texts: string[] = [];
  const seen = new Set<unknown>([thrown]);
  let cause = causeOf(thrown);
  while (cause !== undefined && texts.length < MAX_CAUSE_DEPTH && !seen.has(cause)) {
    seen.add(cause);
    const name = field(cause, "name");
    texts.push(`${name === undefined ? "" : `${name}: `}${field(cause, "message") ?? shown(cause)}`);
    cause = causeOf(cause);
  }
  return texts.length === 0 ? undefined : texts.join("; caused by ");
}

/** Cut to length, well-formed, and without U+0000, which some stores refuse (B141). */
function clean(text: string, length: number): string {
  const short = text.length <= length ? text : `${text.slice(0, length - 3)}...`;
  return short.toWellFormed().replaceAll("\u0000", "\uFFFD");
}
