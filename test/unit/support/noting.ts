import { again, defineTask, type Duration, type Task } from "../../../mod.ts";
import type { ManualClock } from "../../../src/testing/mod.ts";

/** One run as its handler saw it. */
export interface Noted {
  /** The point it stood for. */
  readonly point: number;
  /** When its handler was called. */
  readonly at: number;
  readonly missed: number;
  readonly attempt: number;
}

/** How runs behave, told by their number from 0. */
export interface Behaviour {
  /** Virtual time that a run takes. Default none. */
  readonly lasts?: (run: number) => Duration;
  /** Runs that throw. Default none. */
  readonly faults?: (run: number) => boolean;
  /** The delay that a run asks for with `again`. Default none. */
  readonly again?: (run: number) => Duration | undefined;
}

/** A task that notes its runs, and how many of them ran beside one another at most. */
export interface Noting {
  readonly task: Task<undefined>;
  readonly runs: Noted[];
  /** Points of the runs, in seconds since an origin. */
  points(origin: number): number[];
  /** Starts of the runs, in seconds since an origin. */
  starts(origin: number): number[];
  together(): number;
}

/** Makes such a task, named "noting". */
export function noting(clock: ManualClock, { lasts, faults, again: asks }: Behaviour = {}): Noting {
  const runs: Noted[] = [];
  let running = 0;
  let together = 0;
  const task = defineTask<undefined>("noting", async (_input, { scheduledAt, missed, attempt, signal }) => {
    const run = runs.length;
    runs.push({ point: scheduledAt.getTime(), at: clock.now(), missed, attempt });
    together = Math.max(together, ++running);
    try {
      if (lasts !== undefined) await clock.sleep(lasts(run), { signal });
      if (faults?.(run) === true) throw new Error(`run ${run} faults`);
    } finally {
      running--;
    }
    const delay = asks?.(run);
    return delay === undefined ? undefined : again(delay);
  });
  return {
    task,
    runs,
    points: (origin) => runs.map(({ point }) => (point - origin) / 1_000),
    starts: (origin) => runs.map(({ at }) => (at - origin) / 1_000),
    together: () => together,
  };
}
