import {
  type Ability,
  type Explanation,
  type JsonObject,
  type OptionParser,
  type RunInfo,
  type ScheduleDocument,
  show,
  type Wait,
} from "../contract/mod.ts";
import { type MachineEnv, standing } from "../machine/mod.ts";
import { attemptWords, decisionWords, iso } from "./explain_words.ts";
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
    `schedule ${id}${named} (${spec.kind}, task ${show(task)}) at ${at.toISOString()}:`,
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
    return [...waits, removal(progress.retired.reason, progress.retired.at + definition.retention)];
  }
  if (progress.pausedAt !== undefined) waits.push(resume(progress.pausedAt));
  const { owedSince, mayStart, unknownOption } = standing(document, now, env);
  if (!mayStart) waits.push(...turns(document, now));
  else if (owedSince !== undefined) {
    const since = new Date(owedSince);
    waits.push(
      unknownOption === undefined ? instance(definition.task, since, ability) : plugin(unknownOption, since),
    );
  }
  return [...waits, ...toCome(document, now, options)];
}

/** Retries and the deadline that lie ahead; while it is paused none does. */
function toCome(
  { progress: { waiting, next, pausedAt } }: ScheduleDocument,
  now: number,
  options: JsonObject,
): readonly Wait[] {
  if (pausedAt !== undefined) return [];
  const retries = waiting.filter(({ cause, at }) => cause === "retry" && at > now);
  const waits: Wait[] = retries.map(({ at, attempt, point }) => ({
    for: "retry",
    until: new Date(at),
    attempt,
    text: `waits until ${iso(at)} for ${attemptWords(attempt, options)} at the deadline ${iso(point)}`,
  }));
  if (next !== null && next.at > now) {
    const { at, point } = next;
    const by = options["jitter"] === undefined || options["jitter"] === 0 ? "" : ", moved by its jitter";
    const shifted = at === point ? "" : `, which stands for the point ${iso(point)}${by}`;
    const text = `waits for its deadline, ${iso(at)}${shifted}`;
    waits.push({ for: "deadline", until: new Date(at), point: new Date(point), text });
  }
  return waits;
}

/** Starts that are owed and for which the runs in progress leave no room. */
function turns({ progress: { waiting, backlog = [] } }: ScheduleDocument, now: number): readonly Wait[] {
  const owed = waiting.filter(({ at }) => at <= now);
  const lined = backlog.slice(0, 1).map(({ next }) => ({ point: next, cause: "catchup" as const }));
  return [...owed, ...lined].map(({ point, cause }) => ({
    for: "turn",
    cause,
    point: new Date(point),
    text: `the point ${iso(point)} (${cause}) waits for a run in progress to end`,
  }));
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

function removal(reason: string, until: number): Wait {
  const text = `retired (${reason}): its record is kept until ${iso(until)}, and nothing fires any more`;
  return { for: "removal", until: new Date(until), reason, text };
}

function describeRun({ id, outcome, endedAt, attempt, fault }: RunInfo, options: JsonObject): string {
  const why = fault === undefined ? "" : `: ${fault}`;
  return `its latest run, ${id} (${attemptWords(attempt, options)}), ended at ${
    endedAt!.toISOString()
  }, ${outcome}${why}`;
}
