import { type Storage, StorageError } from "../contract/mod.ts";

/** Which call fails, and how. */
export interface StoreFault {
  /** The number of the call, from 1; `open` and `close` are not counted. */
  readonly at: number;
  /** Whether the call does nothing and fails, or takes effect and its reply is lost. */
  readonly reply: "fails" | "is lost";
  /** Fails so many calls in a row. Default 1. */
  readonly calls?: number;
  /** What each call waits for before it is made, failing or not: a slow store. */
  readonly delay?: () => Promise<void>;
}

/** A store that fails on purpose. */
export interface FaultyStore {
  /** What the scheduler under test is given. */
  readonly storage: Storage;
  /** Whether a call has failed yet. */
  struck(): boolean;
  /** Calls made so far, `open` and `close` not counted; what a try of every n goes up to. */
  calls(): number;
}

const COUNTED = ["now", "advance", "apply", "get", "find", "nextWake", "backlog"] as const;

/**
 * Puts faults between a scheduler and its store: the n-th call fails before it takes effect, or its reply is lost
 * after it did. Tries of every n, with a look at what is stored afterwards, show that no crash point tears anything.
 *
 * @example
 * ```ts
 * import { faultyStore } from "@ostinato/scheduler/testing";
 * import { memory } from "@ostinato/scheduler/memory";
 *
 * const { storage, struck } = faultyStore(memory(), { at: 3, reply: "is lost" });
 * ```
 */
export function faultyStore(inner: Storage, fault: StoreFault): FaultyStore {
  let calls = 0;
  let struck = false;
  const { at, reply, calls: length = 1, delay } = fault;
  const failing = async (name: string, call: () => Promise<unknown>): Promise<unknown> => {
    const number = ++calls;
    await delay?.();
    const strikes = number >= at && number < at + length;
    if (!strikes) return await call();
    struck = true;
    if (reply === "is lost") await call();
    throw new StorageError(`faulty store: call ${number}, ${name}, ${reply}`);
  };
  const storage = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      const method = member.bind(target) as (...parameters: unknown[]) => Promise<unknown>;
      if (!COUNTED.some((name) => name === key)) return method;
      return (...parameters: unknown[]) => failing(String(key), () => method(...parameters));
    },
  });
  return { storage, struck: () => struck, calls: () => calls };
}
