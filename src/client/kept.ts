import { isPlainObject } from "../contract/mod.ts";

/**
 * What a caller gave, as it is now: a call reads it only once it may begin, and by then the caller may have changed it.
 * Plain objects, arrays and dates are copied, those that contain themselves too; anything else is answered as it is, and
 * so is what throws when it is read, to be refused in its turn.
 */
export function kept<Value>(given: Value): Value {
  try {
    return copyOf(given, new Map()) as Value;
  } catch {
    return given;
  }
}

/** {@linkcode kept} for a flat request, whose task may be the object that the scheduler knows. */
export function keptRequest(request: unknown): unknown {
  if (!isPlainObject(request)) return request;
  const { task, ...others } = request;
  return Object.hasOwn(request, "task") ? { ...kept(others), task } : kept(others);
}

/** {@linkcode keptRequest} for each of a list. */
export function keptRequests(requests: unknown): unknown {
  return Array.isArray(requests) ? requests.map(keptRequest) : requests;
}

function copyOf(value: unknown, copies: Map<object, object>): unknown {
  if (value instanceof Date) return new Date(value);
  const isArray = Array.isArray(value);
  // An array with holes or further keys is refused, and has to look like one.
  if (isArray ? Object.keys(value).length !== value.length : !isPlainObject(value)) return value;
  const known = copies.get(value as object);
  if (known !== undefined) return known;
  const copy: Record<string, unknown> = isArray ? [...value] as never : { ...value as object };
  copies.set(value as object, copy);
  for (const key of Object.keys(copy)) copy[key] = copyOf(copy[key], copies);
  return copy;
}
