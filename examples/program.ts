/**
 * What the example programs share: how they end, and what they say of errors.
 *
 * @module
 */
import process from "node:process";
import { isSchedulerError } from "../mod.ts";

/** Something that the user can mend; its message is enough. */
export class Failure extends Error {}

/** Resolves at Ctrl-C, at a polite kill, or when the time is over. A second Ctrl-C ends the process at once. */
export function ended(forMs?: number): Promise<string> {
  return new Promise((resolve) => {
    const timer = forMs === undefined ? undefined : setTimeout(() => end(`${forMs / 1000} s are over`), forMs);
    const end = (why: string) => {
      clearTimeout(timer);
      process.off("SIGINT", interrupted).off("SIGTERM", terminated);
      resolve(why);
    };
    const interrupted = () => end("interrupted");
    const terminated = () => end("terminated");
    process.on("SIGINT", interrupted).on("SIGTERM", terminated);
  });
}

/** Runs a program; what goes wrong is printed, in words where they are enough. */
export async function run(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.exitCode = 1;
    console.error(isExpected(error) ? error.message : error);
  }
}

/** Errors whose message is enough: the user's, the scheduler's, and the system's, such as a file that is not there. */
function isExpected(error: unknown): error is Error {
  return error instanceof Failure || isSchedulerError(error) || (error instanceof Error && "code" in error);
}
