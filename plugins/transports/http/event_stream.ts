/**
 * `/v1/events`: what happens on one instance, as server-sent events, for any number of readers. There is one listener, one
 * timer for what is to be sent and one for signs of life, whatever the number of streams.
 *
 * @module
 */
import { type ObservedEvent, plainOptions, type Principal, wholeNumber } from "../../../src/contract/mod.ts";
import { Audience } from "./audience.ts";
import type { EventFilter } from "./event_filter.ts";
import { EventReader } from "./event_reader.ts";
import { EventRing } from "./event_ring.ts";
import type { ObservedScheduler } from "./served.ts";
import { HEARTBEAT_MS, KEPT_EVENTS, MAX_STREAM_AGE_MS, MAX_STREAMS, MAX_STREAMS_OF_ONE, STALL_MS } from "./limits.ts";
import { PoliteLine } from "./polite_line.ts";

/** Bounds of the event streams of one instance. */
export interface EventStreamOptions {
  /** Events kept for streams that come back, from 1 to 100,000. Default 10,000. */
  readonly keep?: number;
  /** Streams at once, from 1 to 100,000. Default 10,000. */
  readonly streams?: number;
  /** Streams at once of one principal, from 1 to 100,000. Default 1,000. */
  readonly streamsOfOne?: number;
}

/** Checked {@linkcode EventStreamOptions}. */
export type EventStreamRules = Required<EventStreamOptions>;

/** @throws {SchedulerError} `unknown_option`, `invalid_option`. */
export function eventStreamRules(options: EventStreamOptions = {}): EventStreamRules {
  const given = plainOptions(options, ["keep", "streams", "streamsOfOne"], "http.events");
  const read = (key: keyof EventStreamRules, otherwise: number) =>
    wholeNumber(given[key] ?? otherwise, 1, 100_000, `http.events.${key}`);
  return {
    keep: read("keep", KEPT_EVENTS),
    streams: read("streams", MAX_STREAMS),
    streamsOfOne: read("streamsOfOne", MAX_STREAMS_OF_ONE),
  };
}

/** Who asks for a stream, and for what. */
export interface StreamRequest {
  readonly principal: Principal;
  readonly filter: EventFilter;
  /** The header `Last-Event-ID`. */
  readonly lastId: string | undefined;
}

/** Why there is no stream: the scheduler is closed, or there are too many, of this principal or in all. */
export type StreamRefusal = "closed" | "streams" | "streamsOfOne";

/** The stream's other half: what its bytes are given to. */
type Controller = ReadableStreamDefaultController<Uint8Array>;

/** The event streams of one instance. It observes the scheduler from the first stream on. */
export class EventStreams {
  readonly #scheduler: ObservedScheduler;
  readonly #rules: EventStreamRules;
  readonly #ring: EventRing;
  readonly #readers = new Map<EventReader, Controller>();
  readonly #audience = new Audience();
  readonly #line = new PoliteLine(() => this.#audience.takeFresh(), (reader) => this.#serve(reader));
  #watching: ReturnType<typeof setInterval> | undefined;
  #isObserving = false;
  #isClosed = false;

  constructor(scheduler: ObservedScheduler, rules: EventStreamRules) {
    this.#scheduler = scheduler;
    this.#rules = rules;
    this.#ring = new EventRing(rules.keep, crypto.randomUUID().replaceAll("-", ""));
    scheduler.on("closed", () => this.#close());
  }

  /** Streams that are open. */
  get size(): number {
    return this.#readers.size;
  }

  /** Opens a stream. It ends when its reader cancels it, takes nothing for too long, or the scheduler is closed. */
  open({ principal, filter, lastId }: StreamRequest): ReadableStream<Uint8Array> | StreamRefusal {
    if (this.#isClosed) return "closed";
    if (this.#readers.size >= this.#rules.streams) return "streams";
    if (this.#audience.countOf(principal) >= this.#rules.streamsOfOne) return "streamsOfOne";
    this.#observe();
    const now = performance.now();
    // Those that were opened together do not all come back together.
    const endsAt = now + MAX_STREAM_AGE_MS * (0.9 + Math.random() / 10);
    const reader = new EventReader(this.#ring, principal, filter, lastId, { now, endsAt });
    return new ReadableStream<Uint8Array>({
      start: (controller) => this.#enter(reader, controller),
      pull: () => {
        reader.isWaiting = true;
        this.#serve(reader);
      },
      cancel: () => this.#leave(reader),
    }, { highWaterMark: 0 });
  }

  #observe(): void {
    if (this.#isObserving) return;
    this.#isObserving = true;
    this.#scheduler.observe((observed) => this.#note(observed));
  }

  #note(observed: ObservedEvent): void {
    if (observed.name === "closed") return;
    const number = this.#ring.next;
    const { owner } = this.#ring.push(observed);
    if (this.#audience.note(owner, number)) this.#line.call();
  }

  #enter(reader: EventReader, controller: Controller): void {
    this.#readers.set(reader, controller);
    this.#audience.add(reader);
    this.#watching ??= setInterval(() => this.#watch(), HEARTBEAT_MS / 3);
  }

  #leave(reader: EventReader): void {
    if (!this.#readers.delete(reader)) return;
    this.#audience.remove(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#watching);
    this.#watching = undefined;
  }

  /** Gives a reader that waits what there is for it. */
  #serve(reader: EventReader): void {
    reader.isQueued = false;
    const controller = this.#readers.get(reader);
    if (controller === undefined || !reader.isWaiting) return;
    const piece = reader.take() ?? (reader.needsBeat ? reader.beat() : undefined);
    if (piece === undefined) return;
    reader.needsBeat = false;
    reader.isWaiting = false;
    reader.gaveAt = performance.now();
    controller.enqueue(piece);
  }

  /** Looks after readers that are silent, stuck, or here for too long. */
  #watch(): void {
    const now = performance.now();
    let isAny = false;
    for (const [reader, controller] of this.#readers) {
      const silentMs = now - reader.gaveAt;
      if (now >= reader.endsAt) this.#end(reader, controller);
      else if (!reader.isWaiting && silentMs >= STALL_MS) {
        this.#leave(reader);
        controller.error(new Error("the reader took nothing for too long"));
      } else if (reader.isWaiting && silentMs >= HEARTBEAT_MS) {
        this.#audience.beat(reader, this.#ring.next);
        isAny = true;
      }
    }
    if (isAny) this.#line.call();
  }

  #end(reader: EventReader, controller: Controller): void {
    this.#leave(reader);
    const piece = reader.take();
    if (piece !== undefined) controller.enqueue(piece);
    controller.close();
  }

  #close(): void {
    this.#isClosed = true;
    for (const [reader, controller] of this.#readers) this.#end(reader, controller);
    this.#line.stop();
  }
}
