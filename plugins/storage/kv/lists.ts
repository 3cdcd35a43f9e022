import type { DocumentIndex } from "../../../src/contract/mod.ts";

/** As many characters of a ULID as its time takes, but for the last second. */
const SECOND = 8;

/** What a list's name has more than that of the entry of when its documents wake. */
const MARK = "+";

/**
 * The list of a task's live documents in which one that is new stands, if it does: documents that begin to wait at one
 * instant in one commit are listed together as well, since they are mostly claimed and settled together. They leave it once
 * they are over.
 *
 * Lists are found by their first ids. So that none has to be read that lies far from what is asked for, a list holds ids of
 * one second only, none of them less than the first; an id that is no ULID stands alone.
 *
 * @param shared The name of the entry of when it wakes, which begins with the id of the first document in it.
 */
export function listBeside(shared: string | undefined, id: string, { live }: DocumentIndex): string | undefined {
  if (shared === undefined || !live || !isUlid(id)) return undefined;
  const first = shared.slice(0, id.length);
  return isUlid(first) && secondOf(id) === secondOf(first) && id >= first ? shared + MARK : undefined;
}

/** What the names of all lists begin with, or come after, that may hold an id greater than one. */
export function secondOf(id: string): string {
  return id.slice(0, SECOND);
}

/** Whether an id has a ULID's form. */
export function isUlid(id: string): boolean {
  return /^[0-9A-Z]{26}$/.test(id);
}
