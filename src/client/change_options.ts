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
 * Reads what `stopFor` takes.
 *
 * @throws {SchedulerError} `invalid_option`, `unknown_option`.
 */
export function readStopFor(options: unknown): Required<StopOptions> {
  if (options === undefined) return { abortRunning: false };
  const { abortRunning } = plainOptions(options, ["abortRunning"], "stopFor");
  return { abortRunning: readAbort(abortRunning, "stopFor") };
}

/**
 * Reads what `stop` takes.
 *
 * @throws {SchedulerError} `invalid_option`, `unknown_option`.
 */
export function readStop(options: unknown): Required<StopOptions> & ChangeOptions {
  if (options === undefined) return { abortRunning: false };
  const { abortRunning, ...change } = plainOptions(options, ["abortRunning", "ifRevision"], "stop");
  return { abortRunning: readAbort(abortRunning, "stop"), ...revision(change, "stop") };
}

function readAbort(given: unknown = false, where: string): boolean {
  if (typeof given === "boolean") return given;
  throw invalidOption(`${where}.abortRunning`, given, "true or false");
}

function revision({ ifRevision }: { readonly ifRevision?: unknown }, where: string): ChangeOptions {
  if (ifRevision === undefined) return {};
  if (typeof ifRevision === "string") return { ifRevision };
  throw invalidOption(`${where}.ifRevision`, ifRevision, "the revision that info told, as text");
}
