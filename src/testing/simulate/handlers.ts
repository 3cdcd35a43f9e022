import { again, type AnyTask, type RunContext } from "../../contract/mod.ts";
import { defineTask } from "../../scheduler/define_task.ts";
import type { SimulatedHost } from "./host.ts";
import type { Random } from "./random.ts";
import { type TaskName, TASKS } from "./scenario.ts";
import type { TraceEntry } from "./trace.ts";

/** What handlers are made of. */
export interface HandlerParts {
  readonly host: SimulatedHost;
  readonly random: Random;
  readonly trace: TraceEntry[];
  readonly now: () => number;
}

/** Handlers whose schedules were made by handlers make no more. */
const MAX_DEPTH = 1;

type Plan =
  | "return"
  | "throw"
  | "work"
  | "work and throw"
  | "work long"
  | "hang"
  | "ignore the signal"
  | "again"
  | "again, invalid"
  | "retire"
  | "buffer"
  | "buffer and throw";

/** The tasks of one host, whose handlers do as the seed says. */
export function makeTasks(names: readonly TaskName[], parts: HandlerParts): readonly AnyTask[] {
  return names.map((name) =>
    defineTask(name, { ...TASKS[name], run: (input, ctx) => new Call(name, parts, ctx).run(depthOf(input)) })
  );
}

function depthOf(input: unknown): number {
  return (input as { readonly depth?: number } | undefined)?.depth ?? 0;
}

/** One call of a handler. */
class Call {
  readonly #parts: HandlerParts;
  readonly #ctx: RunContext;
  readonly #random: Random;
  readonly #task: TaskName;
  readonly #run: string;

  constructor(task: TaskName, parts: HandlerParts, ctx: RunContext) {
    this.#task = task;
    this.#parts = parts;
    this.#ctx = ctx;
    this.#run = ctx.runId;
    // From the run's id, so that a run does the same whatever else happens.
    this.#random = parts.random.fork(ctx.runId);
  }

  run(depth: number): unknown {
    const plan = this.#plan(depth);
    this.#note("called", { plan, point: this.#ctx.scheduledAt.getTime() });
    if (plan === "return") return this.#returned(undefined);
    if (plan === "throw") {
      this.#note("threw");
      throw new Error("as planned");
    }
    return this.#act(plan, depth).then((value) => this.#returned(value), (error) => {
      this.#note("threw");
      throw error;
    });
  }

  #plan(depth: number): Plan {
    return this.#random.weighted<Plan>([
      [40, "return"],
      [8, "throw"],
      [20, "work"],
      [5, "work and throw"],
      [this.#task === "slow" ? 20 : 4, "work long"],
      [3, "hang"],
      // Nothing else would ever end it.
      [this.#task === "strict" ? 4 : 0, "ignore the signal"],
      [6, "again"],
      [1, "again, invalid"],
      [0.5, "retire"],
      [depth < MAX_DEPTH ? 5 : 0, "buffer"],
      [depth < MAX_DEPTH ? 3 : 0, "buffer and throw"],
    ]);
  }

  async #act(plan: Exclude<Plan, "return" | "throw">, depth: number): Promise<unknown> {
    const { host } = this.#parts;
    switch (plan) {
      case "work":
        return await host.sleep(this.#random.scale(5, 5_000), this.#ctx.signal);
      case "work and throw":
        await host.sleep(this.#random.scale(5, 5_000), this.#ctx.signal);
        throw new Error("as planned");
      case "work long":
        return await host.sleep(this.#random.scale(5_000, 240_000), this.#ctx.signal);
      case "hang":
        return await host.sleep(300_000, this.#ctx.signal);
      case "ignore the signal":
        return await host.sleep(120_000);
      case "again":
        return again(this.#random.scale(1, 600_000));
      case "again, invalid":
        return again(-1);
      case "retire":
        return this.#ctx.retire("as planned");
      case "buffer":
        return await this.#buffer(depth);
      case "buffer and throw":
        await this.#buffer(depth);
        throw new Error("as planned");
    }
  }

  async #buffer(depth: number): Promise<void> {
    const { schedules, schedule } = this.#ctx;
    const input = { depth: depth + 1 };
    for (let left = this.#random.int(1, 3); left > 0; left--) {
      const delay = this.#random.scale(1, 300_000);
      const made = this.#random.chance(0.7)
        ? await schedules.after(this.#task, delay, input)
        : await schedules.every(this.#task, Math.max(60_000, delay), input, { maxRuns: this.#random.int(1, 3) });
      this.#note("buffered", { id: made.id });
    }
    if (this.#random.chance(0.3)) await this.#parts.host.sleep(this.#random.scale(5, 5_000), this.#ctx.signal);
    const [stops, pauses] = [this.#random.chance(0.1), this.#random.chance(0.1)];
    if (stops) await schedules.stop(schedule.id);
    else if (pauses) await schedules.pause(schedule.id);
  }

  #returned(value: unknown): unknown {
    this.#note("returned");
    return value;
  }

  #note(what: "called" | "returned" | "threw" | "buffered", more: object = {}): void {
    const { trace, host, now } = this.#parts;
    trace.push({ type: "handler", at: now(), host: host.name, run: this.#run, what, ...more });
  }
}
