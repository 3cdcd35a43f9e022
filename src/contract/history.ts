import type { RunOutcome } from "./progress.ts";

/** A run that is over, as the history keeps it. */
export interface PastRun {
  /** As in `LiveRun`. */
  readonly fence: number;
  /** The cadence point or deadline that it stood for. */
  readonly point: number;
  /** When its handler was started; of a lost or released one, when it was claimed. */
  readonly startedAt: number;
  /** When its handler ended; of a lost or released one, when that was found or done. */
  readonly endedAt: number;
  /** 1 for the first run of a deadline. */
  readonly attempt: number;
  /** How it ended. */
  readonly outcome: RunOutcome;
  /** The instance that held it. */
  readonly instance: string;
  /** The message of its fault. */
  readonly fault?: string;
}

/** Outcomes by the numbers that stand for them in the text. */
const OUTCOMES: readonly RunOutcome[] = ["succeeded", "faulted", "timeout", "aborted", "replaced", "lost", "released"];

/** The last instant that a `Date` holds, and minus it the first. */
const MAX_DATE = 8.64e15;

const SEPARATORS = /[%,;]/g;
const ESCAPES = /%(?:25|2C|3B)/g;

const NUMBER = "-?\\d{1,16}(?:\\.\\d+)?(?:e-\\d+)?";
const RUN = `[^,;]*(?:,${NUMBER}){5},[0-${OUTCOMES.length - 1}](?:,[^,;]*)?`;
const HISTORY = new RegExp(`^(?:${RUN}(?:;${RUN})*)?$`);

/**
 * The history with one more run, cut to the latest `limit`. A history is text, `""` when nothing is over: it is carried
 * along at every change of a document and read only when somebody asks. The newest run stands first; one held by the
 * same instance as the run before it in the text leaves the instance out; times count from the point.
 */
export function rememberRun(history: string, run: PastRun, limit: number): string {
  if (limit <= 0) return "";
  const instance = escaped(run.instance);
  const { fence, point, startedAt, endedAt, attempt, outcome, fault } = run;
  const times = `${point},${startedAt - point},${endedAt - startedAt}`;
  const facts = `${instance},${fence},${times},${attempt},${OUTCOMES.indexOf(outcome)}`;
  const entry = fault === undefined ? facts : `${facts},${escaped(fault)}`;
  if (history === "") return entry;
  const earlier = history.startsWith(`${instance},`) ? history.slice(instance.length) : history;
  return latest(`${entry};${earlier}`, limit);
}

/** The history of these runs, given in the order in which they ended. */
export function writeHistory(runs: readonly PastRun[]): string {
  return runs.reduce((history, run) => rememberRun(history, run, runs.length), "");
}

/** The runs of a history, in the order in which they ended. */
export function readHistory(history: string): PastRun[] {
  if (history === "") return [];
  let holder = "";
  return history.split(";").map((entry) => {
    const [instance, fence, point, started, ended, attempt, outcome, fault] = entry.split(",");
    if (instance !== "") holder = unescaped(instance!);
    const startedAt = instant(Number(point) + Number(started));
    return {
      fence: Number(fence),
      point: instant(Number(point)),
      startedAt,
      endedAt: instant(startedAt + Number(ended)),
      attempt: Number(attempt),
      outcome: OUTCOMES[Number(outcome)]!,
      instance: holder,
      ...(fault === undefined ? {} : { fault: unescaped(fault) }),
    };
  }).reverse();
}

/** Whether a text is a history of at most so many runs. */
export function isHistory(text: unknown, limit: number): text is string {
  return typeof text === "string" && HISTORY.test(text) && latest(text, limit) === text;
}

/** A damaged history may hold times that no `Date` does. */
function instant(time: number): number {
  return Math.min(Math.max(time, -MAX_DATE), MAX_DATE);
}

function latest(history: string, limit: number): string {
  let end = -1;
  for (let runs = 0; runs < limit; runs++) {
    end = history.indexOf(";", end + 1);
    if (end === -1) return history;
  }
  return history.slice(0, end);
}

function escaped(text: string): string {
  return text.replace(SEPARATORS, encodeURIComponent);
}

function unescaped(text: string): string {
  return text.replace(ESCAPES, decodeURIComponent);
}
