import type { DocumentIndex, ScheduleDocument } from "../../../src/contract/mod.ts";
import { type Encoded, encodeDocument, type Stored } from "./codec.ts";
import type { KvKey } from "./handle.ts";
import { isListedAlike, keyBytes, type Keys, nameOf } from "./keys.ts";
import type { Place, Places } from "./places.ts";
import { aloneValue, idBytes, type SharedEntry } from "./shared_wake.ts";

/** How a document's keys change, from what is stored to what is to be. */
export interface DocumentWrite {
  readonly sets: readonly (readonly [key: KvKey, value: unknown])[];
  readonly deletes: readonly KvKey[];
  /** What is then known of it; undefined once it is removed. */
  readonly stored: Stored | undefined;
  /** Keys and values together. */
  readonly bytes: number;
  /** Names and keys that it takes. */
  readonly takes: readonly KvKey[];
  /** The shared entries in which it is to stand. */
  readonly joins: readonly Place[];
  /** Those that it leaves. */
  readonly left: readonly SharedEntry[];
  /** Whether the document is as it was read as long as one that it leaves is. */
  readonly isChecked: boolean;
}

const NONE: readonly never[] = [];

/** A write that changes nothing. */
export const NO_WRITE: DocumentWrite = {
  sets: NONE,
  deletes: NONE,
  stored: undefined,
  bytes: 0,
  takes: NONE,
  joins: NONE,
  left: NONE,
  isChecked: false,
};

/** What is needed to plan a write, of shared entries. */
export interface Sharing {
  readonly places: Places;
  /** Answers the name of the one in which a document is to stand, if it shares one. */
  share(id: string, index: DocumentIndex): string | undefined;
  /** The one that it stands in; undefined for one that is not there, or not known yet. */
  find(place: Place): SharedEntry | undefined;
}

/** Plans what is written for a document: itself, and all by which it is found. */
export function planWrite(
  keys: Keys,
  id: string,
  before: Stored | undefined,
  after: ScheduleDocument | null,
  sharing: Sharing,
): DocumentWrite {
  const encoded = after === null ? undefined : encodeDocument(after, before, sharing.share);
  const stored = encoded?.stored;
  const [old, now] = [before?.index, stored?.index];
  const sets: (readonly [KvKey, unknown])[] = [];
  const deletes: KvKey[] = [];
  writeParts(keys, id, before, encoded, sets, deletes);
  // The wake entry is written with the document each time, so that its versionstamp tells whether it is up to date.
  const from = before && sharing.places.wake(before);
  const to = stored && sharing.places.wake(stored);
  const wasAt = old && from === undefined ? keys.wake(id, old) : undefined;
  const isAt = now && to === undefined ? keys.wake(id, now) : undefined;
  const stays = isAt !== undefined && old?.lane === now!.lane && old.wakeAt === now!.wakeAt;
  if (wasAt !== undefined && !stays) deletes.push(wasAt);
  if (isAt !== undefined) sets.push([isAt, aloneValue(now!.running)]);
  const takes = old === undefined || now === undefined || !isListedAlike(old, now)
    ? writeListings(keys, id, before, stored, sets, deletes)
    : NONE;
  const entry = from && sharing.find(from);
  const isMoved = before?.list !== stored?.list;
  const list = isMoved && before !== undefined ? sharing.places.list(before) : undefined;
  const left = present(entry, list && sharing.find(list));
  const joins = present(to, isMoved && stored !== undefined ? sharing.places.list(stored) : undefined);
  let bytes = bytesOf(sets, deletes);
  for (const place of joins) bytes += place.bytes + idBytes(id);
  return { sets, deletes, stored, bytes, takes, joins, left, isChecked: entry?.ids.has(id) === true };
}

/** Those of two that there are. */
function present<T>(a: T | undefined, b: T | undefined): readonly T[] {
  if (a === undefined) return b === undefined ? NONE : [b];
  return b === undefined ? [a] : [a, b];
}

/** Writes what a document is found by, beside when it wakes; answers the names and keys that it takes. */
function writeListings(
  keys: Keys,
  id: string,
  before: Stored | undefined,
  after: Stored | undefined,
  sets: (readonly [KvKey, unknown])[],
  deletes: KvKey[],
): readonly KvKey[] {
  const [old, now] = [before?.index ?? NOTHING, after?.index ?? NOTHING];
  const takes: KvKey[] = [];
  difference(keys.listings(id, old, before?.list), keys.listings(id, now, after?.list), {
    gone: (key) => deletes.push(key),
    come: (key) => sets.push([key, NO_VALUE]),
  });
  difference(keys.names(old), keys.names(now), {
    gone: (key) => deletes.push(key),
    come: (key) => {
      sets.push([key, id]);
      takes.push(key);
    },
  });
  return takes;
}

function writeParts(
  keys: Keys,
  id: string,
  before: Stored | undefined,
  encoded: Encoded | undefined,
  sets: (readonly [KvKey, unknown])[],
  deletes: KvKey[],
): void {
  const key = (n: number) => n === 0 ? keys.schedule(id) : keys.part(id, n);
  const values = encoded?.values ?? NONE;
  for (let n = 0; n < values.length; n++) sets.push([key(n), values[n]]);
  for (let n = values.length; n < (before?.parts ?? 0); n++) {
    deletes.push(key(n));
  }
}

/** What is found by nothing. */
const NOTHING: DocumentIndex = {
  lane: null,
  wakeAt: null,
  nextRun: null,
  task: "",
  owner: "",
  name: null,
  key: null,
  group: null,
  target: null,
  tags: [],
  live: false,
  running: false,
};

function difference(
  before: readonly KvKey[],
  after: readonly KvKey[],
  to: { gone(key: KvKey): void; come(key: KvKey): void },
): void {
  if (after.length === 0) return before.forEach(to.gone);
  if (before.length === 0) return after.forEach(to.come);
  const [old, now] = [new Set(before.map(nameOf)), new Set(after.map(nameOf))];
  for (const key of before) if (!now.has(nameOf(key))) to.gone(key);
  for (const key of after) if (!old.has(nameOf(key))) to.come(key);
}

/** The value where the key says everything. Bytes, since serialising `null` takes longer than all else about a key. */
export const NO_VALUE: Uint8Array = new Uint8Array(0);

/** What serialisation adds to a value. */
const SMALL_VALUE_BYTES = 16;

function bytesOf(sets: DocumentWrite["sets"], deletes: readonly KvKey[]): number {
  let bytes = 0;
  for (const key of deletes) bytes += keyBytes(key);
  for (const [key, value] of sets) {
    const size = value instanceof Uint8Array ? value.length : typeof value === "string" ? 2 * value.length : 0;
    bytes += keyBytes(key) + size + SMALL_VALUE_BYTES;
  }
  return bytes;
}
