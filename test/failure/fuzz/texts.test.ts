import { isDeepStrictEqual } from "node:util";
import { Cron } from "croner";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cronCadence } from "../../../src/calendar/mod.ts";
import {
  checkJson,
  checkTimezone,
  type Duration,
  type Instant,
  MAX_CRON_LENGTH,
  MAX_DEADLINE,
  MAX_JSON_DEPTH,
  parseDuration,
  parseInstant,
} from "../../../src/contract/mod.ts";
import { expressions, policies, secondExpressions } from "../../unit/calendar/arbitraries.ts";
import { answerOf, anything, fuzz, mutated } from "./fuzzing.ts";

const numbers = fc.oneof(fc.nat(100), fc.double(), fc.integer(), fc.constantFrom(0, 1e21, 1e-7, 2 ** 53));

describe("fuzzing: durations and instants", () => {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };
  const durations = fc.tuple(numbers, fc.constantFrom(...Object.keys(units))).map(([n, unit]) => `${n}${unit}`);

  /** What a text means, read without a regular expression. */
  function meant(text: string): number | undefined {
    const unit = Object.keys(units).filter((one) => text.endsWith(one)).sort((a, b) => b.length - a.length)[0];
    if (unit === undefined) return undefined;
    const digits = text.slice(0, -unit.length);
    const parts = digits.split(".");
    if (parts.length > 2 || parts.some((part) => part === "" || [...part].some((c) => c < "0" || c > "9"))) {
      return undefined;
    }
    return Math.min(Number(digits) * units[unit]!, MAX_DEADLINE);
  }

  it("S4 a duration is what its text says, or is refused", () => {
    const accepted = fuzz("durations", 200_000, fc.oneof(durations, mutated(durations)), (text) => {
      const read = answerOf(() => parseDuration(text), "invalid_duration")?.answer;
      const expected = meant(text);
      // Text whose number leaves the range of numbers is no duration; one that only is longer than the calendar is.
      if (read !== expected && !(read === undefined && Number(text.match(/^[\d.]+/)?.[0]) === Infinity)) {
        expect({ text, read }).toEqual({ text, read: expected });
      }
      if (read !== undefined) expect(parseDuration(read)).toBe(read);
      return read !== undefined;
    });
    expect(accepted).toBeGreaterThan(10_000);
  });

  it("what is no text is a duration only as a finite number from 0", () => {
    fuzz("durations of any type", 20_000, anything, (value) => {
      const read = answerOf(() => parseDuration(value as Duration), "invalid_duration")?.answer;
      if (typeof value === "string") return read !== undefined;
      const fits = typeof value === "number" && Number.isFinite(value) && value >= 0;
      if ((read !== undefined) !== fits) expect({ value, read }).toEqual({ value, read: fits ? value : undefined });
      return fits;
    });
  });

  const instants = fc.tuple(
    fc.date({ min: new Date(-62_135_596_800_000), max: new Date(MAX_DEADLINE), noInvalidDate: true }),
    fc.constantFrom("Z", "z", "+00:00", "-23:59", "+0530", "+14:00"),
    fc.constantFrom("T", "t", " "),
    fc.nat(3),
  ).map(([date, zone, separator, cut]) =>
    date.toISOString().replace("T", separator).replace(
      /(:\d\d)?\.\d{3}Z$|Z$/,
      (rest) => [rest.slice(0, -1), rest.slice(0, 3), "", rest.slice(0, -1).replace(".", ",")][cut]! + zone,
    )
  );

  it("an instant is what its text says, or is refused; what was accepted reads back as itself", () => {
    const accepted = fuzz("instants", 100_000, fc.oneof(instants, mutated(instants)), (text) => {
      const read = answerOf(() => parseInstant(text), "invalid_time", "deadline_out_of_range")?.answer;
      if (read === undefined) return false;
      const standard = text.toUpperCase().replace(" ", "T").replace(",", ".").replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
      if (Date.parse(standard) !== read) expect({ text, read }).toEqual({ text, read: Date.parse(standard) });
      if (read >= -62_135_596_800_000) expect(parseInstant(new Date(read).toISOString())).toBe(read);
      return true;
    });
    expect(accepted).toBeGreaterThan(10_000);
  });

  it("what is no text is an instant only with a time that a Date holds", () => {
    fuzz("instants of any type", 20_000, anything, (value) => {
      const read = answerOf(() => parseInstant(value as Instant), "invalid_time", "deadline_out_of_range")?.answer;
      if (read !== undefined) expect(Number.isInteger(read) && new Date(read).getTime() === read).toBe(true);
      return read !== undefined;
    });
  });
});

describe("fuzzing: cron expressions", () => {
  const written = fc.oneof(
    expressions,
    secondExpressions,
    fc.constantFrom("@daily", "@hourly", "@YEARLY", "H H * * *", "H/15 * * * *", "H(0-29)/10 * * * *", "0 0 L * ?"),
  );
  /** What is accepted here and not by croner, on purpose: `H`, and a step behind a single value or a longer step. */
  const isExtension = (text: string) => /h|^\s*@|\?|\//i.test(text);

  function accepted(text: string, dst: object, at: number): boolean {
    const read = answerOf(() => cronCadence(text, { dst, timezone: "Europe/Berlin" }), "invalid_cron")?.answer;
    if (read === undefined) return false;
    const next = answerOf(() => read.next(at))!.answer;
    if (next !== null) {
      expect(next).toBeGreaterThan(at);
      expect(answerOf(() => read.previous(next))!.answer).toBe(next);
      expect(answerOf(() => read.count(at, next))!.answer).toBe(1);
    }
    const before = answerOf(() => read.previous(at))!.answer;
    if (before !== null) expect(before).toBeLessThanOrEqual(at);
    const year = answerOf(() => read.count(at, at + 366 * 86_400_000))!.answer;
    expect(year).toBeLessThanOrEqual(366 * 86_400);
    if (!isExtension(text)) expect(() => new Cron(text.trim(), { paused: true }), text).not.toThrow();
    return true;
  }
  const years = fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2200, 0) });

  it("K1 no expression crashes, hangs or is nonsense: what is accepted croner accepts, and its points agree", () => {
    const cases = fc.tuple(fc.oneof(written, mutated(written), mutated(written)), policies, years);
    const count = fuzz("cron expressions", 40_000, cases, ([text, dst, at]) => accepted(text, dst, at));
    expect(count).toBeGreaterThan(10_000);
  });

  it("K1 neither does text that was never one", () => {
    const pieces = fc.constantFrom(
      ..."0123456789*/-,?#LWH@ ",
      "60",
      "jan",
      "sun",
      "fri-mon",
      "  ",
      "99999999999",
      "()",
    );
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 40 }).map((all) => all.join("")),
      fc.string({ unit: "binary" }),
    );
    fuzz("texts as cron expressions", 40_000, texts, (text) => accepted(text, {}, Date.UTC(2026, 0)));
    for (const unit of ["*,", "0-59,", "1/1,", "#", "L", "H(", " ", "\t*", "@"]) {
      for (const length of [100, MAX_CRON_LENGTH, 100_000]) {
        const text = unit.repeat(length).slice(0, length);
        for (const form of [text, `${text} * * * *`, `* * * * ${text}`]) accepted(form, {}, 0);
      }
    }
  });

  it("K3 a zone is one that the runtime knows, or is refused", () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf("timeZone"), "UTC", "Etc/GMT+5", "+05:30");
    fuzz("time zones", 10_000, fc.oneof(zones, mutated(zones), fc.string()), (zone) => {
      const read = answerOf(() => checkTimezone(zone, "timezone"), "invalid_timezone");
      if (read !== undefined) expect(() => new Intl.DateTimeFormat("en", { timeZone: zone })).not.toThrow();
      return read !== undefined;
    });
  });
});

describe("fuzzing: JSON values", () => {
  const rule = { where: "input", maxBytes: 4_096, invalid: "invalid_input", tooLarge: "input_too_large" } as const;

  it("S4 a value is kept as it is, or is refused because JSON would change it or it is too large", () => {
    const values = fc.oneof(anything, fc.jsonValue({ maxDepth: 5 }), fc.jsonValue().map((value) => ({ value })));
    const accepted = fuzz("JSON values", 30_000, values, (value) => {
      const read = answerOf(() => checkJson(value, rule), "invalid_input", "input_too_large");
      const text = readable(value);
      if (read !== undefined) {
        expect(isDeepStrictEqual(JSON.parse(JSON.stringify(read.answer)), read.answer)).toBe(true);
        // A value that can be read key by key may still refuse to be asked how it wants to be written.
        if (text !== undefined) expect(JSON.stringify(read.answer)).toBe(text);
        expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(rule.maxBytes);
      } else if (text !== undefined && text.length < rule.maxBytes / 6) expect(isJson(value), text).toBe(false);
      return read !== undefined;
    });
    expect(accepted).toBeGreaterThan(5_000);
  });

  /** What RFC 8259 can say, and says back the same. */
  function isJson(value: unknown): boolean {
    if (value === null || typeof value === "string" || typeof value === "boolean") return true;
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
    if (typeof value !== "object" || Object.getOwnPropertySymbols(value).length > 0) return false;
    const entries = Object.entries(value);
    if (Array.isArray(value)) return entries.length === value.length && entries.every(([, one]) => isJson(one));
    const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value));
    return isPlain && entries.every(([, one]) => isJson(one));
  }

  function readable(value: unknown): string | undefined {
    try {
      return JSON.stringify(value);
    } catch {
      return undefined;
    }
  }

  it("S4 nesting ends before any stack does", () => {
    for (const depth of [1, MAX_JSON_DEPTH, MAX_JSON_DEPTH + 1, 100_000]) {
      let value: unknown = 0;
      for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { value };
      const read = answerOf(() => checkJson(value, rule), "invalid_input", "input_too_large");
      expect(read !== undefined).toBe(depth <= MAX_JSON_DEPTH);
    }
  });
});
