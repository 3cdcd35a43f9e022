import {
  MAX_KV_DOCUMENT_BYTES,
  MAX_KV_PARTS,
  type ScheduleDocument,
  SchedulerError,
  show,
} from "../../../src/contract/mod.ts";
import { documentBytes } from "./codec.ts";
import type { DocumentWrite } from "./writes.ts";

/**
 * Why a document is too large. Only what callers decide is held to the documented size; what a run adds to its schedule's
 * progress is bounded by the limits of the machine, and has room in further parts.
 */
export function tooLarge(
  before: ScheduleDocument | undefined,
  after: ScheduleDocument,
  { stored }: DocumentWrite,
): SchedulerError | undefined {
  const { size, parts } = stored!;
  const decided = before?.definition !== after.definition &&
    after.parked === undefined;
  if (!decided && parts <= MAX_KV_PARTS) return undefined;
  if (decided && size < MAX_KV_DOCUMENT_BYTES / 2) return undefined;
  const given = documentBytes(after);
  if (given <= MAX_KV_DOCUMENT_BYTES) return undefined;
  const { name, task } = after.definition;
  const what = name === undefined ? `schedule ${after.id}` : `schedule ${show(name)}`;
  return new SchedulerError(
    "input_too_large",
    `${what} of task ${show(task)}: ${given} bytes serialised; expected at most ${MAX_KV_DOCUMENT_BYTES} in Deno KV`,
    { details: { given, limit: MAX_KV_DOCUMENT_BYTES, id: after.id } },
  );
}

/** Whether somebody other than the writer may want to act on a change: it has to wake earlier, or ends a run. */
export function isNews(before: ScheduleDocument | undefined, after: ScheduleDocument | null): boolean {
  if (after === null) return false;
  if (before === undefined || before.definition !== after.definition) {
    return true;
  }
  const [was, is] = [before.progress, after.progress];
  if (is.wakeAt !== null && (was.wakeAt === null || is.wakeAt < was.wakeAt)) {
    return true;
  }
  const aborts = ({ runs }: ScheduleDocument["progress"]) => runs.filter(({ abort }) => abort !== undefined).length;
  return aborts(is) > aborts(was);
}
