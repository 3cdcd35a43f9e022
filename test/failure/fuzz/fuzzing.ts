import process from "node:process";
import * as fc from "fast-check";
import { vi } from "vitest";
import { isSchedulerError, type SchedulerErrorCode } from "../../../src/contract/mod.ts";

// Tens of thousands of inputs take half a minute on a machine that does nothing else.
vi.setConfig({ testTimeout: 600_000 });

/** How many times the inputs of CI are tried; CI's own number is one half of a million on each runtime. */
export const SCALE: number = Number(process.env["FUZZ_SCALE"] ?? 1);
/**
 * The same inputs each time, so that whoever changes something else is not stopped by a find: others on each runtime, and
 * new ones when more are asked for.
 */
export const SEED: { readonly seed?: number } = process.env["FUZZ_SEED"] !== undefined
  ? { seed: Number(process.env["FUZZ_SEED"]) }
  : SCALE === 1
  ? { seed: "Deno" in globalThis ? 2 : 1 }
  : {};

/** Inputs of one property: fast-check's own work for each property is shared by so many. */
const PER_RUN = 100;

/** No call may take longer (K1). */
export const LONGEST_MS = 50;

/** What a text is made of that nobody would write: what parsers trip over. */
const HOSTILE = [
  ..."\u0000\u00a0\u2028\ufeff\ud800\udfff٣³Ⅷ𝟛ıİ+-−.,:;/*#?LWH@()[]{}~^$\\'\"` \t\n\r",
  "NaN",
  "Infinity",
  "__proto__",
  "constructor",
  "1e999",
  "0x10",
  "-0",
  "9".repeat(25),
  "null",
];

/** A text with a few of its characters replaced, removed, doubled, or joined by what nobody would write. */
export function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat(), fc.nat(4), fc.constantFrom(...HOSTILE), fc.nat(9));
  return fc.tuple(texts, fc.array(edit, { maxLength: 4 })).map(([text, edits]) => edits.reduce(edited, text));
}

function edited(text: string, [where, how, piece, digit]: [number, number, string, number]): string {
  const at = where % (text.length + 1);
  switch (how) {
    case 0:
      return text.slice(0, at) + piece + text.slice(at);
    case 1:
      return text.slice(0, at) + piece + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + text.slice(at, at + digit) + text.slice(at);
    default:
      return text.slice(0, at) + digit + text.slice(at + 1);
  }
}

/** What stands where something else should: every type, and the numbers at the edges. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    false,
    0,
    -0,
    1,
    -1,
    0.5,
    NaN,
    Infinity,
    -Infinity,
    2 ** 31,
    2 ** 53,
    -(2 ** 53),
    8.64e15,
    8.64e15 + 1,
    253_402_300_799_999,
    253_402_300_800_000,
    1e300,
    5e-324,
    "",
    "1",
    " ",
    "x".repeat(201),
    "\ud800",
    "\u0000",
    10n,
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom<() => unknown>(
    () => Symbol("s"),
    () => () => {},
    () => new Date(NaN),
    () => new Date(0),
    () => new Map([[1, 2]]),
    () => Object.create(null),
    () => Object.create({ inherited: 1 }),
    () => JSON.parse('{"__proto__":{"polluted":1}}'),
    () => Array(3),
    () => new Proxy({}, { ownKeys: () => throws("ownKeys") }),
    // Symbols are fast-check's own questions.
    () => new Proxy({}, { get: (_, key) => typeof key === "symbol" ? undefined : throws("get") }),
    () => ({
      get trap() {
        return throws("getter");
      },
    }),
    () => ({ toString: () => throws("toString"), valueOf: () => throws("valueOf") }),
    () => ({ toJSON: () => throws("toJSON") }),
    () => Promise.resolve(1),
    () => new Uint8Array(3),
    () => /x/g,
    () => cyclic(),
  ).map((make) => make()),
  fc.anything({ maxDepth: 2, maxKeys: 4, withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
);

class Trap extends Error {}

function throws(what: string): never {
  throw new Trap(`fuzz: ${what}`);
}

/** Whether an error is what the given value itself threw: passed on, it is as good as a refusal. */
export function isTrap(error: unknown): boolean {
  return error instanceof Trap;
}

function cyclic(): unknown {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  return cycle;
}

function shown(input: unknown): string {
  try {
    return fc.stringify(input);
  } catch {
    return "of a value that cannot be shown";
  }
}

/** Tries so many inputs; answers how many were accepted, for a test to show that some were. */
export function fuzz<T>(
  what: string,
  inputs: number,
  arbitrary: fc.Arbitrary<T>,
  accepts: (input: T) => boolean,
): number {
  let accepted = 0;
  let tried = 0;
  const property = fc.property(
    fc.noShrink(fc.array(arbitrary, { minLength: PER_RUN, maxLength: PER_RUN })),
    (batch) => {
      for (const input of batch) {
        tried++;
        try {
          if (accepts(input)) accepted++;
        } catch (cause) {
          throw new Error(`for the input ${shown(input)}: ${cause instanceof Error ? cause.message : cause}`, {
            cause,
          });
        }
      }
    },
  );
  report(what, fc.check(property, { numRuns: Math.ceil(inputs * SCALE / PER_RUN), ...SEED }));
  console.log(`fuzz: ${what}: ${tried} inputs, ${accepted} accepted`);
  return accepted;
}

/** fast-check's own report would show inputs that do not let themselves be shown. */
function report<T>(what: string, { failed, seed, numRuns, errorInstance }: fc.RunDetails<T>): void {
  if (!failed) return;
  const message = errorInstance instanceof Error ? errorInstance.message : errorInstance;
  throw new Error(`${what}: FUZZ_SEED=${seed} fails at run ${numRuns}: ${message}`, { cause: errorInstance });
}

/** The same where trying an input takes turns of the event loop. */
export async function fuzzAsync<T>(
  what: string,
  inputs: number,
  arbitrary: fc.Arbitrary<T>,
  accepts: (input: T) => Promise<boolean>,
): Promise<number> {
  let accepted = 0;
  let tried = 0;
  const property = fc.asyncProperty(arbitrary, async (input) => {
    tried++;
    try {
      if (await accepts(input)) accepted++;
    } catch (cause) {
      throw new Error(`for the input ${shown(input)}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  });
  report(what, await fc.check(property, { numRuns: Math.ceil(inputs * SCALE), ...SEED }));
  console.log(`fuzz: ${what}: ${tried} inputs, ${accepted} accepted`);
  return accepted;
}

/** What a call answers, or `undefined` where it refuses with one of the codes; any other error is a failure. */
export function answerOf<T>(call: () => T, ...codes: SchedulerErrorCode[]): { readonly answer: T } | undefined {
  try {
    return { answer: prompt(call) };
  } catch (error) {
    if (isTrap(error) || (isSchedulerError(error) && codes.includes(error.code))) return undefined;
    throw error;
  }
}

/**
 * Makes a call that must not take long. One that did is made again: only what takes long each time, by the processor's
 * own account, does so for what it was given.
 */
export function prompt<T>(call: () => T): T {
  const began = performance.now();
  try {
    return call();
  } finally {
    if (performance.now() - began > LONGEST_MS) holdToTime(call);
  }
}

function holdToTime(call: () => unknown): void {
  let least = Infinity;
  for (let attempt = 0; attempt < 5 && least > LONGEST_MS; attempt++) {
    const before = process.cpuUsage();
    try {
      call();
    } catch {
      // How it ends is told by the first call.
    }
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  if (least > LONGEST_MS) throw new Error(`a call takes ${least} ms of the processor's time, however often it is made`);
}
