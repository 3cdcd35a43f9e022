/**
 * `/metrics`: what one instance did since it was made, and what waits in its store, as Prometheus reads it.
 *
 * @module
 */
import type { Backlog, ObservedEvent, TaskBacklog } from "../../../src/contract/mod.ts";
import { CONTENT_TYPE, Counter, Histogram, type LabelValues, writeGauge } from "./exposition.ts";
import { MAX_TASK_LABELS, SCRAPE_TIMEOUT_MS } from "./limits.ts";
import type { ObservedScheduler } from "./served.ts";
import type { StoreLook } from "./store_look.ts";

/** Upper bounds in seconds: from a tick to an hour, the longest that most alert on. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

/** The label of every task beyond the limit. */
const OTHER = "other";

/** The calls to the store that the event `storeError` tells of. */
const STORE_OPERATIONS = ["advance", "settle", "renew", "backlog"];

/** Gathers metrics of a scheduler from its making on. Every label has few values, whatever is scheduled. */
export class Metrics {
  readonly #look: StoreLook;
  readonly #labels = new Set<string>();
  readonly #runs = new Counter({
    name: "ostinato_runs_total",
    help: "Runs that are over, by task and outcome: succeeded, faulted, timeout, aborted, lost.",
    labels: ["task", "outcome"],
  });
  readonly #duration = new Histogram({
    name: "ostinato_run_duration_seconds",
    help: "How long runs took.",
    labels: ["task"],
  }, SECONDS);
  readonly #lateness = new Histogram({
    name: "ostinato_run_lateness_seconds",
    help: "From when a run was due to its start.",
    labels: ["task"],
  }, SECONDS);
  readonly #missed = new Counter({
    name: "ostinato_missed_points_total",
    help: "Cadence points that catchup dropped or folded into a run.",
    labels: ["task"],
  });
  readonly #overlapped = new Counter({
    name: "ostinato_overlapped_points_total",
    help: "Cadence points that overlap dropped, and runs that it replaced.",
    labels: ["task"],
  });
  readonly #leasesLost = new Counter({
    name: "ostinato_leases_lost_total",
    help: "Runs of this instance whose lease ran out before they were over.",
    labels: ["task"],
  });
  readonly #storeErrors = new Counter({
    name: "ostinato_store_errors_total",
    help: "Calls to the store that failed and were tried again, by operation.",
    labels: ["operation"],
  });

  constructor(scheduler: Pick<ObservedScheduler, "observe">, look: StoreLook) {
    this.#look = look;
    for (const operation of STORE_OPERATIONS) this.#storeErrors.add([operation], 0);
    scheduler.observe((observed) => this.#note(observed));
  }

  /** Answers a scrape; while the store is away, without what only it knows. */
  async scrape(): Promise<Response> {
    const backlog = await this.#look.within(SCRAPE_TIMEOUT_MS).catch(() => undefined);
    const counted = [
      this.#runs,
      this.#duration,
      this.#lateness,
      this.#missed,
      this.#overlapped,
      this.#leasesLost,
      this.#storeErrors,
    ];
    const text = counted.map((metric) => metric.write()).join("") + this.#writeStore(backlog);
    return new Response(text, { headers: { "content-type": CONTENT_TYPE, "cache-control": "no-store" } });
  }

  #note({ name, event }: ObservedEvent): void {
    switch (name) {
      case "started":
        return this.#lateness.observe(this.#taskLabel(event.schedule.task), (event.run.latenessMs ?? 0) / 1_000);
      case "succeeded":
      case "faulted": {
        const { schedule: { task }, run: { durationMs = 0, outcome = name } } = event;
        const label = this.#taskLabel(task);
        this.#runs.add([...label, outcome]);
        return this.#duration.observe(label, durationMs / 1_000);
      }
      case "lost":
        return this.#runs.add([...this.#taskLabel(event.schedule.task), "lost"]);
      case "missed":
        return this.#missed.add(this.#taskLabel(event.schedule.task), event.count);
      case "overlapped":
        return this.#overlapped.add(this.#taskLabel(event.schedule.task), event.count);
      case "leaseLost":
        return this.#leasesLost.add(this.#taskLabel(event.schedule.task));
      case "storeError":
        return this.#storeErrors.add([event.operation]);
    }
  }

  #taskLabel(task: string): LabelValues {
    if (this.#labels.has(task)) return [task];
    const isOther = this.#labels.size >= MAX_TASK_LABELS;
    if (!isOther) this.#labels.add(task);
    const label = [isOther ? OTHER : task];
    // What is rare begins at 0: an alert on its growth does not see a series whose first value is its first event.
    for (const rare of [this.#missed, this.#overlapped, this.#leasesLost]) rare.add(label, 0);
    return label;
  }

  #writeStore(backlog: Backlog | undefined): string {
    const up = writeGauge({ name: "ostinato_store_up", help: "Whether the store answered this scrape." }, [
      [[], backlog === undefined ? 0 : 1],
    ]);
    if (backlog === undefined) return up;
    const { at, tasks } = backlog;
    const here = tasks.filter(({ registered }) => registered);
    const age = ({ oldest }: TaskBacklog) =>
      oldest === null ? 0 : Math.max(0, (at.getTime() - oldest.getTime()) / 1_000);
    const add = (a: number, b: number) => a + b;
    return up + writeGauge({
      name: "ostinato_due_schedules",
      help: "Schedules in the store that are due and not taken, of tasks that this instance has; counted to a limit.",
      labels: ["task"],
    }, this.#byTask(here, ({ due }) => due, add)) + writeGauge({
      name: "ostinato_unclaimed_schedules",
      help: "The same, of tasks that this instance lacks.",
      labels: ["task"],
    }, this.#byTask(tasks.filter(({ registered }) => !registered), ({ due }) => due, add)) + writeGauge({
      name: "ostinato_oldest_overdue_seconds",
      help: "Since when the longest due schedule of a task waits; 0 when none does.",
      labels: ["task"],
    }, this.#byTask(tasks, age, Math.max));
  }

  #byTask(
    tasks: readonly TaskBacklog[],
    read: (task: TaskBacklog) => number,
    merge: (a: number, b: number) => number,
  ): (readonly [LabelValues, number])[] {
    const values = new Map<string, number>();
    for (const task of tasks) {
      const [label] = this.#taskLabel(task.task) as [string];
      const before = values.get(label);
      values.set(label, before === undefined ? read(task) : merge(before, read(task)));
    }
    return [...values].map(([label, value]) => [[label], value]);
  }
}
