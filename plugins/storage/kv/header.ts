import { type DocumentIndex, MAX_NAME_LENGTH, MAX_TAGS } from "../../../src/contract/mod.ts";

/** A stored document's first line: what is needed to find and to remove the document, whatever has become of the others. */
export type Header = readonly [
  parts: number,
  lane: string | null,
  wakeAt: number | null,
  nextRun: number | null,
  task: string,
  owner: string,
  name: string | null,
  key: string | null,
  group: string | null,
  target: string | null,
  tags: readonly string[],
  live: 0 | 1,
  running: 0 | 1,
  parked: string | null,
  shared: string | null,
  list: string | null,
];

/** The last instant that a `Date` holds; minus it, the first. */
const MAX_INSTANT = 8.64e15;
/** Characters in the name of an entry that is shared: an id, and what makes it unlike any other. */
const MAX_ENTRY_NAME = MAX_NAME_LENGTH + 20;

/** The first line of a document with one part. */
export function headerText(
  index: DocumentIndex,
  parked: string | undefined,
  shared: string | undefined,
  list: string | undefined,
): string {
  const {
    lane,
    wakeAt,
    nextRun,
    task,
    owner,
    name,
    key,
    group,
    target,
    tags,
    live,
    running,
  } = index;
  const flags = [live ? 1 : 0, running ? 1 : 0] as const;
  const header: Header = [
    1,
    lane,
    wakeAt,
    nextRun,
    task,
    owner,
    name,
    key,
    group,
    target,
    tags,
    ...flags,
    parked ?? null,
    shared ?? null,
    list ?? null,
  ];
  return JSON.stringify(header);
}

const NO_HEADER: Header = [1, null, null, null, "", "", null, null, null, null, [], 1, 0, null, null, null];

const label = (value: unknown) => typeof value === "string" && value.length <= MAX_NAME_LENGTH;
const instant = (value: unknown) => value === null || (typeof value === "number" && Math.abs(value) <= MAX_INSTANT);
const flag = (value: unknown) => value === 0 || value === 1;
const text = (value: unknown) => value === null || typeof value === "string";
const orNull = (fits: (value: unknown) => boolean) => (value: unknown) => value === null || fits(value);
const labels = (value: unknown) => Array.isArray(value) && value.length <= MAX_TAGS && value.every(label);
const entry = (value: unknown) => typeof value === "string" && value.length <= MAX_ENTRY_NAME;

/** What may stand at each place of a header: keys are made of it. */
const FITS: readonly ((value: unknown) => boolean)[] = [
  () => true,
  orNull(label),
  instant,
  instant,
  label,
  label,
  orNull(label),
  orNull(label),
  orNull(label),
  orNull(label),
  labels,
  flag,
  flag,
  text,
  orNull(entry),
  orNull(entry),
];

/** Reads a first line. What of it was edited by hand to what it cannot be is not known. */
export function readHeader(line: string): Header {
  try {
    const header: unknown = JSON.parse(line);
    if (Array.isArray(header) && header.length === FITS.length) {
      if (FITS.every((fits, i) => fits(header[i]))) return header as unknown as Header;
      return NO_HEADER.map((none, i) => FITS[i]!(header[i]) ? header[i] : none) as unknown as Header;
    }
  } catch {
    // Nothing of it is known.
  }
  return NO_HEADER;
}

/** What a document is indexed by. */
export function indexOf(header: Header): DocumentIndex {
  const [, lane, wakeAt, nextRun, task, owner, name, key, group, target, tags, live, running] = header;
  return {
    lane,
    wakeAt,
    nextRun,
    task,
    owner,
    name,
    key,
    group,
    target,
    tags,
    live: live === 1,
    running: running === 1,
  };
}
