import { type AdvanceResult, type Change, type ScheduleDocument, show } from "../contract/mod.ts";
import { changed, type Claim, type Done, park, step, untouched } from "../machine/mod.ts";
import { Backoff } from "./backoff.ts";
import { JumpWatch } from "./jump_watch.ts";
import type { EngineParts } from "./parts.ts";
import { Prefetch } from "./prefetch.ts";
import { Waker } from "./waker.ts";

/** What a pump tells. */
export interface PumpEvents {
  claim(patienceMs: number): Claim;
  /** Documents were moved; what they ask of the world is to be done. */
  moved(values: readonly Done[]): void;
  /** A claim is through; of what it moved it tells the rest. */
  advanced(result: AdvanceResult<Done>): void;
  failed(error: unknown): void;
  /** Nothing is being claimed any more, for now. */
  rested(): void;
}

/** Sleeps until something is due, lets the store apply the step to it, and goes on until nothing is. */
export class Pump {
  readonly #parts: EngineParts;
  readonly #events: PumpEvents;
  readonly #waker: Waker;
  readonly #prefetch = new Prefetch();
  readonly #jumps: JumpWatch;
  readonly #backoff: Backoff;
  #active = false;
  /** Resolves when the claims under way are through; `undefined` while there are none. */
  #pumping: Promise<void> | undefined;
  #again = false;
  /** What a claim under way has moved is being told already. */
  #telling = false;
  /** A slot has come free during the claims under way. */
  #freed = false;
  /** Documents that are due may be left in the store. */
  #more = false;
  #cancelRetry: (() => void) | undefined;
  /** Store time minus this machine's. */
  offset = 0;

  constructor(parts: EngineParts, events: PumpEvents) {
    const { clock, env, leaseMs } = parts;
    this.#parts = parts;
    this.#events = events;
    this.#waker = new Waker(clock, () => this.pump(), () => this.offset, parts.unref);
    this.#jumps = new JumpWatch(clock, leaseMs);
    this.#backoff = new Backoff(clock, env.random);
  }

  start(): void {
    this.#active = true;
    this.#waker.start();
    this.pump();
  }

  /** Claims nothing more; resolves when what is being claimed has come in. */
  async stop(): Promise<void> {
    this.#active = false;
    this.#waker.stop();
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    await this.#pumping;
  }

  /** Whether it claims what is due. */
  get isActive(): boolean {
    return this.#active;
  }

  /** Whether more is on its way, or is claimed as soon as that has come in. */
  get goesOn(): boolean {
    return this.#pumping !== undefined && (this.#again || this.#telling);
  }

  /** Whether nothing is being claimed, nor about to be because the store has failed. */
  get isResting(): boolean {
    return this.#pumping === undefined && this.#cancelRetry === undefined;
  }

  /** Something is to be looked at now. */
  pump(): void {
    if (!this.#active || this.#cancelRetry !== undefined) return;
    if (this.#pumping !== undefined) this.#again = true;
    else this.#pumping = this.#pumpAll();
  }

  /** Something will be due at an instant. */
  wakeAt(instant: number, now: number): void {
    if (!this.#active) return;
    if (instant <= now) this.pump();
    else this.#waker.notLaterThan(instant);
  }

  /** A run has ended; how long it took says how much may be claimed ahead. */
  runEnded(durationMs: number): void {
    this.#prefetch.ended(durationMs);
  }

  /** A slot is free: claims more where more may be due. */
  slotFreed(): void {
    // What the claim under way leaves behind is known at its end.
    if (this.#pumping !== undefined) this.#freed = true;
    else if (this.#isRoomForMore()) this.pump();
  }

  #isRoomForMore(): boolean {
    return this.#more && this.#prefetch.room(this.#parts.slots) > 0;
  }

  async #pumpAll(): Promise<void> {
    const { clock } = this.#parts;
    const done = clock.busy?.();
    try {
      for (let first = true; first || (this.#again && this.#active); first = false) {
        // Others get their turn between two batches: settlements, timers, connections.
        if (!first) await new Promise<void>((resolve) => clock.defer(resolve));
        this.#again = this.#freed = false;
        await this.#pumpOnce();
        this.#again ||= this.#freed && this.#isRoomForMore();
      }
      this.#backoff.reset();
    } catch (error) {
      this.#retry(error);
    } finally {
      this.#telling = false;
      this.#pumping = undefined;
      this.#events.rested();
      done?.();
    }
  }

  #retry(error: unknown): void {
    this.#events.failed(error);
    if (!this.#active) return;
    this.#cancelRetry = this.#backoff.next(() => {
      this.#cancelRetry = undefined;
      this.pump();
    });
  }

  async #pumpOnce(): Promise<void> {
    const { slots, storage, clock, tasks } = this.#parts;
    const limit = this.#prefetch.room(slots);
    this.#more = true;
    if (limit <= 0) return;
    const lanes = this.#lanes();
    const claim = this.#events.claim(this.#jumps.patienceMs());
    const asked = clock.now();
    const request = { lanes, limit, now: asked };
    const result = await storage.advance(request, this.#stepper(claim), (values, now) => {
      this.#telling = true;
      this.offset = now - asked;
      this.#events.moved(values);
    });
    this.#telling = false;
    this.offset = result.now - asked;
    this.#more = result.more || lanes.length <= tasks.size;
    this.#events.advanced(result);
    if (!result.more) {
      if (result.nextWake !== null) this.wakeAt(Math.max(result.nextWake, result.now + 1), result.now);
    } else if (this.#prefetch.room(slots) > 0) this.#again = true;
  }

  /** Lanes of tasks that have room, and that of retired documents. */
  #lanes(): string[] {
    const { tasks, slots } = this.#parts;
    const lanes = [""];
    for (const name of tasks.keys()) if (!slots.isLimited(name) || slots.room(name) > 0) lanes.push(name);
    return lanes;
  }

  /** The step for what is due; leaves documents of a task alone once the task's own limit is claimed. */
  #stepper(claim: Claim): (document: ScheduleDocument, now: number) => Change<Done> {
    const { slots, env, tasks } = this.#parts;
    // As it was when the first of them was claimed: those may have their slots before the last is.
    const room = new Map<string, number>();
    return (document, now) => {
      const { task } = document.definition;
      if (!tasks.has(task) && document.progress.retired === undefined) return strayed(document);
      const left = slots.isLimited(task) ? room.get(task) ?? slots.room(task) : Infinity;
      if (left <= 0) return untouched(document);
      const result = step(document, { type: "due", claim }, now, env);
      if (left < Infinity) room.set(task, left - result.effects.filter(({ type }) => type === "start").length);
      return changed(document, result);
    };
  }
}

/** A document that was found under a task of ours and says that it is of another one: somebody has edited it. */
function strayed(document: ScheduleDocument): Change<Done> {
  const error = `it stands in the lane of another task than its own, ${show(document.definition.task)}`;
  return changed(document, park(document, error));
}
