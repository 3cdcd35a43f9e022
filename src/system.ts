/**
 * The only file that touches the machine's clocks, timers and randomness, and what the process does with rejections.
 *
 * @module
 */
import { ulid } from "@std/ulid";
import type { Clock } from "./contract/mod.ts";

interface Runtime {
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
  setImmediate?: (callback: () => void) => unknown;
  addEventListener?(type: "unhandledrejection", listener: (event: RejectionEvent) => void): void;
  removeEventListener?(type: "unhandledrejection", listener: (event: RejectionEvent) => void): void;
  readonly Deno?: { unrefTimer(timer: number): void };
  readonly process?: Process;
}

interface Process {
  getBuiltinModule?(name: "node:async_hooks"): AsyncHooks | undefined;
  readonly execArgv?: readonly string[];
  readonly env?: { readonly NODE_OPTIONS?: string | undefined };
  on?(event: "unhandledRejection", listener: (reason: unknown) => void): void;
  off?(event: "unhandledRejection", listener: (reason: unknown) => void): void;
  listenerCount?(event: "unhandledRejection"): number;
}

interface RejectionEvent {
  readonly reason: unknown;
  preventDefault(): void;
}

interface AsyncHooks {
  readonly AsyncLocalStorage: new <T>() => {
    run<R>(value: T | undefined, work: () => R): R;
    getStore(): T | undefined;
  };
}

const runtime = globalThis as unknown as Runtime;

/** The machine's own clock. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    setTimer(callback, delayMs, options) {
      const timer = runtime.setTimeout(callback, delayMs);
      if (options?.unref === true) unref(timer);
      return () => runtime.clearTimeout(timer);
    },
    defer: (callback) => {
      if (runtime.setImmediate !== undefined) runtime.setImmediate(callback);
      else runtime.setTimeout(callback, 0);
    },
  };
}

/** Lets the process end although the timer is pending. */
function unref(timer: unknown): void {
  if (typeof timer === "number") runtime.Deno?.unrefTimer(timer);
  else (timer as { unref?: () => void }).unref?.();
}

/** Remembers, for whatever a handler calls and awaits, which run it belongs to. */
export interface RunScope<Run> {
  enter<T>(run: Run, work: () => T): T;
  /** Calls what belongs to no run, wherever the present call comes from. */
  leave<T>(work: () => T): T;
  /** The run that the present call comes from; `undefined` for none, and where the runtime cannot tell. */
  current(): Run | undefined;
}

/** A scope of its own. Asked of the runtime when needed, so that importing the core loads no module of Node. */
export function runScope<Run>(): RunScope<Run> {
  const hooks = runtime.process?.getBuiltinModule?.("node:async_hooks");
  if (hooks === undefined) {
    return { enter: (_run, work) => work(), leave: (work) => work(), current: () => undefined };
  }
  const storage = new hooks.AsyncLocalStorage<Run>();
  return {
    enter: (run, work) => storage.run(run, work),
    leave: (work) => storage.run(undefined, work),
    current: () => storage.getStore(),
  };
}

/** Answers whether it has dealt with a rejection that nobody handles, which then does not end the process. */
type Containment = (reason: unknown) => boolean;

const containments = new Set<Containment>();
let deafen: (() => void) | undefined;

/**
 * Asks about each rejection that nobody handles, in the scope of the run that it comes from, until the answered function
 * is called. One that is not contained comes to what it would have come to.
 */
export function onUnhandledRejection(contain: Containment): () => void {
  containments.add(contain);
  deafen ??= hearRejections();
  return () => {
    if (!containments.delete(contain) || containments.size > 0) return;
    deafen?.();
    deafen = undefined;
  };
}

function isContained(reason: unknown): boolean {
  return [...containments].some((contain) => contain(reason));
}

function hearRejections(): () => void {
  const { Deno: deno, process } = runtime;
  if (deno !== undefined) {
    const listener = (event: RejectionEvent) => {
      if (isContained(event.reason)) event.preventDefault();
    };
    runtime.addEventListener?.("unhandledrejection", listener);
    return () => runtime.removeEventListener?.("unhandledrejection", listener);
  }
  // Whoever has told Node what is to become of rejections is left with that.
  if (process === undefined || isModeChosen(process)) return () => {};
  const listener = (reason: unknown) => {
    // A listener stands in for Node's own way with all of them, which is to throw.
    if (!isContained(reason) && process.listenerCount?.("unhandledRejection") === 1) throw reason;
  };
  process.on?.("unhandledRejection", listener);
  return () => process.off?.("unhandledRejection", listener);
}

function isModeChosen({ execArgv = [], env }: Process): boolean {
  return [...execArgv, env?.NODE_OPTIONS ?? ""].some((flags) => flags.includes("--unhandled-rejections"));
}

/** Uniform in [0, 1). */
export function random(): number {
  return Math.random();
}

/** Crockford's base 32, as ULIDs are written in. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** Characters of a ULID's time, and of each half of its random part: 40 bits, which a number holds exactly. */
const TIME_LENGTH = 10;
const HALF_LENGTH = 8;
const HALF_RANGE = 32 ** HALF_LENGTH;

/** Milliseconds after which the random part is drawn anew. */
const FRESH_MS = 1_000;

/**
 * Makes ids: ULIDs of the machine's time, rising within a process. The library's `ulid` draws a fresh one each second; the
 * further ones go up from it by a random step, as the ULID specification's section "Monotonicity" has it. (Drawing each by
 * itself took 25 to 50 µs, half of a creation's time.)
 */
function idMaker(): () => string {
  let [lastMs, freshUntil] = [-1, -1];
  let prefix = "";
  let [high, low] = [0, 0];
  return () => {
    const ms = Date.now();
    if (ms >= freshUntil) {
      const random = ulid(ms).slice(TIME_LENGTH);
      freshUntil = ms + FRESH_MS;
      high = decode(random.slice(0, HALF_LENGTH));
      low = decode(random.slice(HALF_LENGTH));
    } else {
      low += 1 + Math.floor(Math.random() * 2 ** 30);
      if (low >= HALF_RANGE) high = (high + 1) % HALF_RANGE;
      low %= HALF_RANGE;
    }
    if (ms > lastMs) {
      lastMs = ms;
      prefix = encode(ms, TIME_LENGTH);
    }
    return prefix + encode(high, HALF_LENGTH) + encode(low, HALF_LENGTH);
  };
}

function decode(text: string): number {
  let value = 0;
  for (const digit of text) value = value * 32 + DIGITS.indexOf(digit);
  return value;
}

function encode(value: number, length: number): string {
  let text = "";
  for (let rest = value, i = 0; i < length; i++, rest = Math.floor(rest / 32)) text = DIGITS[rest % 32] + text;
  return text;
}

/** A new id; see {@linkcode idMaker}. */
export const newId: () => string = idMaker();
