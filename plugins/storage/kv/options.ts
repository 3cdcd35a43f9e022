import { type Duration, parseDuration, SchedulerError, show } from "../../../src/contract/mod.ts";
import type { KvLike } from "./handle.ts";

/** Options of {@linkcode kv}. Exactly one of `kv` and `path` is given. */
export interface KvOptions {
  /** A handle of `Deno.openKv()`, of the package `@deno/kv`, or one shaped like them. It is not closed by the store. */
  readonly kv?: KvLike;
  /**
   * A file, created if it is absent; `":memory:"`; or the address of a hosted store (`"https://…"`). It is opened with
   * `Deno.openKv`, or on Node with the package `@deno/kv`.
   */
  readonly path?: string;
  /** The first part of every key. Default `"ostinato"`. */
  readonly prefix?: string;
  /**
   * How often it is asked whether others have changed something: from 10 ms. Default: 1 s where the store cannot tell by
   * itself, which is a handle of `@deno/kv` on a file; otherwise never. Give it as well for a handle of `Deno.openKv` on
   * a file that other processes use: Deno's watch sees only its own process's writes to a file. (A `path` needs nothing.)
   */
  readonly pollInterval?: Duration;
}

/** Options, checked, with defaults filled in. */
export interface KvSettings {
  readonly source: { readonly path: string } | { readonly kv: KvLike };
  readonly prefix: string;
  readonly pollMs: number | undefined;
}

const KEYS = ["kv", "path", "prefix", "pollInterval"];
const METHODS = ["getMany", "list", "atomic", "close"] as const;
const DEFAULT_PREFIX = "ostinato";
const MAX_PREFIX_LENGTH = 100;
const MIN_POLL_MS = 10;

/**
 * Reads the argument of {@linkcode kv}.
 *
 * @throws {SchedulerError} `config_invalid`, naming the option.
 */
export function readOptions(given: string | KvLike | KvOptions): KvSettings {
  if (isHandle(given)) return settings({ kv: given });
  return settings(typeof given === "string" ? { path: given } : given);
}

function settings(options: KvOptions): KvSettings {
  if (options instanceof Promise) throw invalid("options", options, "what it resolves to");
  if (typeof options !== "object" || options === null) {
    throw invalid("options", options, "a path, a KV handle or an object");
  }
  for (const key of Object.keys(options)) {
    if (!KEYS.includes(key)) {
      throw invalid(key, options[key as keyof KvOptions], `one of ${KEYS.join(", ")}`);
    }
  }
  return {
    source: readSource(options),
    prefix: readPrefix(options.prefix),
    pollMs: options.pollInterval === undefined ? undefined : readPoll(options.pollInterval),
  };
}

function readSource({ kv, path }: KvOptions): KvSettings["source"] {
  if (kv !== undefined) {
    if (path !== undefined) {
      throw invalid("path", path, "nothing beside a handle");
    }
    if (isHandle(kv)) return { kv };
    if ((kv as unknown) instanceof Promise) throw invalid("kv", kv, "what it resolves to");
    throw invalid("kv", kv, "a handle of Deno.openKv() or @deno/kv");
  }
  if (typeof path === "string" && path !== "") return { path };
  throw invalid("path", path, 'the path of a file, ":memory:" or an address');
}

function readPrefix(prefix: unknown = DEFAULT_PREFIX): string {
  if (
    typeof prefix === "string" && prefix.length > 0 &&
    prefix.length <= MAX_PREFIX_LENGTH && prefix.isWellFormed()
  ) return prefix;
  throw invalid("prefix", prefix, `text of 1 to ${MAX_PREFIX_LENGTH} characters`);
}

function readPoll(given: Duration): number {
  const ms = parseDuration(given, "kv: pollInterval");
  if (ms >= MIN_POLL_MS) return ms;
  throw invalid("pollInterval", given, `from ${MIN_POLL_MS} ms`);
}

function isHandle(value: unknown): value is KvLike {
  return typeof value === "object" && value !== null &&
    METHODS.every((method) => typeof (value as Partial<KvLike>)[method] === "function");
}

function invalid(option: string, given: unknown, expected: string): SchedulerError {
  return new SchedulerError("config_invalid", `kv: ${option}: ${show(given)}; expected ${expected}`, {
    details: { option, given: show(given) },
  });
}
