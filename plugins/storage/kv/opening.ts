import { isSchedulerError, SchedulerError, StorageError } from "../../../src/contract/mod.ts";
import { messageOf } from "./errors.ts";
import { type KvLike, openHandle } from "./handle.ts";
import type { Keys } from "./keys.ts";
import type { Reader } from "./reader.ts";

/** The version of what the keys hold. Earlier ones were never released. */
const VERSION = 3;

/** Opens a handle of one's own. */
export async function openPath(path: string): Promise<KvLike> {
  try {
    return await openHandle(path);
  } catch (error) {
    if (isSchedulerError(error)) throw error;
    throw new StorageError(`kv: ${path} cannot be opened: ${messageOf(error)}`, {
      cause: error,
      retryable: false,
      details: { where: path },
    });
  }
}

/** Writes down the version where there is none; refuses one that is newer than this code. */
export async function checkVersion(reader: Reader, keys: Keys): Promise<void> {
  const [entry] = await reader.getMany([keys.version]);
  const { value, versionstamp } = entry!;
  if (versionstamp === null) {
    // Whoever is faster writes the same, or something newer, which is then found.
    const { ok } = await reader.retry("opening", () => {
      const commit = reader.handle.atomic();
      commit.check({ key: keys.version, versionstamp: null });
      commit.set(keys.version, VERSION);
      return commit.commit();
    });
    return ok ? undefined : await checkVersion(reader, keys);
  }
  if (value === VERSION) return;
  if (typeof value === "number" && value < VERSION) {
    throw new SchedulerError(
      "config_invalid",
      `kv: the store was written before the first release: version ${value}; expected ${VERSION}. Give another file or prefix`,
      { details: { given: value, expected: VERSION } },
    );
  }
  throw new SchedulerError(
    "store_too_new",
    `kv: the store was written by a newer version of the scheduler: version ${value}; expected at most ${VERSION}`,
    { details: { given: value, expected: VERSION } },
  );
}
