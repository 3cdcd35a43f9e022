import { invalidOption, plainOptions } from "../contract/mod.ts";

/**
 * Reads what `stop` takes as whether to abort a run in progress.
 *
 * @throws {SchedulerError} `invalid_option`, `unknown_option`.
 */
export function readStop(options: unknown): boolean {
  if (options === undefined) return false;
  const { abortRunning = false } = plainOptions(options, ["abortRunning"], "stop");
  if (typeof abortRunning !== "boolean") throw invalidOption("stop.abortRunning", abortRunning, "true or false");
  return abortRunning;
}
