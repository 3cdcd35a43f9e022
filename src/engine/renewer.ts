import type { Group, ScheduleDocument } from "../contract/mod.ts";
import { changed, type Done, step, untouched } from "../machine/mod.ts";
import type { Execution } from "./execution.ts";
import type { EngineParts } from "./parts.ts";

/** Runs shorter than this end by themselves before an abort from elsewhere would reach them. */
const LASTING_MS = 500;

/** Share of a lease below which it is renewed: two thirds are left at the first look, and a timer may be a little early. */
const RENEWED_BELOW = 0.7;

/** What a renewer tells. */
export interface RenewerEvents {
  now(): number;
  /** Runs that this instance holds. */
  held(): Iterable<Execution>;
  /** Somebody else has the run now (M3). */
  lost(execution: Execution): void;
  /** A renewal is committed; its document may ask for the run to be aborted. */
  renewed(execution: Execution, done: Done): void;
  failed(error: unknown): void;
}

/** Extends the leases of runs that last, three times in a lease's length (M3). */
export class Renewer {
  readonly #parts: EngineParts;
  readonly #events: RenewerEvents;
  #cancel: (() => void) | undefined;
  #closed = false;
  /** Somebody has changed something since the last look began. */
  #hinted = false;
  #looking = false;

  constructor(parts: EngineParts, events: RenewerEvents) {
    this.#parts = parts;
    this.#events = events;
  }

  /** Runs are held: looks after them until none is. */
  watch(): void {
    if (this.#cancel !== undefined || this.#closed) return;
    const { clock, leaseMs, unref } = this.#parts;
    this.#cancel = clock.setTimer(
      () => {
        this.#cancel = undefined;
        void this.#renew().then((held) => held ? this.watch() : undefined);
      },
      leaseMs / 3,
      { unref },
    );
  }

  stop(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  /** Others have changed something, perhaps a run of ours: looks, and once more for all that is told meanwhile. */
  hinted(): void {
    this.#hinted = true;
    if (!this.#looking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#hinted && !this.#closed) {
      this.#hinted = false;
      await this.#renew(true);
    }
    this.#looking = false;
  }

  /**
   * Renews leases with some two thirds left, or less; with `asked`, looks at all runs that have lasted, to learn whether
   * somebody wants them aborted. Looking writes nothing, so that it is no news to other instances in turn. Answers
   * whether any run is held.
   */
  async #renew(asked = false): Promise<boolean> {
    const { clock, leaseMs, storage } = this.#parts;
    const held = [...this.#events.held()].filter((execution) => !execution.over);
    const before = this.#events.now() + leaseMs * RENEWED_BELOW;
    const longSince = clock.monotonic() - LASTING_MS;
    // One that lasts longer than a lease can was made before the clock stepped back: nobody would miss us for as long (T8).
    const longest = this.#events.now() + leaseMs;
    const renews = ({ leaseUntil }: Execution) => leaseUntil <= before || leaseUntil > longest;
    const due = held.filter((execution) =>
      renews(execution) || (asked && (execution.startedMono ?? Infinity) < longSince)
    );
    if (due.length === 0) return held.length > 0;
    const done = clock.busy?.();
    try {
      const groups = due.map((execution) => this.#group(execution, renews(execution)));
      const results = await storage.apply(groups, this.#events.now());
      results.forEach((result, index) => {
        if (result.committed) this.#tell(due[index]!, result.values[0]!);
      });
    } catch (error) {
      this.#events.failed(error);
    } finally {
      done?.();
    }
    return true;
  }

  #group(execution: Execution, renews: boolean): Group<Done> {
    const { env, instance, leaseMs } = this.#parts;
    return [{
      select: { id: execution.document.id },
      decide(before, now) {
        if (before === undefined) return untouched(before);
        const fences = [execution.run.fence];
        const result = renews
          ? step(before, { type: "renewed", fences, instance, leaseMs }, now, env)
          : { document: before, effects: [], answer: isHeld(before, execution) };
        return changed(before, result);
      },
    }];
  }

  #tell(execution: Execution, done: Done): void {
    if (execution.over) return;
    if (done.result.answer) {
      if (done.before !== done.result.document) execution.leaseUntil = this.#events.now() + this.#parts.leaseMs;
      this.#events.renewed(execution, done);
    } else if (done.before !== undefined) this.#events.lost(execution);
    // Its schedule was stopped: a run in progress goes on and nobody will ask for it (L2), one that waits never starts.
    else if (execution.startedMono === undefined) execution.abort("stopped");
  }
}

function isHeld({ progress }: ScheduleDocument, { run }: Execution): boolean {
  return progress.runs.some(({ fence, instance }) => fence === run.fence && instance === run.instance);
}
