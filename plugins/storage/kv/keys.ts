import type { DocumentIndex, Selector } from "../../../src/contract/mod.ts";
import type { KvKey } from "./handle.ts";

type Part = Uint8Array | string;

/** Indexes that hold the ids of live documents, by a value. */
export type ValueIndex = "target" | "group" | "tag" | "owner" | "task";

/** Which index tells the id of a live document by something that is unique with its owner. */
export type UniqueIndex = "name" | "key";

/** The owner whose documents are not indexed by owner: nearly all documents are its. */
const UNINDEXED_OWNER = "system";

/** What is added to a key for one that comes after it and before those of every later id. */
export const NEXT = false;

/** Greater than every number in a key. */
const AFTER_NUMBERS = true;

/** The keys of a store. */
export class Keys {
  readonly version: KvKey;
  /** Rewritten by every commit, so that its versionstamp tells whether anybody has written. */
  readonly last: KvKey;
  /** Counts what other instances are to look at. */
  readonly changed: KvKey;
  /** Of everything about when documents wake. */
  readonly wakes: KvKey;
  readonly schedules: KvKey;
  /** Of lists of live documents, by their tasks. */
  readonly lists: KvKey;
  /** Of documents that run and do not wake. */
  readonly running: KvKey;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.version = [prefix, "meta", "version"];
    this.last = [prefix, "meta", "last"];
    this.changed = [prefix, "meta", "changed"];
    this.wakes = [prefix, "wake"];
    this.schedules = [prefix, "schedule"];
    this.lists = [prefix, "tasks"];
    this.running = [prefix, "running"];
  }

  /** A document's own. */
  schedule(id: string): KvKey {
    return [...this.schedules, keyText(id)];
  }

  /** The n-th further part of a document, from 1. */
  part(id: string, n: number): KvKey {
    return [this.#prefix, "part", keyText(id), n];
  }

  /** Of a lane's documents, by when they wake. */
  lane(lane: string): KvKey {
    return [...this.wakes, keyText(lane)];
  }

  /** The end of what is due in a lane by an instant. */
  due(lane: string, instant: number): KvKey {
    return [...this.lane(lane), instant, AFTER_NUMBERS];
  }

  /** After everything whose key begins with a prefix and a part. */
  after(prefix: KvKey, part: Part): KvKey {
    return [...prefix, part, AFTER_NUMBERS];
  }

  /** Of the ids of live documents, by what they have of an index. */
  index(index: ValueIndex): KvKey {
    return [this.#prefix, index];
  }

  /** Of the ids of live documents with a value. */
  having(index: ValueIndex, value: string): KvKey {
    return [this.#prefix, index, keyText(value)];
  }

  /** Of the ids of live documents with a name or key, whoever the owner is. */
  called(index: UniqueIndex, value: string): KvKey {
    return [this.#prefix, index, keyText(value)];
  }

  /** Where the id of the live document with a name or key stands. */
  unique(index: UniqueIndex, owner: string, value: string): KvKey {
    return [...this.called(index, value), keyText(owner)];
  }

  /** The same, for a selector by name or key. */
  selected(select: Exclude<Selector, null | { readonly id: string }>): KvKey {
    return "name" in select
      ? this.unique("name", select.owner, select.name)
      : this.unique("key", select.owner, select.key);
  }

  /**
   * When a document wakes, in its lane; undefined for one that waits for nothing.
   *
   * @param name Its id, or the name of the entry that it shares with others.
   */
  wake(name: string, { lane, wakeAt }: DocumentIndex): KvKey | undefined {
    return lane === null || wakeAt === null ? undefined : [...this.lane(lane), wakeAt, keyText(name)];
  }

  /** Of lists of live documents of a task. */
  listsOf(task: string): KvKey {
    return [...this.lists, keyText(task)];
  }

  /** A list of live documents of a task. */
  list(name: string, task: string): KvKey {
    return [...this.lists, keyText(task), name];
  }

  /**
   * What a document is found by, beside its wake time, its name and its key.
   *
   * @param list The name of the list that tells its task, if one does.
   */
  listings(id: string, index: DocumentIndex, list: string | undefined): readonly KvKey[] {
    const part = keyText(id);
    const keys: KvKey[] = [];
    if (index.running && (index.lane === null || index.wakeAt === null)) {
      keys.push([...this.running, part]);
    }
    if (!index.live) return keys;
    if (list === undefined) keys.push([...this.having("task", index.task), part]);
    if (isOwnerIndexed(index.owner)) {
      keys.push([...this.having("owner", index.owner), part]);
    }
    if (index.target !== null) {
      keys.push([...this.having("target", index.target), part]);
    }
    if (index.group !== null) {
      keys.push([...this.having("group", index.group), part]);
    }
    for (const tag of new Set(index.tags)) {
      keys.push([...this.having("tag", tag), part]);
    }
    return keys;
  }

  /** The names and keys that a document holds. */
  names(index: Pick<DocumentIndex, "owner" | "name" | "key">): readonly KvKey[] {
    const keys: KvKey[] = [];
    if (index.name !== null) {
      keys.push(this.unique("name", index.owner, index.name));
    }
    if (index.key !== null) {
      keys.push(this.unique("key", index.owner, index.key));
    }
    return keys;
  }
}

/** Whether documents of an owner can be found by it. */
export function isOwnerIndexed(owner: string): boolean {
  return owner !== UNINDEXED_OWNER;
}

/** Whether two states of a document are found by the same things, but for when they wake. */
export function isListedAlike(a: DocumentIndex, b: DocumentIndex): boolean {
  return a.live === b.live && a.task === b.task && a.owner === b.owner &&
    a.name === b.name && a.key === b.key &&
    a.target === b.target && a.group === b.group && isIdle(a) === isIdle(b) &&
    a.tags.length === b.tags.length &&
    a.tags.every((tag, i) => tag === b.tags[i]);
}

function isIdle({ running, lane, wakeAt }: DocumentIndex): boolean {
  return running && (lane === null || wakeAt === null);
}

/** A text as part of a key: as it is, or as its code units where UTF-8 would replace some of them. */
export function keyText(text: string): Part {
  if (text.isWellFormed()) return text;
  const bytes = new Uint8Array(2 * text.length);
  for (let i = 0; i < text.length; i++) {
    bytes[2 * i] = text.charCodeAt(i) >> 8;
    bytes[2 * i + 1] = text.charCodeAt(i) & 0xff;
  }
  return bytes;
}

/** What {@linkcode keyText} was made from. */
export function fromKeyText(part: unknown): string {
  if (!(part instanceof Uint8Array)) return String(part);
  let text = "";
  for (let i = 0; i < part.length; i += 2) {
    text += String.fromCharCode(part[i]! << 8 | part[i + 1]!);
  }
  return text;
}

/** A key as text that differs wherever the keys do. */
export function nameOf(key: KvKey): string {
  return JSON.stringify(key.map((part) => part instanceof Uint8Array ? [...part] : part));
}

/** How many bytes a key takes, as KV counts them: a type and an end to each part, and a zero after each zero. */
export function keyBytes(key: KvKey): number {
  let bytes = 0;
  for (const part of key) {
    if (typeof part === "string") bytes += 2 + textBytes(part);
    else if (part instanceof Uint8Array) bytes += 2 + 2 * part.length;
    else bytes += 9;
  }
  return bytes;
}

/** At least as many bytes as UTF-8 needs. Counted by hand: an encoder takes longer for short texts than all the rest. */
function textBytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7ff) bytes += 2;
    else if (code > 0x7f || code === 0) bytes++;
  }
  return bytes;
}
