import {
  type Ability,
  type Explanation,
  type JsonObject,
  NOTICED_JUMP_MS,
  type OptionParser,
  type RunInfo,
  type ScheduleDocument,
  show,
  type Wait,
  type WaitingCause,
} from "../contract/mod.ts";
import { type MachineEnv, standing } from "../machine/mod.ts";
import { attemptWords, decisionWords, iso, specWords } from "./explain_words.ts";
import { decisionInfo, optionsInForce, runningOf, runsOf } from "./info.ts";

/** Whom a schedule is explained for: the instance that answers. */
export interface Explaining {
  readonly now: number;
  readonly env: MachineEnv;
  /** What reads its options. */
  readonly parsers: ReadonlyMap<string, OptionParser>;
  /** What the instance can do for the schedule's task. */
  readonly ability: Ability;
}

/** Why a schedule does what it does, or does not: its latest decisions, and what it waits for. */
export function explain(document: ScheduleDocument, explaining: Explaining): Explanation {
  const { id, definition: { name, spec, task, options: stored }, progress } = document;
  const at = new Date(explaining.now);
  const options = optionsInForce(stored, explaining.parsers);
  const waits = waitsOf(document, explaining, options);
  const decisions = progress.decisions.map(decisionInfo).map((decision) => ({
    ...decision,
    text: decisionWords(decision, options),
  }));
  const lastRun = runsOf(document).find(({ outcome }) => outcome !== "running");
  const named = name === undefined ? "" : ` ${show(name)}`;
  const text = [
    `schedule ${id}${named} (${specWords(spec)}; task ${show(task)}) at ${at.toISOString()}:`,
    ...waits.map((wait) => wait.text),
    ...(lastRun === undefined ? [] : [describeRun(lastRun, options)]),
    ...decisions.map((decision) => `- ${decision.at.toISOString()} ${decision.text}`),
  ].join("\n");
  return { id, name, at, waits, decisions, lastRun, text };
}

function waitsOf(
  document: ScheduleDocument,
  { now, env, ability }: Explaining,
  options: JsonObject,
): readonly Wait[] {
  const { definition, progress, parked } = document;
  if (parked !== undefined) return [repair(parked)];
  const waits = runningOf(document).reverse().map((run, i) => inProgress(run, progress.runs[i]!.leaseUntil, now));
  if (progress.retired !== undefined) {
    return [...waits, removal(document, progress.retired)];
  }
  if (progress.pausedAt !== undefined) waits.push(resume(progress.pausedAt));
  const { owedSince, mayStart, unknownOption } = standing(document, now, env);
  waits.push(...turns(document, now, mayStart));
  if (mayStart && owedSince !== undefined) {
    const since = new Date(owedSince);
    waits.push(
      unknownOption === undefined ? instance(definition.task, since, ability) : plugin(unknownOption, since),
    );
  }
  return [...waits, ...toCome(document, now, options)];
}

/** Retries, reruns and deadlines that lie ahead; while it is paused none does. */
function toCome(document: ScheduleDocument, now: number, options: JsonObject): readonly Wait[] {
  const { progress: { waiting, next, pausedAt } } = document;
  if (pausedAt !== undefined) return [];
  const isAnother = (cause: WaitingCause) => cause === "retry" || cause === "rerun";
  const retries = waiting.filter(({ cause, at }) => isAnother(cause) && at > now);
  const waits: Wait[] = retries.map(({ at, attempt, point }) => ({
    for: "retry",
    until: new Date(at),
    attempt,
    text: `waits until ${iso(at)} for ${attemptWords(attempt, options)} at the deadline ${iso(point)}`,
  }));
  const early = owedStarts(document).filter(({ at, cause }) => !isAnother(cause) && at > now);
  waits.push(...early.map((owed) => turn(owed, "waits for that time to come again: the clock has been set back")));
  if (next !== null && next.at > now) {
    const { at, point } = next;
    const by = options["jitter"] === undefined || options["jitter"] === 0 ? "" : ", moved by its jitter";
    const shifted = at === point ? "" : `, which stands for the point ${iso(point)}${by}`;
    const text = `waits for its deadline, ${iso(at)}${shifted}${setBackWords(document, now)}`;
    waits.push({ for: "deadline", until: new Date(at), point: new Date(point), text });
  }
  return waits;
}

/** Why a deadline is further off than its cadence says: the clock was ahead of the present time (T8). */
function setBackWords({ progress: { cursor, decisions } }: ScheduleDocument, now: number): string {
  const shown = Math.max(...decisions.map(([, at]) => at));
  if (cursor === undefined || cursor <= now || shown - now < NOTICED_JUMP_MS) return "";
  return `; the clock has been set back: it has shown ${iso(shown)}, and the points up to ${
    iso(cursor)
  } have come already`;
}

/** Starts that are owed and for which the runs in progress leave no room. */
function turns(document: ScheduleDocument, now: number, mayStart: boolean): readonly Wait[] {
  const isLineHeld = document.progress.runs.some(({ lined }) => lined === true);
  return owedStarts(document)
    .filter(({ at, lined }) => at <= now && (!mayStart || (lined && isLineHeld)))
    .map((owed) => turn(owed, "waits for a run in progress to end"));
}

/** A start that is owed. */
interface OwedStart {
  readonly point: number;
  /** When it may be made at the earliest. */
  readonly at: number;
  readonly cause: WaitingCause;
  /** Whether it stands first in the line of catchup, whose points run one after another. */
  readonly lined: boolean;
}

function owedStarts({ progress: { waiting, backlog = [] } }: ScheduleDocument): readonly OwedStart[] {
  const lined = backlog.slice(0, 1).map(({ next }) => ({ point: next, at: next, cause: "catchup" as const }));
  return [
    ...waiting.map(({ point, at, cause }) => ({ point, at, cause, lined: false })),
    ...lined.map((owed) => ({ ...owed, lined: true })),
  ];
}

function turn({ point, cause }: OwedStart, waits: string): Wait {
  return { for: "turn", cause, point: new Date(point), text: `the point ${iso(point)} (${cause}) ${waits}` };
}

function inProgress(run: RunInfo, leaseUntil: number, now: number): Wait {
  const { id, instance, startedAt } = run;
  const lease = leaseUntil > now
    ? `holds it until ${iso(leaseUntil)} and renews that while it lives`
    : `gave no sign of life since before ${iso(leaseUntil)}: the run counts as lost as soon as another one looks`;
  const text = `run ${id} is in progress since ${startedAt.toISOString()}; instance ${instance} ${lease}`;
  return { for: "run", run, until: new Date(leaseUntil), text };
}

const HERE: Readonly<Record<Ability, string>> = {
  absent: "this instance does not have the task",
  stopped: "this instance has the task and is not started, or is closing",
  full: "this instance has the task, and no slot is free: its own concurrency, or the task's, is used up",
  able: "this instance has the task and takes it next",
};

function instance(task: string, since: Date, here: Ability): Wait {
  const text = `due since ${since.toISOString()}: waits for a started instance that has the task ${show(task)} and a ` +
    `free slot; ${HERE[here]}`;
  return { for: "instance", task, since, here, text };
}

function plugin(option: string, since: Date): Wait {
  const text = `due since ${since.toISOString()}: waits for an instance with a plugin that owns the option ` +
    `${show(option)}; this instance has none`;
  return { for: "plugin", option, since, text };
}

function resume(pausedAt: number): Wait {
  return { for: "resume", since: new Date(pausedAt), text: `paused since ${iso(pausedAt)}: waits for resume` };
}

function repair(error: string): Wait {
  return { for: "repair", error, text: `parked: waits for update or stop, because of this: ${error}` };
}

function removal(document: ScheduleDocument, { reason, at }: { readonly reason: string; readonly at: number }): Wait {
  const until = at + document.definition.retention;
  const bound = reason === "ended" ? boundWords(document) : "";
  const text = `retired (${reason}): ${bound}its record is kept until ${iso(until)}, and nothing fires any more`;
  return { for: "removal", until: new Date(until), reason, text };
}

/** The bound that a recurring schedule has come to (T9). */
function boundWords({ definition: { spec }, progress }: ScheduleDocument): string {
  if (spec.kind === "at") return "";
  if (spec.maxRuns !== undefined && progress.firings >= spec.maxRuns) {
    return `it has fired as often as its maxRuns allows (${spec.maxRuns}); `;
  }
  return spec.endAt === undefined ? "" : `its endAt is ${iso(spec.endAt)}; `;
}

function describeRun({ id, outcome, endedAt, attempt, fault }: RunInfo, options: JsonObject): string {
  const why = fault === undefined ? "" : `: ${fault}`;
  return `its latest run, ${id} (${attemptWords(attempt, options)}), ended at ${
    endedAt!.toISOString()
  }, ${outcome}${why}`;
}
