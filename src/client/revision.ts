import { hash32 } from "../calendar/mod.ts";
import { type ChangeOptions, type Operation, type ScheduleDocument, SchedulerError } from "../contract/mod.ts";
import type { Done } from "./host.ts";
import { isLive, refused } from "./operations.ts";

/**
 * What stands for a schedule's definition, and for whether it is paused or over. It is worked out and not counted, so
 * that no store has to keep it; the order of keys, which some stores change, makes no difference.
 */
export function revisionOf({ definition, progress }: ScheduleDocument): string {
  const { pausedAt, retired } = progress;
  const text = canonicalText([definition, pausedAt !== undefined, retired !== undefined]);
  return digest(text, 2);
}

/** Lets an operation on a live schedule happen only as long as the schedule's revision is the expected one. */
export function unlessRevised(operation: Operation<Done>, { ifRevision }: ChangeOptions): Operation<Done> {
  if (ifRevision === undefined) return operation;
  return {
    select: operation.select,
    decide(current, now) {
      const change = operation.decide(current, now);
      if (change.reject !== undefined || current === undefined || !isLive(current)) return change;
      const revision = revisionOf(current);
      return revision === ifRevision ? change : refused(current, revised(current.id, revision));
    },
  };
}

function revised(id: string, revision: string): SchedulerError {
  return new SchedulerError(
    "conflict",
    `schedule ${id}: it was changed meanwhile; read it again before you change it`,
    {
      details: { id, revision },
    },
  );
}

/** Text that JSON puts between quotes as it is: most keys, and most words. */
const PLAIN = /^[\w .:-]*$/;

/** JSON text that is the same for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  let members = "";
  for (const key of Object.keys(value).sort()) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    members += `${members === "" ? "" : ","}${quoted(key)}:${canonicalText(member)}`;
  }
  return `{${members}}`;
}

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** So many hashes of 32 bits of a text, each with a salt of its own, in base 36. Nothing is safe by it from an attacker. */
export function digest(text: string, words: number): string {
  let digits = "";
  for (let i = 0; i < words; i++) digits += hash32(`${i}:${text}`).toString(36).padStart(7, "0");
  return digits;
}
