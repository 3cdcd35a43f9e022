import type { ApiCallName, ApiCalls, TransactionStep, WireSchedule } from "./api.ts";
import { explanationFromWire, infoFromWire, runFromWire, valueToWire } from "./api_json.ts";
import type { ScheduleClient } from "./client.ts";
import type { RunInfo, ScheduleInfo } from "./info.ts";
import type { ChangeOptions, ListFilter, Schedule, ScheduleList, StopOptions, SyncOptions } from "./schedule.ts";
import type { InputAndOptions, TaskRef } from "./transaction_client.ts";
import type { Explanation } from "./explain.ts";
import type { Json } from "./json.ts";
import { invalidOption, isPlainObject } from "./option_errors.ts";
import type { AtOptions, CronOptions, EveryOptions, NextRunsSpec, ScheduleRequest, UpdateRequest } from "./options.ts";
import {
  argument,
  given,
  NO_OPTIONS,
  noOption,
  readOptions,
  requestsToWire,
  requestToWire,
  stepToWire,
  taskToWire,
} from "./remote_requests.ts";
import { RemoteSchedule } from "./remote_schedule.ts";
import type { TaskInfo } from "./task_info.ts";
import type { Duration, Instant } from "./time.ts";

/**
 * The calls of a scheduler at the other end of a transport: those of `Scheduler.as`, with the same answers and the same
 * errors by code. What cannot travel is otherwise: `nextRuns` answers a promise, a transaction is a list of steps, and
 * there is no `within`. What a handler throws in `invoke` arrives with its name and message.
 */
export interface RemoteClient<Extra extends object = object>
  extends Omit<ScheduleClient<Extra>, "principal" | "within" | "transaction" | "nextRuns"> {
  /** See {@linkcode ScheduleClient.nextRuns}. */
  nextRuns(spec: NextRunsSpec, count: number, options?: { readonly from?: Instant }): Promise<Date[]>;
  /**
   * Makes several changes in one commit, all or none (U1); answers in order: a schedule for each creation and update,
   * and for the rest what the call of that name answers. Errors: those of the calls; `conflict`.
   */
  transaction(steps: readonly TransactionStep<Extra>[]): Promise<readonly (Schedule<Extra> | boolean)[]>;
}

/** Carries one call to a {@linkcode SchedulerApi} and back; rejects with what `errorFromWire` makes of its error. */
export type SendCall = <Name extends ApiCallName>(
  name: Name,
  parameters: { readonly [key: string]: Json },
) => Promise<ApiCalls[Name]["answer"]>;

/** Makes the typed client of a transport from the way in which the transport carries a call. */
export function remoteClient<Extra extends object = object>(send: SendCall): RemoteClient<Extra> {
  return new Remote(send) as unknown as RemoteClient<Extra>;
}

class Remote implements RemoteClient {
  readonly #send: SendCall;

  constructor(send: SendCall) {
    this.#send = send;
  }

  at<Input>(task: TaskRef<Input>, when: Instant, ...rest: InputAndOptions<Input, AtOptions>): Promise<Schedule> {
    return this.#create({ task, at: when }, rest);
  }

  after<Input>(task: TaskRef<Input>, delay: Duration, ...rest: InputAndOptions<Input, AtOptions>): Promise<Schedule> {
    return this.#create({ task, after: delay }, rest);
  }

  every<Input>(
    task: TaskRef<Input>,
    interval: Duration,
    ...rest: InputAndOptions<Input, EveryOptions>
  ): Promise<Schedule> {
    return this.#create({ task, every: interval }, rest);
  }

  cron<Input>(
    name: string,
    expression: string,
    task: TaskRef<Input>,
    ...rest: InputAndOptions<Input, CronOptions>
  ): Promise<Schedule> {
    return this.#create({ task, cron: expression, name }, rest);
  }

  async createMany(requests: readonly ScheduleRequest[]): Promise<readonly Schedule[]> {
    const schedules = requestsToWire(requests, "createMany");
    return (await this.#send("createMany", { schedules })).map((wire) => this.#schedule(wire));
  }

  async sync(
    requests: readonly (ScheduleRequest & { readonly name: string })[],
    options: SyncOptions,
  ): Promise<readonly Schedule[]> {
    const parameters = { ...readOptions(options, "sync", ["schedules"]), schedules: requestsToWire(requests, "sync") };
    return (await this.#send("sync", parameters)).map((wire) => this.#schedule(wire));
  }

  async transaction(steps: readonly TransactionStep[]): Promise<readonly (Schedule | boolean)[]> {
    if (!Array.isArray(steps)) throw invalidOption("transaction", steps, "an array of steps");
    const sent = steps.map((step: unknown, i) => stepToWire(step, `transaction[${i}]`));
    const answers = await this.#send("transaction", { steps: sent });
    return answers.map((answer) => typeof answer === "boolean" ? answer : this.#schedule(answer));
  }

  async update(id: string, request: UpdateRequest, options?: ChangeOptions): Promise<Schedule> {
    const parameters = { ...changing(id, options, "update"), to: requestToWire(request, "", "update") };
    return this.#schedule(await this.#send("update", parameters));
  }

  async stop(id: string, options?: StopOptions & ChangeOptions): Promise<boolean> {
    return await this.#send("stop", changing(id, options, "stop"));
  }

  async pause(id: string, options?: ChangeOptions): Promise<boolean> {
    return await this.#send("pause", changing(id, options, "pause"));
  }

  async resume(id: string, options?: ChangeOptions): Promise<boolean> {
    return await this.#send("resume", changing(id, options, "resume"));
  }

  async trigger(id: string, options?: ChangeOptions): Promise<boolean> {
    return await this.#send("trigger", changing(id, options, "trigger"));
  }

  async abortRun(runId: string): Promise<boolean> {
    return await this.#send("abortRun", { runId: argument(runId, "runId") });
  }

  async stopFor(target: string, options?: StopOptions): Promise<number> {
    return await this.#send("stopFor", {
      ...readOptions(options, "stopFor", ["target"]),
      target: argument(target, "target"),
    });
  }

  async invoke<Input>(task: TaskRef<Input>, ...rest: readonly unknown[]): Promise<unknown> {
    const input = valueToWire(rest[0], "input", "input");
    return await this.#send("invoke", { task: taskToWire(task), ...(input === undefined ? {} : { input }) });
  }

  async valid(id: string): Promise<boolean> {
    return await this.#send("valid", { id: argument(id, "id") });
  }

  async info(id: string): Promise<ScheduleInfo> {
    return infoFromWire(await this.#send("info", { id: argument(id, "id") }));
  }

  async explain(id: string): Promise<Explanation> {
    return explanationFromWire(await this.#send("explain", { id: argument(id, "id") }));
  }

  async runs(id: string): Promise<readonly RunInfo[]> {
    return (await this.#send("runs", { id: argument(id, "id") })).map(runFromWire);
  }

  async running(): Promise<readonly RunInfo[]> {
    return (await this.#send("running", {})).map(runFromWire);
  }

  list(filter?: ListFilter): ScheduleList {
    const page = async (cursor?: string) => {
      const asked = readOptions(filter, "list", []);
      const { schedules, ...rest } = await this.#send("list", cursor === undefined ? asked : { ...asked, cursor });
      return { schedules: schedules.map((wire) => this.#schedule(wire)), ...rest };
    };
    return {
      page: () => page(),
      async *[Symbol.asyncIterator]() {
        let next: string | undefined;
        do {
          const { schedules, cursor } = await page(next);
          yield* schedules;
          next = cursor;
        } while (next !== undefined);
      },
    };
  }

  async listFor(target: string): Promise<readonly Schedule[]> {
    const found = await this.#send("listFor", { target: argument(target, "target") });
    return found.map((wire) => this.#schedule(wire));
  }

  async tasks(): Promise<readonly TaskInfo[]> {
    return await this.#send("tasks", {});
  }

  async nextRuns(spec: NextRunsSpec, count: number, options?: { readonly from?: Instant }): Promise<Date[]> {
    const from = readOptions(options, "nextRuns", ["spec", "count"]);
    const parameters = { ...from, spec: argument(spec, "spec"), count: argument(count, "count") };
    return (await this.#send("nextRuns", parameters)).map((instant) => new Date(instant));
  }

  async #create(request: Readonly<Record<string, unknown>>, [input, options]: readonly unknown[]): Promise<Schedule> {
    if (options !== undefined && !isPlainObject(options)) {
      throw invalidOption("options", options, "an object of options");
    }
    for (const key of Object.keys(options ?? {})) {
      if (NO_OPTIONS.includes(key)) throw noOption(key, "");
      if (key in request) throw invalidOption(key, (options as Record<string, unknown>)[key], "it before the options");
    }
    const schedule = requestToWire({ ...options as object, ...given(request), input }, "", "schedule");
    return this.#schedule(await this.#send("create", { schedule }));
  }

  #schedule(wire: WireSchedule): Schedule {
    return new RemoteSchedule(wire, this);
  }
}

/** A change of one schedule, with its options beside the id. */
function changing(id: string, options: unknown, where: string): { readonly [key: string]: Json } {
  return { ...readOptions(options, where, ["id", "to"]), id: argument(id, "id") };
}
