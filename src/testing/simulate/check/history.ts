import type { CommitEntry, HandlerEntry } from "../trace.ts";

/** What is known of one run. */
export interface RunStory {
  /** The process whose commit started it. */
  readonly process: string;
  readonly point: number;
  /** Its handler was called, and how it ended. */
  called: boolean;
  end?: "returned" | "threw";
}

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
  started({ id, process }: CommitEntry, fence: number, point: number, instance: string): void {
    this.runs.set(Story.runId(id, fence), { process, point, called: false });
    this.#instances.set(instance, process);
  }

  /** The process that holds a run; `undefined` for an instance nobody has heard of. */
  processOf(instance: string): string | undefined {
    return this.#instances.get(instance);
  }

  /** A handler said something; answers what is wrong with that. */
  heard({ run: id, process, what, point }: HandlerEntry): string | undefined {
    const run = this.runs.get(id);
    if (run === undefined) return `the handler of run ${id} was ${what} though no commit has started that run`;
    if (run.process !== process) return `run ${id} was claimed by process ${run.process}, and executes on ${process}`;
    if (what === "called") {
      if (run.called) return `the handler of run ${id} was called twice`;
      if (point !== run.point) return `run ${id} stands for ${run.point}; its handler was told ${point}`;
      run.called = true;
    } else if (what !== "buffered") run.end = what;
    return undefined;
  }
}
