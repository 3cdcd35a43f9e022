import { isSchedulerError, SchedulerError, StorageError } from "../../../src/contract/mod.ts";

/** Whether another connection to the file was in the way, and the same call may simply be made again (B137). */
export function isLocked(error: unknown): boolean {
  return /database (?:table )?is locked|SQLITE_BUSY/i.test(messageOf(error));
}

/** What went wrong while something was done, as the scheduler's error; its own errors pass. */
export function storageError(doing: string, error: unknown): unknown {
  if (isSchedulerError(error)) return error;
  const retryable = !/too (?:large|long|many)|toolong|toolarge|toomany|closed|bad resource/i
    .test(messageOf(error));
  return new StorageError(`kv: ${doing}: ${messageOf(error)}`, { cause: error, retryable });
}

/** The refusal of what one commit cannot hold. */
export function tooMuch(given: number, limit: number, what: string): SchedulerError {
  return new SchedulerError(
    "invalid_option",
    `unit of work: ${given} ${what}; expected at most ${limit}, which is what Deno KV takes in one commit`,
    { details: { given, limit } },
  );
}

/** The first line of an error's message. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n", 1)[0]!;
}
