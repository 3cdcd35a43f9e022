import {
  type ChangeOptions,
  type Explanation,
  nextRunOf,
  type RunInfo,
  type Schedule,
  type ScheduleDocument,
  type ScheduleInfo,
  type ScheduleKind,
  type StopOptions,
  type UpdateRequest,
} from "../contract/mod.ts";

/** The calls that a schedule's own methods come to. */
export interface ScheduleCalls {
  stop(id: string, options?: StopOptions & ChangeOptions): Promise<boolean>;
  info(id: string): Promise<ScheduleInfo>;
  pause(id: string, options?: ChangeOptions): Promise<boolean>;
  resume(id: string, options?: ChangeOptions): Promise<boolean>;
  trigger(id: string, options?: ChangeOptions): Promise<boolean>;
  update(id: string, request: UpdateRequest, options?: ChangeOptions): Promise<Schedule>;
  runs(id: string): Promise<readonly RunInfo[]>;
  explain(id: string): Promise<Explanation>;
}

/** The next start as callers see it; see `nextRunOf` of the contract. */
export function nextRunDate(document: ScheduleDocument): Date | null {
  const next = nextRunOf(document);
  return next === null ? null : new Date(next);
}

/** A schedule as it was when it was answered, with the calls that concern it. */
export class ScheduleSnapshot implements Schedule {
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: ScheduleKind;
  readonly task: string;
  nextRun: Date | null;
  readonly #calls: () => ScheduleCalls;

  /** @param calls Asked at each call, since those of a unit of work end with it. */
  constructor(document: ScheduleDocument, calls: () => ScheduleCalls) {
    this.id = document.id;
    this.name = document.definition.name;
    this.kind = document.definition.spec.kind;
    this.task = document.definition.task;
    this.nextRun = nextRunDate(document);
    this.#calls = calls;
  }

  /** Takes over what was decided in the end, once a unit of work is committed. */
  settle(document: ScheduleDocument | null): void {
    this.nextRun = document === null ? null : nextRunDate(document);
  }

  stop(options?: StopOptions & ChangeOptions): Promise<boolean> {
    return this.#calls().stop(this.id, options);
  }

  info(): Promise<ScheduleInfo> {
    return this.#calls().info(this.id);
  }

  pause(options?: ChangeOptions): Promise<boolean> {
    return this.#calls().pause(this.id, options);
  }

  resume(options?: ChangeOptions): Promise<boolean> {
    return this.#calls().resume(this.id, options);
  }

  trigger(options?: ChangeOptions): Promise<boolean> {
    return this.#calls().trigger(this.id, options);
  }

  update(request: UpdateRequest, options?: ChangeOptions): Promise<Schedule> {
    return this.#calls().update(this.id, request, options);
  }

  runs(): Promise<readonly RunInfo[]> {
    return this.#calls().runs(this.id);
  }

  explain(): Promise<Explanation> {
    return this.#calls().explain(this.id);
  }
}
