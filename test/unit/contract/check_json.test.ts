import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkJson, type JsonRule, sameJson } from "../../../src/contract/check_json.ts";
import { MAX_INPUT_BYTES, MAX_JSON_DEPTH } from "../../../src/contract/mod.ts";
import { refusal } from "../client/memory_host.ts";

const RULE: JsonRule = {
  where: "input",
  maxBytes: MAX_INPUT_BYTES,
  invalid: "invalid_input",
  tooLarge: "input_too_large",
};
const check = (value: unknown) => checkJson(value, RULE);

class Money {
  readonly amount = 1;
}
const cyclic: Record<string, unknown> = { a: { b: [] } };
(cyclic.a as { b: unknown[] }).b.push(cyclic);
const sparse = [1, 2, 3];
delete sparse[1];

describe("checkJson", () => {
  it.each<[string, unknown, RegExp]>([
    ["undefined", undefined, /^input: undefined is not JSON/],
    ["a Date", { due: new Date(0) }, /^input\.due: an instance of Date is not JSON/],
    ["a BigInt", { n: 1n }, /^input\.n: 1n is not JSON/],
    ["a Map", new Map([[1, 2]]), /^input: an instance of Map/],
    ["a Set", [new Set()], /^input\[0\]: an instance of Set/],
    ["NaN", { a: [0, NaN] }, /^input\.a\[1\]: NaN/],
    ["Infinity", -Infinity, /^input: -Infinity/],
    ["negative zero", { x: -0 }, /^input\.x: -0/],
    ["undefined inside an array", [1, undefined], /^input\[1\]: undefined/],
    ["undefined as a property", { u: undefined }, /^input\.u: undefined/],
    ["a function", { f() {} }, /^input\.f: a function/],
    ["a symbol", { s: Symbol("x") }, /^input\.s: a symbol/],
    ["a key that is a symbol", { [Symbol("x")]: 1 }, /^input: a key that is a symbol/],
    ["an instance of a class", { m: new Money() }, /^input\.m: an instance of Money/],
    ["a boxed string", [Object("x")], /^input\[0\]: an instance of String/],
    ["an error", new Error("x"), /^input: an instance of Error/],
    ["a typed array", { b: new Uint8Array(2) }, /^input\.b: an instance of Uint8Array/],
    ["an object with toJSON", { toJSON: () => 1 }, /^input\.toJSON: a function/],
    ["a cycle", cyclic, /^input\.a\.b\[0\]: the value contains itself/],
    ["a hole in an array", sparse, /^input\[1\]: a hole/],
    ["an array with further keys", Object.assign([1], { more: 2 }), /^input: an array with further keys/],
    ["a key that needs quotes", { "a b": { "": undefined } }, /^input\["a b"\]\[""\]: undefined/],
    ["a getter that throws", {
      get x() {
        throw new Error("no");
      },
    }, /^input: reading it threw/],
    [
      "a proxy that throws",
      new Proxy({}, {
        ownKeys() {
          throw new Error("no");
        },
      }),
      /^input: reading it threw/,
    ],
  ])("S4 B143 refuses %s with its path", (_, value, message) => {
    expect(() => check(value)).toThrow(refusal("invalid_input", message) as Error);
  });

  it("S4 carries every value that JSON carries, unchanged, as a copy", () => {
    fc.assert(fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as unknown;
      const copy = check(plain);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(plain));
      if (typeof plain === "object" && plain !== null) expect(copy).not.toBe(plain);
    }));
  });

  it("S4 B141 keeps U+0000, lone surrogates and every other string", () => {
    for (const text of ["x\u0000y", "\ud800", "a\udc00b", "\u2028\u2029", "\uffff", "😀", ""]) {
      const value = { [text || "k"]: text };
      expect(JSON.parse(JSON.stringify(check(value)))).toEqual(value);
    }
  });

  it("S4 B146 keeps __proto__ and other names of the prototype as keys, and touches no prototype", () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":"x","hasOwnProperty":null}';
    const copy = check(JSON.parse(text));
    expect(JSON.stringify(copy)).toBe(text);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("S4 takes objects without a prototype and of another realm", () => {
    expect(check(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
    expect(check(runInNewContext("({ a: [1, { b: null }] })"))).toEqual({ a: [1, { b: null }] });
  });

  it("S4 does not follow what the caller does with its own object later", () => {
    const mine = { list: [1] };
    const copy = check(mine);
    mine.list.push(2);
    expect(copy).toEqual({ list: [1] });
  });

  it("S4 takes 32 KiB serialised in UTF-8 and not one byte more", () => {
    for (const [unit, bytes] of [["a", 1], ["é", 2], ["漢", 3], ["\u0000", 6], ["\ud800", 6], ['"', 2]] as const) {
      const fits = unit.repeat(Math.floor((MAX_INPUT_BYTES - 2) / bytes));
      expect(check(fits)).toBe(fits);
      expect(() => check(fits + unit.repeat(bytes))).toThrow(refusal("input_too_large", /32768/) as Error);
    }
    const numbers = new Array<number>(1_400).fill(-1.2345678901234567e-300);
    expect(() => check(numbers)).toThrow(refusal("input_too_large", /serialised; expected at most 32768/) as Error);
    const exact = { k: "x".repeat(MAX_INPUT_BYTES - 8) };
    expect(JSON.stringify(exact)).toHaveLength(MAX_INPUT_BYTES);
    expect(check(exact)).toEqual(exact);
  });

  it("S4 stops at the limit, however often one part stands in the value", () => {
    let dag: unknown = "x";
    for (let i = 0; i < 90; i++) dag = [dag, dag];
    expect(() => check(dag)).toThrow(refusal("input_too_large", /more than 32768 bytes/) as Error);
    expect(() => check(new Array(1e9))).toThrow(refusal("input_too_large", /more than 32768 bytes/) as Error);
  });

  it("S4 takes a value nested 100 deep and no deeper", () => {
    const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown;
    expect(check(nested(MAX_JSON_DEPTH))).toEqual(nested(MAX_JSON_DEPTH));
    expect(() => check(nested(MAX_JSON_DEPTH + 1))).toThrow(refusal("invalid_input", /more than 100 levels/) as Error);
  });
});

describe("sameJson", () => {
  it("N2 compares whole values, whatever the order of keys", () => {
    expect(sameJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
    for (const other of [{ a: 1 }, { a: 1, b: [1] }, { a: 1, b: [{ c: null }, 1] }, { a: 1, c: 2 }, [1], null, "x"]) {
      expect(sameJson({ a: 1, b: [1, { c: null }] }, other)).toBe(false);
    }
    expect(sameJson([], {})).toBe(false);
  });
});
