import { invalidOption, MAX_NAME_LENGTH, type SchedulerEventName, unknownOption } from "../../../src/contract/mod.ts";
import { type KeptEvent, STREAMED } from "./event_ring.ts";

/** Which of the events that it may see a stream is about. All given conditions must hold. */
export interface EventFilter {
  /** Events by name. */
  readonly names?: ReadonlySet<SchedulerEventName>;
  /** One schedule, by id. */
  readonly schedule?: string;
  /** One task, by name. */
  readonly task?: string;
}

const KEYS = ["event", "schedule", "task"] as const;

/**
 * Reads a stream's query: `event=faulted,lost&schedule=<id>&task=<name>`.
 *
 * @throws {SchedulerError} `unknown_option`, `invalid_option`.
 */
export function eventFilter(query: URLSearchParams): EventFilter {
  for (const key of query.keys()) if (!KEYS.some((known) => known === key)) throw unknownOption(key, KEYS, "events.");
  const [names, schedule, task] = [query.getAll("event"), one(query, "schedule"), one(query, "task")];
  return {
    ...(names.length === 0 ? {} : { names: new Set(names.flatMap((list) => list.split(",")).map(eventName)) }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(task === undefined ? {} : { task }),
  };
}

/** Whether a stream is about an event. */
export function isAbout({ names, schedule, task }: EventFilter, event: KeptEvent): boolean {
  return (names === undefined || names.has(event.name)) && (schedule === undefined || schedule === event.schedule) &&
    (task === undefined || task === event.task);
}

function eventName(given: string): SchedulerEventName {
  const name = STREAMED.find((one) => one === given);
  if (name !== undefined) return name;
  throw invalidOption("events.event", given, `names of ${STREAMED.join(", ")}`);
}

function one(query: URLSearchParams, key: "schedule" | "task"): string | undefined {
  const values = query.getAll(key);
  if (values.length === 0) return undefined;
  const [value] = values as [string];
  if (values.length === 1 && value !== "" && value.length <= MAX_NAME_LENGTH) return value;
  throw invalidOption(`events.${key}`, value, `once, 1 to ${MAX_NAME_LENGTH} characters`);
}
