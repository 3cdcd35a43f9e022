import { DEFAULT_BACKLOG_COUNT, UNCLAIMED_AFTER_MS, UNCLAIMED_CHECK_MS } from "../contract/mod.ts";
import type { EngineParts } from "./parts.ts";

/**
 * Tells of deadlines that are due and that no instance takes, because none has their task (M2). Asks the store at the
 * start, when such a deadline comes due, after other instances' changes, and again where the store failed; at most once a
 * minute.
 */
export class Unclaimed {
  readonly #parts: EngineParts;
  readonly #now: () => number;
  readonly #failed: (error: unknown) => void;
  #cancel: (() => void) | undefined;
  #lookedMono = -Infinity;
  #stopped = false;

  constructor(parts: EngineParts, now: () => number, failed: (error: unknown) => void) {
    this.#parts = parts;
    this.#now = now;
    this.#failed = failed;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** Other instances have changed something. */
  hinted(): void {
    this.#lookIn(Math.max(0, this.#lookedMono + UNCLAIMED_CHECK_MS - this.#parts.clock.monotonic()));
  }

  /** Looks now, and again when the next such deadline will be overdue. */
  look(): void {
    if (this.#stopped) return;
    const { clock, storage } = this.#parts;
    this.#lookedMono = clock.monotonic();
    const done = clock.busy?.();
    storage.backlog(this.#now(), DEFAULT_BACKLOG_COUNT)
      .then((lanes) => this.#tell(lanes), (error) => this.#tryAgain(error))
      .finally(() => done?.());
  }

  #tryAgain(error: unknown): void {
    if (this.#stopped) return;
    this.#failed(error);
    this.#lookIn(UNCLAIMED_CHECK_MS);
  }

  #tell(lanes: readonly { readonly task: string; readonly due: number; readonly earliest: number }[]): void {
    if (this.#stopped) return;
    const now = this.#now();
    let next = Infinity;
    for (const { task, due, earliest } of lanes) {
      if (task === "" || this.#parts.tasks.has(task)) continue;
      const overdueAt = earliest + UNCLAIMED_AFTER_MS;
      next = Math.min(next, overdueAt > now ? overdueAt : now + UNCLAIMED_CHECK_MS);
      if (overdueAt > now) continue;
      this.#parts.logger.warn(`${due} due schedules of task "${task}" wait for an instance that has it`);
      this.#parts.emitter.emit("unclaimed", { task, due, oldest: new Date(earliest) });
    }
    if (next !== Infinity) this.#lookIn(next - now);
  }

  #lookIn(delayMs: number): void {
    if (this.#stopped) return;
    this.#cancel?.();
    const { clock, unref } = this.#parts;
    this.#cancel = clock.setTimer(() => this.look(), Math.min(delayMs, UNCLAIMED_CHECK_MS), { unref });
  }
}
