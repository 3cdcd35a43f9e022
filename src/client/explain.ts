import {
  type Ability,
  type DecisionInfo,
  type ExplainedDecision,
  type Explanation,
  type RunInfo,
  type ScheduleDocument,
  show,
  type Wait,
} from "../contract/mod.ts";
import { type MachineEnv, standing } from "../machine/mod.ts";
import { decisionInfo, runningOf, runsOf } from "./info.ts";

/** Whom a schedule is explained for: the instance that answers. */
export interface Explaining {
  readonly now: number;
  readonly env: MachineEnv;
  /** What the instance can do for the schedule's task. */
  readonly ability: Ability;
}

/** Why a schedule does what it does, or does not: its latest decisions, and what it waits for. */
export function explain(document: ScheduleDocument, explaining: Explaining): Explanation {
  const { id, definition: { name, spec, task }, progress } = document;
  const at = new Date(explaining.now);
  const waits = waitsOf(document, explaining);
  const decisions = progress.decisions.map(decisionInfo).map(explained);
  const lastRun = runsOf(document).find(({ outcome }) => outcome !== "running");
  const named = name === undefined ? "" : ` ${show(name)}`;
  const text = [
    `schedule ${id}${named} (${spec.kind}, task ${show(task)}) at ${at.toISOString()}:`,
    ...waits.map((wait) => wait.text),
    ...(lastRun === undefined ? [] : [describeRun(lastRun)]),
    ...decisions.map((decision) => `- ${decision.at.toISOString()} ${decision.text}`),
  ].join("\n");
  return { id, name, at, waits, decisions, lastRun, text };
}

function waitsOf(document: ScheduleDocument, { now, env, ability }: Explaining): readonly Wait[] {
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
  return [...waits, ...toCome(document, now)];
}

/** Retries and the deadline that lie ahead; while it is paused none does. */
function toCome({ progress: { waiting, next, pausedAt } }: ScheduleDocument, now: number): readonly Wait[] {
  if (pausedAt !== undefined) return [];
  const retries = waiting.filter(({ cause, at }) => cause === "retry" && at > now);
  const waits: Wait[] = retries.map(({ at, attempt, point }) => ({
    for: "retry",
    until: new Date(at),
    attempt,
    text: `waits until ${iso(at)} for attempt ${attempt} at the deadline ${iso(point)}`,
  }));
  if (next !== null && next.at > now) {
    const { at, point } = next;
    const shifted = at === point ? "" : `, which stands for the point ${iso(point)}`;
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
  full: "this instance has the task, and all of its slots for it are in use",
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

function describeRun({ id, outcome, endedAt, attempt, fault }: RunInfo): string {
  const why = fault === undefined ? "" : `: ${fault}`;
  return `its latest run, ${id} (attempt ${attempt}), ended at ${endedAt!.toISOString()}, ${outcome}${why}`;
}

function explained(decision: DecisionInfo): ExplainedDecision {
  return { ...decision, text: wordsOf(decision) };
}

function wordsOf({ what, at, count, point, detail = "" }: DecisionInfo): string {
  const points = count === 1 ? `the point ${iso(point)}` : `${count} points, the latest ${iso(point)}`;
  const times = count === 1 ? "" : ` ${count} times, the latest`;
  switch (what) {
    case "ran":
      return `ran${times} for the point ${iso(point)}`;
    case "late":
      return `ran late${times} for the point ${iso(point)}, ${at.getTime() - point!.getTime()} ms after it`;
    case "missed":
      return `missed ${points}: nothing was running to account for them`;
    case "overlapped":
      return `dropped ${points}: a run was in progress`;
    case "queued":
      return `queued ${points}, behind a run in progress`;
    case "replaced":
      return `aborted the run for ${points}, to make way for a newer one`;
    case "skipped":
      return `skipped ${points}: ${detail}`;
    case "triggered":
      return `ran${times} because it was triggered`;
    case "retry":
      return `tried again${times} for the point ${iso(point)}`;
    case "lost":
      return `lost a run with its instance${times} for the point ${iso(point)}`;
    case "released":
      return `gave back a run${times} for the point ${iso(point)}: its instance closed before the run had ended`;
    case "again":
      return `was asked by its handler to run again at ${iso(point)}`;
    case "unknown_policy":
      return `waited for an instance with a plugin that owns the option ${show(detail)}`;
    case "retired":
      return `retired: ${detail}`;
    default:
      return `was ${what}${count === 1 ? "" : ` ${count} times`}`;
  }
}

function iso(instant: number | Date | undefined): string {
  return instant === undefined ? "?" : new Date(instant).toISOString();
}
