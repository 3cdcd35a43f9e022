import {
  type Json,
  readHistory,
  type RunOutcome,
  type ScheduleDefinition,
  type ScheduleDocument,
  type ScheduleProgress,
  type SchedulerEventName,
} from "../../contract/mod.ts";

/** A run that a commit took into the history. */
export interface EndedRun {
  /** The fence of the run. */
  readonly fence: number;
  /** The point that it stood for. */
  readonly point: number;
  /** Which attempt at its point it was. */
  readonly attempt: number;
  /** How it ended. */
  readonly outcome: RunOutcome;
}

/** What a store showed of a schedule once something was committed. */
export interface DocumentView extends Omit<ScheduleProgress, "history" | "decisions" | "sketch" | "lastFault"> {
  /** Set where the document could not be read. */
  readonly parked?: string;
}

/** What was committed to one document. */
export interface CommitEntry {
  /** Which kind of entry it is. */
  readonly type: "commit";
  /** True time. */
  readonly at: number;
  /** The time that decided. */
  readonly now: number;
  /** The host whose call it was. */
  readonly host: string;
  /** Which call of a store it was part of. */
  readonly request: number;
  /** Which group of that call: what shares both commits together or not at all. */
  readonly group: number;
  /** Whether it was moved because it was due, or changed by somebody. */
  readonly by: "advance" | "apply";
  /** The id of the schedule. */
  readonly id: string;
  /** `null` where there was none. */
  readonly before: DocumentView | null;
  /** `null` when it is gone. */
  readonly after: DocumentView | null;
  /** What its owner changed; in a schedule's first entry, and again where it differs. */
  readonly definition?: ScheduleDefinition;
  /** Runs that this commit took into the history. */
  readonly ended: readonly EndedRun[];
}

/** A host came up, died, was closed, stalled, went on, was cut off from the store or connected again, or its clock was set. */
export interface HostEntry {
  /** Which kind of entry it is. */
  readonly type: "host";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The host, and its how manyeth life: `"0.2"` is the second of instance 0. */
  readonly host: string;
  /** What it was. */
  readonly what: "up" | "killed" | "stalled" | "goes on" | "cut off" | "connected" | "clock set" | "closing" | "closed";
  /** Tasks that a host that came up has. */
  readonly tasks?: readonly string[];
  /** Milliseconds that the clock was moved by, of a stall, or that handlers are given to end by themselves. */
  readonly ms?: number;
}

/** The clock that decides what is due was set. */
export interface StoreClockEntry {
  /** Which kind of entry it is. */
  readonly type: "store clock";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** What it shows from then on, minus true time. */
  readonly offset: number;
}

/** A call of the store failed: as its caller sees it. */
export interface FailureEntry {
  /** Which kind of entry it is. */
  readonly type: "failure";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The host, and its how manyeth life: `"0.2"` is the second of instance 0. */
  readonly host: string;
  /** Which call of a store it was. */
  readonly request: number;
  /** Its number. */
  readonly call: string;
  /** Whether it took effect, which its caller cannot know. */
  readonly applied: boolean;
}

/** A user's call, when it was made. */
export interface CallEntry {
  /** Which kind of entry it is. */
  readonly type: "call";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The host, and its how manyeth life: `"0.2"` is the second of instance 0. */
  readonly host: string;
  /** Its number. */
  readonly call: number;
  /** What it was. */
  readonly what: string;
  /** What it was given. */
  readonly args: Json;
}

/** What a user's call came to. A call without one never came to its end: its host died. */
export interface AnswerEntry {
  /** Which kind of entry it is. */
  readonly type: "answer";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The host, and its how manyeth life: `"0.2"` is the second of instance 0. */
  readonly host: string;
  /** Its number. */
  readonly call: number;
  /** What it was. */
  readonly what: string;
  /** What it was answered. */
  readonly answer?: Json;
  /** The code of the error it failed with. */
  readonly error?: string;
  /** Ids that it was told inside a unit of work, whatever became of it. */
  readonly inside?: readonly string[];
}

/** A handler was called, came to its end, or was told an id by `ctx.schedules`. */
export interface HandlerEntry {
  /** Which kind of entry it is. */
  readonly type: "handler";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The host, and its how manyeth life: `"0.2"` is the second of instance 0. */
  readonly host: string;
  /** The id of the run. */
  readonly run: string;
  /** What it was. */
  readonly what: "called" | "returned" | "threw" | "buffered";
  /** What it was going to do. */
  readonly plan?: string;
  /** With `called`: the point it was told. */
  readonly point?: number;
  /** With `buffered`: the id that it was told. */
  readonly id?: string;
}

/** An event that a scheduler told of. */
export interface EventEntry {
  /** Which kind of entry it is. */
  readonly type: "event";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The host, and its how manyeth life: `"0.2"` is the second of instance 0. */
  readonly host: string;
  /** The name of the event. */
  readonly name: SchedulerEventName;
  /** The id of the schedule. */
  readonly id?: string;
  /** The id of the run. */
  readonly run?: string;
  /** What it counts, if it does. */
  readonly count?: number;
}

/** What is left when everything was stopped and its time is over. */
export interface EndEntry {
  /** Which kind of entry it is. */
  readonly type: "end";
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Ids of documents that are still stored. */
  readonly documents: readonly string[];
  /** Lanes in which the store still finds something to do. */
  readonly lanes: readonly string[];
  /** Timers and deferred calls left in processes that were closed. */
  readonly timers: number;
}

/** One thing that happened in a simulation. Plain JSON; the same for the same seed on every runtime. */
export type TraceEntry =
  | CommitEntry
  | HostEntry
  | StoreClockEntry
  | FailureEntry
  | CallEntry
  | AnswerEntry
  | HandlerEntry
  | EventEntry
  | EndEntry;

/** What a trace keeps of a document: nothing whose text depends on the runtime, such as a stack. */
export function viewOf(document: ScheduleDocument): DocumentView {
  const { history: _history, decisions: _decisions, sketch: _sketch, lastFault: _fault, ...view } = document.progress;
  return document.parked === undefined ? view : { ...view, parked: document.parked };
}

/** The runs that a change took into the history. */
export function endedRuns(before: ScheduleDocument | undefined, after: ScheduleDocument | null): readonly EndedRun[] {
  if (before === undefined || after === null || before.progress.history === after.progress.history) return [];
  const known = new Set(readHistory(before.progress.history).map(({ fence }) => fence));
  return readHistory(after.progress.history).filter(({ fence }) => !known.has(fence)).map(
    ({ fence, point, attempt, outcome }) => ({ fence, point, attempt, outcome }),
  );
}
