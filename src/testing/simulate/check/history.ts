import type { RunOutcome } from "../../../contract/mod.ts";
import type { CommitEntry, EventEntry, HandlerEntry } from "../trace.ts";

/** What is known of one run. */
export interface RunStory {
  /** The host whose commit started it. */
  readonly host: string;
  readonly point: number;
  /** Its handler was called, and how it ended. */
  called: boolean;
  end?: "returned" | "threw";
  /** How it ended, by a commit. */
  outcome?: RunOutcome;
}

/** Events that tell of a run's end, with the outcomes that they may tell of. */
const ENDS: Readonly<Record<string, readonly RunOutcome[]>> = {
  succeeded: ["succeeded"],
  faulted: ["faulted", "timeout", "aborted"],
  lost: ["lost"],
};

/** What the trace has told so far of runs and of the processes that hold them. */
export class Story {
  readonly runs = new Map<string, RunStory>();
  /** Processes by the ids that their schedulers gave themselves. */
  readonly #instances = new Map<string, string>();

  static runId(schedule: string, fence: number): string {
    return `${schedule}-${fence.toString(36)}`;
  }

  run(schedule: string, fence: number): RunStory | undefined {
    return this.runs.get(Story.runId(schedule, fence));
  }

  /** A commit started a run. */
  started({ id, host }: CommitEntry, fence: number, point: number, instance: string): void {
    this.runs.set(Story.runId(id, fence), { host, point, called: false });
    this.#instances.set(instance, host);
  }

  /** A commit took runs into the history. */
  committed({ id, ended }: CommitEntry): void {
    for (const { fence, outcome } of ended) {
      const run = this.run(id, fence);
      if (run !== undefined) run.outcome = outcome;
    }
  }

  /** A scheduler told of something; answers what is wrong with that. */
  told({ name, run: id }: EventEntry): string | undefined {
    const expected = ENDS[name];
    if (expected === undefined || id === undefined) return undefined;
    const outcome = this.runs.get(id)?.outcome;
    return outcome !== undefined && expected.includes(outcome)
      ? undefined
      : `"${name}" was told of run ${id}, which ${outcome === undefined ? "has not ended" : `is ${outcome}`}`;
  }

  /** The host that holds a run; `undefined` for an instance nobody has heard of. */
  hostOf(instance: string): string | undefined {
    return this.#instances.get(instance);
  }

  /** A handler said something; answers what is wrong with that. */
  heard({ run: id, host, what, point }: HandlerEntry): string | undefined {
    const run = this.runs.get(id);
    if (run === undefined) return `the handler of run ${id} was ${what} though no commit has started that run`;
    if (run.host !== host) return `run ${id} was claimed by host ${run.host}, and executes on ${host}`;
    if (what === "called") {
      if (run.called) return `the handler of run ${id} was called twice`;
      if (point !== run.point) return `run ${id} stands for ${run.point}; its handler was told ${point}`;
      run.called = true;
    } else if (what !== "buffered") run.end = what;
    return undefined;
  }
}
