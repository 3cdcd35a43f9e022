import type { DocumentIndex } from "../../../src/contract/mod.ts";
import type { KvEntryLike, KvKey } from "./handle.ts";
import { fromKeyText, keyBytes } from "./keys.ts";

/**
 * An entry of when documents wake that several share: those of one commit that wake at one instant in one lane. That they
 * wait for the same deadline, that they run, until their leases end, and that they are over, until their records go: whole
 * batches begin and end together, and an entry for each would be half of all that is written.
 *
 * A document leaves it in the commit that moves it on, and the last one takes it along. Nobody joins it later. So as long as
 * it holds a document's id, that document is as it was when it joined, and a check of the entry checks all that are in it.
 * What is known of it is brought up to date when a commit goes through.
 *
 * The lists of live documents are such entries, too, but that a document stays in its list when it is changed: they check
 * nothing.
 */
export interface SharedEntry {
  /** Takes the place of an id in its key; unique for ever. */
  readonly name: string;
  readonly key: KvKey;
  /** Whether its documents run. */
  readonly running: boolean;
  readonly ids: Set<string>;
  versionstamp: string;
}

/** Whether a document shares an entry with others. */
export function sharesWake({ lane, wakeAt }: DocumentIndex): boolean {
  return lane !== null && wakeAt !== null;
}

/**
 * Whether the first document at an instant has an entry of its own there: most that wait have an instant of their own, and
 * of such an entry the version tells whether the document is known. Those that run or are over seldom come alone.
 */
export function mayStandAlone({ live, running }: DocumentIndex): boolean {
  return live && !running;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The values of entries of one document each. */
const ALONE = { waiting: Uint8Array.of(0), running: Uint8Array.of(1) } as const;

/** The value of an entry of one document. */
export function aloneValue(running: boolean): Uint8Array {
  return running ? ALONE.running : ALONE.waiting;
}

/** The value of an entry that is shared: whether they run, and the ids. */
export function sharedValue(running: boolean, ids: Iterable<string>): Uint8Array {
  const bytes = encoder.encode(` ${JSON.stringify([...ids])}`);
  bytes[0] = running ? 1 : 0;
  return bytes;
}

/** At least what an id takes in such a value: in JSON, a code unit is six characters at most. */
export function idBytes(id: string): number {
  return 6 * id.length + 3;
}

/** At least what an entry takes with its key. */
export function sharedBytes({ key, ids }: SharedEntry): number {
  let bytes = keyBytes(key);
  for (const id of ids) bytes += idBytes(id);
  return bytes;
}

/** What an entry of when documents wake tells. */
export interface WakeEntry {
  /** The ids of the documents that it is about. */
  readonly ids: Iterable<string>;
  readonly size: number;
  readonly running: boolean;
  /** The entry, where it is shared. */
  readonly shared: SharedEntry | undefined;
  readonly entry: KvEntryLike;
}

/** Reads an entry. What somebody else has put there is taken for that of one document. */
export function readWake(entry: KvEntryLike): WakeEntry {
  const { key, value, versionstamp } = entry;
  const bytes = value instanceof Uint8Array ? value : ALONE.waiting;
  const running = bytes[0] === 1;
  const name = fromKeyText(key.at(-1));
  const list = bytes.length > 1 ? readIds(bytes) : undefined;
  if (list === undefined) return { ids: [name], size: 1, running, shared: undefined, entry };
  const ids = new Set(list);
  const shared = { name, key: key as KvKey, running, ids, versionstamp: versionstamp! };
  return { ids, size: ids.size, running, shared, entry };
}

function readIds(bytes: Uint8Array): readonly string[] | undefined {
  try {
    const ids: unknown = JSON.parse(decoder.decode(bytes.subarray(1)));
    return Array.isArray(ids) ? ids.map(String) : undefined;
  } catch {
    // It leads nowhere, and is removed like any other that does.
    return undefined;
  }
}
