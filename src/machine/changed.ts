import type { Change, ScheduleDocument } from "../contract/mod.ts";
import type { Done, StepResult } from "./types.ts";

/** The change that a step came to; a document that it left as it was is not written. */
export function changed(before: ScheduleDocument | undefined, result: StepResult): Change<Done> {
  const value: Done = { before, result };
  return result.document === before ? { value } : { value, document: result.document };
}

/** No change at all, of a document or where there is none. */
export function untouched(before: ScheduleDocument | undefined): Change<Done> {
  return { value: { before, result: { document: before ?? null, effects: [], answer: false } } };
}
