import { SchedulerError } from "../../../src/contract/mod.ts";

/** A key: its parts in order. */
export type KvKey = readonly (Uint8Array | string | number | bigint | boolean)[];

/** What is stored under a key; without a versionstamp where there is nothing. */
export interface KvEntryLike {
  /** Its key. */
  readonly key: readonly unknown[];
  /** What is stored; `null` for nothing. */
  readonly value: unknown;
  /** The version of the commit that stored it; `null` where nothing is stored. */
  readonly versionstamp: string | null;
}

/** What a commit answers: the versionstamp of all it wrote, or that a check failed. */
export type KvCommitLike =
  | { readonly ok: true; readonly versionstamp: string }
  | { readonly ok: false };

/** The few methods of an atomic operation that are used. */
export interface KvAtomicLike {
  /** Fails the commit unless the key still has that versionstamp; `null` for no value. */
  check(...checks: { key: KvKey; versionstamp: string | null }[]): unknown;
  /** Stores a value. */
  set(key: KvKey, value: unknown): unknown;
  /** Removes a key. */
  delete(key: KvKey): unknown;
  /** Adds to a number of 64 bits. */
  sum(key: KvKey, n: bigint): unknown;
  /** Does all of it or nothing. */
  commit(): Promise<KvCommitLike>;
}

/** Which keys to list: those that begin alike, from one of them or up to one, or those of a range. */
export type KvSelectorLike =
  | { prefix: KvKey }
  | { prefix: KvKey; start: KvKey }
  | { prefix: KvKey; end: KvKey }
  | { start: KvKey; end: KvKey };

/** What is used of the stream of entries that a watch answers. */
export interface KvWatchLike {
  /** Begins to read it. */
  getReader(): KvWatchReaderLike;
}

/** What is used of that stream's reader. */
export interface KvWatchReaderLike {
  /** Waits for the next change, or for the end. */
  read(): Promise<{ readonly done: boolean; readonly value?: KvEntryLike[] | undefined }>;
  /** Ends the watch. */
  cancel(): Promise<void>;
}

/**
 * The few methods of a Deno KV handle that are used: what `Deno.openKv()` and the package `@deno/kv` answer fits as it is.
 */
export interface KvLike {
  /** Reads at most ten keys in one snapshot. */
  getMany(keys: KvKey[]): Promise<KvEntryLike[]>;
  /** Reads the keys of a range, in order. */
  list(selector: KvSelectorLike, options: { limit: number; batchSize: number }): AsyncIterable<KvEntryLike>;
  /** Begins an atomic operation. */
  atomic(): KvAtomicLike;
  /** Tells what the keys hold, now and after each change. */
  watch?(keys: KvKey[]): KvWatchLike;
  /** Closes it; called only where the store opened it. */
  close(): unknown;
}

interface Runtime {
  readonly Deno?: {
    readonly Kv?: abstract new () => object;
    openKv?(path: string): Promise<KvLike>;
  };
}

const { Deno } = globalThis as Runtime;

/** Opens a file of one's own, `":memory:"`, or a hosted store by its address, with what the runtime has. */
export async function openHandle(path: string): Promise<KvLike> {
  if (Deno?.openKv !== undefined) return await Deno.openKv(path);
  const { openKv } = await importKv(path);
  return await openKv(path) as KvLike;
}

/** The package `@deno/kv`, which is only needed for a path, where the runtime has no KV of its own. */
async function importKv(path: string): Promise<typeof import("@deno/kv")> {
  try {
    return await import("@deno/kv");
  } catch (error) {
    const opener = Deno === undefined
      ? "the package @deno/kv, which cannot be loaded; expected it beside the scheduler (npm install @deno/kv)"
      : 'Deno.openKv, which is not there; expected the flag --unstable-kv (or "unstable": ["kv"] in deno.json)';
    throw new SchedulerError("config_invalid", `kv: path: ${path} is opened with ${opener}, or a handle in its place`, {
      cause: error,
      details: { option: "path", given: path },
    });
  }
}

/** Whether it is Deno's own handle, rather than the npm package's or one that wraps either. */
export function isDenoHandle(handle: KvLike): boolean {
  return Deno?.Kv !== undefined && handle instanceof Deno.Kv;
}

/** Whether a path names a file, rather than a store in memory or on a server. */
export function isFile(path: string): boolean {
  return path !== ":memory:" && path !== "" && !/^https?:/i.test(path);
}

/**
 * Whether a handle's watch can be used. That of the npm package's native part keeps Node from ending for good, closed or
 * not (0.14.0), so that such a handle is polled.
 */
export function canWatch(handle: KvLike): handle is KvLike & Required<Pick<KvLike, "watch">> {
  return typeof handle.watch === "function" && !("napi" in handle);
}
