import {
  checkDocument,
  type DocumentIndex,
  documentIndex,
  MAX_KV_PARTS,
  MAX_KV_VALUE_BYTES,
  readProgress,
  RESTING_PROGRESS,
  type ScheduleDefinition,
  type ScheduleDocument,
  writeProgress,
} from "../../../src/contract/mod.ts";
import { isListedAlike } from "./keys.ts";
import { headerText, indexOf, readHeader } from "./header.ts";
import { listBeside } from "./lists.ts";

/** The texts of a document as they are stored. */
export interface StoredTexts {
  readonly definition: string;
  readonly progress: string;
}

/** A document as a store holds it. */
export interface Stored {
  readonly document: ScheduleDocument;
  /** The text of its definition, which is written back with each progress; undefined where it cannot be read. */
  readonly definition: string | undefined;
  /** Why it cannot be read, and that is not noted yet. */
  readonly damage?: string;
  /** Kept for those that cannot be read, for a person to look at. */
  readonly texts?: StoredTexts;
  /** What it is indexed by, right or wrong: by this it is found and has to be removed. */
  readonly index: DocumentIndex;
  /** How many values it takes. */
  readonly parts: number;
  /** In characters, about. */
  readonly size: number;
  /** The name of the entry that tells when it wakes, where it shares one. */
  readonly shared: string | undefined;
  /** The name of the list that tells its task, where it is in one. */
  readonly list: string | undefined;
}

/** Where the header tells the number of parts, as one digit, and what digit stands for none. */
const PARTS_AT = 1;
const DIGIT_ZERO = 48;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes that texts are encoded into, one behind the other; a new piece once they are used up. */
const PIECE_BYTES = 64 * 1024;
/** A longer text, in characters, is encoded by itself. */
const LONG_TEXT = 4_000;
let piece = new Uint8Array(0);
let used = 0;

/** What is written for a document, and what is then known of it. */
export interface Encoded {
  readonly stored: Stored;
  /** One value for each part; more than {@linkcode MAX_KV_PARTS} are too many. */
  readonly values: readonly Uint8Array[];
}

/**
 * A document as values. One that is parked keeps the texts that it has.
 *
 * @param before What is stored of it.
 * @param share Answers the name of the entry that is to tell when it wakes, where it shares one.
 */
export function encodeDocument(
  document: ScheduleDocument,
  before: Stored | undefined,
  share: (id: string, index: DocumentIndex) => string | undefined,
): Encoded {
  const texts = document.parked === undefined ? undefined : before?.texts;
  const index = documentIndex(document);
  const shared = share(document.id, index);
  const list = isListedAlready(before?.index, index) ? before!.list : listBeside(shared, document.id, index);
  const { definition, progress } = texts ?? textsOf(document, before);
  const bytes = encodeText(`${headerText(index, document.parked, shared, list)}\n${definition}\n${progress}`);
  const parts = Math.max(1, Math.ceil(bytes.length / MAX_KV_VALUE_BYTES));
  if (parts <= MAX_KV_PARTS) bytes[PARTS_AT] = DIGIT_ZERO + parts;
  const stored: Stored = { document, definition, index, parts, size: bytes.length, shared, list };
  return { stored: texts === undefined ? stored : { ...stored, texts }, values: parts === 1 ? [bytes] : cut(bytes) };
}

function cut(bytes: Uint8Array): readonly Uint8Array[] {
  return Array.from(
    { length: Math.ceil(bytes.length / MAX_KV_VALUE_BYTES) },
    (_, n) => bytes.subarray(n * MAX_KV_VALUE_BYTES, (n + 1) * MAX_KV_VALUE_BYTES),
  );
}

/** How many bytes a document takes as JSON, as {@linkcode StorageSupports.maxDocumentBytes} counts them. */
export function documentBytes(document: ScheduleDocument): number {
  return encoder.encode(JSON.stringify(document)).length;
}

/** How many parts there are, by the first of them. */
export function partsOf(value: unknown): number {
  const parts = value instanceof Uint8Array ? (value[PARTS_AT] ?? 0) - DIGIT_ZERO : 1;
  return parts >= 1 && parts <= MAX_KV_PARTS ? parts : 1;
}

/** The document of its values. What cannot be read is made up from what its first line still tells. */
export function decodeDocument(id: string, values: readonly unknown[]): Stored {
  const [first = "", definition = "", progress = ""] = joined(values).split("\n");
  const texts = { definition, progress };
  const header = readHeader(first);
  const index = indexOf(header);
  const [parked, shared, list] = [header[13], header[14], header[15]];
  const known = {
    index,
    parts: values.length,
    size: first.length + definition.length + progress.length,
    shared: shared ?? undefined,
    list: list ?? undefined,
  };
  try {
    const read = { id, definition: JSON.parse(definition), progress: readProgress(progress) };
    const document = checkDocument(parked === null ? read : { ...read, parked });
    if (parked !== null) return { ...known, document, definition, texts };
    const { parts, size, shared, list } = known;
    return { document, definition, index, parts, size, shared, list };
  } catch (error) {
    const damage = error instanceof Error ? error.message : String(error);
    const document = remains(id, index, parked ?? damage);
    const unread = { ...known, document, definition: undefined, texts };
    return parked === null ? { ...unread, damage } : unread;
  }
}

function textsOf({ definition, progress }: ScheduleDocument, before: Stored | undefined): StoredTexts {
  const known = before?.document.definition === definition ? before.definition : undefined;
  return { definition: known ?? JSON.stringify(definition), progress: writeProgress(progress) };
}

/** A text as UTF-8. A buffer for each costs more than the encoding. */
function encodeText(text: string): Uint8Array {
  if (text.length > LONG_TEXT) return encoder.encode(text);
  const room = 3 * text.length;
  if (used + room > piece.length) [piece, used] = [new Uint8Array(PIECE_BYTES), 0];
  const { written } = encoder.encodeInto(text, piece.subarray(used, used + room));
  return piece.subarray(used, used += written);
}

/** Whether a document was live before and of the same task, so that it stays where that is told. */
function isListedAlready(before: DocumentIndex | undefined, { live, task }: DocumentIndex): boolean {
  return before !== undefined && before.live && live && before.task === task;
}

/** Whether a document is indexed by something else than it says, which an edit by hand may have come to. */
export function isMisindexed({ document, index }: Stored): boolean {
  const right = documentIndex(document);
  return index.lane !== right.lane || index.wakeAt !== right.wakeAt || !isListedAlike(index, right);
}

/** Values joined to their text; a value of another type, which somebody else put there, is no text. */
function joined(values: readonly unknown[]): string {
  if (values.length === 1) return values[0] instanceof Uint8Array ? decoder.decode(values[0]) : "";
  const bytes = values.map((value) => value instanceof Uint8Array ? value : new Uint8Array());
  const all = new Uint8Array(bytes.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of bytes) {
    all.set(part, at);
    at += part.length;
  }
  return decoder.decode(all);
}

/** A document made up from what is indexed. It never fires: it is only seen parked. */
function remains(id: string, index: DocumentIndex, parked: string): ScheduleDocument {
  const { task, owner, name, key, group, target, tags } = index;
  const definition: ScheduleDefinition = {
    task,
    spec: { kind: "at", at: index.nextRun ?? index.wakeAt ?? 0 },
    options: {},
    owner,
    authority: { id: owner },
    ...(name === null ? {} : { name }),
    ...(key === null ? {} : { key }),
    ...(group === null ? {} : { group }),
    ...(target === null ? {} : { target }),
    ...(tags.length === 0 ? {} : { tags }),
    adaptive: false,
    retention: 0,
    history: 0,
    createdAt: 0,
  };
  const progress = index.live ? RESTING_PROGRESS : { ...RESTING_PROGRESS, retired: { at: 0, reason: "failed" } };
  return { id, definition, progress, parked };
}
