import { type ChangeOptions, invalidOption, plainOptions, type StopOptions } from "../contract/mod.ts";

/**
 * Reads what a change of one schedule takes.
 *
 * @throws {SchedulerError} `invalid_option`, `unknown_option`.
 */
export function readChange(options: unknown, where: string): ChangeOptions {
  return options === undefined ? {} : revision(plainOptions(options, ["ifRevision"], where), where);
}

/**
 * Reads what `stop` takes.
 *
 * @throws {SchedulerError} `invalid_option`, `unknown_option`.
 */
export function readStop(options: unknown): Required<StopOptions> & ChangeOptions {
  if (options === undefined) return { abortRunning: false };
  const { abortRunning = false, ...change } = plainOptions(options, ["abortRunning", "ifRevision"], "stop");
  if (typeof abortRunning !== "boolean") throw invalidOption("stop.abortRunning", abortRunning, "true or false");
  return { abortRunning, ...revision(change, "stop") };
}

function revision({ ifRevision }: { readonly ifRevision?: unknown }, where: string): ChangeOptions {
  if (ifRevision === undefined) return {};
  if (typeof ifRevision === "string") return { ifRevision };
  throw invalidOption(`${where}.ifRevision`, ifRevision, "the revision that info told, as text");
}
