import { SchedulerError, type SchedulerErrorCode, show } from "./errors.ts";
import { type Json, setOwn } from "./json.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";
import { isPlainObject } from "./option_errors.ts";

/** What a JSON value is checked against, and with which errors. */
export interface JsonRule {
  /** Names the value in an error's message, such as `"input"`. */
  readonly where: string;
  /** The most bytes that it may have, serialised. */
  readonly maxBytes: number;
  /** The code for a value that JSON would change. */
  readonly invalid: SchedulerErrorCode;
  /** The code for one that is too large. */
  readonly tooLarge: SchedulerErrorCode;
}

/** The most bytes that one counted unit of {@linkcode Walk} can be serialised to: a number such as -1.2345678901234567e-300. */
const MAX_UNIT_BYTES = 24;

/**
 * Copies a value that JSON carries unchanged, and refuses any other with its path (S4): the copy is stored, so that
 * the caller may go on using its own. U+0000, lone surrogates and own keys such as `__proto__` survive.
 *
 * @throws {SchedulerError} with the rule's codes.
 * @example
 * ```ts
 * import { checkJson, type JsonRule } from "@ostinato/scheduler/contract";
 *
 * const rule: JsonRule = { where: "note", maxBytes: 1_000, invalid: "invalid_input", tooLarge: "input_too_large" };
 * console.log(checkJson({ tags: ["a", null] }, rule)); // { tags: [ "a", null ] }
 * try {
 *   checkJson({ at: new Date(0) }, rule);
 * } catch (error) {
 *   console.log(error instanceof Error && error.message.startsWith("note.at: ")); // true
 * }
 * ```
 */
export function checkJson(value: unknown, rule: JsonRule): Json {
  const walk = new Walk(rule);
  const copy = copied(walk, value, rule);
  if (walk.units * MAX_UNIT_BYTES > rule.maxBytes) {
    const bytes = new TextEncoder().encode(JSON.stringify(copy)).length;
    if (bytes > rule.maxBytes) throw tooLarge(rule, `${bytes} bytes`);
  }
  return copy;
}

/** A getter or a proxy may throw anything. */
function copied(walk: Walk, value: unknown, { invalid, where }: JsonRule): Json {
  try {
    return walk.copy(value);
  } catch (cause) {
    if (cause instanceof SchedulerError) throw cause;
    throw new SchedulerError(invalid, `${where}: reading it threw`, { details: { where }, cause });
  }
}

function tooLarge({ where, maxBytes, tooLarge }: JsonRule, given: string): SchedulerError {
  return new SchedulerError(tooLarge, `${where}: ${given} serialised; expected at most ${maxBytes}`, {
    details: { where, limit: maxBytes },
  });
}

/** One pass over a value. */
class Walk {
  readonly #rule: JsonRule;
  readonly #ancestors: object[] = [];
  readonly #path: (string | number)[] = [];
  /** Values, characters and separators so far: never more than the bytes that they are serialised to. */
  units = 0;

  constructor(rule: JsonRule) {
    this.#rule = rule;
  }

  copy(value: unknown): Json {
    switch (typeof value) {
      case "string":
        this.#count(value.length + 2);
        return value;
      case "number":
        this.#count(1);
        if (!Number.isFinite(value)) throw this.#refuse(`${value} is not a JSON number`);
        if (Object.is(value, -0)) throw this.#refuse("-0 is not kept by JSON; expected 0");
        return value;
      case "boolean":
        this.#count(4);
        return value;
      case "object":
        return value === null ? this.#null() : this.#container(value);
      default:
        throw this.#refuse(`${typeof value === "symbol" ? "a symbol" : show(value)} is not JSON`);
    }
  }

  #null(): null {
    this.#count(4);
    return null;
  }

  #container(value: object): Json {
    this.#count(2);
    if (this.#ancestors.includes(value)) throw this.#refuse("the value contains itself");
    if (this.#ancestors.length >= MAX_JSON_DEPTH) {
      throw this.#refuse(`nested more than ${MAX_JSON_DEPTH} levels deep`, this.#path.slice(0, 3));
    }
    this.#ancestors.push(value);
    const copy = Array.isArray(value) ? this.#array(value) : this.#object(value);
    this.#ancestors.pop();
    return copy;
  }

  #array(value: readonly unknown[]): Json {
    this.#count(Math.max(0, value.length - 1));
    const copy: Json[] = [];
    for (let i = 0; i < value.length; i++) {
      this.#path.push(i);
      if (!Object.hasOwn(value, i)) throw this.#refuse("a hole in an array is not JSON");
      copy.push(this.copy(value[i]));
      this.#path.pop();
    }
    if (Object.keys(value).length !== value.length) throw this.#refuse("an array with further keys is not JSON");
    return copy;
  }

  #object(value: object): Json {
    if (!isPlainObject(value)) throw this.#refuse(`${kindOf(value)} is not JSON`);
    if (Object.getOwnPropertySymbols(value).length > 0) throw this.#refuse("a key that is a symbol is not JSON");
    const copy: Record<string, Json> = {};
    for (const key of Object.keys(value)) {
      this.#path.push(key);
      this.#count(key.length + 3);
      setOwn(copy, key, this.copy(value[key]));
      this.#path.pop();
    }
    return copy;
  }

  /** Stops early: a value in which one part stands many times can be far larger than the memory that it takes. */
  #count(units: number): void {
    this.units += units;
    if (this.units > this.#rule.maxBytes) throw tooLarge(this.#rule, `more than ${this.#rule.maxBytes} bytes`);
  }

  #refuse(problem: string, path: readonly (string | number)[] = this.#path): SchedulerError {
    const where = pathText(this.#rule.where, path);
    return new SchedulerError(this.#rule.invalid, `${where}: ${problem}`, { details: { where, path: [...path] } });
  }
}

function kindOf(value: object): string {
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${name.slice(0, 80)}` : "an instance of a class";
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Writes a path as code would: `input.items[3]["a b"]`. */
export function pathText(root: string, path: readonly (string | number)[]): string {
  let text = root;
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += IDENTIFIER.test(key) ? `.${key}` : `[${show(key)}]`;
  }
  return text;
}

/** Whether two JSON values are equal, whatever the order of their keys: some stores keep their own. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) =>
    Object.hasOwn(b, key) && sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])
  );
}
