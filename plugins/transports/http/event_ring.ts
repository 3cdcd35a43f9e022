import {
  EVENT_NAMES,
  isSchedulerError,
  type ObservedEvent,
  type Principal,
  type SchedulerEventName,
  toWire,
} from "../../../src/contract/mod.ts";

/** The events that are streamed. `closed` is none: the stream's end tells it. */
export const STREAMED: readonly SchedulerEventName[] = EVENT_NAMES.filter((name) => name !== "closed");

/** An event of a stream. */
export interface KeptEvent {
  readonly name: SchedulerEventName;
  /** Whose schedule it is about; absent: it is about no schedule, and for admins alone. */
  readonly owner?: string;
  /** The schedule's id. */
  readonly schedule?: string;
  readonly task?: string;
  /** As it is sent; the same bytes for every stream. */
  bytes(): Uint8Array;
}

/** Whether a principal may see an event: an admin any, others those of their own schedules (P2). */
export function maySee({ id, admin }: Principal, { owner }: KeptEvent): boolean {
  return admin === true || owner === id;
}

/** Why events are missing from a stream: more came than are kept, or they were another instance's or life's. */
export type GapReason = "overrun" | "other_instance";

/**
 * The latest events of one instance, numbered from 1. Their ids do not tell the numbers: they would tell everybody how
 * much happens that is not theirs.
 */
export class EventRing {
  readonly #size: number;
  readonly #life: string;
  readonly #events: KeptEvent[] = [];
  /** What stands for a number in ids, of each event that is kept and of the one before them, by number. */
  readonly #marks: string[] = [];
  readonly #numbers = new Map<string, number>();
  #next = 1;

  /**
   * @param size How many are kept.
   * @param life Unlike that of any other ring, so that a number of another instance, or of an earlier life, is known as such.
   */
  constructor(size: number, life: string) {
    this.#size = size;
    this.#life = life;
    this.#mark(0);
  }

  /** The number that the next event gets. */
  get next(): number {
    return this.#next;
  }

  /** The number of the oldest event that is kept. */
  get first(): number {
    return Math.max(1, this.#next - this.#size);
  }

  at(number: number): KeptEvent {
    return this.#events[number % this.#size]!;
  }

  push(observed: ObservedEvent): KeptEvent {
    const number = this.#next++;
    this.#mark(number);
    const kept = keep(observed, this.idOf(number));
    this.#events[number % this.#size] = kept;
    return kept;
  }

  /** The id that says "up to this event", of one that is kept or the one before them. */
  idOf(number: number): string {
    return `${this.#life}-${this.#marks[number % (this.#size + 1)]}`;
  }

  /** The number in an id, or why there is none. */
  numberOf(id: string): number | GapReason {
    const [, life, mark] = /^([0-9a-z]{1,40})-([0-9a-f]{16})$/.exec(id) ?? [];
    return life !== this.#life ? "other_instance" : this.#numbers.get(mark!) ?? "overrun";
  }

  #mark(number: number): void {
    const slot = number % (this.#size + 1);
    if (this.#marks[slot] !== undefined) this.#numbers.delete(this.#marks[slot]);
    const mark = newMark();
    this.#marks[slot] = mark;
    this.#numbers.set(mark, number);
  }
}

function newMark(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const encoder = new TextEncoder();

/** One message of a stream. */
export function message(fields: { readonly id: string; readonly event?: string; readonly data?: unknown }): Uint8Array {
  const { id, event, data } = fields;
  const named = event === undefined ? "" : `event: ${event}\ndata: ${JSON.stringify(data)}\n`;
  return encoder.encode(`id: ${id}\n${named}\n`);
}

function keep(observed: ObservedEvent, id: string): KeptEvent {
  const { name, event } = observed;
  const about = "schedule" in event
    ? { owner: event.schedule.owner, schedule: event.schedule.id, task: event.schedule.task }
    : "task" in event
    ? { task: event.task }
    : {};
  let pending: ObservedEvent | undefined = observed;
  let bytes: Uint8Array | undefined;
  return {
    name,
    ...about,
    bytes() {
      if (pending !== undefined) bytes = message({ id, event: name, data: toWire(told(pending)) });
      pending = undefined;
      return bytes!;
    },
  };
}

/** What of an event leaves the process: no stacks, and of the store's errors only the code, since drivers put addresses into messages. */
function told({ name, event }: ObservedEvent): unknown {
  if (name === "storeError") {
    const { operation, error } = event;
    return isSchedulerError(error) ? { operation, code: error.code } : { operation };
  }
  if (name !== "faulted") return event;
  const { name: error, message, at } = event.fault;
  return { ...event, fault: { name: error, message, at: new Date(at) } };
}
