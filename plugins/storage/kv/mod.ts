/**
 * Schedules in Deno KV: on Deno Deploy, in a file, or in memory; through `Deno.openKv`, or on Node through the package
 * `@deno/kv`.
 *
 * A file of it is an SQLite database: to open and close it by other means in a process that uses it drops that process's
 * locks, and may corrupt it. Copies of a live file, and `Deno.watchFs` or `deno run --watch` over its directory, belong into
 * another process.
 *
 * @module
 */
import type { Storage } from "../../../src/contract/mod.ts";
import type { KvLike } from "./handle.ts";
import { type KvOptions, readOptions } from "./options.ts";
import { KvStorage } from "./storage.ts";

export type {
  KvAtomicLike,
  KvCommitLike,
  KvEntryLike,
  KvKey,
  KvLike,
  KvSelectorLike,
  KvWatchLike,
  KvWatchReaderLike,
} from "./handle.ts";
export type { KvOptions } from "./options.ts";

/**
 * A store in Deno KV.
 *
 * One unit of work holds at most 100 changes, of 800 KiB together, and one schedule at most 64 KiB when it is created: that
 * is what KV takes in one commit and one value. The store's keys begin with `prefix`, and go on as follows. Whatever is not
 * well-formed text stands there as its UTF-16 code units.
 *
 * | key                       | value                                                                            |
 * | ------------------------- | -------------------------------------------------------------------------------- |
 * | `schedule`, id            | three lines of UTF-8: what it is indexed by and where it wakes, its definition, its progress |
 * | `part`, id, n             | what of that does not fit into one value                                         |
 * | `wake`, task, wake time, id | a byte: 1 while it runs; the task is `""` once retired                        |
 * | `wake`, task, wake time, name | the byte, and a list of ids: of those of one commit that wake at one instant |
 * | `name`, name, owner       | the id of the live schedule; likewise `key`, key, owner                          |
 * | `task`, task, id          | nothing, while it is live; likewise `owner`, `target`, `group` and `tag`         |
 * | `tasks`, task, name       | a byte and a list of ids instead: of live ones that were created in one commit for one instant |
 * | `meta`, `version`         | the version of all this                                                          |
 * | `meta`, `last`            | nothing; its versionstamp is that of the last commit                             |
 * | `meta`, `changed`         | counts what other instances should look at; what is watched                      |
 *
 * @param options A handle, a path, or options.
 * @throws {SchedulerError} `config_invalid` when an option does not fit. Opening it may throw `store_unavailable` (no such
 * directory, no server) and `store_too_new`, and `config_invalid` on Node without the package `@deno/kv`.
 *
 * @example
 * ```ts
 * import { kv } from "@ostinato/scheduler/kv";
 *
 * const storage = kv("schedules.db");
 * // On Deno Deploy: kv(await Deno.openKv())
 * const apart = kv({ path: "schedules.db", prefix: "billing" });
 * ```
 */
export function kv(options: string | KvLike | KvOptions): Storage {
  return new KvStorage(readOptions(options));
}
