/** A value that JSON carries without changing it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** A copy that may be changed without changing the original, own keys such as `__proto__` included. */
export function copyJson<Value extends Json | undefined>(value: Value): Value;
export function copyJson(value: Json | undefined): Json | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((member: Json) => copyJson(member));
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) setOwn(copy, key, copyJson(member));
  return copy;
}

/** Sets an own key, also one that plain assignment would give to the prototype. */
export function setOwn(object: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}
