import type { Wire } from "./api.ts";
import { type Json, setOwn } from "./json.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";

/** A value as JSON has it: instants as text, what is `undefined` left out; `undefined` itself stays. */
export function toWire<Value>(value: Value): Wire<Value> {
  return copyOf(value, 0) as Wire<Value>;
}

/**
 * What parsing the value's JSON text would come to, without the text, which costs four times as much. What is no plain
 * data goes by the text, and so does what is so deep that it may have no end.
 */
function copyOf(value: unknown, depth: number): Json | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null || value === undefined) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value !== "object" || depth > MAX_JSON_DEPTH) return throughText(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Date.prototype) {
    return Number.isNaN((value as Date).getTime()) ? null : (value as Date).toISOString();
  }
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === "function") return throughText(value);
  if (prototype === Array.prototype) return arrayOf(value as readonly unknown[], depth + 1);
  if (prototype !== Object.prototype && prototype !== null) return throughText(value);
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const member = copyOf((value as Readonly<Record<string, unknown>>)[key], depth + 1);
    if (member !== undefined) setOwn(copy, key, member);
  }
  return copy;
}

function arrayOf(members: readonly unknown[], depth: number): Json {
  const copy: Json[] = [];
  for (let i = 0; i < members.length; i++) copy.push(copyOf(members[i], depth) ?? null);
  return copy;
}

function throughText(value: unknown): Json | undefined {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}
