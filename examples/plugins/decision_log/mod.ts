import {
  CONTRACT,
  errorToWire,
  type Plugin,
  type SchedulerEventName,
  type SchedulerEvents,
  type SchedulerListener,
  type SchedulerListeners,
} from "../../../src/contract/mod.ts";

/** What {@linkcode decisionLog} takes. */
export interface DecisionLogOptions {
  /** Takes a line, without its end: `(line) => console.log(line)`, or a stream's `write`. */
  readonly write: (line: string) => void;
  /** The time of a line, in milliseconds since the Unix epoch; a test gives its clock's. Default: the machine's. */
  readonly now?: () => number;
}

/** What is decided about a schedule, and by it about nothing else. */
const DECISIONS = [
  "created",
  "updated",
  "stopped",
  "retired",
  "started",
  "succeeded",
  "faulted",
  "lost",
  "missed",
  "overlapped",
  "unclaimed",
  "leaseLost",
  "parked",
  "unknownPolicy",
] as const satisfies readonly SchedulerEventName[];

/**
 * Writes one line of JSON for each decision that this instance makes, or sees, about a schedule: `at`, `decision`, and
 * what the event tells. An instance writes of its own decisions; the logs of all of them together are the whole story.
 */
export function decisionLog({ write, now = Date.now }: DecisionLogOptions): Plugin {
  const line = <Name extends SchedulerEventName>(decision: Name): SchedulerListener<Name> => (event) =>
    write(JSON.stringify({ at: new Date(now()).toISOString(), decision, ...told(event) }));
  const listeners = Object.fromEntries(DECISIONS.map((name) => [name, line(name)])) as SchedulerListeners;
  return { name: "decision-log", contract: CONTRACT, listeners };
}

/** The event without what no log should hold: a fault's stack, which is long, and has paths of the machine in it. */
function told(event: SchedulerEvents[SchedulerEventName]): object {
  return JSON.parse(JSON.stringify(event, (key, value: unknown) => {
    if (key === "stack") return undefined;
    return value instanceof Error ? errorToWire(value) : value;
  }));
}
