import type { WireSchedule } from "./api.ts";
import type { RunInfo, ScheduleInfo } from "./info.ts";
import type { ChangeOptions, Schedule, StopOptions } from "./schedule.ts";
import type { ScheduleKind } from "./definition.ts";
import type { Explanation } from "./explain.ts";
import type { UpdateRequest } from "./options.ts";
import type { RemoteClient } from "./remote_client.ts";

/** A schedule as it was when it was answered. */
export class RemoteSchedule implements Schedule {
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: ScheduleKind;
  readonly task: string;
  readonly nextRun: Date | null;
  readonly #client: RemoteClient;

  constructor({ id, name, kind, task, nextRun }: WireSchedule, client: RemoteClient) {
    this.id = id;
    this.name = name;
    this.kind = kind;
    this.task = task;
    this.nextRun = nextRun === null ? null : new Date(nextRun);
    this.#client = client;
  }

  stop(options?: StopOptions & ChangeOptions): Promise<boolean> {
    return this.#client.stop(this.id, options);
  }

  info(): Promise<ScheduleInfo> {
    return this.#client.info(this.id);
  }

  pause(options?: ChangeOptions): Promise<boolean> {
    return this.#client.pause(this.id, options);
  }

  resume(options?: ChangeOptions): Promise<boolean> {
    return this.#client.resume(this.id, options);
  }

  trigger(options?: ChangeOptions): Promise<boolean> {
    return this.#client.trigger(this.id, options);
  }

  update(request: UpdateRequest, options?: ChangeOptions): Promise<Schedule> {
    return this.#client.update(this.id, request, options);
  }

  runs(): Promise<readonly RunInfo[]> {
    return this.#client.runs(this.id);
  }

  explain(): Promise<Explanation> {
    return this.#client.explain(this.id);
  }
}
